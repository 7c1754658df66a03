"""Published solutions agree with the library, the figures and the printed numbers, at more settings than the text's."""

import itertools
import re
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import MP

from rope_course import figures
from rope_course.exercises import EXERCISES
from rope_course.exercises.entry import run
from rope_course.figures.comparison import four_terms
from rope_course.training import accuracy, new_head
from rope_course.training.fitting import stream
from rope_course.training.head import forward
from rope_course.training.tasks import draw
from rope_ref import (
    RotaryEmbedding,
    apply_rope,
    attention_scores,
    attention_weights,
    cos_sin,
    decay_curve,
    inverse_frequencies,
    permute_projection,
    relative_score,
    rotate_by_matrix,
    rotate_expanded,
    rotation_angles,
    rotation_matrix,
    to_half,
    wavelengths,
)
from rope_ref.absolute import sinusoidal
from rope_ref.decay import decay_bound
from rope_ref.faults import CHECKS, FAULTS, rotate_correctly
from rope_ref.faults.defects import INVARIANTS, finds_defect
from rope_ref.positions import axial_angles, axial_pairs, mrope_position_ids, video_grid, video_split
from rope_ref.scaling import (
    dynamic_ntk,
    first_new_position,
    linear,
    llama3,
    neighbour_distance,
    ntk,
    ntk_by_parts,
    ramp_bounds,
    share_seen,
    yarn,
)
from rope_ref.xpos import xpos_scales

BASES = (100.0, 10_000.0, 500_000.0)
SPEEDS = [inverse_frequencies(width, base) for width in (4, 64, 128) for base in BASES]


def rng(seed=0):
    """Draw the same numbers in every run."""
    return np.random.default_rng(seed)


def solution_of(name):
    """Return what the published solution makes: an answer, or the function."""
    each = EXERCISES[name]
    return run(each.solution, each.subject)


# Functions: the solution and a second function, at the same arguments ---------------------------------------------


class Same(NamedTuple):
    """A function that must agree with the solution, and the arguments at which both are asked."""

    truth: object
    settings: list
    atol: float = 1e-9


def coefficients(q1, q2, k1, k2):
    """Read A and B off the scores where the cosine is 1 and where the sine is."""
    return relative_score([q1, q2], [k1, k2], [0, 1], [np.pi / 2])


def by_matrix(x, angles):
    """Turn by the dense matrix."""
    return rotate_by_matrix(x, angles)


def first_return(inv_freq, within):
    """Look for the position by chords: a hand within an angle of its start is within 2 sin(angle / 2)."""
    apart = np.abs(np.exp(1j * np.multiply.outer(np.arange(1, 2001), inv_freq)) - 1)
    home = (apart < 2 * np.sin(within / 2)).all(axis=1)
    return 1 + int(home.argmax()) if home.any() else -1


def weights_by_pair(q):
    """Score each pair of the query with itself, the others left out."""
    alone = np.zeros((len(q) // 2, len(q)))
    for i, row in enumerate(alone):
        row[2 * i : 2 * i + 2] = q[2 * i : 2 * i + 2]
    return relative_score(alone, alone, 0, inverse_frequencies(len(q))) / (q @ q)


def one_step(theta):
    """Fit the matrix that carries each row of a sinusoidal table to the next."""
    pair = np.abs(inverse_frequencies(64) - theta).argmin()
    rows = sinusoidal(np.arange(3000), 64)[:, 2 * pair : 2 * pair + 2]
    return np.linalg.lstsq(rows[:-1], rows[1:], rcond=None)[0].T


def mixed_values(weights, v, position_ids, inv_freq):
    """Add up a(m, n) R(n - m) v(n), query by query."""
    turned = [rotate_by_matrix(v, rotation_angles(position_ids - m, inv_freq)) for m in position_ids]
    return np.stack([row @ each for row, each in zip(weights, turned, strict=True)])


def score_of_two_speeds(q, k, m, n, now, then):
    """Score by complex numbers, each angle from its own speeds."""
    product = (q[0::2] + 1j * q[1::2]) * (k[0::2] - 1j * k[1::2])
    return (product * np.exp(1j * (m * now - n * then))).sum().real


def place_in_clip(t, h, w):
    """Look the patch up in the list of all patches."""
    return np.flatnonzero((video_grid(13, 30, 45) == (t, h, w)).all(axis=1)).item()


def head_of_plain_values(q, k, v, position_ids, inv_freq):
    """Attend by scores of distances alone."""
    distances = position_ids[:, None] - position_ids
    scores = relative_score(q[:, None], k, distances, inv_freq) / np.sqrt(q.shape[-1])
    return attention_weights(scores) @ v


def partly_turned(x, position_ids, rotary_dim):
    """Turn the first features of a head by the library's own rule."""
    angles = rotation_angles(position_ids, inverse_frequencies(rotary_dim))
    return apply_rope(x, *cos_sin(angles), rotary_dim=rotary_dim)


def turned_by_matrix(x, position_ids):
    """Turn to positions by the dense matrix."""
    return rotate_by_matrix(x, rotation_angles(position_ids, inverse_frequencies(x.shape[-1])))


def counted_accuracy(answers, targets):
    """Count right answers one by one, over the last quarter."""
    quarter = range(targets.shape[1] - targets.shape[1] // 4, targets.shape[1])
    right = [a[m] == t[m] for a, t in zip(answers, targets, strict=True) for m in quarter if t[m] != -1]
    return np.mean(right)


def slowed_share(rotary_dim, base, length=4096):
    """Say how far YaRN slows each pair, from 0 to 1."""
    low, high = ramp_bounds(rotary_dim, base, original_length=length)
    return np.clip((np.arange(rotary_dim // 2) - low) / (high - low), 0, 1)


def scaled_speeds():
    """List speeds of training and speeds in use, with the trained length, for four methods."""
    widths, lengths, factors = (64, 80, 96, 128, 256), (200, 500, 513, 2048, 4096), (2, 3, 4, 5, 7, 8, 10, 16, 32)
    for width, length, factor in itertools.product(widths, lengths, factors):
        for scale in (linear, ntk, ntk_by_parts, llama3):
            more = {} if scale in (linear, ntk) else {"original_length": length}
            yield inverse_frequencies(width), scale(width, factor=factor, **more).inv_freq, length


TURNS = [  # x and angles
    (rng(width).standard_normal((*axes, width)), rotation_angles(np.arange(axes[-1]) * far, inverse_frequencies(width)))
    for width in (2, 4, 6, 64)
    for axes, far in (((5,), 1), ((2, 3), 7), ((2, 1, 4), 1001))
]
PLACED = [(x, np.arange(x.shape[-2]) * 37 + 5) for x, _ in TURNS]
HEADS = [(*rng(n).standard_normal((3, 5, 8)), n + np.arange(5), inverse_frequencies(8)) for n in (0, 3, 1000)]
PAIR = rng(1).standard_normal((2, 6, 8))

FUNCTIONS = {
    "coefficients": Same(coefficients, [tuple(row) for row in rng().uniform(-3, 3, (20, 4))]),
    "score_2d": Same(
        lambda q, k, m, n, theta: relative_score(q, k, m - n, [theta]),
        [(*rng(m).standard_normal((2, 2)), m, n, t) for m in (0, 3, 90) for n in (0, 7, 1000) for t in (0.01, 0.7, 1)],
    ),
    "turning_law": Same(
        lambda m, theta: rotation_angles(m, [theta])[0], [(m, t) for m in (0, 1, 17, 4096) for t in (1.0, 0.1, 1e-4)]
    ),
    "fair_demo": Same(
        lambda q, k, m, n, shift, theta: [relative_score(q[m], k[n], m - n, [theta])] * 2,
        [(*rng(2).standard_normal((2, 60, 2)), m, n, s, 0.3) for m in (0, 8) for n in (2, 31) for s in (0, 20, 500)],
    ),
    "real_part": Same(
        lambda q1, q2, k1, k2: np.array([1, -1]) * coefficients(q1, q2, k1, k2),  # A and -B of the derivation
        [tuple(row) for row in rng(3).uniform(-3, 3, (20, 4))],
    ),
    "matrix_form": Same(rotation_matrix, [(rng(pairs).uniform(-7, 7, pairs),) for pairs in (1, 2, 3, 32)]),
    "expanded_form": Same(by_matrix, TURNS),
    "complex_form": Same(by_matrix, TURNS),
    "clockwise_matrix": Same(by_matrix, TURNS),
    "mixed_tables": Same(by_matrix, TURNS),
    "lost_conjugate": Same(
        lambda q, k, m, n, inv_freq: relative_score(q, k, m - n, inv_freq),
        [(*rng(5).standard_normal((2, 2 * len(s))), m, n, s) for s in SPEEDS for m, n in ((0, 0), (5, 3), (9, 400))],
    ),
    "slowest_period": Same(
        lambda d, b: wavelengths(inverse_frequencies(d, b))[-1], [(d, b) for d in (2, 4, 64, 256) for b in BASES]
    ),
    "first_return": Same(
        first_return, [(inverse_frequencies(d, b), w) for d in (2, 4, 6) for b in BASES for w in (0.01, 0.1, 0.3, 0.8)]
    ),
    "mend_speeds": Same(inverse_frequencies, [(d, b) for d in (2, 6, 64, 256) for b in BASES]),
    "cosine_weights": Same(weights_by_pair, [(rng(d).standard_normal(d),) for d in (2, 4, 10, 64)]),
    "key_for": Same(
        lambda q, distance, inv_freq: rotate_by_matrix(q[None], [distance * inv_freq])[0],
        [(rng(6).standard_normal(2 * len(s)), r, s) for s in SPEEDS for r in (-3, 0, 37, 5000)],
    ),
    "partial_sums": Same(decay_bound, [(r, s) for s in SPEEDS for r in (0, 1, 10, 250, 30_950)]),
    "independent_draws": Same(  # mean 0 and spread root d, to within what 20,000 draws allow
        lambda distance, inv_freq, draws, seed: (0, np.sqrt(2 * len(inv_freq))),
        [(r, inverse_frequencies(d), 20_000, 8) for d in (8, 64) for r in (0, 10, 10_000)],
        atol=0.25,
    ),
    "one_matrix": Same(one_step, [(theta,) for theta in inverse_frequencies(64)[:16]]),
    "multiply_out": Same(
        four_terms, [(*rng(n).standard_normal((4, n)), *rng(n).standard_normal((2, n, 4))) for n in (2, 6, 64)]
    ),
    "relative_values": Same(
        mixed_values, [(rng(n).dirichlet(np.ones(5), 5), v, places, s) for n, (_, _, v, places, s) in enumerate(HEADS)]
    ),
    "mend_cache": Same(
        lambda keys, inv_freq: RotaryEmbedding(inv_freq).rotate(keys, np.arange(len(keys))),
        [(rng(n).standard_normal((n, 2 * len(s))), s) for s in SPEEDS for n in (1, 2, 9)],
    ),
    "turned_gradient": Same(
        lambda g1, g2, angle: rotate_expanded(np.array([[g1, g2]]), [[-angle]])[0],
        [tuple(row) for row in rng(9).uniform(-4, 4, (20, 3))],
    ),
    "fair_accuracy": Same(
        counted_accuracy, [(rng(n).integers(3, size=(7, n)), rng(n + 1).integers(-1, 3, (7, n))) for n in (4, 32, 100)]
    ),
    "keep_fast": Same(
        lambda inv_freq, length, factor: np.where(share_seen(inv_freq, length) == 1, inv_freq, inv_freq / factor),
        [(s, length, factor) for s in SPEEDS for length in (7, 32, 2048) for factor in (2, 8)],
    ),
    "raised_base": Same(  # the base whose last speed is that of the method
        lambda d, b, s: ntk(d, b, factor=s).inv_freq[-1] ** (-d / (d - 2)),
        [(d, b, s) for d in (4, 64, 128) for b in BASES for s in (1, 2, 8, 40)],
        atol=1e-4,
    ),
    "cached_score": Same(
        score_of_two_speeds,
        [
            (*rng(m).standard_normal((2, 8)), m, n, *(speeds.inv_freq for speeds in both))
            for m, n in ((5, 0), (40, 35), (60, 12))
            for both in [[dynamic_ntk(8, factor=2, original_length=16, seq_len=at + 1) for at in (m, n)]]
        ],
    ),
    "first_new_angle": Same(first_new_position, list(scaled_speeds()), atol=0),
    "mend_yarn": Same(
        lambda d, b, s, length: ntk_by_parts(d, b, factor=s, original_length=length).inv_freq,
        [
            (d, b, s, n)
            for d in (32, 64, 128)
            for b in BASES
            for s in (2.0, 16.0, 40.0)
            for n in (128, 512, 4096, 32768)
        ],
    ),
    "patch_index": Same(place_in_clip, [(0, 0, 0), (0, 0, 44), (0, 1, 0), (1, 0, 0), (5, 17, 23), (12, 29, 44)]),
    "with_text": Same(
        lambda text, *clip: [(0, 0, 0)] * text + list(itertools.product(*map(range, clip))),
        [(0, 1, 1, 1), (2, 2, 3, 4), (3, 1, 2, 5), (226, 3, 6, 5)],
    ),
    "mend_axes": Same(
        lambda *place: axial_angles(place, video_split(64)),
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (12, 29, 44), (3, 0.5, 7.25)],
    ),
    "wrong_axis": Same(
        lambda x, places: turned_by_matrix(x.swapaxes(0, 1), places).swapaxes(0, 1),
        [(rng(n).standard_normal((n, heads, 8)), np.arange(n) + 9) for n in (1, 2, 5) for heads in (1, 2, 5)],
    ),
    "mixed_layout": Same(turned_by_matrix, PLACED),
    "cached_scores": Same(
        lambda q, k, places, inv_freq: relative_score(q[-1], k, places[-1] - places, inv_freq),
        [(q, k, places, inv_freq) for q, k, _, places, inv_freq in HEADS],
    ),
    "half_precision": Same(
        lambda n, d: np.stack(cos_sin(rotation_angles(np.arange(n), inverse_frequencies(d)))),
        [(n, d) for n in (1, 2048, 9000) for d in (2, 64)],
    ),
    "shifted_speeds": Same(turned_by_matrix, PLACED),
    "yarn_speeds": Same(
        lambda d, b, s, slow: ntk_by_parts(d, b, factor=s, original_length=4096).inv_freq,
        [(d, b, s, slowed_share(d, b)) for d in (32, 64, 128) for b in BASES for s in (2.0, 40.0)],
    ),
    "partial_turn": Same(partly_turned, [(x, at, d) for x, at in PLACED for d in (2, 4, 32) if d <= x.shape[-1]]),
    "turned_values": Same(head_of_plain_values, HEADS),
    "convert_rows": Same(
        lambda weight, heads: permute_projection(weight, heads, to="half"),
        [(rng(d).standard_normal((heads * d, 3)), heads) for d in (2, 4, 6, 64) for heads in (1, 2, 5)],
    ),
}


def is_same(function, same):
    """Compare a function with its second one, at all settings."""
    for setting in same.settings:
        assert_allclose(function(*setting), same.truth(*setting), rtol=1e-9 if same.atol else 0, atol=same.atol)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_agrees_with_a_second_one(name):
    is_same(solution_of(name), FUNCTIONS[name])


# Values: the code of the solution, with other numbers put in ------------------------------------------------------


class Asked(NamedTuple):
    """Pieces of a solution that stand for settings, a function of these, and settings; those of the text come first."""

    pieces: dict
    truth: object
    settings: list
    atol: float = 1e-9


def with_settings(code, pieces, setting):
    """Put settings into the code of a solution."""
    if not pieces:
        return code
    return re.sub("|".join(map(re.escape, pieces)), lambda found: pieces[found[0]].format(*setting), code)


def signs(alpha, beta):
    """Read the eight signs off turned unit vectors, for angles between 0 and 90 degrees."""
    q, k = (rotate_expanded(np.eye(2), [[angle]] * 2) for angle in (alpha, beta))
    return np.sign([np.outer(q[:, i], k[:, i]) for i in (0, 1)]).ravel()


def nearest_return(stop):
    """Look for the nearest return of a hand of speed 1, with fifty digits."""
    left = [MP.mpf(m) % (2 * MP.pi) for m in range(1, stop)]
    return 1 + int(np.argmin([float(min(each, 2 * MP.pi - each)) for each in left]))


def share_of_wins(d, near, far):
    """Give the probability that q scores itself higher farther away, exactly.

    The difference is a sum of independent exponential variables, one a pair, times the differences of two cosines.
    """
    speeds = [MP.mpf(10_000) ** (MP.mpf(-2 * i) / d) for i in range(d // 2)]
    c = [MP.cos(far * speed) - MP.cos(near * speed) for speed in speeds]
    return float(MP.fsum(MP.fprod(a / (a - b) for b in c if b is not a) for a in c if a > 0))


def by_parts(length, d, pairs):
    """Count the pairs kept, blended and slowed by the library; neither factor nor ramp may matter."""
    counts = set()
    for factor, ramp in itertools.product((2, 16, 40), ("index", "rotations")):
        ratio = ntk_by_parts(d, factor=factor, original_length=length, ramp=ramp).inv_freq / inverse_frequencies(d)
        kept, slowed = (int(np.isclose(ratio, at, rtol=1e-12).sum()) for at in (1, 1 / factor))
        counts.add((kept, pairs - kept - slowed, slowed))
    assert len(counts) == 1
    return counts.pop()


def stretched_peak(factor, distance):
    """Find where a key for one distance scores highest, once all hands are slowed."""
    inv_freq = inverse_frequencies(32)
    q = rng(4).standard_normal(32)
    key = rotate_expanded(q[None], [distance * inv_freq])[0]
    return np.argmax(relative_score(q, key, np.arange(300), inv_freq / factor))


def higher_score(slanted, straight, width):
    """Compare two keys of ones by the angles of the three axes."""
    places = np.array([[0, 0, straight], [0, slanted, slanted]])
    a, b = np.cos(axial_angles(places, (16, width, width))).sum(axis=-1)
    return "a" if a > b else "b"


def text_positions(text, *clip):
    """Read where the text after a video stands, by both rules."""
    segments = [("text", text), ("video", clip), ("text", 1)]
    return [mrope_position_ids(segments, after_video=rule)[-1, 0] for rule in ("largest", "grid")]


def score_turned_first(position):
    """Turn the token (1, 0) by quarter turns, project it, and score it with itself unprojected."""
    turned = rotate_expanded(np.array([[1.0, 0.0]]), [[position * np.pi / 2]])[0]
    return (turned * [2, 1]) @ turned


def acts_at(position):
    """Find the position whose single turn equals two turns."""
    x = rng(5).standard_normal((1, 1, 64))
    twice = FAULTS["applied twice"].rotate(x, np.array([position]))
    return next(m for m in range(100) if np.allclose(rotate_correctly(x, np.array([m])), twice))


VALUES = {
    "eight_signs": Asked({}, signs, [(0.3, 0.2), (0.1, 1.4), (1.2, 0.9)]),
    "mirror_score": Asked(
        {"2 - 5": "{0} - {1}", "np.pi / 6": "np.pi / {2}"},
        lambda m, n, part: np.vdot(
            *(rotate_by_matrix(np.array([x]), [[at * np.pi / part]]) for x, at in (((1.0, 2.0), m), ((3.0, 1.0), n)))
        ),
        [(2, 5, 6), (5, 2, 6), (0, 9, 4), (1000, 3, 7)],
    ),
    "nonzero_entries": Asked(
        {"(64)": "({0})", "(3,": "({1},"},
        lambda d, position: figures.matrix_layouts(rotary_dim=d, position=position).data["non_zero"][0],
        [(64, 3), (8, 3), (6, 100)],
    ),
    "half_order": Asked({}, lambda: to_half(np.arange(8)), [()]),
    "fastest_period": Asked({"64": "{0}"}, lambda d: 2 * np.pi, [(64,), (2,), (128,)]),
    "near_return": Asked({"1001": "{0}"}, nearest_return, [(1001,), (7,), (45,), (340,), (711,), (2000,)]),
    "unfinished_hands": Asked(
        {"(10000, 2048)": "({0}, {1})", "(10000, 4096)": "({2}, {3})", "(500000, 8192)": "({4}, {5})"},
        lambda *pairs: [
            int((share_seen(inverse_frequencies(128, base), length) < 1).sum())
            for base, length in zip(pairs[::2], pairs[1::2], strict=True)
        ],
        [(10000, 2048, 10000, 4096, 500000, 8192), (100, 64, 10000, 131072, 1000000, 32768)],
    ),
    "larger_base": Asked(
        {"(64, 10000)": "({0}, {1})", "(64, 500000)": "({0}, {2})"},
        lambda d, before, after: (
            "up"
            if np.ptp(np.log(wavelengths(inverse_frequencies(d, after)))) > np.log(before) * (1 - 2 / d)
            else "down"
        ),
        [(64, 10000, 500000), (128, 10000, 20000), (64, 500000, 10000)],
    ),
    "pair_of_4096": Asked(
        {"(128)": "({0})", "4096": "{1}"},
        lambda d, tokens: np.argmin([abs(2 * np.pi * 10_000 ** (2 * i / d) - tokens) for i in range(d // 2)]),
        [(128, 4096), (64, 4096), (128, 100), (128, 100_000), (64, 7)],
    ),
    "fast_pair_at_three": Asked(
        {"3.0": "{0}"}, lambda r: relative_score([1.0, 0], [1.0, 0], r, [1.0]), [(3.0,), (0.0,), (1.0,), (44.0,)]
    ),
    "closer_wins": Asked(
        {"(5000, 64)": "(5000, {0})", "s(64)": "s({0})", "(32, 64)": "({1}, {2})"},
        share_of_wins,
        [(64, 32, 64), (128, 32, 64), (64, 8, 16), (64, 10, 500)],
        atol=0.02,
    ),
    "turn_before": Asked({}, lambda: [score_turned_first(0), score_turned_first(1)], [()]),
    "turned_twice": Asked({}, lambda: [acts_at(7), 10 - acts_at(7)], [()]),
    "learned_at_twice": Asked(
        {}, lambda seed: figures.accuracy_by_length().data["shares"]["copy-3"]["learned"][seed, 1], [(0,), (1,)], 0.02
    ),
    "hands_to_keep": Asked(
        {"s(32)": "s({0})", "<= 32": "<= {1}"},
        lambda d, length: int((share_seen(inverse_frequencies(d), length) == 1).sum()),
        [(32, 32), (32, 512), (128, 2048), (64, 7), (64, 6)],
    ),
    "repaired_peak": Asked({"2 * 3": "{0} * {1}"}, stretched_peak, [(2, 3), (1, 3), (2, 20), (5, 7), (8, 30)]),
    "pi_angle": Asked(
        {"8000": "{0}", "4": "{1}"},
        lambda m, s: rotation_angles(m, linear(128, factor=s).inv_freq)[0],
        [(8000, 4), (1, 2), (131072, 32)],
    ),
    "by_parts_counts": Asked(
        {"2048": "{0}", "128": "{1}", "64": "{2}"},
        by_parts,
        [(length, d, d // 2) for length in (2048, 512, 4096, 32768) for d in (128, 64, 96)],
    ),
    "score_factor": Asked(
        {"16": "{0}"},
        lambda s: yarn(64, factor=s, original_length=2048).attention_factor ** 2,
        [(16,), (1,), (2,), (40,)],
    ),
    "xpos_zeta": Asked(
        {"0 / 64": "{0} / {1}"}, lambda i, d: xpos_scales(512, d)[i], [(0, 64), (31, 64), (0, 128), (17, 128)]
    ),
    "video_tokens": Asked(
        {"48 //": "{0} //", "480": "{1}", "720": "{2}"},
        lambda more, high, wide: len(video_grid(1 + len(range(0, more, 4)), high // 16, wide // 16)),
        [(48, 480, 720), (80, 768, 1360), (4, 32, 16)],
    ),
    "pairs_per_axis": Asked(
        {"64": "{0}"}, lambda d: [width // 2 for width in video_split(d)], [(64,), (16,), (32,), (128,)]
    ),
    "axis_periods": Asked(
        {"(16, 24)": "({0}, {1})"},
        lambda *widths: [
            2 * np.pi / speeds[axis == i].min() for speeds, axis in [axial_pairs(widths)] for i in range(len(widths))
        ],
        [(16, 24), (32, 48), (8, 64)],
    ),
    "straight_or_slanted": Asked(
        {"7, 10": "{0}, {1}", "s(24)": "s({2})"},
        higher_score,
        [(7, 10, 24), (1, 10, 24), (20, 28, 24), (2, 30, 8), (5, 7, 64)],
    ),
    "squeezed_rows": Asked(
        {"30": "{0}", "45": "{1}", "44": "{2}"},
        lambda base, rows, last: video_grid(1, rows, 10, base_size=(base, 45)).reshape(rows, 10, 3)[[1, last], 0, 1],
        [(30, 45, 44), (30, 60, 59), (20, 33, 7)],
    ),
    "text_after_video": Asked(
        {"3 +": "{0} +", "(6, 2, 2)": "({1}, {2}, {3})", "(2, 2)": "({2}, {3})"},
        text_positions,
        [(3, 6, 2, 2), (1, 2, 8, 5), (10, 4, 3, 9), (2, 1, 1, 1)],
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_value_agrees_with_the_library_at_other_numbers_too(name):
    each, asked = EXERCISES[name], VALUES[name]
    assert with_settings(each.solution, asked.pieces, asked.settings[0]) == each.solution
    assert all(piece in each.solution for piece in asked.pieces)
    for setting in asked.settings:
        got, want = run(with_settings(each.solution, asked.pieces, setting)), asked.truth(*setting)
        if isinstance(want, str):
            assert got == want, setting
        else:
            assert_allclose(got, want, rtol=1e-9, atol=asked.atol, err_msg=str(setting))


# Sentences: those that can be measured ----------------------------------------------------------------------------

OWN, Q_AND_K = inverse_frequencies(64), rng(12).standard_normal((2, 64))
WORDS = None  # a sentence about words or proofs: nothing is measured


def same(a, b):
    """Tell whether two results are equal to rounding."""
    return np.allclose(a, b, rtol=1e-9, atol=1e-9)


def turned(x, at, inv_freq=OWN):
    """Turn one vector to a position."""
    return rotate_expanded(x[None], rotation_angles([at], inv_freq))[0]


def layer(places):
    """Give scores, turned queries and outputs of a head of six tokens."""
    q, k, v = rng(13).standard_normal((3, 6, 64))
    q, k = (rotate_expanded(x, rotation_angles(places, OWN)) for x in (q, k))
    scores = attention_scores(q, k)
    return scores, q, attention_weights(scores) @ v


def changes_by_a_thousand():
    """Say what changes when all positions grow by 1,000."""
    return [not same(*both) for both in zip(layer(np.arange(6)), layer(np.arange(6) + 1000), strict=True)]


def two_dimensions():
    """Measure the sentences of lesson 1."""
    (q, k), (other, third) = Q_AND_K, rng(14).standard_normal((2, 64))
    here, there = relative_score(q, k, [3, -3], OWN)
    ahead, behind = relative_score(q, 2 * q, [3, -3], OWN)
    moved = turned(q, 1005) @ turned(k, 1002)
    return [
        same(here, relative_score(other, third, 3, OWN)),
        same(moved, here),
        same(turned(q, 1005), turned(q, 5)),
        same(here, there),
        same(ahead, behind),
        WORDS,
    ]


def other_layout():
    """Score in both pairings, as it is and reordered."""
    right = relative_score(*Q_AND_K, 5, OWN)
    half, reordered = (relative_score(*pair, 5, OWN, pairing="half") for pair in (Q_AND_K, to_half(Q_AND_K)))
    return [same(half, right), same(reordered, right), not same(reordered, right), WORDS]


def joined_halves():
    """Ask the planted fault what it keeps."""
    rotate = FAULTS["concatenated output"].rotate
    (q, k), (m, n) = Q_AND_K[:, None, None], (np.array([at]) for at in (9, 4))
    right = relative_score(*Q_AND_K, 5, OWN)
    kept = [CHECKS[name].holds(rotate) for name in ("length kept", "distance alone", "nothing at zero", "turns add up")]
    return [
        same(np.vdot(rotate(q, m), rotate(k, n)), right),
        *kept,
        same(np.vdot(rotate_correctly(q, m), rotate(k, n)), right),
    ]


def clock_sentences():
    """Measure the sentences of lesson 3."""
    through_all = inverse_frequencies(8 * 64).reshape(8, 32)
    larger = inverse_frequencies(64, 500_000)
    return [
        same(np.exp(1j * 62_832 * OWN), 1),
        OWN.argmax() == 0 and wavelengths(OWN).argmin() == 0,
        same(OWN[-1], 10_000),
        same(through_all[0], through_all[-1]),
        larger[0] / larger[-1] < OWN[0] / OWN[-1],
        rotation_angles(1, OWN)[0] == 1,
    ]


def decay_sentences():
    """Measure the sentences of lesson 4."""
    q = Q_AND_K[0]
    best = {r: relative_score(q, turned(q, r), np.arange(400), OWN).argmax() for r in (0, 37, 300)}
    band = figures.random_pairs_band().data
    apart = [turned(x, 100) for x in np.eye(64)[:2]]
    return [
        relative_score(q, turned(q, 300), 300, OWN) < relative_score(q, turned(q, 300), 0, OWN),
        (np.diff(decay_curve(np.arange(13), OWN)) < 0).all(),
        np.ptp(band["spread"]) < 0.3 and np.abs(band["mean"]).max() < 0.3,
        all(r == found for r, found in best.items()),
        apart[0] @ apart[1] > 0.5,
        WORDS,
    ]


def terms_that_stay():
    """Read off the figure which of its terms are the same at both places."""
    terms = figures.score_terms().data["terms"]
    stays = {name: [same(*column) for column in rows.T] for name, rows in terms.items()}
    without, with_both = stays["without projections"], stays["with projections"]
    return [without[1], without[3], with_both[0], with_both[3]]


def layer_sentences():
    """Measure the sentences of lesson 5."""
    q, k = Q_AND_K
    other = k + np.append([-q[1], q[0]], np.zeros(62))  # more of what stands at a right angle to q
    assert same(q @ other, q @ k)
    plain, part = layer(np.arange(6))[0], layer(np.arange(6) + 37 * (np.arange(6) % 2))[0]
    return [
        WORDS,
        figures.order_swap().data["apart"]["causal mask alone"] > 0.01,
        same(relative_score(q, k, 5, OWN), relative_score(q, other, 5, OWN)),
        same(layer(np.arange(37, 43))[0], plain),
        same(part, plain),
        WORDS,
    ]


def training_sentences():
    """Read the sentences of lesson 6 off the table of trained heads."""
    shares, repaired = (
        getattr(figures, name)().data["shares"] for name in ("accuracy_by_length", "repaired_at_run_time")
    )
    gains = [np.mean(each["pi"] - each["none"], axis=0)[1:] for each in repaired.values()]
    better = [(each["rope"].mean(axis=0) >= each["learned"].mean(axis=0)).all() for each in shares.values()]
    copies = shares["copy-3"]
    return [
        min(each["rope"][:, -1].min() for each in shares.values()) > 0.9,
        WORDS,
        copies["rope"][:, 1].min() > copies["learned"][:, 1].max() + 0.5,
        all(better),
        WORDS,
        any((gain > 0.05).all() for gain in gains) and any((gain < -0.05).all() for gain in gains),
        WORDS,
        WORDS,
    ]


def longer_sentences():
    """Measure the sentences of lesson 7."""
    own = inverse_frequencies(128)
    short, long = (np.cos(rotation_angles(np.arange(n), own)) for n in (2048, 4096))
    x, four = rng(16).standard_normal((2, 128)), yarn(128, factor=4, original_length=2048)
    scaled = four.attention_factor**2 * relative_score(*x, 7, four.inv_freq)
    return [
        WORDS,
        share_seen(own, 2048)[0] < 1,
        np.array_equal(short, long[:2048]),
        neighbour_distance(linear(128, factor=8).inv_freq) < neighbour_distance(own),
        same(scaled, relative_score(*x, 7, own)),
        WORDS,
        WORDS,
    ]


def clip_moves():
    """Read the changes of scores off the figure; the turned query is another."""
    changes = figures.clip_shift().data["changes"]
    stays = [same(changes[pair], 0) for pair in (("video", "video"), ("text", "video"), ("text", "text"))]
    before, after = axial_angles([(2, 3, 4), (7, 13, 24)], video_split(64))
    return [stays[0], same(before, after), *stays[1:]]


def video_sentences():
    """Measure the sentences of lesson 8."""
    time = figures.head_map().data["axis"] == 0
    twice = video_grid(1, 60, 90, base_size=(30, 45)).reshape(60, 90, 3)
    return [
        time.sum() == 384,
        same(figures.clip_shift().data["changes"]["text", "video"], 0),
        same(axial_angles((0, 0, 0), video_split(64)), 0),
        WORDS,
        same(np.diff(twice[:, 0, 1]), 0.5),
        figures.grid_rescale().data["beyond"]["slice"] == 0,
    ]


def caught(*names):
    """Say which invariants find any of some defects."""

    def measure():
        found = [finds_defect(run(EXERCISES[name].starter, name)) for name in names]
        return [any(each in names for names in found) for each in INVARIANTS]

    return measure


SENTENCES = {
    "true_or_false_01": two_dimensions,
    "other_layout": other_layout,
    "joined_halves": joined_halves,
    "true_or_false_03": clock_sentences,
    "true_or_false_04": decay_sentences,
    "terms_that_stay": terms_that_stay,
    "add_a_thousand": changes_by_a_thousand,
    "true_or_false_05": layer_sentences,
    "true_or_false_06": training_sentences,
    "true_or_false_07": longer_sentences,
    "clip_moves": clip_moves,
    "true_or_false_08": video_sentences,
    "catch_axis": caught("wrong_axis"),
    "catch_layout": caught("mixed_layout"),
    "catch_cache": caught("cached_scores"),
    "catch_half": caught("half_precision"),
    "catch_speeds": caught("shifted_speeds", "yarn_speeds", "partial_turn"),
    "catch_values": caught("turned_values"),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences_agree_with_what_is_measured(name):
    answer, measured = solution_of(name), SENTENCES[name]()
    assert len(answer) == len(measured)
    assert [(i, bool(m)) for i, m in enumerate(measured, 1) if m is not WORDS] == [
        (i, a) for i, (a, m) in enumerate(zip(answer, measured, strict=True), 1) if m is not WORDS
    ]


# Every exercise ---------------------------------------------------------------------------------------------------

NOT_COMPARED = {
    "where_zero_counts": "names a step of a proof",
    "place_task": "any of many tasks is right, and the checker asks for what they share",
}


def test_each_exercise_is_compared_in_one_table_or_named_with_a_reason():
    tables = [*FUNCTIONS, *VALUES, *SENTENCES, *NOT_COMPARED]
    assert sorted(tables) == sorted(EXERCISES)
    assert all(EXERCISES[name].wants_function for name in FUNCTIONS)
    assert not any(EXERCISES[name].wants_function for name in [*VALUES, *SENTENCES])


# Figures and printed numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", [(128, 2048, (2, 4, 8)), (64, 500, (3, 7, 8))], ids=str)
def test_figure_of_reach_agrees_with_first_new_angle(setting):
    width, length, factors = setting
    data = figures.neighbours_and_reach(width, trained=length, factors=factors, reported=(1, 2, 3)).data["points"]
    first, own = solution_of("first_new_angle"), inverse_frequencies(width)
    for name, scale in (("PI", linear), ("NTK", ntk), ("YaRN", ntk_by_parts)):
        more = {"original_length": length} if name == "YaRN" else {}
        found = [first(own, scale(width, factor=s, **more).inv_freq, length) for s in factors]
        assert [reach for _, reach in data[name]] == found


def test_figures_show_the_answers_of_their_pages():
    scores = figures.left_and_right().data
    assert_allclose(solution_of("coefficients")(1, 2, 3, 1), (scores["A"], scores["B"]), rtol=1e-12)
    assert_allclose(solution_of("mirror_score"), scores["score"][-3], rtol=1e-12)
    places = ((5, 2), (6, 3), (25, 22), (105, 102))
    found = [solution_of("score_2d")(np.array([1.0, 2.0]), np.array([3.0, 1.0]), *at, np.pi / 6) for at in places]
    assert_allclose(figures.two_arrows(places=places).data["scores"], found, rtol=1e-12)
    assert figures.matrix_layouts().data["non_zero_64"][0] == solution_of("nonzero_entries")
    assert figures.matrix_layouts().data["interleaved"][0, 0] == solution_of("fast_pair_at_three")
    assert list(figures.reordering_map().data["order"]) == solution_of("half_order")
    clocks = figures.pair_speeds().data
    assert [clocks["above"][at] for at in ((1e4, 2048), (1e4, 4096), (5e5, 8192))] == solution_of("unfinished_hands")
    assert_allclose(
        [each[-1] for each in clocks["periods"].values()], [solution_of("slowest_period")(128, b) for b in (1e4, 5e5)]
    )
    assert np.abs(clocks["periods"][1e4] - 4096).argmin() == solution_of("pair_of_4096")
    home = figures.clock_wall().data["from_home"]
    assert 1 + home[1:, 0].argmin() == 4 and solution_of("near_return") == 710  # the last of its positions
    bound, bent = figures.bound_and_scores().data["bound"], solution_of("partial_sums")
    assert_allclose(bound, [bent(r, inverse_frequencies(128)) for r in range(257)], rtol=1e-12)
    peaks = figures.chosen_peaks().data["best"]
    key_for, q = solution_of("key_for"), rng(1).standard_normal(64)
    assert [relative_score(q, key_for(q, r, OWN), np.arange(600), OWN).argmax() for r in peaks] == [0, 37, 500]
    assert figures.arc_covered(rotary_dim=32, trained=32).data["full"] == solution_of("hands_to_keep")
    assert_allclose(figures.temperature().data["at"] ** 2, solution_of("score_factor"), rtol=1e-12)
    ratios = figures.speed_ratios(factor=16).data["ratios"]
    for ramp in ("YaRN", "YaRN text"):
        kept, slowed = (np.isclose(ratios[ramp], at, rtol=1e-12).sum() for at in (1, 1 / 16))
        assert [kept, 64 - kept - slowed, slowed] == solution_of("by_parts_counts")
    assert [np.sum(figures.head_map().data["axis"] == i) for i in range(3)] == solution_of("pairs_per_axis")
    straight = figures.patch_maps().data["straight"]
    assert ("a" if straight[0] > straight[1] else "b") == solution_of("straight_or_slanted")
    rows = figures.grid_rescale().data["grids"]["linspace"][::30, 1]
    assert_allclose(solution_of("squeezed_rows"), rows[[1, -1]], rtol=1e-12)


@pytest.mark.parametrize(("width", "position"), [(2, 44), (4, 622)])
def test_first_return_is_the_one_that_the_notebook_prints(width, position):
    assert solution_of("first_return")(inverse_frequencies(width), 0.1) == position


@pytest.mark.parametrize("task", ["copy-1", "recent"])
def test_fair_accuracy_is_the_measure_of_the_trained_heads(task):
    head = new_head("rope", rng(3))
    tokens, targets = draw(task, 256, 64, stream(0, 2, 64), vocabulary=16)
    answers = forward(head, tokens)[0].argmax(axis=-1)
    assert solution_of("fair_accuracy")(answers, targets) == accuracy(head, task, 64)


# The comparison can fail ------------------------------------------------------------------------------------------


UNSEEN = {EXERCISES["independent_draws"].mistakes[1]}  # keys that are not turned: the same mean and spread


@pytest.mark.parametrize("name", FUNCTIONS)
def test_comparison_finds_each_catalogued_mistake(name):
    for mistake in EXERCISES[name].mistakes:
        if mistake not in UNSEEN:
            wrong = run(mistake.answer, name)
            with np.errstate(all="ignore"), pytest.raises(Exception):  # noqa: B017  an error shows it, too
                is_same(wrong, FUNCTIONS[name])


@pytest.mark.parametrize("name", VALUES)
def test_no_catalogued_mistake_is_what_the_library_says(name):
    asked = VALUES[name]
    want = asked.truth(*asked.settings[0])
    for mistake in EXERCISES[name].mistakes:
        if isinstance(want, str):
            assert mistake.answer != want
        else:
            assert not np.allclose(mistake.answer, want, rtol=1e-9, atol=asked.atol)


def test_solution_that_loses_a_last_digit_is_found():
    """The solution of first_new_angle was published without a guard, and right for NTK alone."""
    code = EXERCISES["first_new_angle"].solution
    guard = " * (1 + 1e-12)"
    assert code.count(guard) == 1
    with pytest.raises(AssertionError):
        is_same(run(code.replace(guard, ""), "first_new_angle"), FUNCTIONS["first_new_angle"])
