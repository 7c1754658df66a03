"""Imports go one way, and `import rope_ref` brings in NumPy alone."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "rope_ref"

# A file imports only from files before it in this list; __init__.py alone is exempt.
ROOMS = """
    files pairing frequencies config scaling positions kernel rotation embedding xpos attention absolute decay
    training faults diagnosis vectors exercises figures __main__
""".split()
# In figures/, the modules that all others may import; the rest do not know each other.
FIGURES_BASE = "picture"
# In these folders, too, a module imports only from modules before it in the list.
INSIDE = {"diagnosis": "laws views readings ladders models attempts words findings report __init__".split()}
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
    found = []
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package)
        room = inside.parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        if room not in ROOMS:
            found.append(f"{inside}: not in the list of rooms")
            continue
        dotted = ".".join(["rope_ref", *inside.parts[:-1]])
        for name, line in imported_names(ast.parse(path.read_text(encoding="utf-8")), dotted):
            where = f"{inside}:{line}"
            first, *rest = name.split(".")
            if first == "matplotlib" and room != "figures":
                found.append(f"{where}: only figures/ imports matplotlib")
            if first != "rope_ref":
                continue
            source = rest[0] if rest else "__init__"
            if source not in ROOMS:
                found.append(f"{where}: import {name} from the file that defines it, not from the package")
            elif source == room == "figures":
                if inside.name not in ("__init__.py", f"{FIGURES_BASE}.py") and rest[1:2] != [FIGURES_BASE]:
                    found.append(f"{where}: a module of figures/ imports only {FIGURES_BASE} from figures/")
            elif source == room in INSIDE:
                order, target = INSIDE[room], rest[1] if len(rest) > 1 else "__init__"
                if inside.stem not in order or target not in order[: order.index(inside.stem)]:
                    found.append(f"{where}: {target} does not stand above {inside.stem} in {room}/")
            elif ROOMS.index(source) > ROOMS.index(room):
                found.append(f"{where}: {source} stands below {room}")
    return found


def test_every_file_imports_only_from_files_above_it():
    assert complaints(PACKAGE) == []


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("pairing.py", "from rope_ref.rotation import apply_rope", "pairing.py:1: rotation stands below pairing"),
        ("pairing.py", "from .rotation import apply_rope", "pairing.py:1: rotation stands below pairing"),
        ("pairing.py", "from . import rotation", "pairing.py:1: rotation stands below pairing"),
        ("pairing.py", "import rope_ref.rotation", "pairing.py:1: rotation stands below pairing"),
        ("pairing.py", "def f():\n    from .rotation import g", "pairing.py:2: rotation stands below pairing"),
        ("decay.py", "from rope_ref.figures.clock import wall", "decay.py:1: figures stands below decay"),
        ("figures/clock.py", "from ..__main__ import main", "figures/clock.py:1: __main__ stands below figures"),
        (
            "figures/clock.py",
            "from .waves import wave",
            f"figures/clock.py:1: a module of figures/ imports only {FIGURES_BASE} from figures/",
        ),
        (
            "diagnosis/laws.py",
            "from .views import View",
            "diagnosis/laws.py:1: views does not stand above laws in diagnosis/",
        ),
        (
            "diagnosis/report.py",
            "from rope_ref.diagnosis import diagnose",
            "diagnosis/report.py:1: diagnose does not stand above report in diagnosis/",
        ),
        (
            "diagnosis/later.py",
            "from .laws import Law",
            "diagnosis/later.py:1: laws does not stand above later in diagnosis/",
        ),
        (
            "rotation.py",
            "from rope_ref import split_pairs",
            "rotation.py:1: import rope_ref.split_pairs from the file that defines it, not from the package",
        ),
        ("decay.py", "def f():\n    import matplotlib.pyplot", "decay.py:2: only figures/ imports matplotlib"),
        (
            "__main__.py",
            "import importlib\nimportlib.import_module('matplotlib')",
            "__main__.py:2: only figures/ imports matplotlib",
        ),
        ("helpers.py", "", "helpers.py: not in the list of rooms"),
    ],
)
def test_checker_finds_a_planted_import(tmp_path, file, text, complaint):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert complaints(tmp_path) == [complaint]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("rotation.py", "import numpy\nfrom .pairing import split_pairs\nfrom rope_ref.frequencies import cos_sin"),
        ("exercises/first.py", "from .entry import exercise\nfrom ..faults import FAULTS"),
        ("figures/clock.py", f"import matplotlib\nfrom .{FIGURES_BASE} import figure\nfrom ..decay import decay_curve"),
        ("diagnosis/views.py", "from .laws import Law\nfrom ..pairing import split_pairs"),
        ("diagnosis/__init__.py", "from .report import finding"),
        ("figures/__init__.py", "from .clock import clock_wall"),
        ("__main__.py", "from rope_ref import figures"),
        ("__init__.py", "from .attention import attention_scores"),
    ],
)
def test_checker_lets_a_right_import_pass(tmp_path, file, text):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert complaints(tmp_path) == []


def brought_in(statement):
    """Which of the slow packages a fresh interpreter holds after a statement."""
    code = f"import sys\n{statement}\nprint(*[name for name in {SLOW} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_import_of_the_package_brings_in_nothing_slow():
    assert brought_in("import rope_ref") == []


def test_slow_imports_are_seen():
    assert brought_in("import rope_ref, ml_dtypes, mpmath") == ["mpmath", "ml_dtypes"]
