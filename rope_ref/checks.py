"""The ground floor: what a number or an array must be, one meaning a name.

Every function returns its value in the form that is used, or raises a TypeError or a ValueError in the words
"<name> must <need>, got <value>".
"""

import numbers
import operator

import numpy as np

__all__ = []

# One number ----------------------------------------------------------------------------------------------------------


def check_integer(value, name):
    """Return `value` as an int, or raise: a bool is none."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None


def check_count(value, name):
    """Return `value` as an int, or raise: it must be a positive integer that float64 holds exactly."""
    count = check_integer(value, name)
    if count <= 0:
        raise ValueError(f"{name} must be positive, got {count}")
    if count > 2**53:
        raise ValueError(f"{name} must be at most 2**53, up to which float64 is exact, got {count}")
    return count


def check_width(width, name="rotary_dim"):
    """Return `width` as an int, or raise: features come in pairs, so it must be a positive even integer."""
    width = check_count(width, name)
    if width % 2:
        raise ValueError(f"{name} must be even, got {width}")
    return width


def check_rotary_dim(rotary_dim, head_dim):
    """Return the width to turn in a head of `head_dim` features; None means the whole head."""
    if rotary_dim is None:
        return check_width(head_dim, "head_dim")
    rotary_dim = check_width(rotary_dim)
    if rotary_dim > head_dim:
        raise ValueError(f"rotary_dim must be at most head_dim, got rotary_dim {rotary_dim} and head_dim {head_dim}")
    return rotary_dim


def check_axis(axis, ndim):
    """Return `axis` as an int, or raise: it must number one of `ndim` axes, from the front or from the back."""
    number = check_integer(axis, "axis")
    if not -ndim <= number < ndim:
        raise ValueError(f"axis must number one of the {ndim} axes of weight, got {number}")
    return number


def check_positive(value, name):
    """Return `value` as a float, or raise: it must be one positive finite number."""
    if not isinstance(value, numbers.Real) or isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:  # an integer beyond float64
        number = float("inf")
    if not 0 < number < float("inf"):
        raise ValueError(f"{name} must be positive and finite in float64, got {value!r}")
    return number


def check_factor(factor, name="factor"):
    """Return `factor` as a float, or raise: it must be at least 1, since below 1 the context would shrink."""
    factor = check_positive(factor, name)
    if factor < 1:
        raise ValueError(f"{name} must be at least 1, got {factor}")
    return factor


def check_weight(value, name):
    """Return `value` as a float, or raise: it must be 0 or a positive number."""
    is_zero = isinstance(value, (int, float)) and not isinstance(value, bool) and value == 0
    return 0.0 if is_zero else check_positive(value, name)


def check_share(value, name):
    """Return `value` as a float, or raise: it must lie between 0 and 1, both included."""
    value = check_weight(value, name)
    if value > 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value}")
    return value


def check_fraction(value, name):
    """Return `value` as a float, or raise: it must be above 0 and at most 1."""
    value = check_positive(value, name)
    if value > 1:
        raise ValueError(f"{name} must be at most 1, got {value}")
    return value


# One choice ----------------------------------------------------------------------------------------------------------


def check_choice(value, choices, name):
    """Return `value`, or raise a ValueError that lists the choices."""
    if not isinstance(value, str) or value not in choices:
        *others, last = (repr(choice) for choice in choices)
        raise ValueError(f"{name} must be {', '.join(others)} or {last}, got {value!r}")
    return value


def check_bool(value, name, meaning="True or False"):
    """Return `value`, or raise: it must be True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be {meaning}, got {value!r}")
    return value


def check_rng(rng):
    """Return `rng`, or raise: random numbers come from a generator that the caller seeds."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator, got {rng!r}")
    return rng


# Arrays --------------------------------------------------------------------------------------------------------------


def as_array(values, name="x"):
    """Return `values` as a plain array, or raise: every row must have one length, and no entry may be masked."""
    if isinstance(values, np.ndarray) and hasattr(values, "mask"):
        raise TypeError(f"{name} must be a plain array, got a masked one, whose mask would be lost")
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be an array, or lists that make one, got rows of several lengths") from None


def as_real(values, name):
    """Return `values` as float64, or raise: they must be real, finite and, if integers, exact in float64."""
    values = as_array(values, name)
    if values.dtype.kind not in "iuf" and values.dtype.name != "bfloat16":
        raise TypeError(f"{name} must hold real numbers, got dtype {values.dtype}")
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, refused below
        exact = values.astype(np.float64)
    if not np.isfinite(exact).all():
        raise ValueError(f"{name} must be finite, got {exact[~np.isfinite(exact)].flat[0]}")
    if values.dtype.kind in "iu" and values.size:
        largest = max(int(values.max()), int(values.min()), key=abs)  # as integers: 2**53 + 1 rounds to 2**53
        if abs(largest) > 2**53:
            raise ValueError(f"{name} must be at most 2**53, up to which float64 is exact, got {largest}")
    return exact


def as_whole(values, name):
    """Return `values` as int64, or raise: they must be integers that float64 holds exactly."""
    values = as_array(values, name)
    if values.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, got dtype {values.dtype}")
    as_real(values, name)
    return values.astype(np.int64)


def as_inv_freq(inv_freq, name="inv_freq"):
    """Return `inv_freq` as float64 of shape (pairs,), or raise."""
    inv_freq = as_real(inv_freq, name)
    if inv_freq.ndim != 1 or not inv_freq.size:
        raise ValueError(f"{name} must have shape (pairs,) with at least one pair, got {inv_freq.shape}")
    return inv_freq


def as_features(x, name="x"):
    """Return `x` as an array, or raise: its last axis holds the features."""
    x = as_array(x, name)
    if x.ndim == 0:
        raise ValueError(f"{name} must have at least one axis, the features, got a scalar")
    return x
