"""Numbers of 50 digits, and the speeds of every scaling method in them: one function a method, of the same name."""

import decimal

import numpy as np

try:
    import mpmath
except ModuleNotFoundError as error:
    if error.name != "mpmath":
        raise
    message = "vectors need mpmath; it comes with the extra: pip install 'rope_ref[test]'"
    raise ModuleNotFoundError(message, name=error.name) from None

__all__ = []

MP = mpmath.ctx_mp.MPContext()  # of its own: the reader's settings of mpmath stay as they are
MP.dps = 50
FOUR_DIGITS = decimal.Context(prec=4, rounding=decimal.ROUND_CEILING)
FORMATS = {  # stored bits of the mantissa, exponent of the smallest normal number
    "float64": (52, -1022),
    "float32": (23, -126),
    "float16": (10, -14),
    "bfloat16": (7, -126),
}

# Arrays of objects, each a number of 50 digits -----------------------------------------------------------------------


def each(function):
    """Make a function of one number a function of arrays of them."""
    return np.frompyfunc(function, 1, 1)


cosine, sine, root = each(MP.cos), each(MP.sin), each(MP.sqrt)


def exact(numbers):
    """Take float64 or whole numbers as they are."""
    return each(lambda number: MP.mpf(float(number)))(numbers)


def nearest(numbers):
    """Round to float64, once."""
    return np.array(each(lambda number: float(MP.mpf(number, prec=53, rounding="n")))(numbers), np.float64)


def rounded_up(numbers):
    """Round up to four digits, so that a bound is short to write."""
    return each(lambda number: float(FOUR_DIGITS.create_decimal_from_float(number)))(nearest(numbers)).astype(
        np.float64
    )


def half_unit(numbers, dtype):
    """Give half the distance between neighbours of a dtype, where the numbers lie."""
    bits, smallest = FORMATS[dtype]
    return each(lambda number: MP.mpf(2) ** (max(MP.frexp(number)[1] - 1, smallest) - bits - 1))(numbers)


def allowed_error(y, lengths, angles, dtype):
    """Say how far a result may be from y: as far as `apply_rope` promises, and half a unit since y is rounded too."""
    if dtype == "float64":
        allowed = lengths * (5 + abs(angles)) * MP.mpf(2) ** -53
    else:
        allowed = lengths * MP.mpf("3.4") * MP.mpf(2) ** -24
    if dtype in ("float16", "bfloat16"):
        allowed = allowed + half_unit(abs(y) + allowed, dtype)
    return allowed + half_unit(y, "float64")


# Speeds: each method gives them for (width, base, options), with the attention and the softmax factor ---------------


def ladder(width, base):
    """List base ** (-2 i / width)."""
    return [MP.mpf(base) ** (-MP.mpf(2 * i) / width) for i in range(width // 2)]


def plain(width, base):
    """Keep the speeds."""
    return ladder(width, base), 1, 1


def linear(width, base, factor):
    """Divide every speed by the factor."""
    return [speed / factor for speed in ladder(width, base)], 1, 1


def ntk(width, base, factor):
    """Slow each pair by one ratio more than the pair before, and so the last one by the factor."""
    last = MP.mpf(width) / 2 - 1
    return [speed / MP.mpf(factor) ** (i / last) for i, speed in enumerate(ladder(width, base))], 1, 1


def dynamic_ntk(width, base, factor, original_length, seq_len):
    """Do as `ntk` with a factor that is 1 up to the original length and grows from there on."""
    return ntk(width, base, 1 + factor * max(0, MP.mpf(seq_len) / original_length - 1))


def share(value):
    """Hold a share between 0 and 1."""
    return min(max(value, MP.mpf(0)), MP.mpf(1))


def index_shares(width, base, length, fast, slow, truncate=True):
    """Give what each pair keeps where this falls evenly from pair to pair; `fast` turns in `length` keep all."""
    begin, end = (MP.mpf(width) / 2 * MP.log(length / (2 * MP.pi * turns), base) for turns in (fast, slow))
    if truncate:
        begin, end = MP.floor(begin), MP.ceil(end)
    begin, end = max(begin, 0), min(end, width - 1)
    return [share((end - i) / (end - begin)) for i in range(width // 2)]


def turn_shares(speeds, length, fast, slow):
    """Give what each pair keeps where this falls evenly with its turns in `length` tokens."""
    return [share((length * speed / (2 * MP.pi) - slow) / (fast - slow)) for speed in speeds]


def mixed(kept, others, shares):
    """Mix speeds: a share of the ones kept, the rest of the others."""
    return [b + (a - b) * part for a, b, part in zip(kept, others, shares, strict=True)]


def ntk_by_parts(
    width, base, factor, original_length, beta_fast=32, beta_slow=1, truncate=True, extrapolation_factor=1, ramp="index"
):
    """Keep fast pairs, divide slow ones by the factor, mix between."""
    own = ladder(width, base)
    if ramp == "index":
        shares = index_shares(width, base, original_length, beta_fast, beta_slow, truncate)
    else:
        shares = turn_shares(own, original_length, beta_fast, beta_slow)
    shares = [part * MP.mpf(extrapolation_factor) for part in shares]
    return mixed(own, linear(width, base, factor)[0], shares), 1, 1


def yarn(width, base, factor, mscale=None, mscale_all_dim=None, attention_factor=None, **by_parts):
    """Add the length factor of YaRN, and DeepSeek's two weights."""
    own, over, under = (1 + MP.mpf(weight or 0) * MP.log(factor) / 10 for weight in (1, mscale, mscale_all_dim))
    length = over / under if mscale and mscale_all_dim else own
    return ntk_by_parts(width, base, factor, **by_parts)[0], attention_factor or length, under**2


def ntk_by_parts_v1(width, base, factor, original_length, ntk_factor=1, extrapolation_factor=1):
    """Mix `linear`, `ntk` and the own speeds by two ramps."""
    first = index_shares(width, base, original_length, MP.mpf("1.25"), MP.mpf("0.75"))
    second = index_shares(width, base, original_length, 16, 2)
    slow = mixed(ntk(width, base, factor)[0], linear(width, base, factor)[0], [part * ntk_factor for part in first])
    return mixed(ladder(width, base), slow, [part * extrapolation_factor for part in second]), 1, 1


def llama3(width, base, factor, original_length, low_freq_factor=1, high_freq_factor=4):
    """Tell three kinds of waves apart, as the released code does."""
    speeds = []
    for speed in ladder(width, base):
        turns = original_length / (2 * MP.pi / speed)
        if turns > high_freq_factor:
            speeds.append(speed)
        elif turns < low_freq_factor:
            speeds.append(speed / factor)
        else:
            smooth = (turns - low_freq_factor) / (high_freq_factor - low_freq_factor)
            speeds.append((1 - smooth) * speed / factor + smooth * speed)
    return speeds, 1, 1


def longrope(width, base, short_factor, long_factor, original_length, seq_len, factor=1):
    """Divide each speed by a number of its own, from one of two lists."""
    divisors = short_factor if seq_len <= original_length else long_factor
    speeds = [speed / MP.mpf(divisor) for speed, divisor in zip(ladder(width, base), divisors, strict=True)]
    return speeds, root(1 + MP.log(factor, original_length)), 1


def proportional(width, base, factor=1, partial_rotary_factor=1):
    """Turn the first pairs of a whole head, and leave the others still."""
    turning = int(partial_rotary_factor * (width // 2))
    return [speed / factor if i < turning else MP.mpf(0) for i, speed in enumerate(ladder(width, base))], 1, 1


def xpos_scale(position_ids, width, role, scale_base, center):
    """Give the length factor of xPos, of a query or of a key, for each position and pair."""
    zeta = np.array([(MP.mpf(2 * i) / width + MP.mpf("0.4")) / MP.mpf("1.4") for i in range(width // 2)], object)
    exponent = (exact(position_ids) - center) / scale_base
    return zeta ** (exponent if role == "query" else -exponent)[..., None]
