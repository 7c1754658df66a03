"""Random settings and a rotation of its own, by complex numbers: it shares no code with the package."""

import ml_dtypes
import numpy as np

BFLOAT16 = ml_dtypes.bfloat16
NARROW = (np.float32, BFLOAT16, np.float16)


class Setting:
    """Queries of random width, dtype and shape, with what was meant for them."""

    def __init__(self, seed, dtypes=NARROW):
        rng = self.rng = np.random.default_rng(seed)
        self.width = 2 * int(rng.choice([rng.integers(4, 33), rng.integers(4, 129)]))
        head_dim = self.width + 2 * int(rng.choice([0, 0, rng.integers(1, 17)]))
        self.tokens = int(rng.integers(12, 41))
        lead = [(), (2,), (2, 3)][int(rng.integers(3))]
        self.dtype, self.out = (dtypes[int(rng.integers(len(dtypes)))] for _ in range(2))
        if rng.random() < 0.6:
            self.out = self.dtype
        self.x = rng.standard_normal((*lead, self.tokens, head_dim)).astype(self.dtype)
        self.pairing = str(rng.choice(["interleaved", "half"]))
        self.base = float(rng.choice([1e4, 5e5, 1e6]))
        self.ids = int(rng.choice([0, 0, rng.integers(1, 5000), 100_000])) + np.arange(self.tokens)
        self.meant = {"base": self.base, "rotary_dim": self.width}

    def inv_freq(self, base=None):
        return (base or self.base) ** (-np.arange(0, self.width, 2) / self.width)

    def turned(self, ids, inv_freq=None, table=None, angles=None, factor=1.0):
        """Turn x by the angles of positions, or by those given; `table` is what cos and sin go through."""
        if angles is None:
            angles = np.multiply.outer(ids, self.inv_freq() if inv_freq is None else inv_freq)
        cos, sin = np.cos(angles), np.sin(angles)
        cos, sin = (cos, sin) if table is None else (table(cos), table(sin))
        if cos.ndim > 2 and self.x.ndim > cos.ndim:  # of a batch: the heads lie between
            cos, sin = cos[:, None], sin[:, None]
        y = self.x.astype(np.float64)
        turned = y[..., : self.width]
        order = np.arange(self.width).reshape(-1, 2) if self.pairing == "interleaved" else None
        order = np.arange(self.width).reshape(2, -1).T if order is None else order
        hands = (turned[..., order[:, 0]] + 1j * turned[..., order[:, 1]]) * (cos + 1j * sin) * factor
        turned[..., order[:, 0]], turned[..., order[:, 1]] = hands.real, hands.imag
        return y.astype(self.out)


def held(values, dtype):
    """Round numbers to a dtype and back."""
    return np.asarray(values).astype(dtype).astype(np.float64)
