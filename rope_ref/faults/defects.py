"""Eight defects of published programs, rewritten, and five invariants that may find them: notebook 09 asks which do.

Each defect is kept as the text that a student repairs; its repair is that text with a few pieces replaced.
"""

from collections import namedtuple

import numpy as np

from rope_ref.attention import attention_scores, attention_weights
from rope_ref.faults.snippets import edit, run
from rope_ref.frequencies import inverse_frequencies, rotation_angles
from rope_ref.pairing import join_pairs, split_pairs, to_half, to_interleaved
from rope_ref.rotation import apply_rope, rotate_expanded

__all__ = ["DEFECTS", "INVARIANTS", "finds_defect"]


# The eight defects -----------------------------------------------------------------------------------------------

WRONG_AXIS = """
def wrong_axis(x, position_ids):
    # x: queries or keys, of shape (tokens, heads, d)
    speeds = inverse_frequencies(x.shape[-1])
    angles = rotation_angles(np.arange(x.shape[-2]), speeds)
    return rotate_expanded(x, angles)
"""
RIGHT_AXIS = edit(
    WRONG_AXIS,
    ("rotation_angles(np.arange(x.shape[-2]), speeds)", "rotation_angles(position_ids, speeds)[:, None]"),
)

MIXED_LAYOUT = """
def mixed_layout(x, position_ids):
    # the pairs of this model are features (2i, 2i + 1)
    angles = rotation_angles(position_ids, inverse_frequencies(x.shape[-1]))
    cos = np.repeat(np.cos(angles), 2, axis=-1)
    sin = np.repeat(np.sin(angles), 2, axis=-1)
    first, second = np.split(x, 2, axis=-1)
    quarter = np.concatenate((-second, first), axis=-1)
    return x * cos + quarter * sin
"""
ONE_LAYOUT = edit(
    MIXED_LAYOUT,
    ("first, second = np.split(x, 2, axis=-1)", "first, second = x[..., 0::2], x[..., 1::2]"),
    ("np.concatenate((-second, first), axis=-1)", "join_pairs(-second, first)"),
)

CACHED_SCORES = """
def cached_scores(q, k, position_ids, inv_freq):
    # scores of the newest query with all keys
    rope = RotaryEmbedding(inv_freq)
    cache = rope.rotate(k[:-1], position_ids[:-1])  # turned as they came in
    keys = np.concatenate((cache, k[-1:]))
    keys = rope.rotate(keys, position_ids)
    query = rope.rotate(q[-1:], position_ids[-1:])
    return keys @ query[0]
"""
TURNED_ONCE = edit(
    CACHED_SCORES,
    ("(cache, k[-1:])", "(cache, rope.rotate(k[-1:], position_ids[-1:]))"),
    ("    keys = rope.rotate(keys, position_ids)\n", ""),
)

HALF_TABLE = """
def half_precision(seq_len, rotary_dim):
    positions = np.arange(seq_len).astype(np.float16)
    speeds = inverse_frequencies(rotary_dim).astype(np.float16)
    angles = np.outer(positions, speeds).astype(np.float16)
    cos = np.cos(angles, dtype=np.float32)
    sin = np.sin(angles, dtype=np.float32)
    return np.stack((cos, sin))
"""
FINE_TABLE = edit(HALF_TABLE, (".astype(np.float16)", ""), (", dtype=np.float32", ""))

SHIFTED_SPEEDS = """
def shifted_speeds(x, position_ids):
    d = x.shape[-1]
    pairs = np.arange(1, d // 2 + 1)
    speeds = 10000.0 ** (-(2 * pairs - 1) / d)
    return rotate_expanded(x, rotation_angles(position_ids, speeds))
"""
OWN_SPEEDS = edit(SHIFTED_SPEEDS, ("2 * pairs - 1", "2 * (pairs - 1)"))

YARN_SPEEDS = """
def yarn_speeds(rotary_dim, base, factor, slow):
    # slow: 0 where a pair keeps its speed, 1 where it is divided by factor
    raised = base * factor ** (rotary_dim / (rotary_dim - 2))
    kept = inverse_frequencies(rotary_dim, raised)
    slowed = inverse_frequencies(rotary_dim, base) / factor
    return kept * (1 - slow) + slowed * slow
"""
KEPT_SPEEDS = edit(
    YARN_SPEEDS,
    ("    raised = base * factor ** (rotary_dim / (rotary_dim - 2))\n", ""),
    ("inverse_frequencies(rotary_dim, raised)", "inverse_frequencies(rotary_dim, base)"),
)

PARTIAL_TURN = """
def partial_turn(x, position_ids, rotary_dim):
    # only the first rotary_dim features of a head turn
    pairs = np.arange(rotary_dim // 2)
    speeds = 10000.0 ** (-2 * pairs / x.shape[-1])
    return apply_rope(x, *cos_sin(rotation_angles(position_ids, speeds)))
"""
OWN_WIDTH = edit(PARTIAL_TURN, ("/ x.shape[-1]", "/ rotary_dim"))

TURNED_VALUES = """
def turned_values(q, k, v, position_ids, inv_freq):
    rope = RotaryEmbedding(inv_freq)
    q, k, v = (rope.rotate(part, position_ids) for part in (q, k, v))
    weights = attention_weights(attention_scores(q, k))
    return weights @ v
"""
PLAIN_VALUES = edit(TURNED_VALUES, ("q, k, v = (", "q, k = ("), ("in (q, k, v))", "in (q, k))"))


# Five invariants, and what they ask ------------------------------------------------------------------------------

SEED = 20250909
WIDTH, PART = 64, 16
TOLERANCE = 0.01  # a half-precision table must be allowed its rounding; every other defect is far larger
INVARIANTS = {}  # name: function of a Program, True where it holds
DEFECTS = {}  # name of the function: Defect

Program = namedtuple("Program", "turn head")
Program.__doc__ = (
    """What a defect does: ``turn(x, position_ids)``, ``head(q, k, v, position_ids)``, x (heads, tokens, d)."""
)

Defect = namedtuple("Defect", "label solution program")
Defect.__doc__ = """Words for a defect, the code of its repair, and ``program(function)``."""


def head_of(turn):
    """Make one attention layer of a turn: queries and keys are turned, values are not."""

    def head(q, k, v, position_ids):
        scores = attention_scores(turn(q, position_ids), turn(k, position_ids))
        return attention_weights(scores) @ v

    return head


def draw(tokens=6):
    """Draw the queries, keys and values of two heads."""
    return np.random.default_rng(SEED).standard_normal((3, 2, tokens, WIDTH))


def agree(got, want):
    """Tell whether two arrays are equal within what half precision may change."""
    return bool(np.abs(np.asarray(got, np.float64) - want).max() <= TOLERANCE * np.abs(want).max())


def invariant(holds):
    """Register an invariant under the name of its function."""
    INVARIANTS[holds.__name__.replace("_", " ")] = holds
    return holds


@invariant
def relative(program):
    """All positions move by 20, or by 2,000: the output of the head stays."""
    here = program.head(*draw(), np.arange(6))
    return all(agree(program.head(*draw(), np.arange(6) + by), here) for by in (20, 2000))


@invariant
def norm(program):
    """A turned vector is as long as before."""
    q, _, _ = draw()
    return agree(
        np.linalg.norm(program.turn(q, np.array([1, 5, 40, 90, 300, 700])), axis=-1), np.linalg.norm(q, axis=-1)
    )


@invariant
def composition(program):
    """A turn to 4, then a turn to 3: the same as a turn to 7."""
    q, _, _ = draw()
    return agree(program.turn(program.turn(q, np.full(6, 4)), np.full(6, 3)), program.turn(q, np.full(6, 7)))


@invariant
def identity_at_0(program):
    """Position 0 changes nothing."""
    q, _, _ = draw()
    return agree(program.turn(q, np.zeros(6, int)), q)


@invariant
def layout_converter(program):
    """The other pairing, at the angles of this program and between two converters, gives the same."""
    q, _, _ = draw()
    places, ones = np.arange(6), np.ones((2, 6, WIDTH // 2))
    angles = np.arctan2(*split_pairs(program.turn(join_pairs(ones, 0 * ones), places))[::-1])
    other = to_interleaved(rotate_expanded(to_half(q), angles, pairing="half"))
    return agree(program.turn(q, places), other)


def knows_rows(function):
    """Tell whether the turn of a function gives ten known rows: one head, positions 0 to 9."""
    x, places, each = draw(10)[0, :1], np.arange(10), DEFECTS[function.__name__]
    right = each.program(run(each.solution, function.__name__))
    return agree(each.program(function).turn(x, places), right.turn(x, places))


def finds_defect(function):
    """List which invariants a function of this lesson fails.

    Parameters
    ----------
    function : callable
        One of the eight, by the name that it has in the lesson: with its defect, or repaired.

    Returns
    -------
    list of str
        Names in `INVARIANTS` that do not hold, in their order; empty where all hold.

    Examples
    --------
    >>> finds_defect(run(SHIFTED_SPEEDS, "shifted_speeds"))
    []
    >>> finds_defect(run(WRONG_AXIS, "wrong_axis"))
    ['composition', 'identity at 0']
    """
    program = DEFECTS[function.__name__].program(function)
    return [name for name, holds in INVARIANTS.items() if not holds(program)]


def defect(name, label, solution):
    """Register how a defect is asked: under the name of its function, with its words and its repair."""

    def register(program):
        DEFECTS[name] = Defect(label, solution, program)
        return program

    return register


SPEEDS = inverse_frequencies(WIDTH)


def right_turn(x, position_ids):
    """Turn as the package does."""
    return rotate_expanded(x, rotation_angles(position_ids, SPEEDS))


@defect("wrong_axis", "positions along the heads", RIGHT_AXIS)
def with_tokens_first(function):
    """Hand over x as (tokens, heads, d)."""

    def turn(x, position_ids):
        return np.swapaxes(function(np.swapaxes(x, 0, 1), position_ids), 0, 1)

    return Program(turn, head_of(turn))


@defect("mixed_layout", "mixed cos layout", ONE_LAYOUT)
def as_it_is(function):
    """Take the function as a turn."""
    return Program(function, head_of(function))


@defect("cached_scores", "keys turned twice in a cache", TURNED_ONCE)
def with_cache(function):
    """Ask for the newest scores of each head."""

    def head(q, k, v, position_ids):
        return np.stack([function(*each, position_ids, SPEEDS) for each in zip(q, k, strict=True)])

    return Program(right_turn, head)


@defect("half_precision", "half-precision table", FINE_TABLE)
def with_table(function):
    """Turn by the rows of the table."""
    table = np.asarray(function(2048, WIDTH), np.float64)

    def turn(x, position_ids):
        return apply_rope(x, *table[:, position_ids])

    return Program(turn, head_of(turn))


DEFECTS["shifted_speeds"] = Defect("exponent (2i − 1)/d", OWN_SPEEDS, as_it_is)


@defect("yarn_speeds", "YaRN on the changed base", KEPT_SPEEDS)
def with_yarn(function):
    """Turn by YaRN's speeds for 40 times 4,096 tokens; its length factor is left out."""
    slow = np.clip((np.arange(WIDTH // 2) - 10) / 13, 0, 1)  # the ramp from pair 10 to pair 23
    speeds = function(WIDTH, 10000.0, 40.0, slow)

    def turn(x, position_ids):
        return rotate_expanded(x, rotation_angles(position_ids, speeds))

    return Program(turn, head_of(turn))


@defect("partial_turn", "full width in the exponent", OWN_WIDTH)
def with_part(function):
    """Turn 16 features of 64."""

    def turn(x, position_ids):
        return function(x, position_ids, PART)

    return Program(turn, head_of(turn))


@defect("turned_values", "values turned, not turned back", PLAIN_VALUES)
def with_values(function):
    """Take the function as a whole head."""
    return Program(right_turn, lambda q, k, v, position_ids: function(q, k, v, position_ids, SPEEDS))
