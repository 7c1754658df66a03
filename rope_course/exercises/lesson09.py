"""Exercises of notebook 09, Bug hunt in real code: eight defects to repair, and the invariants that may find them."""

import numpy as np

from rope_course.exercises.checkers import HEAD_AXIS, UNMOVED, close, formula, function, rotation, true_or_false
from rope_course.exercises.checkers import SAYS as OF_FAULT
from rope_course.exercises.entry import edit, exercise, run
from rope_ref.faults.defects import (
    CACHED_SCORES,
    FINE_TABLE,
    HALF_TABLE,
    KEPT_SPEEDS,
    MIXED_LAYOUT,
    ONE_LAYOUT,
    OWN_SPEEDS,
    OWN_WIDTH,
    PARTIAL_TURN,
    PLAIN_VALUES,
    RIGHT_AXIS,
    SHIFTED_SPEEDS,
    TURNED_ONCE,
    TURNED_VALUES,
    WRONG_AXIS,
    YARN_SPEEDS,
)
from rope_ref.frequencies import inverse_frequencies
from rope_ref.pairing import permute_projection

__all__ = ["EXERCISES"]


def which_find(name, question, hint, why, **answers):
    """Make the question which invariants find a defect; each answer is a truth and a pointer, by the invariant."""
    sentences = [(f"{each.replace('_', ' ').capitalize()} finds it.", *answers[each]) for each in ASKED]
    return true_or_false(name=name, question=question, hint=hint, why=why, sentences=sentences)


ASKED = ("relative", "norm", "composition", "identity_at_0", "layout_converter")


# Checkers of the repairs -----------------------------------------------------------------------------------------


def tokens_first(student, x, position_ids):
    """Call a function of x as (tokens, heads, d), and of one head where x has no axis of heads."""
    rows = np.asarray(x)
    rows = np.swapaxes(rows if rows.ndim == 3 else rows[None], 0, 1)
    turned = np.swapaxes(student(rows, np.asarray(position_ids), shape=rows.shape), 0, 1)
    return turned if np.ndim(x) == 3 else turned[0]


def directly(student, x, position_ids):
    """Call a function of x and positions."""
    return student(x, np.asarray(position_ids), shape=np.shape(x))


ONE_HEAD_BACK = "Your function must return an array of shape (3, 2, 8), got an array of shape (2, 3, 8)."

# half_precision

LONG, NARROW = 4096, 16  # past 2,048, where float16 no longer holds every whole number


def rounded(values, yes):
    """Round to float16 and back, if asked."""
    return np.asarray(values, np.float16).astype(np.float64) if yes else np.asarray(values, np.float64)


def table_with(positions=False, speeds=False, angles=False):
    """Make the table with some of its parts rounded to half precision."""
    turns = np.multiply.outer(rounded(np.arange(LONG), positions), rounded(inverse_frequencies(NARROW), speeds))
    turns = rounded(turns, angles)
    return np.stack((np.cos(turns), np.sin(turns)))


def table_probe(student):
    """Say which part of the table is still rounded too early."""
    got = student(LONG, NARROW, shape=(2, LONG, NARROW // 2))
    off = np.abs(got - table_with()).max()
    if off < 1e-3:  # the table itself may be kept in half precision: half a unit is 2.4e-4
        return None
    for says, parts in TABLE_SAYS.items():
        if np.abs(got - table_with(**parts)).max() < 1e-3:
            return says
    return f"Over {LONG:,} positions your table is off by up to {off:.2f}. Which part is rounded before its cosine?"


ALL_HALF = (
    "Positions, speeds and angles are all in half precision. "
    "With 64 features the cosine of pair 2 at position 2,008 is off by 0.78."
)
HALF_POSITIONS = "Positions are still in half precision: above 2,048 neighbours fall on one number."
HALF_SPEEDS = "Speeds are still in half precision. The error of an angle is that of its speed, times the position."
HALF_ANGLES = "Angles are still in half precision: near 2,000 radians it counts in whole ones."
TABLE_SAYS = {
    ALL_HALF: {"positions": True, "speeds": True, "angles": True},
    HALF_POSITIONS: {"positions": True},
    HALF_SPEEDS: {"speeds": True},
    HALF_ANGLES: {"angles": True},
}

# shifted_speeds


def first_speed_probe(student):
    """Say what the speed of pair 0 shows, in a head of eight."""
    x = np.zeros((1, 8))
    x[0, 0] = 1.0
    turned = directly(student, x, [1])
    speed = np.arctan2(turned[0, 1], turned[0, 0])
    return next((says for says, first in FIRST_SAYS.items() if close(speed, first)), None)


HALF_STEP_SLOW = (
    "In a head of eight, pair 0 turns by 0.32 radians a token, and it should turn by 1. "
    "Every pair is half a step too slow: put i = 1 into the exponent."
)
HALF_STEP_FAST = "Pair 0 turns by more than 1 radian a token. Put the first i into your exponent: it must give 0."
FIRST_SAYS = {HALF_STEP_SLOW: 10000 ** (-1 / 8), HALF_STEP_FAST: np.angle(np.exp(1j * 10000 ** (1 / 8)))}


# What the formulas are checked with


def draw_cache(rng):
    """Draw five queries and keys, positions from anywhere, and speeds."""
    return *rng.standard_normal((2, 5, 8)), int(rng.integers(3, 50)) + np.arange(5), inverse_frequencies(8)


def draw_yarn(rng):
    """Draw the arguments of YaRN's speeds: a width, a base, a factor and a ramp."""
    width = int(rng.choice([16, 32, 64]))
    return (
        width,
        float(rng.choice([1e4, 5e5])),
        float(rng.integers(2, 40)),
        np.sort(rng.uniform(-0.5, 1.5, width // 2).clip(0, 1)),
    )


def draw_part(rng):
    """Draw five tokens of a head of sixteen, of which six features turn."""
    return rng.standard_normal((5, 16)), int(rng.integers(2, 50)) + np.arange(5), 6


def draw_head(rng):
    """Draw a head of five tokens."""
    return *rng.standard_normal((3, 5, 8)), int(rng.integers(2, 50)) + np.arange(5), inverse_frequencies(8)


def draw_weight(rng):
    """Draw a projection of five inputs to two heads of six, or of eight."""
    return rng.standard_normal((2 * int(rng.choice([6, 8])), 5)), 2


CONVERT_ROWS = """
def convert_rows(weight, num_heads):
    # rows of W_q or W_k, from interleaved to half-split order
    columns = weight.shape[-1]
    pairs = weight.reshape(num_heads, 2, -1, columns)
    return pairs.swapaxes(1, 2).reshape(weight.shape)
"""
CONVERTED_ROWS = edit(CONVERT_ROWS, ("(num_heads, 2, -1, columns)", "(num_heads, -1, 2, columns)"))


EXERCISES = [
    which_find(
        "catch_axis",
        """
        An attention layer holds queries as (tokens, heads, d). The turn counts along the last axis but one, as it
        should for (heads, tokens, d). So head h is turned by the angles of position h, whatever the token. Which of
        the five invariants find this? Test with two heads.
        """,
        hint="What does the score of two tokens of one head depend on? And what does position 0 do to head 1?",
        why="The score ignores position, and so it also keeps when positions move: the relative test passes in vain.",
        relative=(False, "Both tokens of a head turn by the same angle. Does the score change when positions move?"),
        norm=(False, "Each vector is turned, by some angle. Does a turn change lengths?"),
        composition=(True, "Head 1 turns by 1 radian in each call. What do two calls make, and what does one?"),
        identity_at_0=(True, "All tokens stand at position 0. Does head 1 stay?"),
        layout_converter=(
            False,
            "The angles are wrong, but each pair turns by one. Does the order of features matter?",
        ),
    ),
    exercise(
        name="wrong_axis",
        kind="repair",
        question="""
            `x` holds queries or keys as (tokens, heads, d), and `position_ids` the position of each token. Repair the
            function: each token turns by its own position, the same in all heads. Return the shape of `x`.
            """,
        hint="Angles of shape (tokens, 1, d/2) meet x axis by axis.",
        starter=WRONG_AXIS,
        checker=rotation(tokens_first),
        solution=RIGHT_AXIS,
        mistakes=[
            (WRONG_AXIS, HEAD_AXIS),
            (edit(RIGHT_AXIS, ("rotation_angles(position_ids", "rotation_angles(np.arange(len(x))")), UNMOVED),
            (
                edit(
                    WRONG_AXIS,
                    ("np.arange(x.shape[-2])", "position_ids"),
                    ("rotate_expanded(x, angles)", "rotate_expanded(np.swapaxes(x, 0, 1), angles)"),
                ),
                ONE_HEAD_BACK,
            ),
            (edit(RIGHT_AXIS, ("(position_ids,", "(position_ids + 1,")), OF_FAULT["positions from one"]),
        ],
        advice="Compare one head, `x[:, 0]`, with `rotate_expanded` of that head alone.",
        why="The position runs along the tokens. Test with unequal counts of tokens and heads.",
    ),
    which_find(
        "catch_layout",
        """
        A table holds each cosine twice in a row: [c0, c0, c1, c1, ...]. The quarter turn beside it joins features i
        and i + d/2. So the two features of a "pair" are multiplied by different cosines. Which of the five invariants
        find this?
        """,
        hint="At position 0 all cosines are 1 and all sines 0. At other positions, is it still a turn?",
        why="It is no rotation any more, and four of five notice. Only position 0 looks right.",
        relative=(True, "If it is no turn, can the score depend on m - n alone?"),
        norm=(True, "Partners get different cosines and sines. Is cos² + sin² = 1 still used?"),
        composition=(True, "Turns add up. Do these, if they are not turns?"),
        identity_at_0=(False, "At position 0, what are all the cosines and sines, in any order?"),
        layout_converter=(True, "The other pairing makes a true turn of the same angles. Can the two agree?"),
    ),
    exercise(
        name="mixed_layout",
        kind="repair",
        question="""
            The pairs of this model are features 2i and 2i + 1. `x` has shape (..., tokens, d). The cosines fit these
            pairs, the quarter turn does not. Repair it.
            """,
        hint="The quarter turn of (a, b) is (-b, a), for the neighbours a and b.",
        starter=MIXED_LAYOUT,
        checker=rotation(directly),
        solution=ONE_LAYOUT,
        mistakes=[
            (MIXED_LAYOUT, OF_FAULT["quarter turn of the other pairing"]),
            (
                edit(
                    MIXED_LAYOUT,
                    ("np.repeat(np.cos(angles), 2, axis=-1)", "np.concatenate((np.cos(angles),) * 2, axis=-1)"),
                    ("np.repeat(np.sin(angles), 2, axis=-1)", "np.concatenate((np.sin(angles),) * 2, axis=-1)"),
                ),
                OF_FAULT["other pairing"],
            ),
            (edit(ONE_LAYOUT, ("-second, first", "second, first")), OF_FAULT["lost minus"]),
            (edit(ONE_LAYOUT, ("-second, first", "second, -first")), OF_FAULT["opposite direction"]),
        ],
        advice="Compare with `rotate_by_matrix` on one token of width 8.",
        why="A repeated table fits the quarter turn of neighbours, a concatenated one that of halves.",
    ),
    which_find(
        "catch_cache",
        """
        Keys are turned when they come in, and kept. At every step a program turns the whole cache once more. So a
        key of position n stands at 2n, and the query at m. Which of the five invariants find this?
        """,
        hint="Each single call of the turn is right. Move all positions by 20: by how much does m - 2n change?",
        why="The turn itself is right, so whoever tests the turn alone sees nothing. Test the head.",
        relative=(True, "Move all positions by 20. Does m - 2n stay?"),
        norm=(False, "A vector that is turned twice: is it longer or shorter?"),
        composition=(False, "The turn itself is right. Is anything wrong before it is used twice?"),
        identity_at_0=(False, "What does a second turn do at position 0?"),
        layout_converter=(False, "Both programs use the same right turn. Does the order of features matter?"),
    ),
    exercise(
        name="cached_scores",
        kind="repair",
        question="""
            `q` and `k` hold one row a token, the newest last. Return the scores of the newest query with all keys.
            The cache holds the older keys, turned when they came in. Repair the function, and leave the cache as it is.
            """,
        hint="Only one key is still unturned, and it has its own position.",
        starter=CACHED_SCORES,
        checker=formula(run(TURNED_ONCE, "cached_scores"), draw_cache, (5,)),
        solution=TURNED_ONCE,
        mistakes=[
            (CACHED_SCORES, "Cached keys are turned twice: a key of position n acts as one of 2n."),
            (
                edit(CACHED_SCORES, ("    keys = rope.rotate(keys, position_ids)\n", "")),
                "The newest key stands at position 0: it is not turned, or is taken for the first one.",
            ),
            (
                edit(TURNED_ONCE, ("cache = rope.rotate(k[:-1], position_ids[:-1])", "cache = k[:-1]")),
                "The newest key is right, but now the older ones are not turned at all.",
            ),
        ],
        advice="Compare with the scores of `rope.rotate(k, position_ids)`, turned all at once.",
        why="A key that is cached turned is never turned again.",
    ),
    which_find(
        "catch_half",
        """
        A table is made in half precision: positions, speeds and their products are float16. It has 11 binary digits,
        so near 2,000 it counts in whole numbers. The tests allow an error of one percent. Which of the five invariants
        find this? The relative test moves by 20 and by 2,000, the others stay below 1,000.
        """,
        hint="A wrong angle is still an angle. Where are the angles wrong by much?",
        why="Every row is a turn, by an angle that is rounded. Only a test far out sees that distances are wrong.",
        relative=(
            True,
            "At 2,000 the angles of fast pairs are off by a large part of a radian. What does the score see?",
        ),
        norm=(False, "The cosine and the sine come from one angle, right or wrong. What is cos² + sin²?"),
        composition=(False, "Positions 3, 4 and 7 are small. How far off is an angle there?"),
        identity_at_0=(False, "Position 0 times any speed is exact."),
        layout_converter=(False, "Both programs are given the same angles. Does it matter whether these are right?"),
    ),
    exercise(
        name="half_precision",
        kind="repair",
        question="""
            The function makes a table of cosines and sines, stacked, of shape (2, seq_len, rotary_dim / 2). Repair it:
            every entry must be right to three digits, at any position. The finished table may be kept in any precision.
            """,
        hint="Every rounding before the cosine is multiplied. Only a rounding after it stays small.",
        starter=HALF_TABLE,
        checker=function(table_probe),
        solution=FINE_TABLE,
        mistakes=[
            (HALF_TABLE, ALL_HALF),
            (edit(FINE_TABLE, ("np.arange(seq_len)", "np.arange(seq_len).astype(np.float16)")), HALF_POSITIONS),
            (
                edit(FINE_TABLE, ("inverse_frequencies(rotary_dim)", "np.float16(inverse_frequencies(rotary_dim))")),
                HALF_SPEEDS,
            ),
            (edit(FINE_TABLE, ("np.outer(positions, speeds)", "np.float16(np.outer(positions, speeds))")), HALF_ANGLES),
        ],
        advice="",
        why="Compute positions, speeds, angles and cosines finely. Round the table last, if at all.",
    ),
    which_find(
        "catch_speeds",
        """
        Three programs turn each pair at a wrong speed. One uses the exponent (2i - 1)/d with i from 1. One builds
        YaRN on a base that was changed already. One turns 16 features of 64 and divides by 64 in the exponent. Which
        of the five invariants find **any** of the three?
        """,
        hint="Read the proofs of notebooks 01 and 02 again. Where do they use the value of a speed?",
        why="All five hold for every list of speeds. Only a row of right numbers tells one list from another.",
        relative=(False, "Does the proof of q · R(n - m) k use which speed a pair has?"),
        norm=(False, "Does a turn by a wrong angle change the length?"),
        composition=(False, "3θ + 4θ = 7θ. For which θ?"),
        identity_at_0=(False, "0 times a wrong speed is what?"),
        layout_converter=(False, "Both programs are given the same angles. Does it matter whether these are right?"),
    ),
    exercise(
        name="shifted_speeds",
        kind="repair",
        question="""
            A course sheet printed the exponent as (2i - 1)/d, with i from 1. `x` has shape (..., tokens, d), pairs are
            neighbours, the base is 10,000. Repair the speeds.
            """,
        hint="Pair 0 must turn by one radian a token.",
        starter=SHIFTED_SPEEDS,
        checker=rotation(directly, first_speed_probe),
        solution=OWN_SPEEDS,
        mistakes=[
            (SHIFTED_SPEEDS, HALF_STEP_SLOW),
            (edit(SHIFTED_SPEEDS, ("np.arange(1, d // 2 + 1)", "np.arange(d // 2)")), HALF_STEP_FAST),
            (edit(SHIFTED_SPEEDS, ("2 * pairs - 1", "2 * pairs")), OF_FAULT["index from one"]),
            (edit(SHIFTED_SPEEDS, ("(2 * pairs - 1)", "(pairs - 1)")), OF_FAULT["exponent too small"]),
            (edit(OWN_SPEEDS, ("2 * (pairs - 1)", "4 * (pairs - 1)")), OF_FAULT["exponent too large"]),
        ],
        advice="Print your speeds for d = 8: they should be 1, 0.1, 0.01 and 0.001.",
        why="2(i - 1)/d with i from 1 is 2i/d with i from 0.",
    ),
    exercise(
        name="yarn_speeds",
        kind="repair",
        question="""
            YaRN leaves fast pairs at their speed and divides slow ones by `factor`; `slow` says where, from 0 to 1.
            This function was written beside another method, NTK, that raises the base. Repair it: where `slow` is 0 a
            pair must keep the speed of the model.
            """,
        hint="Put in `slow` = 0 everywhere. What should come back?",
        starter=YARN_SPEEDS,
        checker=formula(run(KEPT_SPEEDS, "yarn_speeds"), draw_yarn, lambda width, *_: (width // 2,)),
        solution=KEPT_SPEEDS,
        mistakes=[
            (
                YARN_SPEEDS,
                "Where slow is 0 a pair does not keep its speed: the raised base slows it. Two methods are mixed.",
            ),
            (
                edit(YARN_SPEEDS, ("(rotary_dim, base)", "(rotary_dim, raised)")),
                "Now both parts are made with the raised base.",
            ),
            (
                edit(KEPT_SPEEDS, ("kept * (1 - slow) + slowed * slow", "kept * slow + slowed * (1 - slow)")),
                "Fast and slow pairs have changed places. Where slow is 1 the speed is divided by factor.",
            ),
            (
                edit(KEPT_SPEEDS, (" / factor", " * factor")),
                "Slow pairs become faster. A longer context needs slower ones.",
            ),
        ],
        advice="Compare the first and the last speed with `inverse_frequencies(rotary_dim, base)`.",
        why="YaRN works with the model's own speeds only. The raised base belongs to NTK.",
    ),
    exercise(
        name="partial_turn",
        kind="repair",
        question="""
            In this model only the first `rotary_dim` features of a head are turned, and the model was trained with the
            usual speeds for *that* width. The others are left as they are. Repair the function.
            """,
        hint="In theta_i = base^(-2i/d), d is the width that is turned.",
        starter=PARTIAL_TURN,
        checker=formula(run(OWN_WIDTH, "partial_turn"), draw_part, (5, 16)),
        solution=OWN_WIDTH,
        mistakes=[
            (
                PARTIAL_TURN,
                "The exponent divides by the width of the head. With 6 features of 16, pair 1 turns by 0.32 radians "
                "a token, and it should turn by 0.046.",
            ),
            (
                edit(PARTIAL_TURN, ("np.arange(rotary_dim // 2)", "np.arange(x.shape[-1] // 2)")),
                "All features are turned. The last ones should be left as they are.",
            ),
            (edit(OWN_WIDTH, ("-2 * pairs", "-pairs")), "The 2 is lost: the exponent is 2i over the width."),
        ],
        advice="The last features must come out as they went in. Then compare the speeds with `inverse_frequencies`.",
        why="Most models use the turned width here. Gemma 4's proportional rotary uses the head's, and is trained so.",
    ),
    which_find(
        "catch_values",
        """
        A head turns queries, keys **and values** by their positions. The output is the weighted sum of the values, and
        nobody turns it back. The model was trained without this. Which of the five invariants find it?
        """,
        hint="Three of the five look at the turn alone, and the turn is right. What does relative look at?",
        why="The scores are right. The output is not, so the relative test must look at the output of the head.",
        relative=(True, "All scores stay. But what is summed up, when all positions move by 20?"),
        norm=(False, "Each value keeps its length."),
        composition=(False, "The turn itself is right."),
        identity_at_0=(False, "At position 0 the values are not turned."),
        layout_converter=(False, "The turn of the program and that of the other pairing agree."),
    ),
    exercise(
        name="turned_values",
        kind="repair",
        question="""
            The head should look *where* the positions say, and fetch plain values, as the model was trained. `q`, `k`
            and `v` have shape (tokens, d). Repair it.
            """,
        hint="Which of the three enter the score?",
        starter=TURNED_VALUES,
        checker=formula(run(PLAIN_VALUES, "turned_values"), draw_head, (5, 8)),
        solution=PLAIN_VALUES,
        mistakes=[
            (
                TURNED_VALUES,
                "The values are turned, so the output depends on where the text stands, not on distances alone.",
            ),
            (
                edit(TURNED_VALUES, ("return weights @ v", "return rope.rotate(weights @ v, -position_ids)")),
                "Turned back, the output is relative: a real variant (notebook 05). But this model "
                "was trained on plain values.",
            ),
            (
                edit(PLAIN_VALUES, ("q, k = (rope", "_, k = (rope")),
                "Only the keys are turned. The score then depends on n, not on m - n.",
            ),
            (
                edit(PLAIN_VALUES, ("    q, k = (rope.rotate(part, position_ids) for part in (q, k))\n", "")),
                "Nothing is turned any more: the head does not see positions.",
            ),
        ],
        advice="With one token alone the weight is 1, so the output must be its value.",
        why="A position decides where to look. What is fetched there is the plain value.",
    ),
    exercise(
        name="convert_rows",
        kind="repair",
        question="""
            The weights of a model were trained with pairs (2i, 2i + 1). This converter moves the rows of W_q and W_k
            so that a program with pairs (i, i + d/2) gives the same scores. With heads of four features the scores
            agree. With heads of six they do not. `weight` has shape (heads * d, inputs). Repair it.
            """,
        hint="Within a head, old rows are pair 0 first, pair 0 second, pair 1 first ... Which two axes does that make?",
        starter=CONVERT_ROWS,
        checker=formula(lambda w, heads: permute_projection(w, heads, to="half"), draw_weight, lambda w, _: w.shape),
        solution=CONVERTED_ROWS,
        mistakes=[
            (
                CONVERT_ROWS,
                "This is the way back, from half-split to interleaved order. In a head of four the two ways are "
                "the same, so test with six or more.",
            ),
            ("def convert_rows(weight, num_heads): return 1.0 * weight", "No row has moved."),
            (
                edit(CONVERTED_ROWS, ("(num_heads, -1, 2, columns)", "(1, -1, 2, columns)")),
                "Rows leave their head. Each head is reordered for itself.",
            ),
        ],
        advice="Convert `np.arange(6)[:, None]` as one head: the order should be 0, 2, 4, 1, 3, 5.",
        why="W_v and the output projection stay as they are: only queries and keys are turned.",
    ),
]
