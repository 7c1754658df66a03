"""Which language the course speaks; asked for here and nowhere else."""

import os

__all__ = []

VARIABLE = "ROPE_COURSE_LANGUAGE"  # of the environment
chosen = None  # by `use`, before the environment


def language():
    """Return the code of the language, such as "en"."""
    return chosen or os.environ.get(VARIABLE) or "en"


def use(code):
    """Speak another language from now on; None goes back to that of the environment."""
    global chosen
    chosen = code
