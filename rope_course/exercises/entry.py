"""What one exercise holds, and how its notebook cells are laid out."""

from collections import namedtuple

from rope_ref.faults.snippets import edit, run, tidy

__all__ = ["edit", "run"]

KINDS = ("predict", "derive", "code", "repair")

Mistake = namedtuple("Mistake", "answer says")
Mistake.__doc__ = """A wrong answer (a value, or the code of a function) and the message that it must earn."""

FIELDS = "name kind question hint solution checker mistakes advice why starter lesson number"


class Exercise(namedtuple("Exercise", FIELDS, defaults=("", "answer = ...", 0, 0))):
    """One exercise; nothing else in the package or the notebooks repeats its text.

    name      what `check` is given; for an exercise that asks for a function, the name of the function too
    kind      one of `KINDS`
    question  Markdown, readable as plain text
    hint      a first step, for those who ask
    solution  code that assigns `answer`, or defines the function
    checker   takes an answer and the exercise; returns None for a right answer, else the message
    mistakes  likely wrong answers, each with its message
    advice    how to find out for oneself what is wrong with an answer that is not among the mistakes
    why       what a right answer shows
    starter   code of the notebook cell, for the student to fill in or to repair
    lesson, number    filled in when the lessons are collected
    """

    __slots__ = ()

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
        return f"Exercise {self.lesson}.{self.number} ({self.kind})"

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


def exercise(*, question, hint, advice, solution, mistakes=(), starter="answer = ...", **rest):
    """Make an `Exercise` from indented text and pairs of a wrong answer and its message."""
    return Exercise(
        question=tidy(question),
        hint=tidy(hint),
        advice=tidy(advice),
        solution=tidy(solution),
        starter=tidy(starter),
        mistakes=tuple(Mistake(tidy(a) if isinstance(a, str) else a, says) for a, says in mistakes),
        **rest,
    )
