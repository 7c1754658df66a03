"""What one exercise holds, and how its notebook cells are laid out.

An exercise has two halves of one name: here what is right, in no language, and in `words` its text.
"""

import re
from collections import namedtuple

from rope_course.exercises.words import entry, phrase
from rope_ref.faults.snippets import edit, run, tidy

__all__ = ["edit", "run"]

KINDS = ("predict", "derive", "code", "repair")

Said = namedtuple("Said", "key fields")
Said.__doc__ = """What a checker says: the key of a message, and what its braces are filled with."""

Wrong = namedtuple("Wrong", "key answer fields", defaults=({},))
Wrong.__doc__ = """A wrong answer to expect: a value, code, or a function that makes code of the exercise's own."""

Mistake = namedtuple("Mistake", "answer says")
Mistake.__doc__ = """A wrong answer (a value, or the code of a function) and the message that it must earn."""

FIELDS = "name kind checker wrong truths lesson number"


class Exercise(namedtuple("Exercise", FIELDS, defaults=((), (), 0, 0))):
    """One exercise; nothing else in the package or the notebooks repeats what it holds.

    name      what `check` is given; for an exercise that asks for a function, the name of the function too
    kind      one of `KINDS`
    checker   takes an answer and the exercise; returns None for a right answer, else a key or a `Said`
    wrong     likely wrong answers, each a `Wrong`
    truths    where sentences are judged, whether each is true
    lesson, number    filled in when the lessons are collected

    Its text, in the language that is spoken:

    question  Markdown, readable as plain text
    hint      a first step, for those who ask
    advice    how to find out for oneself what is wrong with an answer that is not among the mistakes
    why       what a right answer shows
    starter   code of the notebook cell, for the student to fill in or to repair
    solution  code that assigns `answer`, or defines the function
    says      messages by their keys
    sentences    where sentences are judged, each with the pointer for those who got it wrong
    """

    __slots__ = ()

    @property
    def text(self):
        """All that is said in this exercise."""
        return entry(self.lesson, self.name)

    @property
    def question(self):
        """What is asked, with the sentences to judge."""
        sentences = [f"{i}. {each['text']}" for i, each in enumerate(self.text.get("sentences", ()), 1)]
        return "\n".join([self.text["question"], "", *sentences]) if sentences else self.text["question"]

    @property
    def hint(self):
        """A first step."""
        return self.text["hint"]

    @property
    def advice(self):
        """How to go on from an answer that no message fits."""
        return self.text.get("advice", "")

    @property
    def why(self):
        """What a right answer shows."""
        return self.text["why"]

    @property
    def starter(self):
        """The code of the cell."""
        if self.truths:
            return phrase("starter", blanks=", ".join(["..."] * len(self.truths)))
        return self.text.get("starter", "answer = ...")

    @property
    def solution(self):
        """The right code."""
        return f"answer = {list(self.truths)}" if self.truths else self.text["solution"]

    @property
    def mistakes(self):
        """The wrong answers to expect, each with its message."""
        return tuple(Mistake(self.answer(each), self.words(Said(each.key, each.fields))) for each in self.wrong)

    def answer(self, wrong):
        """Return a wrong answer as it is shown: a value, or code."""
        return wrong.answer(self) if callable(wrong.answer) else wrong.answer

    def words(self, said):
        """Turn what a checker says, a key or a `Said`, into a sentence."""
        key, fields = said if isinstance(said, Said) else (said, {})
        if key in self.text.get("says", ()):
            return self.text["says"][key].format(**fields)
        pointer = self.text["sentences"][fields["number"] - 1]["pointer"] if self.truths and "number" in fields else ""
        return phrase(key, advice=self.advice, why=self.why, pointer=pointer, **fields)

    @property
    def head(self):
        """How the function is called: its first line, without `def`."""
        return self.starter.partition("def ")[2].partition(":")[0]

    @property
    def wants_function(self):
        """Whether the answer is a function, written in the cell."""
        return f"def {self.name}(" in self.starter

    @property
    def subject(self):
        """The variable that holds the answer."""
        return self.name if self.wants_function else "answer"

    @property
    def title(self):
        """Number and kind, as the sheet and the notebook show them."""
        return phrase("title", number=f"{self.lesson}.{self.number}", kind=phrase(self.kind))

    @property
    def markdown(self):
        """The text of the markdown cell."""
        return f"**{self.title}.** {self.question}"

    @property
    def cell(self):
        """The text of the code cell."""
        gap = "\n\n\n" if self.wants_function else "\n"
        return f'{self.starter}{gap}check("{self.name}", {self.subject})'

    def value(self, answer):
        """Return a catalogued answer as a student would hand it in: code of a function is run."""
        return run(answer, self.name) if self.wants_function else answer


def exercise(name, *, kind, checker, mistakes=(), truths=()):
    """Make an `Exercise`; a mistake is the key of its message, the wrong answer, and what fills the braces."""
    wrong = (Wrong(*each) for each in mistakes)
    tidied = tuple(each._replace(answer=tidy(each.answer)) if isinstance(each.answer, str) else each for each in wrong)
    return Exercise(name, kind, checker, tidied, tuple(truths))


# Wrong code, made from the code of the exercise, which stands in its text -----------------------------------------


def spoiled(code, changes):
    """Replace pieces of code; a comment right behind a piece goes with it, as it spoke of what stood there."""
    for old, new in changes:
        with_comment = re.search(re.escape(old) + "  #.*", code)
        code = edit(code, (with_comment.group() if with_comment else old, new))
    return code


def solution_with(*changes):
    """Make a wrong answer from the solution."""
    return lambda each: spoiled(each.solution, changes)


def starter_with(*changes):
    """Make a wrong answer from the starter; without changes it is the starter itself."""
    return lambda each: spoiled(each.starter, changes)


def returns(expression):
    """Make a wrong answer that only returns an expression."""
    return lambda each: f"def {each.head}: return {expression}"
