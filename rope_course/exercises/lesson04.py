"""Exercises of notebook 04, Does attention fade with distance?"""

import numpy as np

from rope_course.exercises.checkers import close, formula, function, numbers, true_or_false
from rope_course.exercises.entry import edit, exercise
from rope_ref.attention import relative_score
from rope_ref.decay import decay_bound
from rope_ref.frequencies import inverse_frequencies

__all__ = ["EXERCISES"]

SPEEDS = inverse_frequencies(64)


# partial_sums ----------------------------------------------------------------------------------------------------


def lengths(distance, inv_freq, part=np.abs):
    """Measure the partial sums S_1, S_2, ... of the paper's bound, or one part of each."""
    return part(np.cumsum(np.exp(1j * distance * inv_freq)))


def from_empty(distance, inv_freq):
    """Average from the empty sum S_0 on, and leave the whole sum out."""
    return np.concatenate(([0.0], lengths(distance, inv_freq)[:-1])).mean()


WHOLE = (
    "You have the length of the whole sum only. The bound needs the mean length of all partial sums, S_1 to S_(d/2)."
)
TOTAL = "You added the lengths up. The bound of this exercise is their mean."
EMPTY = "You start with the empty sum and leave the whole sum out. S_j adds the first j terms, for j from 1."
REAL = "You have the real parts of the sums. A sum that points to the side has a length too."
EARLY = "You took lengths before adding. Each term has length 1, so nothing can cancel that way."
OTHER = "Not yet. At distance 0 every term is 1: work out S_1, S_2, S_3 and their mean for a head of width 6."

WAYS = [
    (WHOLE, lambda r, inv_freq: lengths(r, inv_freq)[-1]),
    (WHOLE, lambda r, inv_freq: lengths(r, inv_freq)[-1] / len(inv_freq)),
    (TOTAL, lambda r, inv_freq: lengths(r, inv_freq).sum()),
    (EMPTY, from_empty),
    (REAL, lambda r, inv_freq: lengths(r, inv_freq, np.real).mean()),
    (REAL, lambda r, inv_freq: np.abs(lengths(r, inv_freq, np.real)).mean()),
    (EARLY, lambda r, inv_freq: (len(inv_freq) + 1) / 2),
]


def sums_probe(student):
    """Say which mean was taken instead of that of the lengths of the partial sums."""
    cases = [(r, inverse_frequencies(d)) for r, d in [(0, 128), (10, 128), (100, 64), (37, 6)]]
    got = [student(*case) for case in cases]
    if close(got, [decay_bound(*case) for case in cases]):
        return None
    return next((says for says, way in WAYS if close(got, [way(*case) for case in cases])), OTHER)


PARTIAL_SUMS = """
def partial_sums(distance, inv_freq):
    sums = np.cumsum(np.exp(1j * distance * inv_freq))
    return np.abs(sums).mean()
"""


# key_for ---------------------------------------------------------------------------------------------------------


def peak_of(key_for, distance):
    """Find the distance from -600 to 600 at which the student's key scores highest, and whether it does so alone."""
    q = np.random.default_rng(3).standard_normal(64)
    k = key_for(q, distance, SPEEDS, shape=(64,))
    if not np.any(k):
        return None
    around = np.arange(-600, 601)
    scores = relative_score(q, k, around, SPEEDS)
    return around[np.argmax(scores)] if scores.max() > scores.min() else None


NEWBORN = "Your key scores highest at distance 0. Which turn would bring q to the right place?"
BEHIND = (
    "Your key scores highest at distance -37 instead of 37: it stands on the other side. Check the sign of the turn."
)
LOST = "Your key scores the same everywhere: it is zero."
ELSEWHERE = "Your key scores highest at another distance. Compare with q turned by `rotate_expanded`, pair by pair."
BEST = "Your key peaks where it should, but not as high as a key of its length can. Use every pair of q."


def key_probe(student):
    """Say where the student's key scores highest, if not at the distance asked for."""
    found = [peak_of(student, distance) for distance in (37, 0, 500)]
    if found == [37, 0, 500]:
        q = np.random.default_rng(4).standard_normal(64)
        k = student(q, 37, SPEEDS, shape=(64,))
        best = np.linalg.norm(q) * np.linalg.norm(k)
        return None if close(relative_score(q, k, 37, SPEEDS), best) else BEST
    if found[0] is None:
        return LOST
    return {0: NEWBORN, -37: BEHIND}.get(int(found[0]), ELSEWHERE)


KEY_FOR = """
def key_for(q, distance, inv_freq):
    return rotate_expanded(q[None], [distance * inv_freq])[0]
"""


# closer_wins -----------------------------------------------------------------------------------------------------


def share_of_wins(d, draws=5000):
    """Count how often a random q scores itself higher at distance 64 than at distance 32."""
    q, inv_freq = np.random.default_rng(0).standard_normal((draws, d)), inverse_frequencies(d)
    return np.mean(relative_score(q, q, 64, inv_freq) > relative_score(q, q, 32, inv_freq))


# independent_draws -----------------------------------------------------------------------------------------------

SAME_SEED = """
def independent_draws(distance, inv_freq, draws, seed):
    shape = (draws, 2 * len(inv_freq))
    q = np.random.default_rng(seed).standard_normal(shape)
    k = np.random.default_rng(seed).standard_normal(shape)
    scores = relative_score(q, k, distance, inv_freq)
    return scores.mean(), scores.std()
"""
ONE_STREAM = edit(
    SAME_SEED,
    (
        "    q = np.random.default_rng(seed).standard_normal(shape)\n",
        "    rng = np.random.default_rng(seed)\n    q = rng.standard_normal(shape)\n",
    ),
    ("k = np.random.default_rng(seed)", "k = rng"),
)


def draws_probe(student):
    """Say what the mean and the spread at some distances show."""
    draws = 4000
    results = [student(distance, SPEEDS, draws, 11, shape=(2,)) for distance in (0, 10, 1000)]
    means, spreads = np.transpose(results)
    if close(results[0], results[2]):
        return NOT_TURNED
    if abs(means[0]) > 40 and abs(means[2]) < abs(means[0]) / 2:
        return ONE_DRAW
    if np.any(np.abs(means) > 5 * 8 / np.sqrt(draws)):
        return "The mean is too far from 0 for independent draws of mean 0. Print q and k for two draws."
    if not np.allclose(spreads, 8, rtol=0.06):
        return SPREAD
    return None


ONE_DRAW = "At distance 0 the mean is near 64, the mean of q . q. Are q and k different vectors?"
NOT_TURNED = "Nothing changes with the distance at all. Is the key still turned?"
SPREAD = "The mean is right, the spread is not: each of the 64 products of independent draws has variance 1."


EXERCISES = [
    exercise(
        name="cosine_weights",
        kind="derive",
        question="""
            For q = k the score at distance r, divided by the score at distance 0, is a weighted mean of the cosines
            of r times each speed. Return the d/2 weights for a query `q` of shape (d,), pairs interleaved.
            """,
        hint="In the formula of notebook 01 put k = q: what becomes of A and of B? Then make the weights add up to 1.",
        starter="""
            def cosine_weights(q):
                return ...
            """,
        checker=formula(
            lambda q: (q**2).reshape(-1, 2).sum(axis=-1) / (q @ q),
            lambda rng: (rng.standard_normal(2 * int(rng.integers(2, 6))),),
            shape=lambda q: (len(q) // 2,),
        ),
        solution="""
            def cosine_weights(q):
                lengths = np.hypot(q[0::2], q[1::2])
                return lengths**2 / (lengths**2).sum()
            """,
        mistakes=[
            (
                "def cosine_weights(q): return np.hypot(q[0::2], q[1::2]) / np.hypot(q[0::2], q[1::2]).sum()",
                "The weights add up to 1, but a pair twice as long must count more than twice. Look at A again.",
            ),
            (
                "def cosine_weights(q): return q[0::2] ** 2 + q[1::2] ** 2",
                "The proportions are right. A mean needs weights that add up to 1.",
            ),
            (
                "def cosine_weights(q): return np.full(len(q) // 2, 2 / len(q))",
                "Those are the weights of (1, 1, ..., 1). Here the pairs have different lengths.",
            ),
            (
                "def cosine_weights(q): return (q[: len(q) // 2] ** 2 + q[len(q) // 2 :] ** 2) / (q @ q)",
                "You paired features that lie half a head apart. Here pair i is features 2i and 2i + 1.",
            ),
            (
                "def cosine_weights(q): return np.hypot(q[0::2], q[1::2]) / np.linalg.norm(q)",
                "The squares of your weights add up to 1. The weights themselves must.",
            ),
        ],
        advice="For q = (3, 4, 0, 0) the weights are 1 and 0. Try q = (1, 0, 2, 0) by hand.",
        why="So a query with long fast pairs forgets within a few tokens, and one with long slow pairs hardly at all.",
    ),
    exercise(
        name="fast_pair_at_three",
        kind="predict",
        question="""
            A key equal to the query stands three tokens before it. Pair 0 has length 1 in both. What does pair 0 add
            to the score? Give two decimals.
            """,
        hint="Pair 0 turns by 1 radian a token, and three radians are almost half a turn.",
        checker=numbers(np.cos(3), rtol=0, atol=0.0051),
        solution="answer = np.cos(3.0)",
        mistakes=[
            (1, "That is what it adds at distance 0. How far has the pair turned in three tokens?"),
            (0.99, "Three radians are more than a quarter turn: on which side does the arrow point?"),
            (0.14, "That is a sine. Two equal arrows with an angle between them have another product."),
            (-1, "Close, but three radians are not quite half a turn. Give two decimals."),
            (0, "A quarter turn would give that."),
        ],
        advice="Draw the arrow (1, 0) and the same arrow turned by three radians.",
        why="The fastest pair lowers the score of an equal key three tokens back.",
    ),
    exercise(
        name="closer_wins",
        kind="predict",
        question="""
            For q = k the expected score falls from distance 32 to distance 64. Draw 5,000 random q with d = 64 and
            count: in which share of them is the score of q with itself higher at 64 than at 32? Guess first, for
            yourself. Then count, and give the share that you counted, a number between 0 and 1.
            """,
        hint="`relative_score(q, q, 64, inv_freq)` gives all 5,000 scores at once, for q of shape (5000, 64).",
        checker=numbers(share_of_wins(64), rtol=0, atol=0.021),
        solution="""
            q = np.random.default_rng(1).standard_normal((5000, 64))
            near, far = (relative_score(q, q, r, inverse_frequencies(64)) for r in (32, 64))
            answer = np.mean(far > near)
            """,
        mistakes=[
            (0, "Closer would always win then. Count: in some draws the farther one wins."),
            (6, "Give a share between 0 and 1, not a percentage."),
            (0.5, "Then distance would not matter on average, and for q = k it does."),
            (0.94, "That is the share in which the closer one wins."),
            (0.17, "That is the share for d = 128. Here d is 64."),
        ],
        advice="Draw the 5,000 queries, score each with itself at both distances, and take the mean of the comparison.",
        why="Even for q = k, closer wins is no law: it fails for about one in sixteen, and for one in six at d = 128.",
    ),
    exercise(
        name="key_for",
        kind="code",
        question="""
            Build a key that gives the query `q` its highest score when it stands `distance` tokens before the query.
            `q` has shape (d,), pairs are interleaved, and `inv_freq` holds the d/2 speeds. Try it with distance 37.
            """,
        hint="At distance r the key is turned r steps less than the query. What must it be, for the arrows to meet?",
        starter="""
            def key_for(q, distance, inv_freq):
                return ...
            """,
        checker=function(key_probe),
        solution=KEY_FOR,
        mistakes=[
            (edit(KEY_FOR, ("[distance", "[-distance")), BEHIND),
            ("def key_for(q, distance, inv_freq): return q", NEWBORN),
            ("def key_for(q, distance, inv_freq): return 0 * q", LOST),
            (edit(KEY_FOR, ("[distance", "[2 * distance")), ELSEWHERE),
            (edit(KEY_FOR, (")[0]", ", pairing='half')[0]")), ELSEWHERE),
            (edit(KEY_FOR, ("[0]", "[0] * np.arange(1, 65)")), BEST),
        ],
        advice="",
        why="Any distance can be the favourite one: what a head looks for is set by its weights.",
    ),
    exercise(
        name="partial_sums",
        kind="code",
        question="""
            The bound of the paper holds the factor mean |S_j|, where S_j is the sum of the first j terms e^(i r θ),
            for the first j speeds θ and the distance r. Return the mean of |S_1|, |S_2|, ..., |S_(d/2)| for one
            distance. `inv_freq` holds the d/2 speeds.
            """,
        hint="`np.cumsum` makes all partial sums at once, and `np.abs` of a complex number is its length.",
        starter="""
            def partial_sums(distance, inv_freq):
                return ...
            """,
        checker=function(sums_probe),
        solution=PARTIAL_SUMS,
        mistakes=[
            (edit(PARTIAL_SUMS, (".mean()", "[-1]")), WHOLE),
            (edit(PARTIAL_SUMS, ("cumsum", "mean"), (".mean()", "")), WHOLE),
            (edit(PARTIAL_SUMS, (".mean()", ".sum()")), TOTAL),
            (edit(PARTIAL_SUMS, ("np.abs(sums).mean()", "np.abs(np.append(0, sums[:-1])).mean()")), EMPTY),
            (edit(PARTIAL_SUMS, ("np.abs(sums)", "sums.real")), REAL),
            (
                edit(
                    PARTIAL_SUMS,
                    ("np.cumsum(np.exp(1j * distance * inv_freq))", "np.cumsum(np.cos(distance * inv_freq))"),
                ),
                REAL,
            ),
            (edit(PARTIAL_SUMS, ("np.cumsum(", "np.cumsum(np.abs("), ("inv_freq))", "inv_freq)))")), EARLY),
            (edit(PARTIAL_SUMS, ("np.abs(sums).mean()", "np.median(np.abs(sums))")), OTHER),
        ],
        advice="",
        why="For d = 128 it is 32.5 at distance 0, which is (d/2 + 1)/2, and 17.95, 10.23, 6.55 at 10, 100, 250.",
    ),
    true_or_false(
        name="true_or_false_04",
        question="Which of these sentences are true?",
        sentences=[
            (
                "Under RoPE, attention always falls with distance.",
                False,
                "Take a key that is the query turned to distance 300.",
            ),
            (
                "For q = k = (1, 1, ..., 1) the score falls with every step of the distance.",
                False,
                "Print `decay_curve` from distance 0 to 12 and look at each difference.",
            ),
            (
                "For independent q and k whose features are all independent, with mean 0 and variance 1, the score "
                "has one mean and one spread at every distance.",
                True,
                "Turn normal random vectors: do they get another distribution? Look at the band of random pairs.",
            ),
            (
                "For every distance there is a key that gives a query its highest score just there.",
                True,
                "Compare with the exercise key_for.",
            ),
            (
                "The vectors of nearby tokens are similar because they are turned by similar angles.",
                False,
                "Take two orthogonal vectors and turn both by the same angle.",
            ),
            (
                "The bound of the paper falls at first, with ripples. So the scores themselves must fall.",
                False,
                "How far below the bound do the scores lie, and do they have a trend?",
            ),
        ],
        hint="Ask of each sentence: for which q and k? One counterexample is enough.",
        why="What falls is an average for q like k, and a bound. Scores do what the vectors make them do.",
    ),
    exercise(
        name="independent_draws",
        kind="repair",
        question="""
            A demo wants to show how the score of independent random q and k depends on the distance. It returns the
            mean and the spread over many draws, and finds, for d = 64, a mean that falls from 64 towards 0:
            "attention fades at random initialisation". The conclusion comes from a mistake. Repair the demo.
            """,
        hint="Call it at distance 0 and compare the mean with that of q . q. Then look at the first rows of q and k.",
        starter=SAME_SEED,
        checker=function(draws_probe),
        solution=ONE_STREAM,
        mistakes=[
            (SAME_SEED, ONE_DRAW),
            (edit(ONE_STREAM, ("k, distance, inv", "k, 0 * distance, inv")), NOT_TURNED),
            (edit(ONE_STREAM, ("scores = ", "scores = 0.125 * ")), SPREAD),
        ],
        advice="",
        why="Mean 0 and spread 8, the root of d, at every distance: nothing fades if q and k are independent.",
    ),
]
