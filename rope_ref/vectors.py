r"""Inputs and exact outputs for the tests of other programs: what the command `vectors` writes.

Nothing here computes with the rest of the package. Speeds, positions and turns are worked out anew with 50 digits, by
another formula where there is one, so that the files and the library check each other. What a file holds stands in
`FIELDS`.
"""

import decimal
import io
import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np

try:
    import mpmath
except ModuleNotFoundError as error:
    if error.name != "mpmath":
        raise
    message = "vectors need mpmath; it comes with the extra: pip install 'rope_ref[test]'"
    raise ModuleNotFoundError(message, name=error.name) from None

from rope_ref.files import write_file

__all__ = ["CASES", "FIELDS", "SCHEMA", "build", "write_vectors"]

SCHEMA = 1  # goes up when a field changes its name or its meaning, not when fields or cases are added
MP = mpmath.ctx_mp.MPContext()  # of its own: the reader's settings of mpmath stay as they are
MP.dps = 50
FOUR_DIGITS = decimal.Context(prec=4, rounding=decimal.ROUND_CEILING)
FORMATS = {  # stored bits of the mantissa, exponent of the smallest normal number
    "float64": (52, -1022),
    "float32": (23, -126),
    "float16": (10, -14),
    "bfloat16": (7, -126),
}

FIELDS = {
    "schema": "version of this description; refuse a number you do not know",
    "name": "of the file, and of the folder that holds its arrays as .npy",
    "about": "what the case is for",
    "pairing": "'interleaved', 'half', 'half by axis', or 'interleaved in, half out'",
    "turn": "'forward'; 'inverse', which undoes it; or 'gradient', with respect to the input of a forward turn",
    "parameters": "what the speeds and positions were made from, for a program that makes them itself",
    "attention_factor": "length factor a of every turned pair; 1 without one",
    "softmax_factor": "what the scale of the scores is multiplied by besides; not in y",
    "pair_in": "for each pair the two features of x it is read from",
    "pair_out": "for each pair the two features of y it is written to; all other features are copied from x",
    "axis": "for each pair the axis of position_ids that turns it; 0 where there is one axis",
    "arrays": "name: {dtype, shape, data}; data is flat, the last axis running fastest; .npy files hold the same",
    "inv_freq": "(pairs,) radians per position, rounded once to float64; all below is exact for these numbers",
    "position_ids": "(batch, seq_len), or (batch, seq_len, axes) where tokens have several coordinates",
    "scale": "(batch, seq_len, pairs) length factor of xPos; only in its files",
    "cos": "(batch, seq_len, pairs) cosine of each angle, times all length factors, rounded once to float64",
    "sin": "(batch, seq_len, pairs) sine likewise, negative of it where the turn is 'inverse' or 'gradient'",
    "x": "(batch, heads, seq_len, head_dim) input; each number is exact in bfloat16 and float16 too",
    "y": "(batch, heads, seq_len, head_dim) output from 50 digits, rounded once to float64",
    "bound_float64": "shape of y; how far from y each feature may be that was computed in float64, inclusive",
    "bound_float32": "the same for x and y in float32, with cos and sin from angles in float64",
    "bound_float16": "the same for x and y in float16, turned in float32",
    "bound_bfloat16": "the same for x and y in bfloat16, turned in float32",
}

# Numbers: arrays of objects, each a number of 50 digits -------------------------------------------------------------


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


METHODS = {
    method.__name__: method
    for method in (
        plain,
        linear,
        ntk,
        dynamic_ntk,
        ntk_by_parts,
        ntk_by_parts_v1,
        yarn,
        llama3,
        longrope,
        proportional,
    )
}

# Which features, which axis ------------------------------------------------------------------------------------------


def numbered(width, pairing, start=0):
    """Number the two features of each pair, from `start` on."""
    if pairing == "interleaved":
        return [(start + 2 * i, start + 2 * i + 1) for i in range(width // 2)]
    return [(start + i, start + i + width // 2) for i in range(width // 2)]


def pairs_of(pairing, parameters):
    """Number the features that each pair is read from, and those it is written to."""
    width, start = parameters["rotary_dim"], parameters.get("first_feature", 0)
    if pairing == "interleaved in, half out":
        return numbered(width, "interleaved", start), numbered(width, "half", start)
    if pairing == "half by axis":
        widths = parameters["rotary_dims"]
        starts = itertools.accumulate(widths[:-1], initial=start)
        pairs = [pair for each, first in zip(widths, starts, strict=True) for pair in numbered(each, "half", first)]
    else:
        pairs = numbered(width, pairing, start)
    return pairs, pairs


def speeds_of(parameters):
    """List speed and axis of every pair, and the two factors."""
    if "rotary_dims" in parameters:  # a ladder for each axis
        ladders = [ladder(*each) for each in zip(parameters["rotary_dims"], parameters["bases"], strict=True)]
        rungs = [(step, axis, speed) for axis, each in enumerate(ladders) for step, speed in enumerate(each)]
        if parameters["alternating"]:
            rungs.sort(key=lambda rung: rung[:2])  # all first pairs, then all second pairs, ...
        return [speed for *_, speed in rungs], [axis for _, axis, _ in rungs], 1, 1
    method, options = METHODS[parameters["scaling"]], parameters["options"]
    speeds, *factors = method(parameters["rotary_dim"], parameters["base"], **options)
    axis = [0] * len(speeds)
    if "sections" in parameters:
        time, height, width = parameters["sections"]
        axis = [0] * time + [1] * height + [2] * width
        if parameters["interleaved_sections"]:
            axis = [i % 3 if i < 3 * (time, height, width)[i % 3] else 0 for i in range(len(speeds))]
    return speeds, axis, *factors


def xpos_scale(position_ids, width, role, scale_base, center):
    """Give the length factor of xPos, of a query or of a key, for each position and pair."""
    zeta = np.array([(MP.mpf(2 * i) / width + MP.mpf("0.4")) / MP.mpf("1.4") for i in range(width // 2)], object)
    exponent = (exact(position_ids) - center) / scale_base
    return zeta ** (exponent if role == "query" else -exponent)[..., None]


# The cases -----------------------------------------------------------------------------------------------------------


def case(
    about,
    position_ids=(range(6),),
    *,
    heads=1,
    pairing="interleaved",
    turn="forward",
    head_dim=8,
    rotary_dim=None,
    base=10000.0,
    scaling="plain",
    options=None,
    **more,
):
    """Describe a case; `more` goes into its parameters."""
    parameters = {"head_dim": head_dim, "rotary_dim": rotary_dim or head_dim}
    parameters |= {"base": base, "scaling": scaling, "options": options or {}} | more
    return {
        "about": about,
        "position_ids": np.array(position_ids),
        "heads": heads,
        "pairing": pairing,
        "turn": turn,
        "parameters": parameters,
    }


def scaled(about, scaling, width=32, *, pairing="half", turn="forward", base=10000.0, **options):
    """Describe a case of scaled speeds: one head, positions near and far."""
    about, position_ids = f"Scaled speeds. {about}", [[37, 4095, 131072]]
    settings = {"pairing": pairing, "turn": turn, "base": base, "scaling": scaling, "options": options}
    return case(about, position_ids, head_dim=width, **settings)


def axial(about, position_ids, rotary_dims, bases, *, pairing="interleaved", alternating=False):
    """Describe a case of several axes, a ladder of speeds each."""
    described = case(f"Several axes. {about}", [position_ids], pairing=pairing, head_dim=sum(rotary_dims))
    ladders = {"rotary_dims": rotary_dims, "bases": bases, "alternating": alternating}
    widths = {key: described["parameters"][key] for key in ("head_dim", "rotary_dim")}
    return described | {"parameters": widths | ladders}


def mrope(about, position_ids, sections, segments, *, interleaved=False, **more):
    """Describe a case of M-RoPE: three axes that share one ladder."""
    more |= {"sections": sections, "interleaved_sections": interleaved, "segments": segments}
    return case(f"M-RoPE. {about}", [position_ids], pairing="half", head_dim=2 * sum(sections), **more)


PARTS = {"factor": 8.0, "original_length": 2048}
GPT_OSS = {"factor": 32.0, "original_length": 4096, "truncate": False}
DEEPSEEK = {"factor": 40.0, "original_length": 4096}
DYNAMIC = {"factor": 2.0, "original_length": 4096}
LISTS = {"short_factor": [1 + i / 16 for i in range(16)], "long_factor": [1 + i * i / 8 for i in range(16)]}
LONGROPE = {**LISTS, "factor": 32.0, "original_length": 4096}
XPOS = {"position_ids": [[0, 1, 100, 1023]], "heads": 1}
# Frame, row and column: a text token before a video, and three of its 13 x 30 x 45 patches.
VIDEO = [[0, 0, 0], [0, 0, 44], [7, 14, 23], [12, 29, 44]]
# Patches (0, 0, 0), (3, 8, 5) and (12, 29, 39) of 13 x 30 x 40, put on columns 2 to 42 of a grid of 30 x 45.
COLUMNS = [float(2 + (Fraction(42 * 39, 40) - 2) * Fraction(column, 39)) for column in (0, 5, 39)]
CROPPED = [[0, 0, COLUMNS[0]], [3, 8, COLUMNS[1]], [12, 29, COLUMNS[2]]]
IMAGE = [[row, column] for row in range(2) for column in range(3)]
TEXT_IMAGE_TEXT = [["text", 2], ["image", [1, 2, 2]], ["text", 2]]
IMAGE_IDS = [[0] * 3, [1] * 3, [2, 2, 2], [2, 2, 3], [2, 3, 2], [2, 3, 3], [4] * 3, [5] * 3]
TEXT_VIDEO_TEXT = [["text", 1], ["video", [3, 1, 2], 2], ["text", 1]]
VIDEO_IDS = [[0] * 3, [1, 1, 1], [1, 1, 2], [3, 1, 1], [3, 1, 2], [5, 1, 1], [5, 1, 2]]

CASES = {
    "interleaved": case("Pairs (2i, 2i + 1) over the whole head, as in the paper.", heads=2),
    "half": case(
        "Pairs (i, i + d/2) over the whole head, as in GPT-NeoX and transformers' Llama.", heads=2, pairing="half"
    ),
    "interleaved_partial": case("The first 6 of 10 features turn.", head_dim=10, rotary_dim=6),
    "half_partial": case(
        "The first 6 of 10 features turn, pairs (i, i + 3).", head_dim=10, rotary_dim=6, pairing="half"
    ),
    "interleaved_block": case("Features 2 to 5 of 8 turn.", rotary_dim=4, first_feature=2),
    "half_one_pair": case("A head of one pair.", head_dim=2, pairing="half"),
    "half_wide": case("A head of 128, base 500000.", [[1000, 8191]], pairing="half", head_dim=128, base=500000.0),
    "interleaved_in_half_out": case(
        "Pairs read as (2i, 2i + 1), written as (i, i + d/2), as in transformers' DeepSeek-V3.",
        pairing="interleaved in, half out",
    ),
    "long_positions": case(
        "Positions that bfloat16 and float16 merge, and 1,000,000.",
        [[255, 257, 2049, 4097, 65537, 1_000_000]],
        heads=2,
        head_dim=16,
    ),
    "half_very_long_positions": case(
        "Positions up to 2**26; float32 merges 2**24 + 1 with its neighbour.",
        [[1_048_575, 2**24 - 1, 2**24 + 1, 2**26 - 1, 2**26]],
        pairing="half",
        head_dim=16,
    ),
    "pi_positions": case("Positions next to multiples of pi / 2.", [[11, 22, 355, 710, 103993, 312689]]),
    "half_negative_positions": case("Negative positions.", [[-1, -2, -710, -4097, -1_000_000]], pairing="half"),
    "half_left_padding": case(
        "The first row is padded at its left; padding has position 0.",
        [[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]],
        pairing="half",
        attention_mask=[[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]],
    ),
    "half_right_padding": case(
        "The first row is padded at its right; padding has position 0.",
        [[0, 1, 2, 0, 0], [0, 1, 2, 3, 4]],
        pairing="half",
        attention_mask=[[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]],
    ),
    "half_packed": case(
        "Three documents in one row.", [[0, 1, 2, 0, 0, 1, 2]], pairing="half", document_lengths=[3, 1, 3]
    ),
    "interleaved_offsets": case(
        "Each sequence starts elsewhere; batch, heads and seq_len are all 3.",
        [[0, 1, 2], [7, 8, 9], [1000, 1001, 1002]],
        heads=3,
        head_dim=6,
    ),
    "half_decode": case("One new token for each of two sequences.", [[250], [7]], heads=2, pairing="half"),
    "linear": scaled("Position interpolation.", "linear", factor=4.0),
    "ntk": scaled("NTK-aware.", "ntk", factor=8.0),
    "dynamic_ntk_short": scaled("Dynamic NTK at the original length.", "dynamic_ntk", **DYNAMIC, seq_len=4096),
    "dynamic_ntk_long": scaled("Dynamic NTK beyond it.", "dynamic_ntk", **DYNAMIC, seq_len=131073),
    "ntk_by_parts": scaled("NTK-by-parts as released, the ramp in pair numbers.", "ntk_by_parts", **PARTS),
    "ntk_by_parts_rotations": scaled(
        "NTK-by-parts as published, the ramp in rotations.", "ntk_by_parts", **PARTS, ramp="rotations"
    ),
    "ntk_by_parts_limits": scaled(
        "NTK-by-parts with other limits.",
        "ntk_by_parts",
        **PARTS,
        beta_fast=16.0,
        beta_slow=2.0,
        extrapolation_factor=0.5,
    ),
    "ntk_by_parts_v1": scaled("The first release of NTK-by-parts.", "ntk_by_parts_v1", 64, **PARTS),
    "yarn": scaled("YaRN as released.", "yarn", **PARTS),
    "yarn_interleaved": scaled("YaRN as released, pairs (2i, 2i + 1).", "yarn", pairing="interleaved", **PARTS),
    "yarn_rotations": scaled("YaRN as published.", "yarn", **PARTS, ramp="rotations"),
    "yarn_gpt_oss": scaled(
        "YaRN with a ramp between fractions of pairs, as in gpt-oss.", "yarn", 64, base=150000.0, **GPT_OSS
    ),
    "yarn_deepseek": scaled(
        "YaRN with equal weights, as in DeepSeek-V3: no length factor, but a softmax factor.",
        "yarn",
        64,
        pairing="interleaved",
        **DEEPSEEK,
        mscale=1.0,
        mscale_all_dim=1.0,
    ),
    "yarn_weights": scaled("YaRN with two weights.", "yarn", **DEEPSEEK, mscale=1.0, mscale_all_dim=0.5),
    "yarn_given_length": scaled("YaRN with its length factor given.", "yarn", **PARTS, attention_factor=1.25),
    "llama3": scaled("Llama 3.1.", "llama3", 64, base=500000.0, factor=8.0, original_length=8192),
    "llama3_limits": scaled(
        "Llama 3.2 with other limits.",
        "llama3",
        base=500000.0,
        factor=32.0,
        original_length=8192,
        low_freq_factor=2.0,
        high_freq_factor=16.0,
    ),
    "longrope_short": scaled("LongRoPE at the original length.", "longrope", **LONGROPE, seq_len=4096),
    "longrope_long": scaled("LongRoPE beyond it.", "longrope", **LONGROPE, seq_len=131073),
    "proportional": scaled("A quarter of the pairs turns.", "proportional", base=1e6, partial_rotary_factor=0.25),
    "half_inverse": case("Undoes a turn by the opposite angle.", heads=2, pairing="half", turn="inverse"),
    "yarn_inverse": scaled("Undoes YaRN: the opposite angle, and 1 / a.", "yarn", turn="inverse", **PARTS),
    "yarn_gradient": scaled("Gradient of YaRN: the opposite angle, and a.", "yarn", turn="gradient", **PARTS),
    "xpos_query": case("A query of xPos.", **XPOS, xpos={"role": "query", "scale_base": 512, "center": 0}),
    "xpos_key": case("A key of xPos.", **XPOS, xpos={"role": "key", "scale_base": 512, "center": 0}),
    "xpos_half": case(
        "A key of xPos in half-split pairs, not scaled at position 512.",
        **XPOS,
        pairing="half",
        xpos={"role": "key", "scale_base": 512, "center": 512},
    ),
    "cogvideox": axial("CogVideoX: a text token and three patches.", VIDEO, [16, 24, 24], [10000.0] * 3),
    "cogvideox_cropped": axial(
        "CogVideoX at another size: 30 x 40 patches in the middle of 30 x 45.", CROPPED, [16, 24, 24], [10000.0] * 3
    ),
    "three_bases": axial(
        "A base for each axis, pairs over the whole head, as in Cosmos.",
        [[0, 0, 0], [1, 2, 3], [7, 5, 6]],
        [8, 6, 6],
        [20000.0, 10000.0, 40000.0],
        pairing="half",
    ),
    "vision_half": axial("The vision tower of Qwen2-VL.", IMAGE, [8, 8], [10000.0] * 2, pairing="half"),
    "vision_half_by_axis": axial(
        "The vision tower of Gemma 4: pairs inside the features of each axis.",
        IMAGE,
        [8, 8],
        [100.0] * 2,
        pairing="half by axis",
    ),
    "vision_alternating": axial("Lumina: rows and columns in turn.", IMAGE, [8, 8], [10000.0] * 2, alternating=True),
    "mrope": mrope(
        "Qwen2-VL: three blocks of pairs. Text, an image, text.", IMAGE_IDS, [2, 3, 3], TEXT_IMAGE_TEXT, base=1e6
    ),
    "mrope_video": mrope(
        "A video, two positions a frame; text goes on after its largest position.",
        [*VIDEO_IDS, [6] * 3],
        [2, 3, 3],
        TEXT_VIDEO_TEXT,
        base=1e6,
        after_video="largest",
    ),
    "mrope_interleaved": mrope(
        "Qwen3-VL: pairs in turn. After the video text goes on after its rows and columns.",
        [*VIDEO_IDS, [3] * 3],
        [4, 2, 2],
        TEXT_VIDEO_TEXT,
        interleaved=True,
        base=5e6,
        after_video="grid",
    ),
    "mrope_yarn": mrope("Scaled speeds.", IMAGE_IDS, [2, 3, 3], TEXT_IMAGE_TEXT, scaling="yarn", options=PARTS),
}

# Building and writing ------------------------------------------------------------------------------------------------


def simple_numbers(shape):
    """Fill an array with odd multiples of 1/32 between -4 and 4, seven bits each, 128 in a row all different."""
    k = np.arange(np.prod(shape))
    return ((2 * ((37 * k + 11) % 128) - 127) / 32).reshape(shape)


def angles_and_lengths(arrays, axis, attention_factor, turn):
    """Give angle and length factor of each token and pair, exact for the float64 numbers in the arrays."""
    position_ids = arrays["position_ids"]
    by_axis = position_ids.reshape(*position_ids.shape[:2], -1)
    angles = exact(by_axis[..., axis]) * exact(arrays["inv_freq"])
    lengths = MP.mpf(attention_factor) * exact(arrays.get("scale", np.ones(angles.shape)))
    return angles if turn == "forward" else -angles, 1 / lengths if turn == "inverse" else lengths


def turned(x, angles, lengths, pair_in, pair_out):
    """Turn each pair: table, input, output, and for each dtype how far a result may be from the output."""
    cos, sin = lengths * cosine(angles), lengths * sine(angles)
    arrays = {"cos": nearest(cos), "sin": nearest(sin), "x": x}
    cos, sin, angles, lengths = (table[:, None] for table in (cos, sin, angles, lengths))  # one for all heads
    first, second = (exact(x[..., features]) for features in np.transpose(pair_in))
    places = np.transpose(pair_out)
    y = exact(x)
    y[..., places[0]], y[..., places[1]] = first * cos - second * sin, first * sin + second * cos
    arrays["y"] = nearest(y)
    lengths = lengths * root(first * first + second * second)
    for dtype in FORMATS:
        bound = arrays[f"bound_{dtype}"] = np.zeros(x.shape)  # 0 for what is copied
        for place in places:
            bound[..., place] = rounded_up(allowed_error(y[..., place], lengths, angles, dtype))
    return arrays


def build(name):
    r"""Work out one case.

    Parameters
    ----------
    name : str
        One of `CASES`.

    Returns
    -------
    dict
        What the file holds, as `FIELDS` says, with ``arrays`` a dict of float64 and int64 arrays. Pair i of the token
        at position m turns by :math:`m \theta_i`, :math:`\theta_i` the float64 number in ``inv_freq``; nothing is
        rounded before ``cos``, ``sin`` and ``y`` are. The bounds are those of `rope_ref.apply_rope`, plus half a unit
        of float64 for the rounding of ``y``, written with four digits and rounded up.

    Raises
    ------
    KeyError
        If there is no such case.

    Examples
    --------
    >>> arrays = build("half_one_pair")["arrays"]
    >>> arrays["x"][0, 0, 1], arrays["y"][0, 0, 1].round(4)
    (array([1.34375, 3.65625]), array([-2.3506,  3.1062]))
    """
    settings = CASES[name]
    parameters, position_ids, turn = settings["parameters"], settings["position_ids"], settings["turn"]
    speeds, axis, *factors = speeds_of(parameters)
    attention_factor, softmax_factor = nearest(factors).tolist()
    arrays = {"inv_freq": nearest(speeds), "position_ids": position_ids}
    if "xpos" in parameters:
        arrays["scale"] = nearest(xpos_scale(position_ids, parameters["rotary_dim"], **parameters["xpos"]))
    angles, lengths = angles_and_lengths(arrays, axis, attention_factor, turn)
    batch, seq_len = position_ids.shape[:2]
    x = simple_numbers((batch, settings["heads"], seq_len, parameters["head_dim"]))
    pair_in, pair_out = pairs_of(settings["pairing"], parameters)
    return {
        "schema": SCHEMA,
        "name": name,
        "about": settings["about"],
        "pairing": settings["pairing"],
        "turn": turn,
        "parameters": parameters,
        "attention_factor": attention_factor,
        "softmax_factor": softmax_factor,
        "pair_in": pair_in,
        "pair_out": pair_out,
        "axis": axis,
        "arrays": arrays | turned(x, angles, lengths, pair_in, pair_out),
    }


def as_json(value, depth=0):
    """Write JSON with one line for each entry, down to single arrays: the same bytes on every machine."""
    if depth == 2 or not isinstance(value, dict):
        return json.dumps(value)
    space = "\n" + " " * depth
    return (
        "{" + ",".join(f"{space} {json.dumps(key)}: {as_json(v, depth + 1)}" for key, v in value.items()) + space + "}"
    )


def as_npy(array):
    """Write an array in NumPy's format, the last axis running fastest, in the byte order of most machines."""
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array, array.dtype.newbyteorder("<")), allow_pickle=False)
    return buffer.getvalue()


def write_vectors(folder):
    """Write all cases, and at last the list of them, ``index.json``.

    Parameters
    ----------
    folder : str or path
        Where to; it is made if it is missing, and files of these names are replaced.

    Yields
    ------
    Path
        Each JSON file, once it is in place: ``NAME.json``, after its arrays as ``NAME/ARRAY.npy``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     next(write_vectors(folder)).name
    'interleaved.json'
    """
    folder, listed = Path(folder), {}
    for name in CASES:
        content = build(name)
        arrays = content["arrays"]
        for key, array in arrays.items():
            write_file(folder / name / f"{key}.npy", as_npy(array))
        content["arrays"] = {
            key: {"dtype": array.dtype.name, "shape": array.shape, "data": array.ravel().tolist()}
            for key, array in arrays.items()
        }
        write_file(folder / f"{name}.json", (as_json(content) + "\n").encode())
        yield folder / f"{name}.json"
        listed[name] = {
            "about": content["about"],
            "pairing": content["pairing"],
            "turn": content["turn"],
            "scaling": content["parameters"].get("scaling", "plain"),
            "axes": max(content["axis"]) + 1,
            "shape": arrays["x"].shape,
        }
    write_file(folder / "index.json", (as_json({"schema": SCHEMA, "fields": FIELDS, "cases": listed}) + "\n").encode())
    yield folder / "index.json"
