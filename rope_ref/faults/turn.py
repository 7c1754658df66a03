"""One record of all that makes an output; a fault is this record with one field changed."""

from dataclasses import dataclass, replace

import numpy as np

from rope_ref.checks import check_positive
from rope_ref.faults.call import written
from rope_ref.faults.laws import layout, mix, parts
from rope_ref.faults.rounding import BITS, HALFWAY, SMALLEST, STAGES, UNIT, bits_of
from rope_ref.faults.tables import tables
from rope_ref.pairing import join_pairs
from rope_ref.shapes import align, as_float_array

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
    own_ladders : bool
        Whether the frequencies of each axis start anew.
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
    own_ladders: bool = False
    grid: tuple = ()
    ids: str = "given"
    pieces: tuple = ()
    offset: float = 0.0
    axis: int = -2
    rounded: str = ""
    factor: float = 1.0
    since: int = 0
    before: "Turn | None" = None

    def rotate(self, x, position_ids, base=None):
        """Turn queries or keys as the record says.

        Parameters
        ----------
        x : array_like of float, shape (..., seq_len, head_dim)
            Queries or keys; left unchanged.
        position_ids : array_like of int or float, shape (), (seq_len,), (batch, seq_len) or with a last axis
            Positions that were meant, in tokens; with a last axis of coordinates where the record has `axes`.
        base : float, optional
            Base that takes the place of the record's own.

        Returns
        -------
        ndarray, shape and dtype of `x`
            What comes out, computed in float64 and rounded once.
        """
        x = as_float_array(x)
        turn = self if base is None else replace(self, base=check_positive(base, "base"))
        if self.axis == -3:
            lifted = x if x.ndim >= 3 else x[None]
            turned = replace(turn, axis=-2).rotate(np.swapaxes(lifted, -2, -3), np.arange(lifted.shape[-3]))
            return np.swapaxes(turned, -2, -3).reshape(x.shape)
        y, turned = x.astype(np.float64), self.features(x.shape[-1])
        cos, sin, _ = tables(turn, np.asarray(position_ids, np.float64), turned.stop - turned.start)
        y[..., turned] = mix(turn, y[..., turned], align(cos, x), align(sin, x))
        return y.astype(x.dtype)

    def bound(self, x, position_ids, dtype=None):
        """Bound how far a faithful program may be from `rotate`.

        Parameters
        ----------
        x : array_like of float, shape (seq_len, head_dim)
            Queries or keys.
        position_ids : array_like of int or float, shape (seq_len,)
            Positions that were meant, in tokens.
        dtype : str, optional
            Name of the dtype that the program computes in; by default that of `x`.

        Returns
        -------
        ndarray of float64, shape (seq_len, width)
            The bound of `apply_rope` for each turned feature, wider where the record says that more was rounded.
        """
        x = as_float_array(x)
        return self.output_and_bound(x.astype(np.float64), position_ids, dtype or x.dtype.name)[1]

    def output_and_bound(self, x, position_ids, dtype, y=None):
        """Turn features and bound how far a faithful program may be from that.

        Parameters
        ----------
        x : ndarray of float64, shape (..., seq_len, head_dim)
            Queries or keys.
        position_ids : array_like of int or float, shape (seq_len,), (batch, seq_len) or with a last axis
            Positions that were meant, in tokens; those of a batch for tokens in one row.
        dtype : str
            Name of the dtype that the program computes in.
        y : ndarray of float64, shape of `x`, optional
            The output at hand, from which an overwrite in place is computed.

        Returns
        -------
        tuple of ndarray of float64, shape (..., seq_len, width)
            The turned features, and the bound of the error of each.
        """
        turned = self.features(x.shape[-1])
        made = tables(self, np.asarray(position_ids, np.float64), turned.stop - turned.start)
        cos, sin, angles = (table.reshape(-1, table.shape[-1]) for table in made)  # ids of a batch: tokens in one row
        x = x[..., turned]
        want = mix(self, x, cos, sin)
        still, by_cos, by_sin = parts(self, x, want if y is None else y[..., turned])
        size = np.hypot(by_cos, by_sin) * self.factor + np.abs(still)
        own, half = (
            join_pairs(each, each, layout(self)) for each in (np.abs(angles), halfway(self, position_ids, x.shape[-1]))
        )
        return want, error_bound(self, size, np.abs(want), own, dtype) + size * half

    def features(self, head_dim):
        """Tell which features are turned.

        Parameters
        ----------
        head_dim : int
            Width of a head.

        Returns
        -------
        slice
            From the first of them to the last.
        """
        return slice(self.start, self.start + (self.width or head_dim - self.start))

    def call(self, head_dim, count=0, given=True):
        """Write the call that gives the output.

        Parameters
        ----------
        head_dim : int
            Width of a head.
        count : int, optional
            Number of tokens, for positions that were not given.
        given : bool, optional
            Whether ``position_ids`` were given.

        Returns
        -------
        str or None
            Python with ``import numpy as np``, ``from rope_ref import *`` and `positions`, `scaling`, `FAULTS`,
            `Turn` and `round_to_bits` where it names them; None where there is no short one.
        """
        return written(self, head_dim, count, given)


def halfway(turn, position_ids, width):
    """Bound what single precision may change where a number is rounded that lies halfway; 0 where nothing is."""
    if not any(bits_of(turn.rounded, stage) for stage in STAGES):
        return np.zeros((1, width // 2))
    ids = np.asarray(position_ids, np.float64)
    low, high = (tables(turn, ids, width, nudge)[:2] for nudge in (-HALFWAY, HALFWAY))
    return sum(np.abs(one - other).reshape(-1, width // 2) for one, other in zip(low, high, strict=True))


def error_bound(turn, size, want, angles, dtype):
    """Bound the error of features of a size, as `apply_rope` does, wider where the record rounds more."""
    if turn.rounded.startswith("computed in"):
        return 4 * size * UNIT[dtype]
    if dtype == "float64":  # twice: what is compared with is computed in float64 too
        bound = 2 * size * (5 + angles) * UNIT["float64"]
    else:
        bound = 3.4 * size * UNIT["float32"]
        bound = bound + half_unit(want + bound, dtype)
    if turn.rounded == "float32 angles":  # frequency and product rounded, and one unit for the power
        bound = bound + size * np.minimum(0.2, 3 * UNIT["float32"] * angles)
    return 2 * bound if turn.law == "in place" else bound


def half_unit(values, dtype):
    """Half the distance between neighbours of a coarse dtype, where `values` lie; zero for the others."""
    if dtype not in BITS:
        return 0.0
    return np.maximum(np.ldexp(UNIT[dtype], np.frexp(values)[1] - 1), SMALLEST[dtype])
