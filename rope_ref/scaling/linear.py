"""Position interpolation."""

from rope_ref.checks import check_factor
from rope_ref.frequencies import inverse_frequencies
from rope_ref.scaling.base import Method, Scaling

__all__ = ["linear"]


def linear(rotary_dim, base=10000.0, *, factor):
    r"""Slow all pairs by one factor: position interpolation.

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even.
    base : float, optional
        Base b, positive.
    factor : float
        Factor s, at least 1.

    Returns
    -------
    Scaling
        :math:`\theta_i / s` [1]_: position m turns every pair as position m / s did.

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not a positive even integer, `base` not positive, or `factor` below 1.

    Notes
    -----
    Some implementations divide the positions instead: the same angles. Done to both it divides twice, a known fault.

    References
    ----------
    .. [1] S. Chen et al., "Extending Context Window of Large Language Models via Positional Interpolation",
       arXiv:2306.15595, eq. (4).

    Examples
    --------
    >>> linear(4, factor=4).inv_freq
    array([0.25  , 0.0025])
    """
    return Scaling(inverse_frequencies(rotary_dim, base) / check_factor(factor))


METHODS = (
    Method(
        linear,
        "linear",
        keys=("factor",),
        read=lambda entry, seq_len: (linear, {"factor": entry.need("factor")}),
        title="Position interpolation",
        vectors={"linear": ("Position interpolation.", {"factor": 4.0})},
    ),
)
