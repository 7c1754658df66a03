r"""Which convention, base, offset or known fault explains somebody's output.

What turned the output is read off the data alone, and nothing is reported unless, computed anew, it gives the output
back within an error bound. To be read in this order:

``laws.py``
    How cos and sin enter the output: the rotation, and its known mix-ups. Each is linear in the two.
``views.py``
    What came in: which token stands at which position, and which features may be turned.
``readings.py``
    A law solved for cos and sin. It fits where cos² + sin² is the same everywhere; then come speeds and offsets.
``ladders.py``
    From speeds to the frequencies that may be meant: a base, a scaling, a known fault.
``models.py``
    All that it takes to compute an output, and whether that gives the output back.
``attempts.py``
    Which models are tried, the simplest first.
``words.py``, ``findings.py``, ``report.py``
    A model as faults and as a call; what `diagnose` returns; the verdict and how sure it is.
"""

import itertools

from rope_ref.checks import check_positive, check_rotary_dim
from rope_ref.diagnosis.attempts import explain
from rope_ref.diagnosis.findings import Diagnosis, Explanation
from rope_ref.diagnosis.laws import MIX_UPS, ROTATIONS
from rope_ref.diagnosis.readings import readings
from rope_ref.diagnosis.report import finding, without_explanation, without_turn
from rope_ref.diagnosis.views import check_pair, views

__all__ = ["Diagnosis", "Explanation", "diagnose"]


def diagnose(x, y, position_ids=None, *, base=None, rotary_dim=None):
    r"""Say which convention, base, offset or known fault turns `x` into `y`.

    Parameters
    ----------
    x : array_like of float, shape (..., seq_len, head_dim)
        Queries or keys before the turn, best drawn at random.
    y : array_like of float, shape of `x`
        What somebody's RoPE made of them.
    position_ids : array_like of int or float, shape (), (seq_len,) or (batch, seq_len), optional
        Positions that were meant, in tokens. Without them the tokens count from 0, or from an offset that is found.
    base : float, optional
        Base that was meant; another one is then a fault.
    rotary_dim : int, optional
        Width that was meant to turn, even; another one is then a fault.

    Returns
    -------
    Diagnosis
        A report, readable when printed. Each of its explanations, computed anew, is within the error bound of
        `apply_rope` for the coarser dtype of `x` and `y`, or says what it was rounded to. All that remain are listed.

    Raises
    ------
    TypeError
        If `x` or `y` is not of a float dtype, `position_ids` holds no real numbers, `base` is not a number or
        `rotary_dim` not an integer.
    ValueError
        If `x` and `y` differ in shape, are empty or not finite, `position_ids` do not meet them, or `base` or
        `rotary_dim` is out of range.

    See Also
    --------
    apply_rope : The rotation that `y` is held against.

    Notes
    -----
    Offsets are looked for among whole numbers up to 131,072 and halves up to 4,096. Speeds are read from neighbouring
    positions, 1 to 3 apart; where all are farther apart, only a base is looked for, at the positions given.
    Several rows, drawn at random, are best: one row with few tokens leaves more open.

    Examples
    --------
    >>> import numpy as np
    >>> from rope_ref.faults import FAULTS
    >>> x = np.random.default_rng(0).standard_normal((16, 8))
    >>> y = FAULTS["positions from one"].rotate(x, np.arange(16))
    >>> found = diagnose(x, y, np.arange(16), base=10000.0)
    >>> print(found.verdict)
    RoPE, but positions from one
    >>> print(found.explanations[0].call)
    apply_rope(x, *cos_sin(rotation_angles(position_ids + 1, inverse_frequencies(8, 10000.0))))
    """
    x, y = check_pair(x, y)
    base = None if base is None else check_positive(base, "base")
    rotary_dim = None if rotary_dim is None else check_rotary_dim(rotary_dim, x.shape[-1])
    choices = views(x, y, position_ids, base, rotary_dim)
    right = choices[0]
    plain = without_turn(right, heads=1 if x.ndim < 3 else x.shape[-3])
    if plain is not None:
        return plain
    found = []
    for view, laws in [*itertools.product(choices, (ROTATIONS, MIX_UPS)), (right._replace(any_width=True), ROTATIONS)]:
        found.append(readings(view, laws))
        kept = explain(view, found[-1])
        if kept:
            return finding(view, kept)
    return without_explanation(right, found[0])
