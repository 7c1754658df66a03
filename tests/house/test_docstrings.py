"""Every public docstring keeps the numpydoc checks named in pyproject.toml, and shows an example.

Public is what a module lists in `__all__`, or all its names without an underscore if it has no such list; the helpers
that rooms lend each other need one line.
"""

import importlib
import inspect
import pkgutil
import sys
import tomllib
import types
import warnings

import pytest
from numpydoc.validate import validate
from places import ROOT

import rope_course
import rope_ref

CHECKS = set(
    tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["numpydoc_validation"]["checks"]
)
# Figures, the command line and helpers need one line that says what they do, and no sections.
ONE_LINE = {"GL08", "SS01", "SS02", "SS03", "SS04", "SS06"}
# A method is shown at work in the example of its class.
METHOD = CHECKS - {"EX01"}

MODULES = [
    importlib.import_module(info.name)
    for package in (rope_ref, rope_course)
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


def defined(module):
    """Functions and classes that a module defines, without those that start with an underscore."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isroutine(value) or inspect.isclass(value))
        and value.__module__ == module.__name__
    }


def public_methods(cls):
    """Public methods and properties that a class defines itself."""
    return [
        name
        for name, value in vars(cls).items()
        if not name.startswith("_") and isinstance(value, types.FunctionType | property | classmethod | staticmethod)
    ]


def checked_names(modules):
    """Dotted names to validate, with the checks that hold for each."""
    for module in modules:
        figures_or_main = module.__name__.startswith("rope_course.figures") or module.__name__.endswith(".__main__")
        public = getattr(module, "__all__", defined(module))
        for name, value in defined(module).items():
            dotted = f"{module.__name__}.{name}"
            brief = figures_or_main or name not in public
            yield dotted, ONE_LINE if brief else CHECKS
            if inspect.isclass(value):
                for method in public_methods(value):
                    yield f"{dotted}.{method}", ONE_LINE if brief else METHOD


def complaints(dotted, checks):
    """Failed numpydoc checks, and an example without a doctest."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Unknown section")  # numpydoc says it twice; GL06 is the other time
        result = validate(dotted)
    found = [f"{code}: {message}" for code, message in result["errors"] if code in checks]
    if "EX01" in checks and ">>>" not in result["docstring"].partition("Examples\n")[2]:
        found.append("the Examples section holds no doctest")
    return found


def control_characters(text):
    """Control characters other than the newline: `"\\theta"` in a docstring that is not raw holds a tab."""
    return [character for character in text or "" if character != "\n" and not character.isprintable()]


CHECKED = dict(checked_names(MODULES))


@pytest.mark.parametrize(("dotted", "checks"), CHECKED.items(), ids=list(CHECKED))
def test_docstring_passes_the_numpydoc_checks(dotted, checks):
    assert complaints(dotted, checks) == []


def test_everything_the_package_offers_is_checked_in_full():
    values = [getattr(rope_ref, name) for name in rope_ref.__all__]  # those read when asked for, too
    offered = [value for value in values if inspect.isfunction(value) or inspect.isclass(value)]
    assert rope_ref.apply_rope in offered
    assert [v.__name__ for v in offered if CHECKED.get(f"{v.__module__}.{v.__qualname__}") != CHECKS] == []


@pytest.mark.parametrize("module", [rope_ref, rope_course, *MODULES], ids=lambda module: module.__name__)
def test_no_docstring_holds_a_control_character(module):
    documented = {module.__name__: module}
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) == module.__name__:
            documented[name] = value
            if inspect.isclass(value):
                documented |= {f"{name}.{key}": member for key, member in vars(value).items()}
    bad = {name: control_characters(inspect.getdoc(value)) for name, value in documented.items()}
    assert {name: found for name, found in bad.items() if found} == {}


GOOD = '''
def turn(x, angle):
    """Turn each pair.

    Parameters
    ----------
    x : array_like of float, shape (..., 2)
        Pairs.
    angle : float
        Angle in radians.

    Returns
    -------
    ndarray, shape of `x`
        Pairs, turned anticlockwise.

    Examples
    --------
    >>> 1 + 1
    2
    """
'''


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Complaints about the function `turn` of a module with the given text."""

    def run(text, checks=CHECKS):
        name = f"{tmp_path.name}_{len(list(tmp_path.iterdir()))}"  # another module each time
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return complaints(f"{name}.turn", checks)

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    return run


def test_good_docstring_passes(planted):
    assert planted(GOOD) == []
    assert planted('def turn(x):\n    """Draw the turn."""', ONE_LINE) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("    angle : float\n        Angle in radians.\n", "", "PR01"),
        ("angle : float", "angel : float", "PR02"),
        ("angle : float", "angle", "PR04"),
        ("Turn each pair.", "Turn each pair", "SS03"),
        ("Returns\n    -------", "Result\n    ------", "GL06"),
        ("        Pairs, turned anticlockwise.\n", "", "RT03"),
        ("Examples\n    --------\n    >>> 1 + 1\n    2\n", "", "EX01"),
        (">>> 1 + 1\n    2", "One and one is two.", "the Examples section holds no doctest"),
    ],
)
def test_check_finds_a_planted_fault(planted, old, new, complaint):
    assert old in GOOD
    assert any(found.startswith(complaint) for found in planted(GOOD.replace(old, new)))


def test_check_finds_a_missing_line_in_a_figure_function(planted):
    assert planted("def turn(x):\n    pass", ONE_LINE)


def test_control_character_is_found():
    assert control_characters("angle \theta") == ["\t"]
    assert control_characters(r"angle \theta θ" + "\nline") == []
