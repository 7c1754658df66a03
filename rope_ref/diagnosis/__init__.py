r"""Which convention, base, position or known fault explains somebody's output.

What turned the output is read off the data alone, and nothing is reported unless, computed anew, it gives the output
back within an error bound. The way of an input, which is that of the files:

``views.py``
    What came in: which token stands at which position, and which features may be turned.
``measure.py``
    Each law solved for cos and sin. It fits where cos² + sin² is the same everywhere.
``factor.py``
    The table of angles taken apart: the frequency of each pair, the position of each token.
``frequencies.py``, ``axes.py``
    From measured frequencies to those that may be meant; pairs that read several coordinates.
``confirm.py``, ``suspects.py``
    Which turns may have made the output, the simplest first, and which of them give it back.
``name.py``, ``findings.py``, ``report.py``
    A turn as faults: the fields in which it differs from what was meant; what `diagnose` returns; the verdict.

``tolerances.py`` holds every number that decides.
"""

from rope_ref.diagnosis.findings import Diagnosis, Explanation
from rope_ref.diagnosis.report import finding, without_explanation, without_turn
from rope_ref.diagnosis.suspects import search
from rope_ref.diagnosis.views import views

__all__ = ["Diagnosis", "Explanation", "diagnose"]


def diagnose(x, y, position_ids=None, *, base=None, rotary_dim=None, scaling=None):
    r"""Say which convention, base, position or known fault turns `x` into `y`.

    Parameters
    ----------
    x : array_like of float, shape (..., seq_len, head_dim)
        Queries or keys before the turn, best drawn at random.
    y : array_like of float, shape of `x`
        What somebody's RoPE made of them.
    position_ids : array_like of int or float, shape (), (seq_len,), (batch, seq_len), or with a last axis, optional
        Positions that were meant, in tokens; with a last axis, the coordinates of each token. Without them the tokens
        count from 0, or from an offset that is found.
    base : float, optional
        Base that was meant; another one is then a fault.
    rotary_dim : int, optional
        Width that was meant to turn, even; another one is then a fault.
    scaling : Scaling or RopeConfig, optional
        Scaled frequencies that were meant, as `rope_ref.scaling` or `from_config` returns them; their length factor
        is taken as it is found.

    Returns
    -------
    Diagnosis
        A report, readable when printed. Each of its explanations, computed anew, is within the error bound of
        `apply_rope` for the coarser dtype of `x` and `y`, or says what it was rounded to. All that remain are listed.

    Raises
    ------
    TypeError
        If `x` or `y` is not of a float dtype, `position_ids` holds no real numbers, `base` is not a number,
        `rotary_dim` not an integer, or `scaling` neither a `Scaling` nor a `RopeConfig`.
    ValueError
        If `x` and `y` differ in shape, are empty or not finite, `position_ids` do not meet them, or `base` or
        `rotary_dim` is out of range.

    See Also
    --------
    apply_rope : The rotation that `y` is held against.

    Notes
    -----
    Each law of mixing is solved for cos and sin; what fits a circle is taken apart into positions and frequencies, and
    these into the fewest changes of what was meant. Offsets are looked for among whole numbers up to 131,072 and halves
    up to 4,096; positions of single tokens among whole numbers, in runs that a few words describe. Frequencies are read
    from neighbouring positions; where all are far apart, only a base is looked for, at the positions given. Scaled
    frequencies and several axes are named, and no faults by themselves. Several rows, drawn at random, are best: one
    row with few tokens leaves more open, and what the input cannot tell apart is said.

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
    choices = views(x, y, position_ids, base, rotary_dim, scaling)
    plain = without_turn(choices)
    if plain is not None:
        return plain
    view, kept, hands = search(choices)
    return finding(view, kept) if kept else without_explanation(view, hands)
