"""Exercises of notebook 06, Train one and see: does it extrapolate?"""

import numpy as np

from rope_course.exercises.checkers import close, formula, function, numbers, true_or_false
from rope_course.exercises.entry import edit, exercise
from rope_ref.frequencies import inverse_frequencies, wavelengths

__all__ = ["EXERCISES"]

SPEEDS = inverse_frequencies(32)
TRAINED = 32  # tokens


# turned_gradient -------------------------------------------------------------------------------------------------


def by_differences(g1, g2, angle):
    """Change one feature of the query after the other, and see how the loss g1 y1 + g2 y2 changes."""
    cos, sin = np.cos(angle), np.sin(angle)

    def loss(q1, q2):
        return g1 * (q1 * cos - q2 * sin) + g2 * (q1 * sin + q2 * cos)

    return np.array([loss(1, 0) - loss(-1, 0), loss(0, 1) - loss(0, -1)]) / 2  # exact: the loss is linear


# fair_accuracy ---------------------------------------------------------------------------------------------------

UNFAIR = """
def fair_accuracy(answers, targets):
    return np.mean(answers == targets)
"""
FAIR = """
def fair_accuracy(answers, targets):
    last = 3 * targets.shape[1] // 4
    answers, targets = answers[:, last:], targets[:, last:]
    return np.mean((answers == targets)[targets != -1])
"""


def answers_and_targets(length):
    """Draw answers that are right in the first half and often wrong after it, and targets of which some are -1."""
    rng = np.random.default_rng(length)
    targets = rng.integers(16, size=(40, length))
    answers = np.where((np.arange(length) < length // 2) | (rng.random(targets.shape) < 0.3), targets, 15 - targets)
    return answers, np.where(rng.random(targets.shape) < 0.2, -1, targets)


def share(answers, targets, start, *, asked=True, stop=1.0):
    """Take the share of right answers from one part of the sequences."""
    part = slice(int(start * targets.shape[1]), int(stop * targets.shape[1]))
    right, counted = (answers == targets)[:, part], (targets != -1)[:, part]
    return right[counted].mean() if asked else right.mean()


def fair_probe(student):
    """Say which answers are counted that should not be."""
    cases = [answers_and_targets(length) for length in (64, 32, 12)]
    got = [student(*case) for case in cases]
    for says, settings in {
        None: {"start": 0.75},
        ALL_OF_THEM: {"start": 0, "asked": False},
        OLD_PLACES: {"start": 0},
        UNASKED_TOO: {"start": 0.75, "asked": False},
        OLD_QUARTER: {"start": 0, "stop": 0.25},
        HALF: {"start": 0.5},
    }.items():
        if close(got, [share(*case, **settings) for case in cases]):
            return says
    return OTHER_PART


ALL_OF_THEM = (
    "Two kinds of places are counted that say nothing: those that the head knows from training, and those where "
    "nothing is asked."
)
OLD_PLACES = "Places where nothing is asked are left out now, but the old places, known from training, still count."
UNASKED_TOO = "The last quarter it is, but a place where nothing is asked still counts as a wrong answer."
OLD_QUARTER = "That is the first quarter: the places that the head knows best."
OTHER_PART = "Yours is not the share of right answers in the last quarter. Which axis counts the places?"
HALF = "That is the second half. At twice the training length it would do, but here the last quarter counts."


# keep_fast -------------------------------------------------------------------------------------------------------

KEEP_FAST = """
def keep_fast(inv_freq, length, factor):
    tokens_a_turn = 2 * np.pi / inv_freq
    return np.where(tokens_a_turn <= length, inv_freq, inv_freq / factor)
"""
CASES = [(SPEEDS, TRAINED, 8.0), (inverse_frequencies(64), 100, 2.0), (inverse_frequencies(16, 500.0), 20, 4.0)]


def kept(inv_freq, length, factor, *, turn=2 * np.pi, others=True):
    """Slow the hands that sweep less than `turn` in a text, or those that sweep more."""
    slow = (length * inv_freq < turn) == others
    return np.where(slow, inv_freq / factor, inv_freq)


def speeds_probe(student):
    """Say which hands are slowed that should not be, or not slowed that should."""
    got = [student(*case, shape=case[0].shape) for case in CASES]

    def agrees(change):
        return all(close(speeds, change(*case)) for speeds, case in zip(got, CASES, strict=True))

    wrong = {
        ALL_SLOWED: lambda inv_freq, length, factor: inv_freq / factor,
        NONE_SLOWED: lambda inv_freq, length, factor: inv_freq,
        FAST_SLOWED: lambda *case: kept(*case, others=False),
        RADIAN: lambda *case: kept(*case, turn=1),
        FASTER: lambda inv_freq, length, factor: kept(inv_freq, length, 1 / factor),
    }
    if agrees(kept):
        return None
    named = next((says for says, change in wrong.items() if agrees(change)), None)
    off = np.flatnonzero(~np.isclose(got[0], kept(*CASES[0]), rtol=1e-9, atol=0))
    if named or not off.size:
        return named or "Right for 32 tokens and a factor of 8, but not for others. Which numbers stand in your code?"
    return f"In 32 tokens hand {off[0]} makes {TRAINED * SPEEDS[off[0]] / (2 * np.pi):.2f} turns. Is its speed right?"


ALL_SLOWED = "You slow every hand: that is PI. Hands that have gone round may stay as they are."
NONE_SLOWED = "No hand is slowed. Which hands would reach new angles in a longer text?"
FAST_SLOWED = "You slow the fast hands and leave the slow ones. Which of them have angles that training never showed?"
RADIAN = "You leave a hand that has turned by one radian. How many radians make a turn?"
FASTER = "The right hands change, but they turn faster. In a longer text they must turn more slowly."


# place_task ------------------------------------------------------------------------------------------------------

PLACE_TASK = """
def place_task(tokens):
    targets = tokens.copy()
    targets[:, 1::2] = tokens[:, :-1:2]
    return targets
"""


def place_probe(student):
    """Ask which place each answer was copied from, and whether one preference by distance could serve all places."""
    rng = np.random.default_rng(6)
    tokens = np.stack([rng.permutation(1000)[:TRAINED] for _ in range(4)])  # no token twice: an answer tells its place
    targets = student(tokens, shape=tokens.shape)
    asked = targets != -1
    found = targets[..., None] == tokens[:, None, :]
    if (asked & ~found.any(axis=-1)).any():
        return "An answer is no token of its own row. Copy a token; write -1 where nothing is asked."
    sources = np.where(asked, found.argmax(axis=-1), -1)
    if (sources > np.arange(TRAINED)).any():
        return LATER
    if (sources != sources[0]).any():
        return BY_CONTENT
    return one_rule(np.flatnonzero(asked[0]), sources[0][asked[0]])


def one_rule(places, sources):
    """Say how a head that sees distances alone could answer at all these places, or None."""
    distances = places - sources
    if len(places) < 2:
        return "Ask at two places at least."
    usual = np.bincount(distances).argmax()
    share = (distances == usual).mean()
    if share == 1:
        return f"Every answer stands {usual} back. A score that is highest at distance {usual} finds it at every place."
    if not sources.any():
        return ALWAYS_THERE
    if share > 0.75:
        return f"A head that always looks {usual} back is right at {share:.0%} of your places. Make it fail more often."
    # Both distances can be seen from both places, and each place needs another one of them.
    lower, nearer = np.minimum.outer(places, places), np.maximum.outer(distances, distances)
    clash = (nearer <= lower) & (distances[:, None] != distances)
    return None if clash.any() else NO_CLASH


LATER = "An answer stands later than its place. A causal head cannot see it, whatever it knows of positions."
BY_CONTENT = "Where your answer stands depends on the tokens. RoPE can look by content: let the place alone decide."
ALWAYS_THERE = (
    "Every answer is the first token. A score that rises with the distance finds it from everywhere, as long as the "
    "text is no longer than in training."
)
NO_CLASH = "One order of distances serves all your places. Find two places that must prefer different distances."


EXERCISES = [
    exercise(
        name="learned_at_twice",
        kind="predict",
        question="""
            A head with a learned table was trained to copy the token 3 back, on 32 tokens, and makes no mistake
            there. It is now run on 64 tokens. Its table has rows for them, but the rows from 32 on are as they were
            first drawn. Which share of its answers in the last quarter is right? There are 16 different
            tokens.
            """,
        hint="Which positions are in the last quarter? What does the head know about their rows?",
        checker=numbers(1 / 16, rtol=0, atol=0.02),
        solution="answer = 1 / 16",
        mistakes=[
            (1, "The last quarter holds the positions 48 to 63. Which of their rows were trained?"),
            (0.5, "That would be near if all positions counted. The first half is left out here."),
            (0, "It never stops answering. What share is right if it guesses?"),
            (0.125, "That would be guessing among 8 tokens."),
            (0.75, "Not one row of the last quarter was trained."),
        ],
        advice="Without a trained row the head cannot tell which token stood 3 back. How good is a guess?",
        why="Rows that were never trained tell the head nothing, so it guesses, and one guess in 16 is right.",
    ),
    exercise(
        name="turned_gradient",
        kind="derive",
        question="""
            A pair (q1, q2) of a query is turned by `angle` and becomes (y1, y2). You know how the loss L changes with
            the turned pair: `g1` is ∂L/∂y1 and `g2` is ∂L/∂y2. Write ∂L/∂q1 and ∂L/∂q2.
            """,
        hint="The chain rule: ∂L/∂q1 = g1 ∂y1/∂q1 + g2 ∂y2/∂q1. And y1 = q1 cos - q2 sin, y2 = q1 sin + q2 cos.",
        starter="""
            def turned_gradient(g1, g2, angle):
                return [..., ...]
            """,
        checker=formula(by_differences, lambda rng: (*rng.standard_normal(2), rng.uniform(0.2, 3)), shape=(2,)),
        solution="""
            def turned_gradient(g1, g2, angle):
                cos, sin = np.cos(angle), np.sin(angle)
                return [g1 * cos + g2 * sin, g2 * cos - g1 * sin]
            """,
        mistakes=[
            (
                """
                def turned_gradient(g1, g2, angle):
                    cos, sin = np.cos(angle), np.sin(angle)
                    return [g1 * cos - g2 * sin, g2 * cos + g1 * sin]
                """,
                "That turns on by the same angle. Look again at ∂y1/∂q2 and ∂y2/∂q1: which of them has the minus?",
            ),
            (
                """
                def turned_gradient(g1, g2, angle):
                    cos, sin = np.cos(angle), np.sin(angle)
                    return [g1 * cos + g2 * sin, g2 * cos + g1 * sin]
                """,
                "The first is right. In the second, with which sign does q2 enter y1?",
            ),
            (
                """
                def turned_gradient(g1, g2, angle):
                    cos, sin = np.cos(angle), np.sin(angle)
                    return [g2 * cos - g1 * sin, g1 * cos + g2 * sin]
                """,
                "Both are right, but they have changed places.",
            ),
            (
                "def turned_gradient(g1, g2, angle): return [g1, g2]",
                "That is how the loss changes with y. If q1 changes a little, how much do y1 and y2 change?",
            ),
            (
                "def turned_gradient(g1, g2, angle): return [g1 * np.cos(angle), g2 * np.cos(angle)]",
                "Each feature of q enters both features of y. The sines are missing.",
            ),
        ],
        advice="Try an angle of a quarter turn: y1 = -q2 and y2 = q1. What must ∂L/∂q1 be there?",
        why="That is (g1, g2), turned by minus the angle: the way back through a rotation is the opposite rotation.",
    ),
    exercise(
        name="hands_to_keep",
        kind="predict",
        question="""
            The head has width 32, so 16 hands, with base 10,000. It was trained on 32 tokens. For a longer text you
            may slow some hands and freeze the others at their speed. How many hands have shown every angle of their
            circle in training, so that you would freeze them?
            """,
        hint="Count the entries of `wavelengths(inverse_frequencies(32))` that are not longer than 32 tokens.",
        checker=numbers(np.count_nonzero(wavelengths(SPEEDS) <= TRAINED), rtol=0),
        solution="answer = np.sum(wavelengths(inverse_frequencies(32)) <= 32)",
        mistakes=[
            (13, "Those have angles left that training never showed. Count the others."),
            (7, "You count hands that turn by a radian or more. A radian is not a turn."),
            (4, "The last of your four needs 35 tokens for one turn."),
            (16, "The slowest hand turns by 0.006 radians in 32 tokens. Has it shown every angle?"),
            (1, "You want several turns. One full turn shows every angle once."),
        ],
        advice="Print `wavelengths(inverse_frequencies(32))` and compare with the training length.",
        why="Pairs 0, 1 and 2 finish a turn in 32 tokens. The other 13 meet new angles as soon as the text is longer.",
    ),
    exercise(
        name="repaired_peak",
        kind="predict",
        question="""
            The trained head copies the token 3 back. You run it on 64 tokens with PI for twice the length: every hand
            turns at half its speed. From which distance does it copy now?
            """,
        hint="How far must a key stand for all hands to show the angles that they showed at distance 3 in training?",
        checker=numbers(6, rtol=0),
        solution="answer = 2 * 3",
        mistakes=[
            (
                3,
                "The weights are the same, but the hands are not: at distance 3 they stand where 1.5 took them before.",
            ),
            (1.5, "That is the old distance whose angles the hands now show at 3. Ask it the other way round."),
            (2, "At half speed, does it take more tokens or fewer to reach the same angles?"),
            (5, "Slowed by a factor, not by a number of tokens."),
            (12, "That would be a factor of 4."),
        ],
        advice="All angles at distance r are now r times half the speed. When are they what 3 times the speed was?",
        why="The whole curve of scores is stretched to twice its width, and its peak with it. The head still "
        "copies, but from the wrong place.",
    ),
    exercise(
        name="fair_accuracy",
        kind="repair",
        question="""
            Someone measures a head on long texts and finds it half right. Repair the measure: count the last quarter
            of the places only, and only places where something is asked. `answers` and `targets` have shape
            (sequences, seq_len); a target of -1 asks nothing; seq_len is a multiple of 4.
            """,
        hint="`targets[:, 3 * seq_len // 4 :]` is the last quarter, and `targets != -1` marks what is asked.",
        starter=UNFAIR,
        checker=function(fair_probe),
        solution=FAIR,
        mistakes=[
            (UNFAIR, ALL_OF_THEM),
            (edit(FAIR, ("3 * targets.shape[1] // 4", "0")), OLD_PLACES),
            (edit(FAIR, ("[targets != -1]", "")), UNASKED_TOO),
            (edit(FAIR, ("[:, last:]", "[:, : targets.shape[1] // 4]")), OLD_QUARTER),
            (edit(FAIR, ("3 * targets.shape[1] // 4", "targets.shape[1] // 2")), HALF),
            (
                edit(FAIR, ("[:, last:]", "[last:]"), ("3 * targets.shape[1] // 4", "30")),
                OTHER_PART,
            ),
        ],
        advice="",
        why="Old places are easy, and where nothing is asked nothing is wrong. Both hide what happens on new places.",
    ),
    exercise(
        name="keep_fast",
        kind="code",
        question="""
            Write the simplest repair by parts. `inv_freq` holds the speeds of the hands, in radians a token, and
            `length` is the training length. Hands that finish a turn in `length` tokens keep their speed. All others
            are slowed by `factor`. (Then try it on your trained head: hand
            `keep_fast(inverse_frequencies(32), 32, 8)` to `accuracy` as `inv_freq`, at 256 tokens.)
            """,
        hint="A hand needs 2π divided by its speed tokens for one turn. `np.where(condition, a, b)` chooses for each.",
        starter="""
            def keep_fast(inv_freq, length, factor):
                return ...
            """,
        checker=function(speeds_probe),
        solution=KEEP_FAST,
        mistakes=[
            ("def keep_fast(inv_freq, length, factor): return inv_freq / factor", ALL_SLOWED),
            ("def keep_fast(inv_freq, length, factor): return inv_freq", NONE_SLOWED),
            (edit(KEEP_FAST, ("<=", ">")), FAST_SLOWED),
            (edit(KEEP_FAST, ("2 * np.pi", "1")), RADIAN),
            (edit(KEEP_FAST, ("/ factor", "* factor")), FASTER),
            (edit(KEEP_FAST, ("<= length", "<= 10")), "In 32 tokens hand 1 makes 2.86 turns. Is its speed right?"),
            (
                edit(KEEP_FAST, ("<= length", "<= 32")),
                "Right for 32 tokens and a factor of 8, but not for others. Which numbers stand in your code?",
            ),
        ],
        advice="",
        why="Fast hands keep the peak where it was; slow hands stay at angles that training has shown.",
    ),
    exercise(
        name="place_task",
        kind="code",
        question="""
            Change the task so that RoPE fails at once: not even at its training length can one RoPE head learn it.
            `tokens` has shape (sequences, seq_len). Return the right answers, in the same shape: each is a token that
            stands at the place itself or before it, chosen by the place alone; -1 where nothing is asked. Then say
            why it fails.
            """,
        hint="For one pair of tokens RoPE's score depends on the distance alone. Make two places need two distances.",
        starter="""
            def place_task(tokens):
                return ...
            """,
        checker=function(place_probe),
        solution=PLACE_TASK,
        mistakes=[
            (
                "def place_task(tokens): return tokens",
                "Every answer stands 0 back. A score that is highest at distance 0 finds it at every place.",
            ),
            (
                """
                def place_task(tokens):
                    targets = np.full_like(tokens, -1)
                    targets[:, 5:] = tokens[:, :-5]
                    return targets
                """,
                "Every answer stands 5 back. A score that is highest at distance 5 finds it at every place.",
            ),
            ("def place_task(tokens): return np.repeat(tokens[:, :1], tokens.shape[1], axis=1)", ALWAYS_THERE),
            ("def place_task(tokens): return tokens[:, ::-1].copy()", LATER),
            ("def place_task(tokens): return np.minimum.accumulate(tokens, axis=1)", BY_CONTENT),
            (
                """
                def place_task(tokens):
                    targets = tokens.copy()
                    targets[:, 20] = tokens[:, 10]
                    return targets
                """,
                "A head that always looks 0 back is right at 97% of your places. Make it fail more often.",
            ),
            (
                """
                def place_task(tokens):
                    targets = np.full_like(tokens, -1)
                    targets[:, 3], targets[:, 20] = tokens[:, 1], tokens[:, 2]
                    return targets
                """,
                NO_CLASH,
            ),
            (
                "def place_task(tokens): return tokens % 2",
                "An answer is no token of its own row. Copy a token; write -1 where nothing is asked.",
            ),
            ("def place_task(tokens): return np.full_like(tokens, -1)", "Ask at two places at least."),
        ],
        advice="",
        why="Two places must prefer different distances, but for the same tokens RoPE prefers the same distance "
        "everywhere. A learned table can do it: it is told the place.",
    ),
    true_or_false(
        name="true_or_false_06",
        question="Which of these sentences are true? Ask of each: was it measured, or is it promised?",
        sentences=[
            (
                "RoPE generalises to any length.",
                False,
                "Defined at any length is one thing, right at any length another. Look at the copies.",
            ),
            ("The formula of RoPE is defined at every position.", True, "Does a row of a table run out?"),
            (
                "Copying 3 back at twice the training length, each of the three RoPE heads here was better than each "
                "head with a learned table by more than 0.5.",
                True,
                "That is a measurement, with its task, length and seeds. Look at the table.",
            ),
            (
                "So RoPE is better than a learned table on every task.",
                False,
                "Look at the task with one special symbol, at 16 times the length.",
            ),
            (
                "In a RoPE score the positions count only through the distance, so a head trained on 512 tokens works "
                "on 2,048.",
                False,
                "Which distances occur in 2,048 tokens that no training text held?",
            ),
            (
                "PI at run time, without more training, helped these heads on one task and harmed them on another.",
                True,
                "Compare the copy of 3 back with the latest special symbol.",
            ),
            (
                'One small head that fails is enough to refute an "always".',
                True,
                "How many counter-examples does a general statement survive?",
            ),
            (
                "One small head shows how far a large model reaches.",
                False,
                "Many heads, many layers, much more data: which of them does the small head have?",
            ),
        ],
        hint="A measurement names task, length and seeds. A promise does not.",
        why="A measurement says what happened under stated conditions; a promise needs a proof.",
    ),
]
