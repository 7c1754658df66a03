"""The exercises of the lessons, and `check`, which knows the likely mistakes.

An exercise is one entry in the module of its lesson and one in its text: a new ``lessonNN.py`` with a list `EXERCISES`
is found by itself, and reads ``text/en/lessonNN.toml``.
"""

import difflib
import importlib
import pkgutil
import textwrap

from rope_course.exercises.reading import NotAnswered, Trouble, is_blank
from rope_course.exercises.words import phrase

__all__ = ["EXERCISES", "check", "sheet", "show"]

SCREEN = 80  # columns of a message: a notebook is not always read on a wide screen


def collect():
    """Gather the exercises of all lessons, numbered, by name."""
    found = {}
    for info in pkgutil.iter_modules(__path__):
        if info.name.startswith("lesson"):
            module = importlib.import_module(f"{__name__}.{info.name}")
            lesson = int(info.name.removeprefix("lesson"))
            for number, each in enumerate(module.EXERCISES, 1):
                if each.name in found:
                    raise ValueError(f"name must be used once, got {each.name!r} twice")
                found[each.name] = each._replace(lesson=lesson, number=number)
    return found


EXERCISES = collect()  # name: Exercise, in the order of the lessons


def check(name, answer):
    r"""Print what there is to say about an answer, in one to three sentences.

    Parameters
    ----------
    name : str
        Name of the exercise.
    answer : object
        The answer. None or `...` is no answer yet; the text "hint" asks for the hint. A function is called on copies,
        for ten seconds at most.

    See Also
    --------
    show : Print the question.

    Examples
    --------
    >>> check("mirror_score", ...)
    Not answered yet. For a hint: check("mirror_score", "hint")
    >>> check("mirror_score", -5)
    That would be so if only the size of the distance counted. What does its sign do
    to the arc?
    """
    print(textwrap.fill(verdict(name, answer), SCREEN, break_long_words=False, break_on_hyphens=False))


def verdict(name, answer):
    """Say what `check` prints."""
    each = EXERCISES.get(name) if isinstance(name, str) else None
    if each is None:
        return unknown(name)
    if isinstance(answer, str) and answer.strip().lower() == "hint":
        return each.hint
    try:
        if is_blank(answer):
            raise NotAnswered
        return each.words(each.checker(answer, each) or "right")
    except NotAnswered as trouble:
        missing = str(trouble)
        return phrase("partly_answered" if missing else "not_answered", name=each.name, missing=missing)
    except Trouble as trouble:
        return str(trouble)


def unknown(name):
    """Say that there is no such exercise, and which have a name like it."""
    if not isinstance(name, str):
        return phrase("name_first")
    near = difflib.get_close_matches(name, EXERCISES, n=3, cutoff=0.6)
    return phrase("near_names", near=f" {phrase('or')} ".join(near)) if near else phrase("no_such_name")


def show(name):
    r"""Print the question of an exercise, and the code it starts from.

    Parameters
    ----------
    name : str
        Name of the exercise.

    See Also
    --------
    check : Hand in an answer.

    Examples
    --------
    >>> show("turning_law")  # doctest: +ELLIPSIS
    Exercise 1... (derive): turning_law
    <BLANKLINE>
    A vector at position m is turned by an angle φ(m). You know that φ(m) - φ(m - 1) is the same number
    θ for every m, and that φ(0) = 0. Write φ as a function of m and θ.
    <BLANKLINE>
        def turning_law(m, theta):
            return ...
    <BLANKLINE>
    <BLANKLINE>
        check("turning_law", turning_law)
    """
    print(laid_out(EXERCISES[name]) if isinstance(name, str) and name in EXERCISES else unknown(name))


def sheet(lesson=None, solutions=False):
    """Lay out the exercises of one lesson, or of all, as plain text.

    Parameters
    ----------
    lesson : int, optional
        Number of the lesson; all lessons by default.
    solutions : bool, optional
        Whether each exercise is followed by its hint, its solution and the wrong answers to expect.

    Returns
    -------
    str
        Lines of at most 100 columns, code apart; empty if there is no such lesson.

    Examples
    --------
    >>> "mirror_score" in sheet(1), "mirror_score" in sheet(2)
    (True, False)
    """
    chosen = [each for each in EXERCISES.values() if lesson in (None, each.lesson)]
    return "\n\n\n".join(laid_out(each) + (answers(each) if solutions else "") for each in chosen)


def laid_out(each):
    """Lay out title, question and cell as plain text."""
    return "\n\n".join([f"{each.title}: {each.name}", wrapped(each.question), indented(each.cell)])


def answers(each):
    """Lay out hint, solution and wrong answers as plain text."""
    parts = [wrapped(phrase("hint_line", hint=each.hint)), phrase("solution_line"), indented(each.solution)]
    if each.mistakes:
        parts.append(phrase("mistakes_line"))
    for mistake in each.mistakes:
        parts += [indented(shown(each, mistake.answer)), wrapped(mistake.says, "      ")]
    return "\n\n" + "\n\n".join(parts)


def shown(each, answer):
    """Show a wrong answer: a value as it is, of code the lines that are not in the solution."""
    if not each.wants_function:
        return repr(answer)
    if "\n" not in answer:
        return answer.partition("): ")[2]
    right = each.solution.splitlines()
    return "\n".join(line.strip() for line in answer.splitlines() if line not in right)


def indented(code):
    """Set code in by four columns."""
    return textwrap.indent(code, "    ")


def wrapped(text, indent=""):
    """Break paragraphs and list items into lines of at most 100 columns."""
    lines = []
    for paragraph in text.split("\n\n"):
        for item in split_items(paragraph):
            hanging = indent + ("   " if item[:1].isdigit() else "  " if item.startswith("- ") else "")
            lines.append(textwrap.fill(item, 100, initial_indent=indent, subsequent_indent=hanging))
        lines.append("")
    return "\n".join(lines[:-1])


def split_items(paragraph):
    """Split a paragraph into list items, or return it as one, each on one line."""
    items = []
    for line in paragraph.splitlines():
        if not items or line.startswith("- ") or (line[:1].isdigit() and line[1:3] == ". "):
            items.append(line)
        else:
            items[-1] += " " + line.strip()
    return items
