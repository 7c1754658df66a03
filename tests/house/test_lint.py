"""Code and notebooks keep the ruff rules of pyproject.toml."""

import subprocess
import sys

import nbformat
import pytest
from places import ROOT

FOLDERS = [name for name in ("rope_ref", "rope_course", "tests", "benchmarks", "notebooks") if (ROOT / name).is_dir()]
CHECK = ["check", "--no-cache"]
FORMAT = ["format", "--check", "--diff", "--no-cache"]


def ruff(command, *paths):
    """Exit status and output of a ruff command under the project's rules."""
    full = [sys.executable, "-m", "ruff", *command, "--config", str(ROOT / "pyproject.toml"), *paths]
    done = subprocess.run(full, cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("command", [CHECK, FORMAT], ids=["check", "format"])
def test_ruff_has_no_complaint(command):
    status, output = ruff(command, *FOLDERS)
    assert status == 0, output


@pytest.mark.parametrize(
    ("command", "text", "mention"),
    [
        (CHECK, "import os\n", "F401"),
        (CHECK, "import numpy as np\n\nnp.random.seed(0)\n", "NPY002"),
        (CHECK, f"x = '{'long ' * 30}'\n", "E501"),
        (FORMAT, "x = {'a':1}\n", '+x = {"a": 1}'),
    ],
)
def test_ruff_finds_a_planted_fault(tmp_path, command, text, mention):
    path = tmp_path / "planted.py"
    path.write_text(text, encoding="utf-8")
    status, output = ruff(command, str(path))
    assert status == 1
    assert mention in output


def test_ruff_reads_notebooks(tmp_path):
    path = tmp_path / "planted.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import os")]), path)
    status, output = ruff(CHECK, str(path))
    assert status == 1
    assert "F401" in output
