"""Imports go one way, and `import rope_ref` brings in NumPy alone."""

import ast
import subprocess
import sys

import pytest
from places import ROOT

# A file imports only from files before it in the list of its package; __init__.py alone is exempt.
ROOMS = {
    "rope_ref": """
        checks files commands pairing shapes frequencies scaling config positions kernel rotation embedding xpos
        attention absolute decay faults diagnosis vectors __main__
    """.split(),
    "rope_course": "language training exercises figures notebooks __main__".split(),
}
# What a package may import of the project, besides itself: arrows run from the course to the reference, never back.
BELOW = {"rope_ref": [], "rope_course": ["rope_ref"]}
# In figures/, the modules that all others may import; the rest do not know each other.
FIGURES_BASE = "picture"
# A door to a room above: scaling.from_config is a public name, and what it offers stands on scaling.
DOORS = {("rope_ref", "scaling/__init__.py", "config")}
# In these folders, too, a module imports only from modules before it in the list. Where the last one is "*", a file
# that is not listed comes after all that are, and does not know the others: a new scaling method needs no place here.
INSIDE = {
    "scaling": "base reach ntk by_parts *".split(),
    "config": "entry families types parts layers widths gguf recipe read vision ropes table __init__".split(),
    "vectors": "cases exact turns files __init__".split(),
    "positions": "tokens grid axes mrope __init__".split(),
    "faults": "rounding laws tables call turn planted checks snippets defects __init__".split(),
    "diagnosis": """
        tolerances numbers views measure factor frequencies confirm axes suspects name findings report __init__
    """.split(),
}
SLOW = ["matplotlib", "scipy", "mpmath", "IPython", "ml_dtypes", "hypothesis", "rattler"]


def imported_names(tree, package):
    """Every dotted name that a syntax tree imports, also inside functions, made absolute; with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in {"import_module", "__import__"}:
            if node.args and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value), node.lineno


def complaints(package):
    """Imports in a package folder that go the wrong way."""
    rooms, found = ROOMS[package.name], []
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package)
        room = inside.parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        if room not in rooms:
            found.append(f"{inside}: not in the list of rooms")
            continue
        dotted = ".".join([package.name, *inside.parts[:-1]])
        for name, line in imported_names(ast.parse(path.read_text(encoding="utf-8")), dotted):
            complaint = wrong(package.name, inside, name)
            if complaint:
                found.append(f"{inside}:{line}: {complaint}")
    return found


def wrong(package, inside, name):
    """What is wrong with the import of one name into a file of a package, or None."""
    room = inside.parts[0].removesuffix(".py")
    first, *rest = name.split(".")
    if first == "matplotlib" and (package, room) != ("rope_course", "figures"):
        return "only figures/ imports matplotlib"
    if first not in ROOMS:
        return None
    if first not in (package, *BELOW[package]):
        return f"{package} imports nothing of {first}"
    source = rest[0] if rest else "__init__"
    if source not in ROOMS[first]:
        return f"import {name} from the file that defines it, not from the package"
    if first != package:
        return None
    if (package, inside.as_posix(), source) in DOORS:
        return None
    if source != room:
        rooms = ROOMS[package]
        return f"{source} stands below {room}" if rooms.index(source) > rooms.index(room) else None
    return wrong_inside(room, inside, rest)


def wrong_inside(room, inside, rest):
    """What is wrong with an import from a room's own folder, or None."""
    if room == "figures" and inside.stem not in ("__init__", "gallery", FIGURES_BASE) and rest[1:2] != [FIGURES_BASE]:
        return f"a module of figures/ imports only {FIGURES_BASE} from figures/"
    if room in INSIDE:
        order, target = INSIDE[room], rest[1] if len(rest) > 1 else "__init__"
        place = order.index(inside.stem) if inside.stem in order else order.index("*") if "*" in order else 0
        if target not in order[:place] and inside.stem != "__init__":
            return f"{target} does not stand above {inside.stem} in {room}/"
    return None


@pytest.mark.parametrize("package", ROOMS)
def test_every_file_imports_only_from_files_above_it(package):
    assert complaints(ROOT / package) == []


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("rope_ref/pairing.py", "from rope_ref.rotation import apply_rope", "rotation stands below pairing"),
        ("rope_ref/pairing.py", "from .rotation import apply_rope", "rotation stands below pairing"),
        ("rope_ref/pairing.py", "from . import rotation", "rotation stands below pairing"),
        ("rope_ref/pairing.py", "import rope_ref.rotation", "rotation stands below pairing"),
        ("rope_ref/pairing.py", "def f(): from .rotation import g", "rotation stands below pairing"),
        ("rope_ref/decay.py", "from rope_course.figures.clock import wall", "rope_ref imports nothing of rope_course"),
        ("rope_ref/decay.py", "import rope_course", "rope_ref imports nothing of rope_course"),
        ("rope_course/figures/clock.py", "from ..__main__ import main", "__main__ stands below figures"),
        ("rope_course/training/head.py", "from ..exercises import check", "exercises stands below training"),
        (
            "rope_course/figures/clock.py",
            "from .waves import wave",
            f"a module of figures/ imports only {FIGURES_BASE} from figures/",
        ),
        (
            "rope_ref/diagnosis/views.py",
            "from .measure import Hands",
            "measure does not stand above views in diagnosis/",
        ),
        (
            "rope_ref/diagnosis/report.py",
            "from rope_ref.diagnosis import diagnose",
            "diagnose does not stand above report in diagnosis/",
        ),
        (
            "rope_ref/diagnosis/later.py",
            "from .views import View",
            "views does not stand above later in diagnosis/",
        ),
        ("rope_ref/scaling/by_parts.py", "from .yarn import yarn", "yarn does not stand above by_parts in scaling/"),
        ("rope_ref/scaling/mine.py", "from .yarn import yarn", "yarn does not stand above mine in scaling/"),
        (
            "rope_ref/rotation.py",
            "from rope_ref import split_pairs",
            "import rope_ref.split_pairs from the file that defines it, not from the package",
        ),
        (
            "rope_course/figures/clock.py",
            "from rope_ref import split_pairs",
            "import rope_ref.split_pairs from the file that defines it, not from the package",
        ),
        ("rope_ref/decay.py", "def f(): import matplotlib.pyplot", "only figures/ imports matplotlib"),
        ("rope_course/notebooks.py", "import matplotlib", "only figures/ imports matplotlib"),
        (
            "rope_ref/__main__.py",
            "import importlib; importlib.import_module('matplotlib')",
            "only figures/ imports matplotlib",
        ),
    ],
)
def test_checker_finds_a_planted_import(tmp_path, file, text, complaint):
    package, inside = file.split("/", 1)
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert complaints(tmp_path / package) == [f"{inside}:1: {complaint}"]


def test_file_outside_the_list_is_found(tmp_path):
    (tmp_path / "rope_ref").mkdir()
    (tmp_path / "rope_ref" / "helpers.py").write_text("", encoding="utf-8")
    assert complaints(tmp_path / "rope_ref") == ["helpers.py: not in the list of rooms"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("rope_ref/rotation.py", "import numpy\nfrom .pairing import split_pairs\nfrom rope_ref.frequencies import c"),
        ("rope_course/exercises/first.py", "from .entry import exercise\nfrom rope_ref.faults import FAULTS"),
        (
            "rope_course/figures/clock.py",
            f"import matplotlib\nfrom .{FIGURES_BASE} import figure\nfrom rope_ref.decay import decay_curve",
        ),
        ("rope_ref/diagnosis/views.py", "from .tolerances import FIT\nfrom ..pairing import split_pairs"),
        ("rope_ref/diagnosis/__init__.py", "from .report import finding"),
        ("rope_ref/scaling/mine.py", "from .by_parts import blend\nfrom .base import Method"),
        ("rope_course/figures/__init__.py", "from .clock import clock_wall"),
        ("rope_course/__main__.py", "from rope_course import figures"),
        ("rope_ref/__init__.py", "from .attention import attention_scores"),
    ],
)
def test_checker_lets_a_right_import_pass(tmp_path, file, text):
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert complaints(tmp_path / file.split("/")[0]) == []


def brought_in(statement):
    """Which of the slow packages a fresh interpreter holds after a statement."""
    code = f"import sys\n{statement}\nprint(*[name for name in {SLOW} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_import_of_the_package_brings_in_nothing_slow():
    assert brought_in("import rope_ref") == []


def test_slow_imports_are_seen():
    assert brought_in("import rope_ref, ml_dtypes, mpmath") == ["mpmath", "ml_dtypes"]
