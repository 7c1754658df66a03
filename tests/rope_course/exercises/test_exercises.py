"""Every exercise knows its blank, its solution and its likely mistakes; nothing a student hands in breaks `check`."""

import ast
import functools
import re
import shutil
import subprocess
import sys
import textwrap
import warnings

import hypothesis.extra.numpy as np_strategies
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT

from rope_course import exercises
from rope_course.exercises import EXERCISES, check, checkers, collect, reading, sheet, show, verdict, words
from rope_course.exercises.entry import KINDS, edit, run, spoiled
from rope_ref.faults import CHECKS, FAULTS

ALL = list(EXERCISES.values())
FUNCTIONS = [each for each in ALL if each.wants_function]
VALUES = [each for each in ALL if not each.wants_function]
MISTAKES = [(each, mistake) for each in ALL for mistake in each.mistakes]


def ids(value):
    """Name a case after its exercise."""
    return getattr(value, "name", "")


def spaced(text):
    """Make every run of blanks and line breaks one blank."""
    return " ".join(text.split())


def is_plain(text):
    """Tell whether a message is one to three short sentences on one line, with no number of over eight digits."""
    ends = re.findall(r"[.?!](?= [A-Z]|$)", text.replace('"hint")', '"hint").'))
    digits = [len(number.replace(".", "").replace(",", "").lstrip("0")) for number in re.findall(r"\d[\d.,]*", text)]
    return 1 <= len(ends) <= 3 and len(text) < 260 and "\n" not in text and max(digits, default=0) <= 8


# Blank, solution, mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", [None, ..., [...], (None, ...)], ids=repr)
@pytest.mark.parametrize("each", ALL, ids=ids)
def test_blank_answer_is_not_answered(each, blank):
    assert verdict(each.name, blank) == f'Not answered yet. For a hint: check("{each.name}", "hint")'


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_starter_is_not_answered_or_shows_what_to_repair(each):
    says = verdict(each.name, run(each.starter, each.subject))
    if each.kind == "repair":
        assert each.mistakes[0].answer == each.starter
        assert says == spaced(each.mistakes[0].says)
    else:
        assert says.startswith("Not answered yet")


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_solution_is_right_and_says_what_it_shows(each):
    assert verdict(each.name, run(each.solution, each.subject)) == spaced(f"Right. {each.why}")
    assert each.why


@pytest.mark.parametrize(("each", "mistake"), MISTAKES, ids=ids)
def test_each_mistake_earns_its_own_message(each, mistake):
    assert verdict(each.name, each.value(mistake.answer)) == spaced(mistake.says)


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_messages_are_plain_and_hints_are_given(each, capsys):
    for says in [mistake.says for mistake in each.mistakes] + [
        f"Right. {each.why}",
        f"Not yet. {each.advice or 'Look.'}",
    ]:
        assert is_plain(spaced(says)), says
    check(each.name, "hint")
    assert spaced(capsys.readouterr().out) == spaced(each.hint)
    assert is_plain(spaced(each.hint))


def test_long_text_is_not_plain():
    assert not is_plain("One. Two. Three. Four.")
    assert not is_plain("It is 3.14159265.")
    assert not is_plain("It goes on " * 30 + ".")
    assert not is_plain("One.\nTwo.")
    assert not is_plain("no sentence")


@pytest.mark.parametrize("each", VALUES, ids=ids)
def test_no_message_gives_a_number_or_word_away(each):
    answer = run(each.solution)
    if isinstance(answer, list) and isinstance(answer[0], bool):
        return  # whoever learns that a sentence is judged wrongly knows the answer; the message adds where to look
    if isinstance(answer, str):
        forbidden = [f'"{answer}"']
    else:
        forbidden = [f"{number:.6g}" for number in np.ravel(answer) if abs(number) != 5 and number not in range(8)]
    said = " ".join([each.hint, each.advice, *(mistake.says for mistake in each.mistakes)])
    assert [word for word in forbidden if re.search(rf"(?<![\d.]){re.escape(word)}(?![\d.]*\d)", said)] == []


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("eight_signs", [1, -1, -1, 1, 1, 1, 1, 1]),
        ("mirror_score", 5),
        ("where_zero_counts", "e"),
        ("where_zero_counts", " E "),
        ("true_or_false_01", (False, True, False, False, True, False)),
        ("nonzero_entries", 128),
        ("half_order", [0, 2, 4, 6, 1, 3, 5, 7]),
        ("half_order", np.array([0, 2, 4, 6, 1, 3, 5, 7])),
        ("other_layout", np.array([False, True, False, True])),
        ("joined_halves", [True, True, True, False, False, False]),
        ("fastest_period", 6.2832),
        ("near_return", 710),
        ("pair_of_4096", np.int64(45)),
        ("unfinished_hands", [23, 18, 29]),
        ("larger_base", "up"),
        ("fast_pair_at_three", -0.99),
        ("closer_wins", 0.06),
        ("true_or_false_04", [False, False, True, True, False, False]),
    ],
)
def test_stated_answer_is_right(name, answer):
    assert verdict(name, answer).startswith("Right. ")


@pytest.mark.parametrize(
    ("name", "arguments", "want"),
    [
        ("coefficients", (1, 2, 3, 1), (5, -5)),
        ("turning_law", (3, 0.5), 1.5),
        ("score_2d", (np.array([1.0, 2.0]), np.array([3.0, 1.0]), 105, 102, np.pi / 6), -5),
        ("slowest_period", (64, 10000), 47117.24),
        ("slowest_period", (128, 10000), 54410.14),
        ("first_return", (np.array([1.0, 0.1]), 0.2), 63),
        ("first_return", (np.array([1.0, 0.1]), 0.1), 377),
        ("partial_sums", (0, 10000.0 ** (-np.arange(64) / 64)), 32.5),
        ("partial_sums", (10, 10000.0 ** (-np.arange(64) / 64)), 17.95),
        ("partial_sums", (250, 10000.0 ** (-np.arange(64) / 64)), 6.55),
        ("cosine_weights", (np.array([3.0, 4.0, 0.0, 5.0]),), (0.5, 0.5)),
    ],
)
def test_solution_gives_the_stated_number(name, arguments, want):
    got = run(EXERCISES[name].solution, name)(*arguments)
    np.testing.assert_allclose(got, want, rtol=5e-4, atol=1e-9)


# Answers that are not among the mistakes -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mirror_score", "nonzero_entries", "near_return", "closer_wins", "half_order"])
def test_other_wrong_number_gets_advice(name):
    wrong = [7] * 8 if name == "half_order" else 0.7654
    assert verdict(name, wrong) == f"Not yet. {EXERCISES[name].advice}"


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_exercise_with_open_answers_has_advice(each):
    """Choices, sentences and probes have a message for each wrong answer; numbers and formulas cannot."""
    judged_by = each.checker.__qualname__.split(".")[0]
    assert bool(each.advice) == (judged_by in ("numbers", "formula", "by_solution", "rotation"))


@pytest.mark.parametrize("mistake", EXERCISES["first_new_angle"].mistakes, ids=range(7))
def test_wrong_way_to_a_new_angle_is_named_also_without_the_guard(mistake):
    code = mistake.answer.replace(" * (1 + 1e-12)", "")
    assert verdict("first_new_angle", run(code, "first_new_angle")) == spaced(mistake.says)


SEARCH = """
def first_new_angle(own, scaled, length):
    slow = length * own < 2 * np.pi
    m = np.arange(20_000)[:, None]
    return np.argmax((m * scaled[slow] {beyond} (length - 1) * own[slow]{guard}).any(axis=1))
"""


@pytest.mark.parametrize(
    ("beyond", "guard", "says"),
    [
        (">", " * (1 + 1e-12)", "Right. "),
        (">", "", "Right but for the last digit. "),
        (">=", " * (1 - 1e-12)", "With PI a hand comes exactly to the largest angle that it has seen. "),
    ],
)
def test_search_for_a_new_angle_is_judged_as_a_quotient_is(beyond, guard, says):
    code = SEARCH.format(beyond=beyond, guard=guard)
    assert verdict("first_new_angle", run(code, "first_new_angle")).startswith(says)


def test_other_wrong_formula_gets_advice():
    each = EXERCISES["coefficients"]
    assert verdict(each.name, lambda q1, q2, k1, k2: (q1, k2)) == f"Not yet. {each.advice}"


def test_several_wrong_sentences_are_counted():
    says = verdict("true_or_false_01", [True, True, True, False, True, False])
    assert says.startswith("2 of 6 are not right yet. Sentence 1 needs another look.")


def test_open_sentences_are_named():
    answer = [True, ..., False, None, True, True]
    assert verdict("true_or_false_01", answer).startswith("Not answered yet: still open: 2, 4.")


@pytest.mark.parametrize("name", FAULTS)
def test_every_planted_fault_has_a_message_that_is_plain(name):
    assert is_plain(words.phrase(name))


def test_every_check_has_a_message_that_is_plain():
    assert set(checkers.ASKED) == set(CHECKS)
    assert all(is_plain(words.phrase(name)) for name in CHECKS)


TURN = EXERCISES["mixed_layout"]  # a rotation, given as x and position_ids


@pytest.mark.parametrize("name", FAULTS)
def test_rotation_that_is_a_planted_fault_is_named(name):
    assert verdict(TURN.name, FAULTS[name].rotate) == words.phrase(name)


def test_rotation_that_is_right_only_near_the_start_is_found():
    def turn(x, position_ids):
        return x if np.max(position_ids) == 4 else checkers.rotate_correctly(x, position_ids)

    assert verdict(TURN.name, turn) == words.phrase("turns add up")


# Answers of the wrong kind ---------------------------------------------------------------------------------------


class Stubborn:
    """Refuses to be read in any way."""

    def refuse(self, *args, **kwargs):
        """Refuse."""
        raise RuntimeError("no")

    __array__ = __float__ = __len__ = __iter__ = __eq__ = __bool__ = __repr__ = __str__ = __index__ = refuse
    __hash__ = object.__hash__


ODD = [
    True,
    "abc",
    "",
    b"5",
    1j,
    float("nan"),
    float("inf"),
    10**400,
    -(2**63),
    np.int64(-(2**63)),
    np.longdouble(1e308) * 10,
    [],
    {},
    set(),
    [1, [2, 3]],
    [[], []],
    [None, 3],
    ["a"] * 6,
    [True] * 9,
    [1j] * 8,
    np.array("x"),
    np.array(True),
    np.zeros((0, 3)),
    np.array([None, 1], object),
    np.datetime64("2024-01-01"),
    object(),
    Stubborn(),
    [Stubborn()] * 6,
    int,
    len,
    np.sin,
    lambda: None,
    lambda *args: Stubborn(),
    lambda *args: "text",
    lambda *args: [1, [2]],
    lambda *args: (yield),
    NotImplemented,
    Exception("no"),
    sys,
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_odd_answer_gets_a_sentence(odd):
    for each in ALL:
        says = verdict(each.name, odd)
        assert isinstance(says, str) and says and "\n" not in says
        assert not says.startswith("Right")


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.just(...),
    st.decimals(),
    st.fractions(),
    np_strategies.arrays(np_strategies.scalar_dtypes(), np_strategies.array_shapes(min_dims=0, max_side=3)),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=9), st.tuples(inner, inner), st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=12,
)


@settings(max_examples=150)
@given(name=st.sampled_from(list(EXERCISES)), answer=ANYTHING)
def test_any_value_is_answered_in_words(name, answer):
    for handed_in in (answer, lambda *args: answer):
        says = verdict(name, handed_in)
        assert says and "\n" not in says


@pytest.mark.parametrize(
    ("name", "answer", "says"),
    [
        ("mirror_score", "5", "Expected one number, got a text."),
        ("mirror_score", True, "Expected one number, got the truth value True."),
        ("mirror_score", [1, 2], "Expected one number, got a list of 2."),
        ("mirror_score", np.nan, "Expected one number, got nan or inf among them. Was something divided by zero?"),
        ("mirror_score", 1j, "Expected one number, got complex numbers. Take them apart."),
        ("mirror_score", len, "Expected one number, got a function."),
        ("half_order", [0, 2], "Expected 8 numbers, got a list of 2."),
        ("half_order", np.zeros((2, 4)), "Expected 8 numbers, got an array of shape (2, 4)."),
        ("larger_base", 3, 'Expected one of "down", "same", "up", in quotes, got the number 3.'),
        ("larger_base", "left", 'Expected one of "down", "same", "up", got another text.'),
        ("other_layout", [True] * 3, "Expected a list of 4 answers, each True or False, got a list of 3."),
        (
            "other_layout",
            [True, 1, True, True],
            "Expected a list of 4 answers, each True or False, got the number 1 for sentence 2.",
        ),
        (
            "score_2d",
            3,
            'Expected a function, got the number 3. Hand in its name without brackets: check("score_2d", score_2d).',
        ),
    ],
)
def test_answer_of_the_wrong_kind_is_told_what_was_expected(name, answer, says):
    assert verdict(name, answer) == says


# Functions that misbehave ----------------------------------------------------------------------------------------


def fails(*args):
    raise ZeroDivisionError("division by zero.\nand more")


def leaves(*args):
    raise SystemExit


def digs(*args):
    return digs(*args)


class Mute(Exception):
    """Cannot say what it is."""

    def __str__(self):
        raise RuntimeError


def mutters(*args):
    raise Mute


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (fails, "Your function stopped with an error: ZeroDivisionError: division by zero."),
        (leaves, "Your function stopped with an error: SystemExit."),
        (mutters, "Your function stopped with an error: Mute."),
        (lambda *args: None, "Not answered yet: your function returns nothing so far. "),
        (lambda *args: ..., "Not answered yet: your function returns nothing so far. "),
        (
            lambda q, k: 1.0,
            "Your function must be called as score_2d(q, k, m, n, theta). Keep its first line as it was.",
        ),
        (lambda *args: np.ones(3), "Your function must return one number, got an array of shape (3,)."),
        (lambda *args: "text", "Your function must return one number, got a text."),
        (lambda *args: np.nan, "Your function must return one number, got nan or inf among them. "),
        (
            lambda *args: np.float64(1) / np.zeros(()),
            "Your function must return one number, got nan or inf among them. ",
        ),
        (lambda q, *rest: q.fill(0) or 1.0, "The input was changed: "),
    ],
    ids=range(11),
)
def test_function_that_misbehaves_gets_a_sentence(function, says):
    said = verdict("score_2d", function)
    assert said.startswith(says) and is_plain(said)


@pytest.mark.parametrize("each", FUNCTIONS, ids=ids)
def test_no_function_can_raise_through(each):
    for function in (fails, leaves, mutters, digs):
        assert verdict(each.name, function).startswith("Your function stopped with an error: ")


def test_endless_loop_is_stopped(monkeypatch):
    monkeypatch.setattr(reading, "SECONDS", 0.2)

    def waits(*args):
        while True:
            try:
                pass
            except Exception:
                pass

    says = verdict("score_2d", waits)
    assert says == "Your function was stopped after 0.2 seconds. Does a loop never end?"
    assert sys.gettrace() is None


def test_many_slow_calls_share_the_time(monkeypatch):
    monkeypatch.setattr(reading, "SECONDS", 0.2)
    right = run(EXERCISES["score_2d"].solution, "score_2d")

    def slow(*args):
        for _ in range(300_000):
            pass
        return right(*args)

    assert verdict("score_2d", slow).startswith("Your function was stopped")


def test_debugger_is_left_alone():
    def watch(frame, event, arg):
        return None

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        verdict("score_2d", run(EXERCISES["score_2d"].solution, "score_2d"))
        during = sys.gettrace()
    finally:
        sys.settrace(before)
    assert during is watch


def test_function_that_spoils_its_input_spoils_nothing_of_ours():
    def spoils(*args):
        for each in args:
            if isinstance(each, np.ndarray):
                each[...] = 99.0
        return 0.0

    for each in FUNCTIONS:
        verdict(each.name, spoils)
    for each in FUNCTIONS:
        assert verdict(each.name, run(each.solution, each.name)).startswith("Right. ")


def test_warnings_of_a_function_are_not_shown_and_settings_stay():
    def warns(*args):
        warnings.warn("careful", stacklevel=1)
        return np.log(np.zeros(1))[0]

    before = np.geterr(), list(warnings.filters)
    assert verdict("score_2d", warns).startswith("Your function must return one number")
    assert (np.geterr(), list(warnings.filters)) == before


# Names -----------------------------------------------------------------------------------------------------------


def test_unknown_name_lists_near_ones(capsys):
    check("miror_scor", 5)
    assert capsys.readouterr().out == "There is no exercise of that name. Did you mean mirror_score?\n"
    check("zzz", 5)
    assert (
        capsys.readouterr().out == "There is no exercise of that name. All of them: python -m rope_course exercises\n"
    )
    show("zzz")
    assert (
        capsys.readouterr().out == "There is no exercise of that name. All of them: python -m rope_course exercises\n"
    )


@pytest.mark.parametrize("name", [None, 3, [], {}, Stubborn(), lambda: None], ids=lambda name: type(name).__name__)
def test_name_that_is_no_text_gets_a_sentence(name):
    assert verdict(name, 5).startswith("The name of the exercise comes first, in quotes")


def test_check_prints_lines_of_at_most_80_columns_and_returns_nothing(capsys):
    assert check("mirror_score", -5) is None
    out = capsys.readouterr().out
    assert spaced(out) == verdict("mirror_score", -5)
    assert out.count("\n") == 2 and max(map(len, out.splitlines())) <= 80


# The entries -----------------------------------------------------------------------------------------------------


def test_each_lesson_has_at_least_five_and_all_kinds_occur():
    lessons = [each.lesson for each in ALL]
    assert set(lessons) >= {1, 2, 3, 4}
    assert all(lessons.count(lesson) >= 5 for lesson in set(lessons))
    assert {each.kind for each in ALL} == set(KINDS)


@pytest.mark.parametrize("each", ALL, ids=ids)
def test_entry_is_complete(each):
    assert each.name.isidentifier()
    assert each.mistakes
    assert each.kind in KINDS
    assert each.wants_function or each.kind in ("predict", "derive")
    assert not (each.wants_function and each.kind == "predict")
    assert len(each.cell.splitlines()) <= 15
    ast.parse(each.cell)


@functools.cache
def library_names():
    """Functions and classes that a notebook may not define again."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.glob("rope_*/**/*.py")]
    nodes = [node for tree in trees for node in tree.body]
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_no_exercise_is_named_like_a_library_function():
    assert "rotate_expanded" in library_names()
    assert library_names() & set(EXERCISES) == set()


NEW_LESSON = """
from rope_course.exercises.checkers import numbers
from rope_course.exercises.entry import exercise

EXERCISES = [exercise({name!r}, kind="predict", checker=numbers(2), mistakes=[("one", 1)])]
"""
ITS_TEXT = """
[sum_of_ones]
question = "How much?"
hint = "Add."
advice = "Count."
why = "One and one."
solution = "answer = 2"
says.one = "Add another."
"""


def test_new_lesson_is_one_new_module_and_its_text(tmp_path, monkeypatch):
    monkeypatch.setattr(exercises, "__path__", [*exercises.__path__, str(tmp_path)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    shutil.copytree(words.TEXT, tmp_path / "text")
    monkeypatch.setattr(words, "TEXT", tmp_path / "text")
    (tmp_path / "lesson91.py").write_text(NEW_LESSON.format(name="sum_of_ones"), encoding="utf-8")
    (tmp_path / "text" / "en" / "lesson91.toml").write_text(ITS_TEXT, encoding="utf-8")
    found = collect()
    monkeypatch.setattr(exercises, "EXERCISES", found)
    assert found["sum_of_ones"].title == "Exercise 91.1 (predict)"
    assert [verdict("sum_of_ones", n) for n in (1, 2, 3)] == ["Add another.", "Right. One and one.", "Not yet. Count."]
    (tmp_path / "lesson92.py").write_text(NEW_LESSON.format(name="mirror_score"), encoding="utf-8")
    with pytest.raises(ValueError, match="name must be used once, got 'mirror_score' twice"):
        collect()


def test_comment_behind_a_replaced_piece_goes_with_it():
    code = "a = b  # of b\nc = d  # of d"
    assert spoiled(code, [("b", "x"), ("c", "y")]) == "a = x\ny = d  # of d"


def test_edit_of_a_piece_that_is_not_there_is_refused():
    assert edit("a + b", ("a", "c")) == "c + b"
    with pytest.raises(ValueError, match="changes must each replace a piece of the code, got 'x'"):
        edit("a + b", ("x", "c"))


# Sheets ----------------------------------------------------------------------------------------------------------


def test_sheet_holds_every_exercise_in_lines_of_a_hundred_columns():
    text = sheet(solutions=True)
    assert [line for line in text.splitlines() if len(line) > 100] == []
    for each in ALL:
        assert f"{each.title}: {each.name}" in text
        assert spaced(each.question) in spaced(text)
        assert textwrap.indent(each.solution, "    ") in text
    assert sheet(99) == ""


def test_sheet_without_solutions_shows_none():
    for each in ALL:
        assert each.solution not in sheet(each.lesson)
        assert spaced(each.hint) not in spaced(sheet(each.lesson))


def test_list_items_stay_apart():
    text = exercises.wrapped("Which?\n\n1. " + "one " * 30 + "\n2. two\n\n- `a` three\n- four")
    lines = text.splitlines()
    assert lines[2].startswith("1. one") and lines[3].startswith("   one")
    assert lines[4:] == ["2. two", "", "- `a` three", "- four"]


# The command -----------------------------------------------------------------------------------------------------


def command(*arguments):
    """Run the command in another process and return what it did."""
    full = [sys.executable, "-m", "rope_course", "exercises", *arguments]
    return subprocess.run(full, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", env=None)


def test_command_prints_the_sheet_of_one_lesson():
    done = command("--lesson", "4", "--solutions")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout == sheet(4, solutions=True) + "\n"


def test_command_refuses_a_lesson_that_has_no_exercises():
    done = command("--lesson", "99")
    assert done.returncode == 2
    there_are = ", ".join(str(lesson) for lesson in sorted({each.lesson for each in ALL}))
    assert done.stderr == f"rope-course exercises: lesson 99 has no exercises; there are {there_are}\n"
