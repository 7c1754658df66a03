"""The text of the exercises: in each language one TOML file a lesson, and one for what all lessons say.

Checkers hold what is right and name a message by its key; only here does a key become a sentence.
"""

import functools
import tomllib
from pathlib import Path

from rope_course.language import language

__all__ = []

TEXT = Path(__file__).with_name("text")  # a folder a language
AS_WRITTEN = {"question", "starter", "solution"}  # whose line breaks count


@functools.cache
def read(path):
    """Read one file; where line breaks do not count, they become blanks."""
    return tidied(tomllib.loads(path.read_text(encoding="utf-8")))


def tidied(entry, key=""):
    """Take the blank lines around a text off, or every line break out of it; tables and lists keep their form."""
    if isinstance(entry, dict):
        return {name: tidied(value, name) for name, value in entry.items()}
    if isinstance(entry, list):
        return [tidied(value) for value in entry]
    return entry.strip("\n") if key in AS_WRITTEN else " ".join(entry.split())


def file(name):
    """Read one file of the language that is spoken."""
    spoken = language()
    if not (TEXT / spoken).is_dir():
        known = ", ".join(sorted(folder.name for folder in TEXT.iterdir()))
        raise FileNotFoundError(f"language must be one of {known}, got {spoken!r}")
    return read(TEXT / spoken / f"{name}.toml")


def entry(lesson, name):
    """Return the text of one exercise."""
    found = file(f"lesson{lesson:02d}").get(name)
    if found is None:
        raise ValueError(f"exercise must have a text in {language()}/lesson{lesson:02d}.toml, got none for {name!r}")
    return found


def phrase(key, **fields):
    """Say what all lessons say."""
    return {name: text for section in file("shared").values() for name, text in section.items()}[key].format(**fields)
