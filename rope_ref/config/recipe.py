"""What reading a config comes to: a function, and its numbers."""

from typing import NamedTuple

__all__ = ["Recipe"]


class Recipe(NamedTuple):
    """Which function of the scaling module a config asks for, with its numbers.

    Parameters
    ----------
    method : str
        Name of the function, or "plain" for no scaling.
    base : float
        Base b.
    arguments : dict
        Keywords of the function.
    rotary_dim, head_dim : int
        Rotated width, and width of one query or key head.
    pairing : {"interleaved", "half"} or None
        Which features form a pair; None where the model family is not known.
    sections : tuple of int, or None
        How many pairs read each axis in M-RoPE.
    sections_interleaved : bool or "alternating"
        How the axes of M-RoPE are dealt out, as `rope_ref.positions.mrope_axes` takes it.
    has_softmax_factor : bool
        Whether the attention of this family multiplies its scale by YaRN's softmax factor.

    Examples
    --------
    >>> Recipe("linear", 10000.0, {"factor": 2.0}, 64, 64, "half", None, False, False).arguments
    {'factor': 2.0}
    """

    method: str
    base: float
    arguments: dict
    rotary_dim: int
    head_dim: int
    pairing: str | None
    sections: tuple | None
    sections_interleaved: bool | str
    has_softmax_factor: bool
