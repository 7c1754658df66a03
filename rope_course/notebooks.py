"""Run notebooks from their start, and keep what they show without what differs from run to run."""

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

from rope_ref.files import write_file

__all__ = []

CELL_TIMEOUT = 120  # seconds, as in the tests
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
CELL_METADATA = ("editable", "jupyter", "slideshow", "tags")  # the rest, such as timings, is dropped
PIXELS = re.compile("data:image/png;base64,[A-Za-z0-9+/=]+")  # never compared, as in the tests


class Failed(Exception):
    """A notebook did not run to its end; the message is one line that says where and why."""


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


def run_notebook(path):
    """Execute a notebook from its start and return it with fresh outputs, without what differs from run to run."""
    notebook = nbformat.read(path, as_version=4)
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
    return notebook


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


def refresh(path, check=False):
    """Run a notebook and store it, or only compare; return what came of it in words, and whether that is as it was."""
    after = run_notebook(path)
    if check:
        changed = changed_cells(nbformat.read(path, as_version=4), after)
        return (f"outputs would change in cells {changed}" if changed else "as stored"), not changed
    text = (nbformat.writes(after) + "\n").encode()
    if text == path.read_bytes():
        return "unchanged", True
    write_file(path, text)
    return "written", True
