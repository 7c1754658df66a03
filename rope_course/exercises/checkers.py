"""Checkers that exercises share. Each takes an answer and its exercise; None means right, a text says what is not.

Values are compared with the right one and with the catalogued mistakes; functions are called on copies and asked
whether they keep what they must.
"""

import numpy as np

from rope_course.exercises.entry import exercise, run
from rope_course.exercises.reading import Guarded, NotAnswered, Trouble, as_numbers, describe, is_blank
from rope_ref.faults import CHECKS, FAULTS, rotate_correctly
from rope_ref.frequencies import inverse_frequencies, rotation_angles

__all__ = []

SEED = 20250311


def matched(each, agrees):
    """Return the message of the first catalogued mistake that agrees with the answer, or the general advice."""
    for mistake in each.mistakes:
        if agrees(mistake.answer):
            return mistake.says
    return f"Not yet. {each.advice}"


# Values ----------------------------------------------------------------------------------------------------------


def numbers(want, *, rtol=1e-3, atol=1e-9):
    """Check one number, or several in a fixed order."""
    want = np.asarray(want, np.float64)

    def judge(answer, each):
        got = as_numbers(answer, want.shape)

        def agrees(value):
            return np.allclose(got, value, rtol=rtol, atol=atol)

        return None if agrees(want) else matched(each, agrees)

    return judge


def choice(right, *others):
    """Check one word out of a few, in quotes."""
    words = sorted([right, *others])

    def judge(answer, each):
        listed = ", ".join(f'"{word}"' for word in words)
        if not isinstance(answer, str):
            raise Trouble(f"Expected one of {listed}, in quotes, got {describe(answer)}.")
        word = answer.strip().lower()
        if word not in words:
            raise Trouble(f"Expected one of {listed}, got another text.")
        return None if word == right else matched(each, lambda wrong: wrong == word)

    return judge


def statements(truths, pointers):
    """Check a list of True and False, one for each sentence; a pointer helps with each."""

    def judge(answer, each):
        wanted = f"Expected a list of {len(truths)} answers, each True or False"
        if isinstance(answer, np.ndarray):
            answer = answer.tolist()
        if not isinstance(answer, (list, tuple)) or len(answer) != len(truths):
            raise Trouble(f"{wanted}, got {describe(answer)}.")
        blank = [str(i) for i, said in enumerate(answer, 1) if is_blank(said)]
        if blank:
            raise NotAnswered(f"still open: {', '.join(blank)}")
        for i, said in enumerate(answer, 1):
            if not isinstance(said, (bool, np.bool_)):
                raise Trouble(f"{wanted}, got {describe(said)} for sentence {i}.")
        wrong = [i for i, truth in enumerate(truths) if bool(answer[i]) != truth]
        return look_again(wrong, pointers) if wrong else None

    return judge


def look_again(wrong, pointers):
    """Say which sentence needs another look, and where to look."""
    first = f"Sentence {wrong[0] + 1} needs another look. {pointers[wrong[0]]}"
    return first if len(wrong) == 1 else f"{len(wrong)} of {len(pointers)} are not right yet. {first}"


def true_or_false(*, question, sentences, **rest):
    """Make an exercise from sentences, each with its truth and with the pointer for those who got it wrong."""
    texts, truths, pointers = zip(*sentences, strict=True)
    flipped = [[truth != (i == wrong) for i, truth in enumerate(truths)] for wrong in range(len(truths))]
    return exercise(
        kind="predict",
        question="\n".join([question, "", *(f"{i}. {text}" for i, text in enumerate(texts, 1))]),
        solution=f"answer = {list(truths)}",
        checker=statements(truths, pointers),
        mistakes=[(answer, look_again([i], pointers)) for i, answer in enumerate(flipped)],
        starter=f"answer = [{', '.join(['...'] * len(truths))}]  # True or False for each",
        advice="",  # every wrong answer has its pointer
        **rest,
    )


# Functions -------------------------------------------------------------------------------------------------------


def close(got, want):
    """Tell whether two results are equal to rounding."""
    return np.shape(got) == np.shape(want) and np.allclose(got, want, rtol=1e-9, atol=1e-9)


def formula(truth, draw, shape=(), times=8):
    """Check a formula by putting in random numbers: `draw(rng)` gives the arguments, `truth` the right value."""

    def judge(answer, each):
        student, rng = Guarded(answer, each), np.random.default_rng(SEED)
        cases = [draw(rng) for _ in range(times)]
        shapes = [shape(*case) if callable(shape) else shape for case in cases]
        got = [student(*case, shape=its) for case, its in zip(cases, shapes, strict=True)]

        def agrees(function):
            return all(close(value, function(*case)) for value, case in zip(got, cases, strict=True))

        return None if agrees(truth) else matched(each, lambda code: agrees(run(code, each.name)))

    return judge


def function(*probes):
    """Check a function by asking one probe after the other; the first that finds something says it.

    A probe takes the guarded function and returns a text, or None where all is well.
    """

    def judge(answer, each):
        student = Guarded(answer, each)
        found = (probe(student) for probe in probes)
        return next((says for says in found if says), None)

    return judge


def must(holds, says):
    """Make a probe: `holds(student)` tells whether all is well, `says` is the text if not."""
    return lambda student: None if holds(student) else says


# Rotations -------------------------------------------------------------------------------------------------------

LENGTH = "Length changed: the turned vector is not as long as the one you were given."
LAYOUT = "Length changed: the cos/sin layout does not match the rotation."
HEAD_AXIS = "The score ignores position: are you indexing the head axis?"
ALIKE = "All tokens turn by the angle of the first one. Each token has its own row of angles."
UNMOVED = "The score ignores position: the result is the same wherever the tokens stand."
DIRECTION = (
    "Lengths and distances are right, but every pair turns clockwise. "
    "Try a quarter turn of (1, 0) by hand, and look for the minus sign."
)

# What to say when a function does just what a planted fault does.
SAYS = {
    "concatenated output": "The numbers are right, but not their places: all first features come before all second "
    "ones. Put the two features of a pair back side by side.",
    "other pairing": "You turned features that lie half a head apart. Here pair i is features 2i and 2i + 1.",
    "table of the other pairing": LAYOUT,
    "quarter turn of the other pairing": f"{LAYOUT} Which feature is the partner of feature 0 in each of them?",
    "in place overwrite": "Length changed: the second feature was computed from the new value of the first. "
    "Keep the old value until both are done.",
    "cos and sin swapped": "Position 0 changes the vector. Have cos and sin changed places?",
    "opposite direction": DIRECTION,
    "lost minus": "Length changed: one of the four products has the wrong sign. Try a quarter turn of (0, 1) by hand.",
    "applied twice": "Each pair turns twice as far as it should. Is the turn applied to its own result?",
    "added instead of rotated": "Length changed: something is added and nothing is turned.",
    "exponent too small": "Pair 0 turns as it should, the others too fast. Check the exponent of the base.",
    "exponent too large": "Pair 0 turns as it should, the others too slowly. Check the exponent of the base.",
    "index from one": "Every pair turns too slowly by one step. Does i start where it should?",
    "wrong base": "Pair 0 turns as it should, the others do not. Which base is used?",
    "reversed frequencies": "The last pair turns fastest. Which pair should?",
    "positions from one": "Position 0 changes the vector. Where does the counting start?",
    "positions along the head axis": HEAD_AXIS,
    "bfloat16 positions": "Small positions are right, large ones are not. Which dtype holds the positions?",
    "float16 angles": "Small angles are right, large ones are not. Which dtype holds the angles?",
}

# What to say when it does something else and one of the checks finds it.
FOUND = {
    "nothing at zero": "Position 0 changes the vector, and should leave it alone.",
    "length kept": f"{LENGTH} Turn (1, 0) and (0, 1) by hand and compare.",
    "pairs stay apart": "A vector that lies in one pair comes out in another. Look at which features you join.",
    "distance alone": "Your score depends on more than m - n. Compare the positions (5, 2) with (25, 22).",
    "distance alone far out": "Near the start all is well, but at position 3,000 the score depends on more than m - n.",
    "turns add up": "A turn by 3 after a turn by 4 is not a turn by 7.",
    "curve of ones": "The turns are turns, but not by the right angles. Compare vectors of ones at two positions.",
    "case by hand": "All demands hold, yet (1, 2, 3, 4) at position 1 does not come out as worked by hand.",
}

# Faults that agree on a sample of few positions are told apart by these shapes and positions.
SAMPLES = [((2, 3, 8), [3, 4, 5]), ((1, 3, 8), [0, 777, 3005])]


def rotation(call, *probes):
    """Check a rotation; `call(student, x, position_ids)` says how the student's function is called.

    The probes of the exercise come first, as in `function`. Then the rotation must agree with the package on several
    heads at once and pass every check of `faults`. One that does not is compared with the planted faults, so that the
    message can name the mistake.
    """

    def judge(answer, each):
        student, rng = Guarded(answer, each), np.random.default_rng(SEED)
        for probe in probes:
            if says := probe(student):
                return says
        inputs = [(rng.standard_normal(shape), np.array(positions)) for shape, positions in SAMPLES]
        got = [call(student, *sample) for sample in inputs]

        def agrees(rotate):
            return all(close(turned, rotate(*sample)) for turned, sample in zip(got, inputs, strict=True))

        right = agrees(rotate_correctly)
        if agrees(lambda x, position_ids: rotate_correctly(x, 0 * position_ids + position_ids[0])):
            return ALIKE
        if not right:
            for name, says in SAYS.items():
                if agrees(FAULTS[name].rotate):
                    return says
        if all(close(turned, call(student, x, at + 7)) for turned, (x, at) in zip(got, inputs, strict=True)):
            return UNMOVED
        for name, says in FOUND.items():
            if not CHECKS[name].holds(lambda x, position_ids: call(student, x, np.asarray(position_ids))):
                return says
        return None if right else f"Not yet. {each.advice}"

    return judge


def by_angles(student, x, position_ids):
    """Call a function of `x` and angles, as the four forms are."""
    angles = rotation_angles(position_ids, inverse_frequencies(x.shape[-1]))
    return student(x, angles, shape=x.shape)
