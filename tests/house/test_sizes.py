"""The reference stays small: lines of code, of files and of functions are held to limits.

A line of code is one that holds code: blank lines, comments and docstrings do not count.
"""

import ast
import io
import statistics
import tokenize
from pathlib import Path

import pytest
from places import ROOT

# What a student walks through, from which features pair to what follows from the turn.
WALK = """
    __init__ pairing shapes frequencies kernel rotation positions embedding scaling xpos attention absolute decay
""".split()
WALK_LIMIT, REFERENCE_LIMIT = 1300, 4375
FILE_LIMIT, MEDIAN_LIMIT, BODY_LIMIT = 300, 6, 30
# Files that may be longer, each with its reason; one that has become shorter leaves the list.
LONG_FILES = {
    "rope_course/figures/decay.py": "seven figures of notebook 04 that share their curves",
    "rope_course/figures/scaling.py": "eight figures of notebook 07 that share their methods",
    "rope_ref/faults/defects.py": "eight defects with their repairs, as text, and five invariants",
}
# Figures that draw several panels; one that has become shorter leaves the list.
LONG_FIGURES = """
    angle_map arc_covered base_and_context bound_and_scores clip_shift equal_vectors_curve forms_agreement grid_rescale
    head_map matrix_layouts model_clocks model_scalings neighbours_and_reach order_swap patch_maps position_returns
    score_terms softmax_weights speed_ratios two_arrows two_clocks which_hands_speak xpos_scores
""".split()
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def docstring_of(node):
    """The statement that is the docstring of a module, class or function, or None."""
    first = node.body[0] if node.body else None
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return first if is_text else None


def numbers(node):
    """The numbers of the lines that a statement takes."""
    return set(range(node.lineno, node.end_lineno + 1)) if node else set()


def code_lines(text):
    """The numbers of the lines of a source text that hold code."""
    tree = ast.parse(text)
    held = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SKIPPED:
            held |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            held -= numbers(docstring_of(node))
    return held


def bodies(text):
    """The lines of code in the body of every function of a source text, by name."""
    held, found = code_lines(text), {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            inside = set().union(*(numbers(each) for each in node.body if each is not docstring_of(node)))
            found[node.name] = len(inside & held)
    return found


def sources(package):
    """The files of a package: path from the root, and text."""
    paths = sorted((ROOT / package).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def room(path):
    """The room of a file, from its path."""
    return Path(path).parts[1].removesuffix(".py")


SOURCES = {package: sources(package) for package in ("rope_ref", "rope_course")}
ALL = {path: text for found in SOURCES.values() for path, text in found.items()}


def test_the_walk_is_short():
    assert sum(len(code_lines(text)) for path, text in SOURCES["rope_ref"].items() if room(path) in WALK) <= WALK_LIMIT


def test_the_reference_is_small():
    assert sum(len(code_lines(text)) for text in SOURCES["rope_ref"].values()) <= REFERENCE_LIMIT


def test_every_room_of_the_walk_is_there():
    assert set(WALK) <= {room(path) for path in SOURCES["rope_ref"]}


def test_only_the_named_files_are_long():
    assert {path for path, text in ALL.items() if text.count("\n") > FILE_LIMIT} == set(LONG_FILES)


@pytest.mark.parametrize("package", SOURCES)
def test_functions_are_short(package):
    found = {path: bodies(text) for path, text in SOURCES[package].items()}
    assert statistics.median(size for each in found.values() for size in each.values()) <= MEDIAN_LIMIT
    long = {name for path, each in found.items() for name, size in each.items() if size > BODY_LIMIT}
    assert long == (set(LONG_FIGURES) if package == "rope_course" else set())


TEXT = '''"""Two lines
of words."""

import math  # a comment


def turn(
    x,
):
    r"""Turn."""
    # a comment
    y = """no
    docstring"""

    return math.cos(
        x
    )
'''


def test_lines_of_code_are_counted_without_words():
    assert code_lines(TEXT) == {4, 7, 8, 9, 12, 13, 15, 16, 17}
    assert bodies(TEXT) == {"turn": 5}
