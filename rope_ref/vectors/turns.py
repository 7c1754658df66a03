"""The turn itself, from 50 digits: which features form a pair, which axis turns it, and what comes out."""

import itertools

import numpy as np

from rope_ref.vectors import exact as methods
from rope_ref.vectors.exact import FORMATS, MP, allowed_error, cosine, exact, ladder, nearest, root, rounded_up, sine

__all__ = []


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
    method, options = getattr(methods, parameters["scaling"]), parameters["options"]
    speeds, *factors = method(parameters["rotary_dim"], parameters["base"], **options)
    axis = [0] * len(speeds)
    if "sections" in parameters:
        time, height, width = parameters["sections"]
        axis = [0] * time + [1] * height + [2] * width
        if parameters["interleaved_sections"]:
            axis = [i % 3 if i < 3 * (time, height, width)[i % 3] else 0 for i in range(len(speeds))]
    return speeds, axis, *factors


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
