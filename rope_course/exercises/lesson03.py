"""Exercises of notebook 03, The clock with many hands."""

import numpy as np

from rope_course.exercises.checkers import choice, close, formula, function, numbers, true_or_false
from rope_course.exercises.entry import edit, exercise
from rope_ref.frequencies import inverse_frequencies, wavelengths

__all__ = ["EXERCISES"]

TURNS = wavelengths(inverse_frequencies(128))  # tokens a turn, for the pairs of a head of width 128


def unfinished(base, length):
    """Count the pairs of a head of width 128 that make no full turn in a context of some length."""
    return np.count_nonzero(wavelengths(inverse_frequencies(128, base)) > length)


# first_return ----------------------------------------------------------------------------------------------------


def away(inv_freq, m):
    """Measure how far each hand is from its start, in radians, the shorter way round."""
    return np.abs(np.angle(np.exp(1j * m * np.asarray(inv_freq))))


def past(inv_freq, m):
    """Measure how far each hand has gone since it last passed its start, in radians."""
    return m * np.asarray(inv_freq) % (2 * np.pi)


def first(inv_freq, within, *, measure=away, home=np.all, start=1):
    """Find the first position at which the hands are home, by some measure."""
    return next(m for m in range(start, 2001) if home(measure(inv_freq, m) < within))


TWO = np.array([1.0, 0.1])  # d = 4, base 100
CLOCKS = [(TWO, 0.2), (TWO, 0.15), (TWO[:1], 0.1), (TWO[:1], 0.3), (TWO[:1], 0.001)]


def return_probe(student):
    """Say which hands, or which positions, the student's function overlooks."""
    got = [student(*clock) for clock in CLOCKS]
    if close(got, [first(*clock) for clock in CLOCKS]):
        return None
    for says, settings in [(FROM_ZERO, {"start": 0}), (ONE_HAND, {"home": np.any}), (ONE_SIDE, {"measure": past})]:
        if close(got, [first(*clock, **settings) for clock in CLOCKS]):
            return says
    return f"{NOT_THERE} Yours finds {got[0]:.6g}: look at both hands there."


FROM_ZERO = "Position 0 is the start itself. Look for the first position after it."
ONE_HAND = "You stop as soon as one hand is home. All hands must be home at the same position."
ONE_SIDE = "You find hands that are just past their start. A hand just before its start is near it too."
NOT_THERE = "Two hands with speeds 1 and 0.1 are first home within 0.2 radians at position 63."

FIRST_RETURN = """
def first_return(inv_freq, within):
    for m in range(1, 2001):
        past = m * inv_freq % (2 * np.pi)
        if np.all(np.minimum(past, 2 * np.pi - past) < within):
            return m
    return -1
"""


# mend_speeds -----------------------------------------------------------------------------------------------------

ODD_SPEEDS = """
def mend_speeds(rotary_dim, base):
    i = np.arange(1, rotary_dim // 2 + 1)
    return base ** (-(2 * i - 1) / rotary_dim)
"""


def speeds(mend_speeds, rotary_dim=8, base=10000.0):
    """Call the student's function for one width and base."""
    return mend_speeds(rotary_dim, base, shape=(rotary_dim // 2,))


def speeds_probe(student):
    """Say what is wrong with the speeds: their order, their start, or the ratio of neighbours."""
    got = speeds(student)
    if (got <= 0).any():
        return "A speed is zero or negative. A power of the base never is."
    ratios = got[1:] / got[:-1]
    if np.allclose(ratios, 10.0):
        return GROWING
    if not np.allclose(ratios, 0.1):
        return RATIO
    if not close(got[0], 1.0):
        return f"{START} Yours turns by {got[0]:.4g}."
    more = [(64, 10000.0), (128, 500000.0), (6, 100.0)]
    return None if all(close(speeds(student, *each), inverse_frequencies(*each)) for each in more) else WIDTH


GROWING = "The speeds grow from pair to pair. Which sign has the exponent?"
RATIO = (
    "For a width of 8 each pair must turn ten times slower than the one before. Yours do not: check the factor of i."
)
START = "Neighbours have the right ratio, but pair 0 must turn by 1 radian a token."
WIDTH = "Right for a width of 8, but not for other widths and bases. Which numbers are written out in your code?"


EXERCISES = [
    exercise(
        name="fastest_period",
        kind="predict",
        question="After how many tokens has the fastest hand made one full turn, if d = 64 and the base is 10,000?",
        hint="Which pair is the fastest, and how far does it turn from one token to the next?",
        checker=numbers(wavelengths(inverse_frequencies(64))[0]),
        solution="answer = wavelengths(inverse_frequencies(64))[0]",
        mistakes=[
            (1, "That is its speed, in radians a token. How many radians make a turn?"),
            (360, "A speed of 1 is one radian a token, not one degree."),
            (np.pi, "That is half a turn."),
            (2 * np.pi * 10000, "That is close to the slowest hand. Which pair has the highest speed?"),
            (10000, "That is the base. The fastest hand does not depend on it."),
        ],
        advice="Write down the angle of pair 0 at positions 0, 1, 2, 3 and so on, until it passes one turn.",
        why="It is the same for every width and every base, because any base to the power 0 is 1.",
    ),
    exercise(
        name="near_return",
        kind="predict",
        question="""
            The fastest hand turns by 1 radian a token. At which position from 1 to 1,000 is it nearest to its start,
            on either side? Guess first, then let NumPy look.
            """,
        hint="Where is a whole number of tokens almost a whole number of turns? Look for m close to a multiple of 2π.",
        checker=numbers(1 + np.argmin([away([1.0], m)[0] for m in range(1, 1001)]), rtol=0),
        solution="""
            m = np.arange(1, 1001)
            answer = m[np.argmin(np.abs(np.angle(np.exp(1j * m))))]
            """,
        mistakes=[
            (44, "Close: it misses by 0.018 radians there. A larger position is nearer still."),
            (6, "It misses by 0.28 radians there. Go on."),
            (355, "There the hand is almost half a turn away from its start: 355 is close to 113 times π."),
            (628, "That is nearest to a hundred turns, but it misses by 0.32 radians."),
            (333, "It misses by 0.0088 radians there. One position is far better."),
        ],
        advice="Take full turns off each position, and do not forget hands that are just before their start.",
        why="A miss of 0.00006 radians, but a miss: π is irrational, so one hand alone never comes home exactly.",
    ),
    exercise(
        name="unfinished_hands",
        kind="predict",
        question="""
            How many of the 64 pairs of a head with d = 128 make no full turn in the context? Give three numbers: for
            base 10,000 and 2,048 tokens, for base 10,000 and 4,096 tokens, for base 500,000 and 8,192 tokens.
            """,
        hint="Count the entries of `wavelengths` that are longer than the context.",
        starter="answer = [..., ..., ...]  # three numbers",
        checker=numbers([unfinished(1e4, 2048), unfinished(1e4, 4096), unfinished(5e5, 8192)], rtol=0),
        solution="""
            cases = [(10000, 2048), (10000, 4096), (500000, 8192)]
            answer = [np.sum(wavelengths(inverse_frequencies(128, b)) > n) for b, n in cases]
            """,
        mistakes=[
            ([41, 46, 35], "Those do finish a turn. Count the others."),
            ([11, 6, 20], "You count pairs that turn by less than one radian. One radian is not a turn."),
            ([23, 18, 11], "The first two are right. The third has another base."),
        ],
        advice="Look at the figure of speeds: how many points lie above each line?",
        why="No angle of these hands beyond the trained arc has been seen in training. Lesson 7 comes back to them.",
    ),
    exercise(
        name="larger_base",
        kind="predict",
        question="""
            You raise the base from 10,000 to 500,000. What happens to the ratio between the fastest and the slowest
            speed: does it go `"up"` or `"down"`, or is it the `"same"`?
            """,
        hint="Which of the two speeds depends on the base?",
        starter="answer = ...  # one word, in quotes",
        checker=choice("up", "down", "same"),
        solution="""
            before, after = inverse_frequencies(64, 10000), inverse_frequencies(64, 500000)
            answer = "up" if after[0] / after[-1] > before[0] / before[-1] else "down"
            """,
        mistakes=[
            (
                "down",
                "You would say that a larger base presses the speeds together. Work out the slowest speed for both.",
            ),
            ("same", "One of the two speeds keeps its value, but not both."),
        ],
        advice="",
        why="The fastest hand keeps its speed and the slowest becomes slower: the range of speeds grows.",
    ),
    exercise(
        name="slowest_period",
        kind="derive",
        question="""
            Write the number of tokens in which the slowest hand makes one full turn, as a formula of the width d and
            the base b.
            """,
        hint="The last pair is i = d/2 - 1. Put it into the speed b^(-2i/d), then divide a full turn by the speed.",
        starter="""
            def slowest_period(d, b):
                return ...
            """,
        checker=formula(
            lambda d, b: wavelengths(inverse_frequencies(d, b))[-1],
            lambda rng: (2 * int(rng.integers(4, 100)), float(rng.uniform(100, 500000))),
        ),
        solution="""
            def slowest_period(d, b):
                return 2 * np.pi * b ** (1 - 2 / d)
            """,
        mistakes=[
            (
                "def slowest_period(d, b): return 2 * np.pi * b",
                "That would be a pair number d/2, one more than there is: pairs are counted from 0.",
            ),
            ("def slowest_period(d, b): return 2 * np.pi * b ** (1 - 1 / d)", "The exponent is 2i/d: look at the 2."),
            ("def slowest_period(d, b): return b ** (1 - 2 / d)", "That is one radian. How many make a turn?"),
            ("def slowest_period(d, b): return b ** (-1 + 2 / d)", "That is the speed, in radians a token."),
            (
                "def slowest_period(d, b): return 2 * np.pi * b ** (-1 + 2 / d)",
                "A slower hand needs more tokens a turn.",
            ),
            ("def slowest_period(d, b): return 2 * np.pi", "That is the fastest hand."),
        ],
        advice="Compare with the last entry of `wavelengths(inverse_frequencies(8, 10000))`, 6,283.19.",
        why="For b = 10,000 that is 47,117.24 tokens at d = 64, and 54,410.14 at d = 128.",
    ),
    exercise(
        name="pair_of_4096",
        kind="predict",
        question="""
            Which pair of a head with d = 128 and base 10,000 needs nearest to 4,096 tokens for one turn? Give its
            number i.
            """,
        hint="Set 2π b^(2i/d) equal to 4,096 and solve for i with logarithms, or search in `wavelengths`.",
        checker=numbers(np.argmin(np.abs(TURNS - 4096)), rtol=0),
        solution="answer = np.argmin(np.abs(wavelengths(inverse_frequencies(128)) - 4096))",
        mistakes=[
            (46, "Are pairs counted from 0?"),
            (90, "That is the number of its first feature, 2i."),
            (58, "That pair turns by one radian in nearly 4,096 tokens. How many radians make a turn?"),
            (18, "That is how many pairs are slower."),
        ],
        advice="Print `wavelengths(inverse_frequencies(128))` around your pair.",
        why="It needs 4,080 tokens. The pairs after it never finish a turn in a context of 4,096.",
    ),
    exercise(
        name="first_return",
        kind="code",
        question="""
            Find the first position after 0 at which every hand is within `within` radians of its start. `inv_freq`
            holds the speeds of the hands, in radians a token. Look at positions up to 2,000.
            """,
        hint="Take full turns off with `% (2 * np.pi)`. A hand at 6.2 is near its start as well.",
        starter="""
            def first_return(inv_freq, within):
                return ...
            """,
        checker=function(return_probe),
        solution=FIRST_RETURN,
        mistakes=[
            (edit(FIRST_RETURN, ("range(1, 2001)", "range(2001)")), FROM_ZERO),
            (edit(FIRST_RETURN, ("np.all", "np.any")), ONE_HAND),
            (edit(FIRST_RETURN, ("np.minimum(past, 2 * np.pi - past)", "past")), ONE_SIDE),
            (
                edit(FIRST_RETURN, ("np.minimum(past, 2 * np.pi - past)", "m * inv_freq")),
                f"{NOT_THERE} Yours finds -1: look at both hands there.",
            ),
        ],
        advice="",
        why="With speeds 1 and 0.1: within 0.2 radians at 63, within 0.1 only at 377. More hands come home later.",
    ),
    exercise(
        name="mend_speeds",
        kind="repair",
        question="""
            A tutorial counts pairs from 1 and prints the speed of pair i as b^(-(2i - 1)/d). Its fastest hand does
            not turn by 1 radian a token. Repair the function, for any even `rotary_dim` and any base.
            """,
        hint="Write down the exponents for a width of 8: they must be 0, -2/8, -4/8 and -6/8.",
        starter=ODD_SPEEDS,
        checker=function(speeds_probe),
        solution=edit(ODD_SPEEDS, ("(2 * i - 1)", "2 * (i - 1)")),
        mistakes=[
            (ODD_SPEEDS, f"{START} Yours turns by 0.3162."),
            (edit(ODD_SPEEDS, ("(2 * i - 1)", "2 * i")), f"{START} Yours turns by 0.1."),
            (edit(ODD_SPEEDS, ("(2 * i - 1)", "(i - 1)")), RATIO),
            (edit(ODD_SPEEDS, ("(2 * i - 1)", "4 * (i - 1)")), RATIO),
            (edit(ODD_SPEEDS, ("-(2 * i - 1)", "2 * (i - 1)")), GROWING),
            (edit(ODD_SPEEDS, ("(2 * i - 1) / rotary_dim", "2 * (i - 1) / 8")), WIDTH),
            (edit(ODD_SPEEDS, ("base **", "10000 **"), ("(2 * i - 1)", "2 * (i - 1)")), WIDTH),
        ],
        advice="",
        why="2i/d with i from 0, or 2(i - 1)/d with i from 1: two ways to write the same speeds.",
    ),
    true_or_false(
        name="true_or_false_03",
        question="Which of these sentences about the clock are true? The base is 10,000 and d is 64.",
        sentences=[
            (
                "Position 62,832 has the same reading of the clock as position 0.",
                False,
                "Hand 2 is far from its start there. Look at the figure of returns.",
            ),
            ("Pair 0 is the fastest, and has the shortest wavelength.", True, "Print `inverse_frequencies(64)`."),
            (
                "In a configuration file, `rope_theta = 10000` is the speed of the slowest pair.",
                False,
                "Three things are called theta. Which of them is 10,000?",
            ),
            (
                "If pairs were counted through all heads, with the width of the whole model as d, all heads would "
                "still have the same speeds.",
                False,
                "The count would go on from head to head: which speeds would the last head get?",
            ),
            (
                "A larger base compresses the range of speeds.",
                False,
                "Compare with the exercise larger_base.",
            ),
            (
                "The speed of 1 for pair 0 means one radian a token, not one degree and not one turn.",
                True,
                "Look at the angle of pair 0 at position 1.",
            ),
        ],
        hint="Most of them can be tried in one line with `inverse_frequencies` or `wavelengths`.",
        why="Base, speed, angle: three words for three things.",
    ),
]
