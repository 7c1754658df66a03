"""One record of all that makes an output; a fault is this record with one field changed."""

from dataclasses import dataclass, replace

import numpy as np

from rope_ref import scaling
from rope_ref.faults import call
from rope_ref.faults.rounding import BITS, SMALLEST, UNIT, rounded_to
from rope_ref.frequencies import inverse_frequencies
from rope_ref.pairing import join_pairs, split_pairs
from rope_ref.rotation import align, as_float_array

__all__ = ["Turn"]


@dataclass(frozen=True)
class Turn:
    r"""All that it takes to make an output: by default, the rotation of the package.

    Parameters
    ----------
    pairing : {"interleaved", "half"}
        Which features form a pair.
    write, table, quarter : {"interleaved", "half"} or None
        Order of the output, layout of the table, and pairing of the quarter turn; None: as `pairing`. Of `write` and
        `table` one at most is given.
    law : {"rotated", "lost minus", "in place", "added"}
        How cos and sin enter the output.
    swapped : bool
        Whether cos and sin change places.
    sign : {1, -1}
        1 where a positive frequency turns anticlockwise.
    start, width : int
        First feature that is turned, and how many are; a width of None means all.
    base, base_times : float
        Base of the frequencies, and what it is multiplied by.
    power, first : float
        Exponent of pair i: :math:`-2 (power \cdot i + first) / d`.
    exponent_width : int or None
        The d of the exponent; None: the width.
    reverse : bool
        Whether the last pair comes first.
    times : float
        What all frequencies are multiplied by.
    standing : tuple of int
        Pairs that do not turn.
    scaling : tuple
        Name of a function of `rope_ref.scaling` and its arguments as pairs; empty: none.
    inv_freq : tuple of float or None
        The frequencies themselves, where no formula gives them.
    axes : tuple of int
        Which coordinate each pair reads; empty: positions have one axis.
    widths : tuple of int
        Widths of blocks whose frequencies each start anew; empty: one block.
    grid : tuple of int
        Sizes of a grid whose coordinates the tokens have, the last one running fastest; empty: positions are given.
    ids : {"given", "index", "first"}
        Whose positions they are: those given, the index of the token, or those of the first sequence.
    pieces : tuple of (int, float, float)
        From which token on positions are which number, and how they go on: times the steps of those meant.
    offset : float
        What is added to every position, in tokens.
    axis : {-2, -3}
        Axis along which positions run: -3 is that of the heads.
    rounded : str
        What is rounded to which dtype, as ``rope_ref.faults.rounding`` reads it; empty: nothing.
    factor : float
        Length of the output over length of the input.
    since : int
        Token from which on all this holds; those before are turned as `before` says.
    before : Turn or None
        The turn of the tokens before `since`.

    See Also
    --------
    rope_ref.faults.FAULTS : This record with one field changed, by name.

    Examples
    --------
    >>> Turn(sign=-1).rotate(np.array([[1.0, 0.0]]), [np.pi / 2]).round(6)
    array([[ 0., -1.]])
    >>> Turn(offset=1.0).call(64)
    'apply_rope(x, *cos_sin(rotation_angles(position_ids + 1, inverse_frequencies(64, 10000.0))))'
    """

    pairing: str = "interleaved"
    write: str | None = None
    table: str | None = None
    quarter: str | None = None
    law: str = "rotated"
    swapped: bool = False
    sign: int = 1
    start: int = 0
    width: int | None = None
    base: float | None = 10000.0
    base_times: float = 1.0
    power: float = 1.0
    first: float = 0.0
    exponent_width: int | None = None
    reverse: bool = False
    times: float = 1.0
    standing: tuple = ()
    scaling: tuple = ()
    inv_freq: tuple | None = None
    axes: tuple = ()
    widths: tuple = ()
    grid: tuple = ()
    ids: str = "given"
    pieces: tuple = ()
    offset: float = 0.0
    axis: int = -2
    rounded: str = ""
    factor: float = 1.0
    since: int = 0
    before: "Turn | None" = None

    # Frequencies, positions, angles ----------------------------------------------------------------------------------

    def ladder(self, width):
        """Return the frequencies of a base, with a faulty exponent where there is one; shape (width // 2,)."""
        base, divisor = self.base * self.base_times, self.exponent_width or width
        return inverse_frequencies(divisor, base)[: width // 2] ** self.power * base ** (-2 * self.first / divisor)

    def frequencies(self, width):
        """Return the frequencies of `width` features as float64, with their sign and before they are rounded."""
        if self.inv_freq is not None:
            own = np.array(self.inv_freq)
        elif self.scaling:
            name, arguments = self.scaling
            own = getattr(scaling, name)(width, self.base, **dict(arguments)).inv_freq
        else:
            own = np.concatenate([self.ladder(each) for each in self.widths or (width,)])
        turning = ~np.isin(np.arange(own.size), self.standing)
        return self.sign * self.times * (own[::-1] if self.reverse else own) * turning

    def places(self, position_ids):
        """Return the positions that the tokens stand at, with the shape of those meant; `pieces` count all tokens."""
        ids = np.asarray(position_ids, np.float64)
        if self.grid:
            return np.indices(self.grid).reshape(len(self.grid), -1).T.astype(np.float64)
        if self.ids == "index":
            ids = np.broadcast_to(np.arange(float(ids.shape[-1])), ids.shape)
        if self.ids == "first":
            ids = np.broadcast_to(ids[0], ids.shape)
        flat, places = ids.ravel(), ids.ravel().copy()
        for token, position, step in self.pieces:
            places[token:] = position + step * (flat[token:] - flat[token : token + 1])
        return places.reshape(ids.shape) + self.offset

    def angles(self, places, width):
        """Return the angle of every pair, each number on the way rounded where the record says so."""
        places = rounded_to(places, self.rounded, "positions")
        own = rounded_to(self.frequencies(width), self.rounded, "frequencies")
        if self.axes:
            return rounded_to(places[..., list(self.axes)] * own, self.rounded, "angles")
        return rounded_to(np.multiply.outer(places, own), self.rounded, "angles")

    def late(self):
        """Return what holds from token `since` on."""
        return replace(self, since=0, before=None)

    def tables(self, position_ids, width):
        """Return cos and sin as they enter the law, rounded, exchanged and times the factor, and their angles."""
        if self.before is not None:
            early = self.before.tables(position_ids[: self.since], width)
            late = self.late().tables(position_ids[self.since :], width)
            return tuple(np.concatenate(each) for each in zip(early, late, strict=True))
        angles = self.angles(self.places(position_ids), width)
        cos, sin = (rounded_to(table, self.rounded, "tables") for table in (np.cos(angles), np.sin(angles)))
        cos, sin = (sin, cos) if self.swapped else (cos, sin)
        return self.factor * cos, self.factor * sin, angles

    # The law ---------------------------------------------------------------------------------------------------------

    @property
    def layout(self):
        """Which features of the output share a cosine."""
        return self.write or self.table or self.pairing

    def parts(self, x, y):
        """Split the law into what stands still, what cos is multiplied with and what sin is, each shaped like `x`.

        Only the overwrite in place looks at `y`, the output itself.
        """
        first, second = split_pairs(x, self.quarter or self.pairing)
        if self.law == "added":
            none, one = np.zeros_like(first), np.ones_like(first)
            return x, join_pairs(none, one, self.layout), join_pairs(one, none, self.layout)
        if self.law == "in place":
            turned = -second, split_pairs(y, self.quarter or self.pairing)[0]
        else:
            turned = second if self.law == "lost minus" else -second, first
        by_cos, by_sin = x, join_pairs(*turned, self.quarter or self.pairing)
        if self.write:
            by_cos, by_sin = (join_pairs(*split_pairs(each, self.pairing), self.write) for each in (by_cos, by_sin))
        return np.zeros_like(x), by_cos, by_sin

    def mix(self, x, cos, sin):
        """Return what the law makes of the turned features `x`; an overwrite reads what its first pass wrote."""
        cos, sin = (join_pairs(table, table, self.layout) for table in (cos, sin))
        y = x
        for _ in range(2 if self.law == "in place" else 1):
            still, by_cos, by_sin = self.parts(x, y)
            y = still + by_cos * cos + by_sin * sin
        return y

    # The whole -------------------------------------------------------------------------------------------------------

    def features(self, head_dim):
        """Return which features are turned, as a slice."""
        return slice(self.start, self.start + (self.width or head_dim - self.start))

    def rotate(self, x, position_ids, base=None):
        """Turn `x`, of shape (..., seq_len, head_dim), as the record says; `base` takes the place of its own."""
        x = as_float_array(x)
        turn = self if base is None else replace(self, base=base)
        if self.axis == -3:
            lifted = x if x.ndim >= 3 else x[None]
            turned = replace(turn, axis=-2).rotate(np.swapaxes(lifted, -2, -3), np.arange(lifted.shape[-3]))
            return np.swapaxes(turned, -2, -3).reshape(x.shape)
        y, turned = x.astype(np.float64), self.features(x.shape[-1])
        cos, sin, _ = turn.tables(np.asarray(position_ids, np.float64), turned.stop - turned.start)
        y[..., turned] = turn.mix(y[..., turned], align(cos, x), align(sin, x))
        return y.astype(x.dtype)

    def bound(self, x, y, want, angles, dtype):
        """Bound the error of every turned feature as `apply_rope` does, wider where the record rounds more.

        `want` is what the law makes of `x` exactly, `y` the output at hand, `dtype` the name of the coarser dtype of
        the two.
        """
        still, by_cos, by_sin = self.parts(x, y)
        size = np.hypot(by_cos, by_sin) * self.factor + np.abs(still)
        angles = join_pairs(np.abs(angles), np.abs(angles), self.layout)
        if dtype == "float64":  # twice: what is compared with is computed in float64 too
            bound = 2 * size * (5 + angles) * UNIT["float64"]
        else:
            bound = 3.4 * size * UNIT["float32"]
            bound = bound + half_unit(np.abs(want) + bound, dtype)
        if self.rounded.startswith("computed in"):
            bound = 4 * size * UNIT[dtype]
        if self.rounded == "float32 angles":  # frequency and product rounded, and one unit for the power
            bound = bound + size * np.minimum(0.2, 3 * UNIT["float32"] * angles)
        return 2 * bound if self.law == "in place" else bound

    def call(self, head_dim, count=0, given=True):
        """Write the call that gives the output of heads of a width; None where there is no short one.

        Where positions were not `given`, they are those of `count` tokens.
        """
        return call.written(self, head_dim, count, given)


def half_unit(values, dtype):
    """Half the distance between neighbours of a coarse dtype, where `values` lie; zero for the others."""
    if dtype not in BITS:
        return 0.0
    return np.maximum(np.ldexp(UNIT[dtype], np.frexp(values)[1] - 1), SMALLEST[dtype])
