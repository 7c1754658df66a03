"""Write the exercises into notebooks, run them from their start, and keep what they show without what differs from run
to run.
"""

import json
import re
import subprocess
import sys

import ipykernel  # noqa: F401  a kernel is started by name, so its lack would show late
import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from rope_course.exercises import EXERCISES
from rope_ref.files import write_file

__all__ = []

CELL_TIMEOUT = 120  # seconds, as in the tests
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
CELL_METADATA = ("editable", "jupyter", "slideshow", "tags")  # the rest, such as timings, is dropped
LESSON = re.compile(r"(\d\d)_")  # how the file name of a lesson's notebook begins
TAG = "exercise:"  # both cells of an exercise carry this tag, with its name behind it: there the exercise stands
PIXELS = re.compile("data:image/png;base64,[A-Za-z0-9+/=]+")  # never compared, as in the tests


class Failed(Exception):
    """A notebook could not be written or did not run to its end; the message is one line that says where and why."""


class ThisPython(AsyncKernelManager):
    """Start this Python, whatever kernels are installed."""

    @property
    def kernel_spec(self):
        """How the kernel is started."""
        return KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], **KERNEL)


def notebook_paths(paths):
    """List the notebooks meant by files and folders, or raise where there is none."""
    found = []
    for path in paths:
        inside = sorted(path.glob("*.ipynb")) if path.is_dir() else [path]
        if not inside or not all(notebook.is_file() for notebook in inside):
            raise FileNotFoundError(f"there is no notebook at {path}")
        found += inside
    return found


def exercises_of(path):
    """List the exercises of the lesson whose number a notebook's name begins with."""
    number = LESSON.match(path.stem)
    return [each for each in EXERCISES.values() if number and each.lesson == int(number[1])]


def exercise_in(cell):
    """Name the exercise that a cell belongs to, or None."""
    tags = cell.metadata.get("tags", [])
    return next((tag.removeprefix(TAG) for tag in tags if tag.startswith(TAG)), None)


def cells_of(each, cells):
    """Return the two cells of an exercise with its present text: those that a notebook has for it, or new ones."""
    old = {cell.cell_type: cell for cell in cells if exercise_in(cell) == each.name}
    ask = old.get("markdown") or nbformat.v4.new_markdown_cell(id=f"ask-{each.name}")
    answer = old.get("code") or nbformat.v4.new_code_cell(id=f"answer-{each.name}")
    for cell, source in ((ask, each.markdown), (answer, each.cell)):
        cell.source = source
        cell.metadata.setdefault("tags", [TAG + each.name])
    return [ask, answer]


def write_exercises(notebook, exercises):
    """Write exercises where their cells stand, in place; a new one comes behind the one before it, and unknown ones go.

    A notebook in which no cell is marked is left alone.
    """
    cells = notebook.cells
    marked = list(dict.fromkeys(map(exercise_in, cells)))
    known = [each.name for each in exercises if each.name in marked]
    if known != [name for name in marked if name in known]:
        raise Failed(f"exercises must stand in the order of their numbers: {', '.join(known)}")
    if not known:
        return
    groups, place = {}, known[0]
    for each in exercises:
        place = each.name if each.name in marked else place
        groups.setdefault(place, []).extend(cells_of(each, cells))
    notebook.cells = []
    for cell in cells:
        name = exercise_in(cell)
        notebook.cells += groups.pop(name, []) if name else [cell]


def run_notebook(notebook, path):
    """Execute a notebook from its start, in place; it keeps fresh outputs, without what differs from run to run."""
    reached = []
    client = NotebookClient(
        notebook,
        kernel_manager_class=ThisPython,
        timeout=CELL_TIMEOUT,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_execute=lambda cell, cell_index: reached.append(cell_index),
    )
    try:
        client.execute(stderr=subprocess.DEVNULL)  # what a cell writes to stderr comes another way
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        number = sum(notebook.cells[index].cell_type == "code" for index in set(reached))
        raise Failed(f"{path}, cell [{number}]: {reason(error)}") from None
    notebook.metadata.pop("widgets", None)
    notebook.metadata.update(kernelspec=KERNEL, language_info={"name": "python"})
    for cell in notebook.cells:
        cell.metadata = {key: value for key, value in cell.metadata.items() if key in CELL_METADATA}


def reason(error):
    """Say in a few words why a notebook stopped."""
    if isinstance(error, CellExecutionError):
        return f"{error.ename}: {error.evalue.partition(chr(10))[0]}"
    return "Python died" if isinstance(error, DeadKernelError) else f"not done after {CELL_TIMEOUT} seconds"


def shown(cell):
    """Return what a cell shows, pixels apart, as a text to compare."""
    return PIXELS.sub("", json.dumps(cell.outputs, sort_keys=True))


def changed_cells(before, after):
    """Number the code cells whose outputs differ in more than pixels."""
    cells = [[cell for cell in notebook.cells if cell.cell_type == "code"] for notebook in (before, after)]
    return [n for n, (old, new) in enumerate(zip(*cells, strict=True), 1) if shown(old) != shown(new)]


def sources(notebook):
    """List what stands in the cells, apart from what they show."""
    return [(cell.cell_type, cell.source) for cell in notebook.cells]


def refresh(path, check=False):
    """Write and run a notebook and store it, or only compare; return what came of it, and whether that is as it was."""
    before, after = (nbformat.read(path, as_version=4) for _ in range(2))
    write_exercises(after, exercises_of(path))
    if check and sources(before) != sources(after):
        return "exercises would change", False
    run_notebook(after, path)
    if check:
        changed = changed_cells(before, after)
        return (f"outputs would change in cells {changed}" if changed else "as stored"), not changed
    text = (nbformat.writes(after) + "\n").encode()
    if text == path.read_bytes():
        return "unchanged", True
    write_file(path, text)
    return "written", True
