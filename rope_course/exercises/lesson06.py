"""Exercises of notebook 06, Train one and see: does it extrapolate?"""

import numpy as np

from rope_course.exercises.checkers import close, formula, function, numbers, say, true_or_false
from rope_course.exercises.entry import exercise, returns, solution_with, starter_with
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
        "all_of_them": {"start": 0, "asked": False},
        "old_places": {"start": 0},
        "unasked_too": {"start": 0.75, "asked": False},
        "old_quarter": {"start": 0, "stop": 0.25},
        "half": {"start": 0.5},
    }.items():
        if close(got, [share(*case, **settings) for case in cases]):
            return says
    return "other_part"


# keep_fast -------------------------------------------------------------------------------------------------------

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
        "all_slowed": lambda inv_freq, length, factor: inv_freq / factor,
        "none_slowed": lambda inv_freq, length, factor: inv_freq,
        "fast_slowed": lambda *case: kept(*case, others=False),
        "radian": lambda *case: kept(*case, turn=1),
        "faster": lambda inv_freq, length, factor: kept(inv_freq, length, 1 / factor),
    }
    if agrees(kept):
        return None
    named = next((says for says, change in wrong.items() if agrees(change)), None)
    off = np.flatnonzero(~np.isclose(got[0], kept(*CASES[0]), rtol=1e-9, atol=0))
    if named or not off.size:
        return named or "numbers_in_code"
    return say("turns", hand=off[0], turns=f"{TRAINED * SPEEDS[off[0]] / (2 * np.pi):.2f}")


# place_task ------------------------------------------------------------------------------------------------------


def place_probe(student):
    """Ask which place each answer was copied from, and whether one preference by distance could serve all places."""
    rng = np.random.default_rng(6)
    tokens = np.stack([rng.permutation(1000)[:TRAINED] for _ in range(4)])  # no token twice: an answer tells its place
    targets = student(tokens, shape=tokens.shape)
    asked = targets != -1
    found = targets[..., None] == tokens[:, None, :]
    if (asked & ~found.any(axis=-1)).any():
        return "no_token"
    sources = np.where(asked, found.argmax(axis=-1), -1)
    if (sources > np.arange(TRAINED)).any():
        return "later"
    if (sources != sources[0]).any():
        return "by_content"
    return one_rule(np.flatnonzero(asked[0]), sources[0][asked[0]])


def one_rule(places, sources):
    """Say how a head that sees distances alone could answer at all these places, or None."""
    distances = places - sources
    if len(places) < 2:
        return "two_places"
    usual = np.bincount(distances).argmax()
    share = (distances == usual).mean()
    if share == 1:
        return say("one_distance", distance=usual)
    if not sources.any():
        return "always_there"
    if share > 0.75:
        return say("one_usual", distance=usual, share=f"{share:.0%}")
    # Both distances can be seen from both places, and each place needs another one of them.
    lower, nearer = np.minimum.outer(places, places), np.maximum.outer(distances, distances)
    clash = (nearer <= lower) & (distances[:, None] != distances)
    return None if clash.any() else "no_clash"


EXERCISES = [
    exercise(
        "learned_at_twice",
        kind="predict",
        checker=numbers(1 / 16, rtol=0, atol=0.02),
        mistakes=[
            ("untrained_rows", 1),
            ("first_half", 0.5),
            ("guesses", 0),
            ("eight_tokens", 0.125),
            ("not_one_row", 0.75),
        ],
    ),
    exercise(
        "turned_gradient",
        kind="derive",
        checker=formula(by_differences, lambda rng: (*rng.standard_normal(2), rng.uniform(0.2, 3)), shape=(2,)),
        mistakes=[
            (
                "turned_on",
                """
                def turned_gradient(g1, g2, angle):
                    cos, sin = np.cos(angle), np.sin(angle)
                    return [g1 * cos - g2 * sin, g2 * cos + g1 * sin]
                """,
            ),
            (
                "second_sign",
                """
                def turned_gradient(g1, g2, angle):
                    cos, sin = np.cos(angle), np.sin(angle)
                    return [g1 * cos + g2 * sin, g2 * cos + g1 * sin]
                """,
            ),
            (
                "swapped",
                """
                def turned_gradient(g1, g2, angle):
                    cos, sin = np.cos(angle), np.sin(angle)
                    return [g2 * cos - g1 * sin, g1 * cos + g2 * sin]
                """,
            ),
            ("of_the_turned", returns("[g1, g2]")),
            ("no_sines", returns("[g1 * np.cos(angle), g2 * np.cos(angle)]")),
        ],
    ),
    exercise(
        "hands_to_keep",
        kind="predict",
        checker=numbers(np.count_nonzero(wavelengths(SPEEDS) <= TRAINED), rtol=0),
        mistakes=[("others", 13), ("radian", 7), ("last_of_four", 4), ("all", 16), ("several_turns", 1)],
    ),
    exercise(
        "repaired_peak",
        kind="predict",
        checker=numbers(6, rtol=0),
        mistakes=[("same_place", 3), ("inverse", 1.5), ("direction", 2), ("tokens", 5), ("factor_of_four", 12)],
    ),
    exercise(
        "fair_accuracy",
        kind="repair",
        checker=function(fair_probe),
        mistakes=[
            ("all_of_them", starter_with()),
            ("old_places", solution_with(("3 * targets.shape[1] // 4", "0"))),
            ("unasked_too", solution_with(("[targets != -1]", ""))),
            ("old_quarter", solution_with(("[:, last:]", "[:, : targets.shape[1] // 4]"))),
            ("half", solution_with(("3 * targets.shape[1] // 4", "targets.shape[1] // 2"))),
            ("other_part", solution_with(("[:, last:]", "[last:]"), ("3 * targets.shape[1] // 4", "30"))),
        ],
    ),
    exercise(
        "keep_fast",
        kind="code",
        checker=function(speeds_probe),
        mistakes=[
            ("all_slowed", returns("inv_freq / factor")),
            ("none_slowed", returns("inv_freq")),
            ("fast_slowed", solution_with(("<=", ">"))),
            ("radian", solution_with(("2 * np.pi", "1"))),
            ("faster", solution_with(("/ factor", "* factor"))),
            ("turns", solution_with(("<= length", "<= 10")), {"hand": 1, "turns": "2.86"}),
            ("numbers_in_code", solution_with(("<= length", "<= 32"))),
        ],
    ),
    exercise(
        "place_task",
        kind="code",
        checker=function(place_probe),
        mistakes=[
            ("one_distance", returns("tokens"), {"distance": 0}),
            (
                "one_distance",
                """
                def place_task(tokens):
                    targets = np.full_like(tokens, -1)
                    targets[:, 5:] = tokens[:, :-5]
                    return targets
                """,
                {"distance": 5},
            ),
            ("always_there", returns("np.repeat(tokens[:, :1], tokens.shape[1], axis=1)")),
            ("later", returns("tokens[:, ::-1].copy()")),
            ("by_content", returns("np.minimum.accumulate(tokens, axis=1)")),
            (
                "one_usual",
                """
                def place_task(tokens):
                    targets = tokens.copy()
                    targets[:, 20] = tokens[:, 10]
                    return targets
                """,
                {"distance": 0, "share": "97%"},
            ),
            (
                "no_clash",
                """
                def place_task(tokens):
                    targets = np.full_like(tokens, -1)
                    targets[:, 3], targets[:, 20] = tokens[:, 1], tokens[:, 2]
                    return targets
                """,
            ),
            ("no_token", returns("tokens % 2")),
            ("two_places", returns("np.full_like(tokens, -1)")),
        ],
    ),
    true_or_false("true_or_false_06", [False, True, True, False, False, True, True, False]),
]
