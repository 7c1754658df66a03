"""Exercises of notebook 07, Longer than trained."""

import itertools

import numpy as np

from rope_course.exercises.checkers import close, formula, function, numbers, true_or_false
from rope_course.exercises.entry import edit, exercise
from rope_ref.frequencies import inverse_frequencies, rotation_angles
from rope_ref.rotation import rotate_expanded
from rope_ref.scaling import dynamic_ntk, first_new_position, linear, ntk, ntk_base, ntk_by_parts
from rope_ref.xpos import xpos_scales

__all__ = ["EXERCISES"]

TURN = 2 * np.pi


# by_parts_counts -------------------------------------------------------------------------------------------------


def parts(factor=16):
    """Count the pairs of a head of 128 that YaRN keeps, blends and slows, if trained on 2,048 tokens."""
    own = inverse_frequencies(128)
    scaled = ntk_by_parts(128, factor=factor, original_length=2048).inv_freq
    kept, slowed = (int(np.isclose(scaled, own / s, rtol=1e-9, atol=0).sum()) for s in (1, factor))
    return [kept, len(own) - kept - slowed, slowed]


# cached_score ----------------------------------------------------------------------------------------------------

LENGTH = 16  # tokens trained on
PLACES = [(5, 0), (20, 15), (40, 35), (60, 12), (9, 9)]


def speeds(width, length):
    """Give the speeds that are in use when a text has some length."""
    return dynamic_ntk(width, factor=2, original_length=LENGTH, seq_len=length).inv_freq


def score(q, k, m, n, q_length, k_length):
    """Score a query turned by the speeds of one length with a key turned by those of another."""
    turned = [
        rotate_expanded(x[None], rotation_angles([at], speeds(len(x), length)))[0]
        for x, at, length in ((q, m, q_length), (k, n, k_length))
    ]
    return turned[0] @ turned[1]


AFRESH = "That is the score with both turned by the speeds of now. The cached key was turned when it came, and kept so."
FROZEN = (
    "That is the score with both turned by the speeds of then. The query is new: it is turned by the speeds of now."
)
CROSSED = "Query and key have changed speeds: the key is the older of the two."
OTHER = "Not yet. Turn q to position m by the speeds of now, and k to position n by the speeds of then, and multiply."

WAYS = [
    (AFRESH, lambda m, n: (m + 1, m + 1)),
    (FROZEN, lambda m, n: (n + 1, n + 1)),
    (CROSSED, lambda m, n: (n + 1, m + 1)),
]


def cache_probe(student):
    """Say by which speeds the student turned the query and the cached key."""
    q, k = np.random.default_rng(7).standard_normal((2, 8))
    got = [student(q, k, m, n, speeds(8, m + 1), speeds(8, n + 1)) for m, n in PLACES]
    for says, lengths in [(None, lambda m, n: (m + 1, n + 1)), *WAYS]:
        if close(got, [score(q, k, m, n, *lengths(m, n)) for m, n in PLACES]):
            return says
    return OTHER


CACHED_SCORE = """
def cached_score(q, k, m, n, now, then):
    turned_q = rotate_expanded(q[None], rotation_angles([m], now))
    turned_k = rotate_expanded(k[None], rotation_angles([n], then))
    return (turned_q @ turned_k.T).item()
"""


# first_new_angle -------------------------------------------------------------------------------------------------

SLOWED = {  # speeds of a width for a factor, trained on some length
    "NTK": lambda width, length, factor: ntk(width, factor=factor),
    "PI": lambda width, length, factor: linear(width, factor=factor),
    "YaRN": lambda width, length, factor: ntk_by_parts(width, factor=factor, original_length=length),
}
REACHES = list(itertools.product((64, 128), (200, 513, 2048), (2, 4, 7, 8)))  # width, trained length, factor
EXACT = REACHES.index((128, 513, 4))  # 512 and 4 are powers of two: for PI no step of the way is rounded


def last_inside(own, scaled, length, *, among=None, last=1, pick=np.min):
    """Find where some hand leaves its trained arc, between two positions, if hands or tokens are counted otherwise."""
    chosen = length * own < TURN if among is None else np.full(len(own), among)
    return pick((length - last) * own[chosen] / scaled[chosen])


ALL_HANDS = (
    "You count hands that have been all round. No angle is new to them: only hands that made less than one turn."
)
ONE_LATE = "The last position in a text of `length` tokens is length - 1. Its angle is the largest that was seen."
LAST_HAND = "That is where the last hand leaves. The first one that leaves decides."
INSIDE = "That is the last position at which all is known. Asked for is the first one at which something is new."
NO_REACH = "Not yet. A hand leaves where m times its new speed is more than length - 1 times its old speed."
ON_THE_EDGE = (
    "With PI a hand comes exactly to the largest angle that it has seen. That angle is not new: the next one is."
)
LAST_DIGIT = (
    "Right but for the last digit. With PI the last known position is a whole number, but rounding can put the float "
    "just below it, and you lose one position. Multiply the largest known angle by 1 + 1e-12 first."
)
REACH_WAYS = [
    (ALL_HANDS, 1, {"among": True}),
    (ONE_LATE, 1, {"last": 0}),
    (LAST_HAND, 1, {"pick": np.max}),
    (INSIDE, 0, {}),
]


def reach_probe(student):
    """Say which hands or positions the student counts otherwise, or that only the last digit is missing."""
    cases = {
        name: [(inverse_frequencies(at[0]), scale(*at).inv_freq, at[1]) for at in REACHES]
        for name, scale in SLOWED.items()
    }
    got = {name: np.array([student(*case) for case in each]) for name, each in cases.items()}
    missing = {name: [first_new_position(*case) for case in each] - got[name] for name, each in cases.items()}
    if not any(off.any() for off in missing.values()):
        return None
    if missing["NTK"].any():  # here the right answer lies far from rounding, so a wrong way is told by its numbers
        for says, step, how in REACH_WAYS:
            ends = np.array([last_inside(*case, **how) for case in cases["NTK"]])
            low, high = (np.floor(ends * (1 + by)) + step for by in (-1e-12, 1e-12))
            if ((low <= got["NTK"]) & (got["NTK"] <= high)).all():
                return says
        return NO_REACH
    if not all(np.isin(off, (0, 1)).all() for off in missing.values()):
        return NO_REACH
    return ON_THE_EDGE if missing["PI"][EXACT] else LAST_DIGIT


FIRST_NEW = """
def first_new_angle(own, scaled, length):
    slow = length * own < 2 * np.pi
    inside = (length - 1) * own[slow] / scaled[slow]
    inside = inside.min() * (1 + 1e-12)  # a whole number may come out just below itself
    return int(inside) + 1
"""
UNGUARDED = (" * (1 + 1e-12)  # a whole number may come out just below itself", "")


# mend_yarn -------------------------------------------------------------------------------------------------------

ON_THE_NTK_BASE = """
def mend_yarn(rotary_dim, base, factor, original_length):
    base = base * factor ** (rotary_dim / (rotary_dim - 2))
    pairs = np.arange(rotary_dim // 2)
    own = base ** (-2 * pairs / rotary_dim)
    periods = original_length / np.array([32, 1])
    low, high = rotary_dim * np.log(periods / (2 * np.pi)) / (2 * np.log(base))
    low, high = max(np.floor(low), 0), min(np.ceil(high), rotary_dim - 1)
    keep = 1 - np.clip((pairs - low) / (high - low), 0, 1)
    return own / factor * (1 - keep) + own * keep
"""
RAISE = "    base = base * factor ** (rotary_dim / (rotary_dim - 2))\n"
HEADS = [(128, 10000.0, 16.0, 2048), (64, 500000.0, 8.0, 8192)]
SHORT = (64, 10000.0, 4.0, 128)  # in 128 tokens no pair makes 32 turns


def by_parts(rotary_dim, base, factor, original_length):
    """Give the speeds of YaRN by the library."""
    return ntk_by_parts(rotary_dim, base, factor=factor, original_length=original_length).inv_freq


TWICE = "The slowest pair is slowed by the square of the factor. Two methods are at work: which line is not YaRN's?"
RAMP = "First and last pair are right, those between are not. From which base are the ends of the ramp worked out?"
INVERTED = "The fast pairs are slowed and the slow ones kept: the blend is the wrong way round."
NOT_BLENDED = "No pair stands between its own speed and the slowed one. What did the ramp do?"
BELOW = (
    "Right for 2,048 trained tokens or more. In 128 tokens no pair makes 32 turns, and your ramp begins below pair 0. "
    "It must begin at pair 0 or later."
)
ELSE = "Not yet. Compare your speeds with those of plain RoPE: the first must be equal, the last slower by the factor."


def yarn_probe(student):
    """Say what is wrong with the speeds: the ends, or the pairs between."""
    got = [student(*head, shape=(head[0] // 2,)) for head in HEADS]
    if all(close(one, by_parts(*head)) for one, head in zip(got, HEADS, strict=True)):
        return None if close(student(*SHORT, shape=(SHORT[0] // 2,)), by_parts(*SHORT)) else BELOW
    rotary_dim, base, factor, _ = HEADS[0]
    ratio = got[0] / inverse_frequencies(rotary_dim, base)
    if close(ratio[-1], factor**-2.0):
        return TWICE
    if close(ratio[[0, -1]], [1 / factor, 1.0]):
        return INVERTED
    if not close(ratio[[0, -1]], [1.0, 1 / factor]):
        return ELSE
    return NOT_BLENDED if np.isclose(ratio, 1).sum() + np.isclose(ratio, 1 / factor).sum() == len(ratio) else RAMP


EXERCISES = [
    exercise(
        name="pi_angle",
        kind="predict",
        question="""
            A model is used with position interpolation at s = 4. By how many radians is pair 0 turned at position
            8,000, whole turns included?
            """,
        hint="Pair 0 turns by 1 radian a token. What does PI do to the position, or to the speed?",
        checker=numbers(8000 / 4),
        solution="answer = 8000 / 4 * 1",
        mistakes=[
            (8000, "That is plain RoPE. What does s do?"),
            (32000, "You made the hand faster. A longer text has to fit into the old angles."),
            (500, "You divided twice: position and speed. One of them is enough; both is a known fault."),
            (2000 % TURN, "That is where the hand points. Here whole turns are included."),
        ],
        advice="Divide the position by s, and multiply by the speed of pair 0.",
        why="The same angle as position 2,000 has without scaling: each position borrows the angles of an earlier one.",
    ),
    exercise(
        name="raised_base",
        kind="derive",
        question="""
            NTK-aware scaling changes only the base. The slowest pair, i = d/2 - 1, shall be slowed by exactly the
            factor s. Write the new base as a formula of d, the old base b, and s.
            """,
        hint="The speed of the slowest pair is b^(-(d-2)/d). Set the new one equal to the old one divided by s, and "
        "solve for the new base.",
        starter="""
            def raised_base(d, b, s):
                return ...
            """,
        checker=formula(
            lambda d, b, s: ntk_base(d, b, factor=s),
            lambda rng: (
                2 * int(rng.integers(3, 70)),
                float(rng.uniform(1000, 500000)),
                float(rng.uniform(1.5, 16)),
            ),
        ),
        solution="""
            def raised_base(d, b, s):
                return b * s ** (d / (d - 2))
            """,
        mistakes=[
            (
                "def raised_base(d, b, s): return b * s",
                "Close, but then the slowest pair is slowed a little less than s times. Which power brings it to s?",
            ),
            (
                "def raised_base(d, b, s): return b * s ** ((d - 2) / d)",
                "Your exponent is upside down: the base itself is raised to a power below 1.",
            ),
            (
                "def raised_base(d, b, s): return b * s ** (d / (d - 1))",
                "For the last pair 2i is d - 2, not d - 1.",
            ),
            (
                "def raised_base(d, b, s): return b / s ** (d / (d - 2))",
                "A smaller base makes the hands faster.",
            ),
            (
                "def raised_base(d, b, s): return s ** (d / (d - 2))",
                "That is by what the old base is multiplied.",
            ),
            (
                "def raised_base(d, b, s): return b ** (d / (d - 2))",
                "Your formula does not depend on s.",
            ),
        ],
        advice="Put your base into the speed of the last pair: it must be b^(-(d-2)/d) / s.",
        why="For s = 8 and b = 10,000 that is 82,684.62 at d = 128, and 85,550.38 at d = 64.",
    ),
    exercise(
        name="by_parts_counts",
        kind="predict",
        question="""
            A head has d = 128, base 10,000, and was trained on L = 2,048 tokens. YaRN at s = 16 keeps pairs that make
            more than 32 turns in L, slows those that make less than 1 by the whole factor, and blends between. How
            many pairs does it keep, blend and slow? Give three numbers in this order.
            """,
        hint="Count the entries of `2048 * inverse_frequencies(128) / (2 * np.pi)` that are above 32, and below 1.",
        starter="answer = [..., ..., ...]  # kept, blended, slowed",
        checker=numbers(parts(), rtol=0),
        solution="""
            turns = 2048 * inverse_frequencies(128) / (2 * np.pi)
            kept, slowed = np.sum(turns > 32), np.sum(turns < 1)
            answer = [kept, 64 - kept - slowed, slowed]
            """,
        mistakes=[
            ([16, 25, 23], "Pairs are counted from 0: look again how many are kept."),
            ([23, 24, 17], "The order is kept, blended, slowed. Fast pairs are kept."),
            ([41, 0, 23], "Those do finish a turn. But only those with more than 32 turns are kept as they are."),
            ([44, 19, 1], "A turn is 2π radians. You counted radians."),
            ([17, 24, 0], "The three numbers must add up to 64."),
        ],
        advice="The three numbers must add up to 64. Work out how many turns pair 0 and pair 63 make in 2,048 tokens.",
        why="The counts do not depend on s, and they are the same for both ramps. The ramps differ between their ends.",
    ),
    exercise(
        name="score_factor",
        kind="predict",
        question="""
            YaRN multiplies cos and sin by 0.1 ln s + 1. By what are the scores multiplied at s = 16?
            """,
        hint="Which two vectors of a score are turned with cos and sin?",
        checker=numbers((0.1 * np.log(16) + 1) ** 2),
        solution="answer = (0.1 * np.log(16) + 1) ** 2",
        mistakes=[
            (0.1 * np.log(16) + 1, "That is by what each turned vector gets longer. A score has two of them."),
            (2 * (0.1 * np.log(16) + 1), "Lengths of two vectors multiply in a dot product; they do not add."),
            (np.sqrt(0.1 * np.log(16) + 1), "You took a root. Both vectors carry the whole factor."),
            (1.4**2, "That is with the logarithm to base 2. Here ln is the natural one."),
            (1.4, "That is with the logarithm to base 2, and for one vector only."),
            ((0.1 * np.log10(16) + 1) ** 2, "That is with the logarithm to base 10. Here ln is the natural one."),
        ],
        advice="Work out 0.1 ln 16 + 1 first, then ask how often it enters a score.",
        why="A change of temperature: softmax gets sharper, and no line of the attention code has to change.",
    ),
    exercise(
        name="cached_score",
        kind="code",
        question="""
            The speeds of a model depend on the length of the text so far: `now` are those in use when the query at
            position m comes, `then` those that were in use when the key at position n came. The key was turned then,
            and lies in the cache since. Write the score that such a program computes.
            """,
        hint="Two calls of `rotate_expanded`, each with its own speeds and its own position. Do not repair anything: "
        "the task is to show the fault.",
        starter="""
            def cached_score(q, k, m, n, now, then):
                return ...
            """,
        checker=function(cache_probe),
        solution=CACHED_SCORE,
        mistakes=[
            (edit(CACHED_SCORE, ("[n], then", "[n], now")), AFRESH),
            (edit(CACHED_SCORE, ("[m], now", "[m], then")), FROZEN),
            (edit(CACHED_SCORE, ("[m], now", "[m], then"), ("[n], then", "[n], now")), CROSSED),
            (edit(CACHED_SCORE, ("[n], then", "[m], then")), OTHER),
        ],
        advice="",
        why="One distance, many scores: it counts where the two stand. Keep keys unturned, or use one length for all.",
    ),
    exercise(
        name="xpos_zeta",
        kind="predict",
        question="""
            xPos multiplies pair i of a query by ζᵢ once in every 512 tokens, with ζᵢ = (2i/d + 0.4) / 1.4. What is ζ
            for pair 0?
            """,
        hint="Put i = 0 into the formula.",
        checker=numbers(xpos_scales(512, 64)[0]),
        solution="answer = (2 * 0 / 64 + 0.4) / 1.4",
        mistakes=[
            (0.4, "Divide by 1.4 as well."),
            (1, "A factor of 1 would shrink nothing. What remains of the formula at i = 0?"),
            (3.5, "That is by what keys are multiplied: 1 over it."),
            (0, "The 0.4 is there so that this does not happen."),
            (xpos_scales(512, 64)[-1], "That is the last pair of a head of 64. Pair 0 is the fastest."),
            (xpos_scales(512, 128)[-1], "That is the last pair of a head of 128. Pair 0 is the fastest."),
        ],
        advice="With i = 0 only the two constants are left.",
        why="The fastest pair shrinks most: by a factor of 3.5 every 512 tokens.",
    ),
    exercise(
        name="first_new_angle",
        kind="code",
        question="""
            `own` holds the speeds a model was trained with, `scaled` those it uses now, and `length` how many tokens
            it was trained on. Find the first position at which some hand that never finished a turn in training
            stands at an angle that it has never seen. Your function is tried with NTK, PI and YaRN.
            """,
        hint="Hand i has seen angles up to (length - 1) * own[i]. At which position does scaled[i] take it there? "
        "With PI that is a whole number: a float may miss it by its last digit.",
        starter="""
            def first_new_angle(own, scaled, length):
                return ...
            """,
        checker=function(reach_probe),
        solution=FIRST_NEW,
        mistakes=[
            (edit(FIRST_NEW, ("length * own < 2 * np.pi", "length * own > 0")), ALL_HANDS),
            (edit(FIRST_NEW, ("(length - 1) * own", "length * own")), ONE_LATE),
            (edit(FIRST_NEW, (".min()", ".max()")), LAST_HAND),
            (edit(FIRST_NEW, ("int(inside) + 1", "int(inside)")), INSIDE),
            (edit(FIRST_NEW, ("own[slow] / scaled[slow]", "scaled[slow] / own[slow]")), NO_REACH),
            (edit(FIRST_NEW, UNGUARDED), LAST_DIGIT),
            (edit(FIRST_NEW, UNGUARDED, ("int(inside) + 1", "int(np.ceil(inside))")), ON_THE_EDGE),
        ],
        advice="",
        why="For NTK, d = 128 and 2,048 tokens: 3,214 at a factor of 2, 5,046 at 4, 7,923 at 8. For PI at 8: 16,377.",
    ),
    exercise(
        name="mend_yarn",
        kind="repair",
        question="""
            A program builds YaRN on top of a base that NTK has already raised. Its slow pairs come out far too slow.
            Repair it, so that it gives the speeds of YaRN.
            """,
        hint="How much slower must the last pair be than without scaling, and how much slower is it?",
        starter=ON_THE_NTK_BASE,
        checker=function(yarn_probe),
        solution=edit(ON_THE_NTK_BASE, (RAISE, "")),
        mistakes=[
            (ON_THE_NTK_BASE, TWICE),
            (
                edit(ON_THE_NTK_BASE, ("    base = base *", "    raised = base *"), ("np.log(base)", "np.log(raised)")),
                RAMP,
            ),
            (edit(ON_THE_NTK_BASE, (RAISE, ""), ("keep = 1 - np", "keep = np")), INVERTED),
            (edit(ON_THE_NTK_BASE, (RAISE, ""), ("0, 1)\n", "0, 1) // 1\n")), NOT_BLENDED),
            (edit(ON_THE_NTK_BASE, (RAISE, ""), ("max(np.floor(low), 0)", "np.floor(low)")), BELOW),
            (edit(ON_THE_NTK_BASE, (RAISE, ""), ("own / factor", "own")), ELSE),
        ],
        advice="",
        why="NTK and YaRN are two answers to one question. Used together they slow the slow pairs twice.",
    ),
    true_or_false(
        name="true_or_false_07",
        question="Which of these sentences are true?",
        sentences=[
            (
                "RoPE has no table, so a trained model generalises to any length.",
                False,
                "The formula has no end. What has the model learned to do with angles that it never saw?",
            ),
            (
                "On texts longer than trained, the fast pairs meet new angles first.",
                False,
                "Look at the figure of the arcs covered: which hands have seen the whole circle?",
            ),
            (
                "A cache of cosines with 2,048 rows cannot be used for a text of 4,096 tokens, but a longer one can be "
                "computed, and its first 2,048 rows are the same.",
                True,
                "Build the table twice and compare, as in the notebook.",
            ),
            (
                "With position interpolation the hands of two neighbours stand closer together than in training.",
                True,
                "What is the angle of pair 0 from one token to the next, at s = 8?",
            ),
            (
                "A model set to YaRN with s = 4 computes the same scores as before on short texts.",
                False,
                "s is fixed: which speeds and which length factor does the model use at position 10?",
            ),
            (
                "xPos lets pairs of features act on each other, which plain RoPE does not.",
                False,
                "By what does xPos multiply a pair? Does another pair enter?",
            ),
            (
                "xPos suits a model that looks both ways.",
                False,
                "Look at the left half of the figure of xPos: what happens to future keys?",
            ),
        ],
        hint="Each of them has its figure or its printed lines in this notebook.",
        why="Longer than trained is a question of angles, not of tables.",
    ),
]
