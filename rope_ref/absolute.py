r"""What RoPE is compared with: positions that are added to the tokens, and ALiBi, which is added to the scores.

`sinusoidal` and `learned` make one row for each position, added to the embedding of the token that stands there.
`alibi_bias` makes numbers that are added to the scores before the softmax.
"""

import numpy as np

from rope_ref.checks import check_choice, check_count, check_rng, check_width
from rope_ref.frequencies import inverse_frequencies, rotation_angles
from rope_ref.pairing import join_pairs

__all__ = ["alibi_bias", "alibi_slopes", "learned", "sinusoidal"]

# A sine and its cosine stand where the two features of a pair stand.
LAYOUTS = {"interleaved": "interleaved", "concatenated": "half"}
ROW_SIZE = 0.02  # standard deviation of a new row, in BERT and in GPT-2


def sinusoidal(position_ids, width, base=10000.0, *, layout="interleaved"):
    r"""Make the rows of sines and cosines that the first Transformer adds to its tokens.

    Parameters
    ----------
    position_ids : array_like of int or float, shape (..., seq_len) or ()
        Positions m, in tokens: any finite numbers, negative ones too.
    width : int
        Number of features d of a token (not of one head), even.
    base : float, optional
        Base b, positive.
    layout : {"interleaved", "concatenated"}, optional
        Sine and cosine of pair i are features (2i, 2i + 1) [1]_, or (i, i + width // 2): all sines, then all cosines.

    Returns
    -------
    ndarray of float64, shape (..., seq_len, width) or (width,)
        :math:`\sin(m \theta_i)` and :math:`\cos(m \theta_i)` with :math:`\theta_i = b^{-2i/d}`, each within
        :math:`(5 + |m| \theta_i) 2^{-53}` for the frequencies of `inverse_frequencies`.

    Raises
    ------
    TypeError
        If `position_ids` does not hold real numbers, `width` is not an integer or `base` not a number.
    ValueError
        If `width` is odd or not positive, `base` not positive, a position not finite, or `layout` unknown.

    Notes
    -----
    Some libraries space the frequencies by b^(-2i/(d - 2)), or scale the rows: those are other encodings.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention Is All You Need", arXiv:1706.03762, section 3.5.

    Examples
    --------
    >>> sinusoidal([0, 1], 4).round(4)
    array([[0.    , 1.    , 0.    , 1.    ],
           [0.8415, 0.5403, 0.01  , 1.    ]])
    >>> sinusoidal([0, 1], 4, layout="concatenated").round(4)
    array([[0.    , 0.    , 1.    , 1.    ],
           [0.8415, 0.01  , 0.5403, 1.    ]])
    """
    check_choice(layout, LAYOUTS, "layout")
    angles = rotation_angles(position_ids, inverse_frequencies(check_width(width, "width"), base))
    return join_pairs(np.sin(angles), np.cos(angles), LAYOUTS[layout])


def learned(seq_len, width, rng):
    r"""Draw the first rows of a learned table: one row for each position, to be changed by training.

    Parameters
    ----------
    seq_len : int
        Number of positions, from 0: the table has no row for position `seq_len`.
    width : int
        Number of features of a token.
    rng : numpy.random.Generator
        Where the numbers come from.

    Returns
    -------
    ndarray of float64, shape (seq_len, width)
        Independent normal numbers of mean 0 and standard deviation 0.02 [1]_.

    Raises
    ------
    TypeError
        If `seq_len` or `width` is not an integer, or `rng` not a `numpy.random.Generator`.
    ValueError
        If `seq_len` or `width` is not positive.

    Notes
    -----
    Training changes the rows of the positions it sees, and no other. A table made longer than the training sequences
    lets a model run past them, on rows that are still what was drawn here.

    References
    ----------
    .. [1] J. Devlin et al., "BERT", arXiv:1810.04805; its released configuration has ``initializer_range`` 0.02.

    Examples
    --------
    >>> table = learned(512, 32, np.random.default_rng(0))
    >>> table.shape, float(table.std().round(2))
    ((512, 32), 0.02)
    """
    check_rng(rng)
    return ROW_SIZE * rng.standard_normal((check_count(seq_len, "seq_len"), check_count(width, "width")))


def alibi_slopes(num_heads):
    r"""List how much each head takes off a score for each token of distance.

    Parameters
    ----------
    num_heads : int
        Number of heads n, any positive number.

    Returns
    -------
    ndarray of float64, shape (num_heads,)
        :math:`2^{-8/p}, 2^{-16/p}, \dots, 2^{-8}` with p the largest power of two up to n [1]_; the n - p heads that
        are left take every other slope of 2p heads, :math:`2^{-4/p}, 2^{-12/p}, \dots`, in this order.

    Raises
    ------
    TypeError, ValueError
        If `num_heads` is not a positive integer.

    References
    ----------
    .. [1] O. Press, N. Smith and M. Lewis, "Train Short, Test Long", arXiv:2108.12409, section 3; the rule for other
       numbers of heads is that of its released code.

    Examples
    --------
    >>> alibi_slopes(4)
    array([0.25      , 0.0625    , 0.015625  , 0.00390625])
    >>> alibi_slopes(3)
    array([0.0625    , 0.00390625, 0.25      ])
    """
    num_heads = check_count(num_heads, "num_heads")
    power = 1 << (num_heads.bit_length() - 1)
    return np.append(power_slopes(power), power_slopes(2 * power)[0::2][: num_heads - power])


def power_slopes(num_heads):
    """List the slopes of a number of heads that is a power of two."""
    return 2.0 ** (-8.0 * np.arange(1, num_heads + 1) / num_heads)


def alibi_bias(num_heads, queries, keys):
    r"""Make the numbers that ALiBi adds to the scores: the farther, the lower.

    Parameters
    ----------
    num_heads : int
        Number of heads, any positive number.
    queries, keys : int
        Number of queries and of keys. The last query stands at the last key, as in `attention_weights`, so that a few
        new queries may follow many cached keys.

    Returns
    -------
    ndarray of float64, shape (num_heads, queries, keys)
        Minus the slope of the head times the distance in tokens [1]_: 0 at the query's own place, and falling on both
        sides of it. A causal mask hides the later side.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If an argument is not positive, or there are more queries than keys.

    See Also
    --------
    alibi_slopes : The slopes alone.

    Notes
    -----
    Public implementations differ by a number added to whole rows, which the softmax does not see, and in what they
    give later keys.

    References
    ----------
    .. [1] O. Press, N. Smith and M. Lewis, "Train Short, Test Long", arXiv:2108.12409, section 3.

    Examples
    --------
    >>> alibi_bias(8, 2, 4)[0]
    array([[-1. , -0.5,  0. , -0.5],
           [-1.5, -1. , -0.5,  0. ]])
    """
    slopes = alibi_slopes(num_heads)
    queries, keys = check_count(queries, "queries"), check_count(keys, "keys")
    if queries > keys:
        raise ValueError(f"keys must be at least as many as queries, got {queries} queries and {keys} keys")
    distances = np.abs(np.subtract.outer(np.arange(keys - queries, keys), np.arange(keys)))
    return np.multiply.outer(slopes, -distances)
