r"""How far training reaches: which angles its tokens have shown, and which a longer text adds.

Tokens stand at positions 0 to L - 1. Each covers one step :math:`\theta_i` of the circle of pair i: where
:math:`L \theta_i \ge 2 \pi` no gap is wider than a step, and the whole circle has been seen. Where it is not, the
largest angle seen is that of the last token, :math:`(L - 1) \theta_i`. Each pair counts by itself here: all pairs
together show a new reading at every position.
"""

import numpy as np

from rope_ref.checks import as_inv_freq, check_count

__all__ = ["first_new_position", "neighbour_distance", "share_seen"]

ROUNDING = 1e-12  # relative: a product that should be a whole number may come out just beside it


def share_seen(inv_freq, length):
    r"""Measure which share of its circle each pair covers in a text of some length.

    Parameters
    ----------
    inv_freq : array_like of float, shape (pairs,)
        Radians per token.
    length : int
        Length of the text, in tokens.

    Returns
    -------
    ndarray of float64, shape (pairs,)
        :math:`L |\theta_i| / 2 \pi`, at most 1.

    Raises
    ------
    TypeError, ValueError
        If `inv_freq` is not a one-dimensional array of finite real numbers, or `length` not a positive integer.

    Examples
    --------
    >>> share_seen([1.0, 0.01], 100).round(4)
    array([1.    , 0.1592])
    """
    return np.minimum(1.0, check_count(length, "length") * np.abs(as_inv_freq(inv_freq)) / (2 * np.pi))


def first_new_position(trained, used, length):
    r"""Find the first position at which some pair stands at an angle that it has never seen.

    Parameters
    ----------
    trained : array_like of float, shape (pairs,)
        Radians per token in training.
    used : array_like of float, shape (pairs,)
        Radians per token now, after scaling.
    length : int
        Length of the texts in training, in tokens.

    Returns
    -------
    int or None
        The smallest m with :math:`m |\theta'_i| > (L - 1) |\theta_i|` for a pair i that has not seen its whole circle;
        None where there is no such pair.

    Raises
    ------
    TypeError, ValueError
        If the frequencies are not one-dimensional arrays of finite real numbers of one length, or `length` is not a
        positive integer.

    Notes
    -----
    A product within 1e-12 of a whole number, relative, counts as that number: interpolation by s reaches exactly
    s (L - 1), which division and multiplication in float64 may miss by a last digit.

    Examples
    --------
    Trained on 2,048 tokens; as it was, and with position interpolation by 8:

    >>> from rope_ref.frequencies import inverse_frequencies
    >>> own = inverse_frequencies(128)
    >>> first_new_position(own, own, 2048), first_new_position(own, own / 8, 2048)
    (2048, 16377)
    """
    trained, used = np.abs(as_inv_freq(trained, "trained")), np.abs(as_inv_freq(used, "used"))
    if trained.shape != used.shape:
        raise ValueError(f"used must hold one frequency for each of {len(trained)} pairs, got {len(used)}")
    open_arc = (share_seen(trained, length) < 1) & (used > 0)
    if not open_arc.any():
        return None
    last_inside = (length - 1) * trained[open_arc] / used[open_arc]
    return int(np.floor(last_inside.min() * (1 + ROUNDING))) + 1


def neighbour_distance(inv_freq):
    r"""Measure how far apart the hands of two tokens side by side stand, all hands of length 1.

    Parameters
    ----------
    inv_freq : array_like of float, shape (pairs,)
        Radians per token.

    Returns
    -------
    float
        :math:`2 \sqrt{\sum_i \sin^2(\theta_i / 2)}`, the distance between two points in 2 * pairs dimensions.

    Raises
    ------
    TypeError, ValueError
        If `inv_freq` is not a one-dimensional array of finite real numbers.

    Examples
    --------
    >>> round(neighbour_distance([1.0]), 6), round(neighbour_distance([0.25]), 6)
    (0.958851, 0.249349)
    """
    return float(2 * np.sqrt(np.sum(np.sin(as_inv_freq(inv_freq) / 2) ** 2)))
