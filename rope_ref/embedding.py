"""Rows of cos and sin, kept: a buffer, not a limit."""

import numpy as np

from rope_ref.checks import as_array, as_inv_freq, check_positive
from rope_ref.frequencies import angles_at, cos_sin, rotation_angles
from rope_ref.kernel import turn_into
from rope_ref.pairing import check_pairing
from rope_ref.shapes import align, as_float_array, check_table_dtype, computing_dtype

__all__ = ["RotaryEmbedding"]

KEPT = 2**17  # rows kept at most: positions 0 to 131,071
FIRST = 2**8  # rows kept at least: decoding from position 0 then grows the table seldom
CHEAP = 2**13  # rows kept whatever is asked: some milliseconds and megabytes, once
BLOCK = 2**10  # rows computed at a time, so that a long table needs little memory while it grows


def is_run(ids):
    """Tell whether `ids` is one row of consecutive positions: a slice of the table then serves."""
    return ids.size == 1 or (ids.size == ids.shape[-1] and bool((np.diff(ids) == 1).all()))


class RotaryEmbedding:
    r"""Turn queries and keys, and keep the cosines and sines of positions seen before.

    The kept rows are a buffer, not a limit: they grow by need up to position 131,071. Positions beyond, negative,
    fractional or far apart are computed when asked for, to the same bits.

    Parameters
    ----------
    inv_freq : array_like of float, shape (pairs,)
        Radians per token, from `inverse_frequencies` or a scaling.
    pairing : {"interleaved", "half"}, optional
        Pair i is features (2i, 2i + 1), or (i, i + pairs).
    attention_factor : float, optional
        Length factor a of every turned pair; YaRN's is above 1 [1]_.

    Raises
    ------
    TypeError
        If `inv_freq` does not hold real numbers, or `attention_factor` is not a number.
    ValueError
        If `inv_freq` is not one-dimensional and finite, `pairing` is unknown, or `attention_factor` is not positive
        and finite.

    See Also
    --------
    apply_rope : The turn by given cosines and sines.

    Notes
    -----
    Rows are kept for each computing precision, so float64 input never meets float32 rows. One object may serve
    several threads. A copy or a pickle leaves the rows behind and grows its own.

    The inverse rotation, and the gradient with respect to `x`, turn by the opposite angle: ``rotate(y, -ids)`` for an
    array ``ids``. With an attention factor a the gradient is multiplied by a, as this call does; the inverse is
    multiplied by 1 / a, so divide the result of the call by a twice.

    References
    ----------
    .. [1] B. Peng et al., "YaRN", arXiv:2309.00071, section 3.4.

    Examples
    --------
    A key cache in three lines. Each key is turned once, at its own position; when the oldest is dropped, the others
    are turned back by one.

    >>> rope = RotaryEmbedding([1.0, 0.01])
    >>> keys = rope.rotate(np.ones((3, 4)))
    >>> keys = np.concatenate((keys, rope.rotate(np.ones((1, 4)), [3])))
    >>> keys = rope.shift(keys[1:], -1)
    >>> np.allclose(keys, rope.rotate(np.ones((3, 4))), rtol=0, atol=1e-15)
    True
    """

    def __init__(self, inv_freq, *, pairing="interleaved", attention_factor=1.0):
        self._inv_freq = as_inv_freq(inv_freq)
        self._inv_freq.flags.writeable = False
        self._pairing = check_pairing(pairing)
        self._attention_factor = check_positive(attention_factor, "attention_factor")
        self._kept = {}  # dtype: array of shape (2, rows, pairs), cos and sin; replaced whole, never written to

    @property
    def inv_freq(self):
        """Radians per token of each pair: float64, shape (pairs,), read-only."""
        return self._inv_freq

    @property
    def pairing(self):
        """Which features form a pair: "interleaved" or "half"."""
        return self._pairing

    @property
    def attention_factor(self):
        """Length factor of every turned pair."""
        return self._attention_factor

    def __repr__(self):
        return (
            f"RotaryEmbedding(<{self._inv_freq.size} pairs>, pairing={self._pairing!r}, "
            f"attention_factor={self._attention_factor})"
        )

    def __getstate__(self):
        return {"inv_freq": self._inv_freq, "pairing": self._pairing, "attention_factor": self._attention_factor}

    def __setstate__(self, state):
        self.__init__(**state)

    def cos_sin(self, position_ids, dtype=np.float64):
        r"""Take the cosine and the sine of every angle at the given positions.

        Parameters
        ----------
        position_ids : array_like of int or float, shape (..., seq_len) or ()
            Positions m, in tokens: any finite numbers, negative ones too.
        dtype : {np.float64, np.float32}, optional
            What the float64 values are rounded to.

        Returns
        -------
        cos, sin : ndarray of `dtype`, shape (..., seq_len, pairs) or (pairs,)
            :math:`a \cos(m \theta_i)` and :math:`a \sin(m \theta_i)`, a the attention factor; new arrays.

        Raises
        ------
        TypeError
            If `position_ids` does not hold real numbers or `dtype` is neither float64 nor float32.
        ValueError
            If a position is not finite.
        """
        cos, sin = self._look_up(position_ids, check_table_dtype(dtype))
        return cos.copy(), sin.copy()

    def rotate(self, x, position_ids=None, *, out=None):
        r"""Turn queries or keys to their positions.

        Parameters
        ----------
        x : array_like of float, shape (..., seq_len, head_dim)
            Queries or keys; left unchanged unless it is also `out`. Features beyond ``2 * pairs`` are copied.
        position_ids : array_like of int or float, shape (), (seq_len,) or (batch, seq_len), optional
            Positions, in tokens: any finite numbers; 0 ... seq_len - 1 by default. One for all tokens, one a token, or
            one a token of each sequence of the batch, the first axis of `x`.
        out : ndarray, shape and dtype of `x`, optional
            Where the result is written; it may be `x` itself but not overlap it otherwise.

        Returns
        -------
        ndarray, shape and dtype of `x`
            Turned features, as `apply_rope` gives them, within the same bounds.

        Raises
        ------
        TypeError
            If `x` is not of a float dtype, `position_ids` does not hold real numbers, or `out` is no array of the
            dtype of `x`.
        ValueError
            If the head is too narrow, the positions do not meet the axes of `x` or are not finite, or `out` has another
            shape, cannot be written or overlaps `x` in part.
        """
        x = as_float_array(x)
        self._check_width(x, "x")
        dtype = computing_dtype(x.dtype)
        if position_ids is None:
            if x.ndim == 1:
                raise ValueError(f"x must have shape (..., seq_len, head_dim) without position_ids, got {x.shape}")
            cos, sin = self._first_rows(x.shape[-2], dtype)
        else:
            cos, sin = self._look_up(position_ids, dtype)
        return self._turn(x, cos, sin, "position_ids", out)

    def shift(self, keys, by):
        r"""Turn cached keys on by some positions, and leave their length alone.

        Parameters
        ----------
        keys : array_like of float, shape (..., seq_len, head_dim)
            Keys already turned, each at its own position; left unchanged.
        by : int or float, or array_like, shape (seq_len,) or (batch, seq_len)
            How far each key moves, in tokens; negative to move it back.

        Returns
        -------
        ndarray, shape and dtype of `keys`
            What `rotate` gives at the new positions, to rounding: a key turned at m comes out turned at m + by.
            The attention factor is in the keys already and is not applied again.

        Raises
        ------
        TypeError
            If `keys` is not of a float dtype, or `by` does not hold real numbers.
        ValueError
            If the head is too narrow, or `by` does not meet the axes of `keys` or is not finite.
        """
        keys = as_float_array(keys, "keys")
        self._check_width(keys, "keys")
        angles = angles_at(by, self._inv_freq, "by")
        return self._turn(keys, *cos_sin(angles, dtype=computing_dtype(keys.dtype)), "by", None)

    def _check_width(self, x, name):
        """Raise unless each head of `x` holds all pairs."""
        width = 2 * self._inv_freq.size
        if x.ndim == 0 or x.shape[-1] < width:
            raise ValueError(f"{name} must have a head_dim of at least {width}, two for each pair, got shape {x.shape}")

    def _turn(self, x, cos, sin, name, out):
        """Turn `x` by rows that come from the argument `name`."""
        try:
            cos = align(cos, x)
        except ValueError:
            raise ValueError(
                f"{name} must have shape (), (seq_len,), (batch, seq_len) against four axes or more, or one axis for "
                f"each axis but the last, of its length or 1; got {cos.shape[:-1]} for shape {x.shape}"
            ) from None
        return turn_into(out, x, cos, sin.reshape(cos.shape), self._pairing, cos.dtype)

    def _look_up(self, position_ids, dtype):
        """Return cos and sin at `position_ids`: kept rows where there are any, or computed."""
        ids = as_array(position_ids, "position_ids")
        if ids.size and ids.dtype.kind in "iu":
            whole = ids.astype(np.uint64, copy=False)  # a negative id becomes too large to be kept
            last = whole.item() if ids.size == 1 else int(whole.max())
            rows = self._rows(last + 1, ids.size, dtype)
            if rows is not None and is_run(whole):
                return rows[:, last + 1 - ids.size : last + 1].reshape(2, *ids.shape, -1)
            if rows is not None:
                return rows.take(ids.astype(np.intp, copy=False), axis=1)
        return cos_sin(rotation_angles(ids, self._inv_freq), attention_factor=self._attention_factor, dtype=dtype)

    def _first_rows(self, count, dtype):
        """Return cos and sin at positions 0 ... count - 1."""
        rows = self._rows(count, count, dtype)
        return self._look_up(np.arange(count), dtype) if rows is None else rows[:, :count]

    def _rows(self, needed, asked, dtype):
        """Return the kept rows, at least `needed`; None where `asked` positions are too few to keep so many."""
        kept = self._kept.get(dtype)
        length = 0 if kept is None else kept.shape[1]
        if needed <= length:
            return kept
        if needed > min(KEPT, max(CHEAP, 2 * length, 2 * asked)):
            return None
        return self._grow(kept, length, min(KEPT, max(FIRST, 1 << (needed - 1).bit_length())), dtype)

    def _grow(self, kept, length, target, dtype):
        """Compute rows up to `target` into a new array, and publish it whole: other threads may be reading the old."""
        rows = np.empty((2, target, self._inv_freq.size), dtype)
        if kept is not None:
            rows[:, :length] = kept
        for first in range(length, target, BLOCK):
            ids = np.arange(first, min(first + BLOCK, target))
            angles = rotation_angles(ids, self._inv_freq)
            rows[:, ids[0] : ids[-1] + 1] = cos_sin(angles, attention_factor=self._attention_factor, dtype=dtype)
        self._kept[dtype] = rows
        return rows
