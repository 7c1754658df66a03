"""What every scaling method returns, and what the package has to know of it beside its formula."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rope_ref.frequencies import inverse_frequencies

__all__ = ["Method", "Scaling", "plain"]


class Scaling(NamedTuple):
    """The speeds of all pairs, and two numbers that some methods change with them.

    Parameters
    ----------
    inv_freq : ndarray of float64, shape (pairs,)
        Radians per token.
    attention_factor : float, optional
        Length factor of every turned query and key: `cos_sin` and `RotaryEmbedding` take it. Scores grow by its square.
    softmax_factor : float, optional
        What the scale of the scores, 1 / sqrt(head_dim), is multiplied by besides; DeepSeek's YaRN has one.

    Examples
    --------
    >>> Scaling(np.array([1.0, 0.01]))
    Scaling(inv_freq=array([1.  , 0.01]), attention_factor=1.0, softmax_factor=1.0)
    """

    inv_freq: np.ndarray
    attention_factor: float = 1.0
    softmax_factor: float = 1.0


class Method(NamedTuple):
    """All that other rooms ask of one scaling method: each file of this room lists its own as ``METHODS``.

    Parameters
    ----------
    make : callable
        The function, with keywords for all but width and base.
    rope_type : str, optional
        Its name in a model's config.json; empty where it has none there.
    keys : tuple of str, optional
        What an entry of that type may hold besides.
    read : callable, optional
        Takes such an entry and the present length, and returns the function to call and its keywords.
    title : str, optional
        Its name in a sentence.
    suspects : tuple of dict, optional
        Keywords, besides the factor and the original length, that `diagnose` tries.
    vectors : dict, optional
        Test vectors: their name, and what they are for, keywords, and settings of the case.

    Examples
    --------
    >>> from rope_ref.scaling import METHODS
    >>> METHODS["llama3"].title
    'Llama 3'
    """

    make: Callable
    rope_type: str = ""
    keys: tuple = ()
    read: Callable | None = None
    title: str = ""
    suspects: tuple = ()
    vectors: dict | None = None


def plain(rotary_dim, base=10000.0):
    r"""Keep the speeds of plain RoPE: what a config.json calls the type "default".

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even.
    base : float, optional
        Base b, positive.

    Returns
    -------
    Scaling
        :math:`b^{-2i/d}`, with no factor.

    Examples
    --------
    >>> plain(4).inv_freq
    array([1.  , 0.01])
    """
    return Scaling(inverse_frequencies(rotary_dim, base))


def blend(slowed, own, keep):
    """Mix two rows of speeds; where the whole of one is kept, it is kept to the bit."""
    return slowed * (1 - keep) + own * keep


METHODS = (Method(plain, "default", read=lambda entry, seq_len: (plain, {})),)
