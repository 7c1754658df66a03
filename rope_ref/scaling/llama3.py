"""The scaling of Llama 3.1 and later."""

from rope_ref.checks import check_count, check_factor, check_positive
from rope_ref.frequencies import inverse_frequencies
from rope_ref.scaling.base import Method, Scaling, blend
from rope_ref.scaling.by_parts import rotation_ramp

__all__ = ["llama3"]


def llama3(rotary_dim, base=10000.0, *, factor, low_freq_factor=1.0, high_freq_factor=4.0, original_length):
    r"""Keep short waves, slow long ones by the factor, and blend between: the scaling of Llama 3.1 and later.

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even.
    base : float, optional
        Base b, positive; 500000 in Llama 3.
    factor : float
        Factor s, at least 1: 8 in Llama 3.1, 32 in 3.2.
    low_freq_factor, high_freq_factor : float, optional
        Turns in L tokens up to which a pair is slowed by s, and from which it keeps its speed.
    original_length : int
        Length L that the model was trained on, in tokens: 8192 in Llama 3.

    Returns
    -------
    Scaling
        :math:`(1 - t_i) \, \theta_i / s + t_i \, \theta_i` with :math:`t_i = (L \theta_i / 2 \pi - low) / (high - low)`
        held between 0 and 1 [1]_.

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not a positive even integer, `base` not positive, `factor` below 1, `original_length` not a
        positive integer, or `high_freq_factor` below `low_freq_factor`.

    Notes
    -----
    This is `ntk_by_parts` with the ramp in rotations, with other limits. The original code tells three cases apart;
    holding t between 0 and 1 gives the same numbers. With equal limits it is a step: t is 1 above them, 0 elsewhere.

    References
    ----------
    .. [1] A. Grattafiori et al., "The Llama 3 Herd of Models", arXiv:2407.21783; code at meta-llama/llama-models.

    Examples
    --------
    >>> llama3(4, 500000.0, factor=8, original_length=8192).inv_freq.round(6)
    array([1.00e+00, 5.25e-04])
    """
    factor, length = check_factor(factor), check_count(original_length, "original_length")
    low = check_positive(low_freq_factor, "low_freq_factor")
    high = check_positive(high_freq_factor, "high_freq_factor")
    if high < low:
        raise ValueError(f"high_freq_factor must be at least low_freq_factor, got {high} and low_freq_factor {low}")
    own = inverse_frequencies(rotary_dim, base)
    return Scaling(blend(own / factor, own, rotation_ramp(own, length, high, low)))


KEYS = ("factor", "low_freq_factor", "high_freq_factor")


def read(entry, seq_len):
    """Read the scaling of Llama 3.1."""
    return llama3, {key: entry.need(key) for key in KEYS} | {"original_length": entry.original_length()}


LIMITS = {"factor": 32.0, "original_length": 8192, "low_freq_factor": 2.0, "high_freq_factor": 16.0}
METHODS = (
    Method(
        llama3,
        "llama3",
        keys=KEYS,
        read=read,
        title="Llama 3",
        suspects=({}, {"low_freq_factor": 1.0, "high_freq_factor": 1.0}),
        vectors={
            "llama3": ("Llama 3.1.", {"factor": 8.0, "original_length": 8192}, {"head_dim": 64, "base": 500000.0}),
            "llama3_limits": ("Llama 3.2 with other limits.", LIMITS, {"base": 500000.0}),
        },
    ),
)
