"""The command line: what it writes, what it says, and its exit status."""

import json
import os
import subprocess
import sys

import nbformat
import pytest
from matplotlib.figure import Figure
from places import ROOT

import rope_course.figures.gallery as room
from rope_course import notebooks as running
from rope_course.__main__ import main
from rope_course.figures import Picture


@pytest.fixture
def two_figures(monkeypatch):
    """Two small figures in place of all: one that prefers svg, one that prefers png."""

    def make(caption, alt, format):
        def draw():
            return Picture(Figure(figsize=(1, 1)), alt, {}, caption)

        draw.format = format
        return draw

    figures = {
        "line": make("A line rises", "From 1 to 2.", "svg"),
        "heat": make("It is hot", "It is 40 [high].", "png"),
    }
    monkeypatch.setattr(room, "FIGURES", figures)
    monkeypatch.setattr("rope_course.figures.FIGURES", figures)


def run(*argv, package="rope_course", **settings):
    """Run a command line in a new process."""
    command = [sys.executable, "-m", package, *argv]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **settings)


# figures


def test_all_figures_are_drawn_with_a_gallery(two_figures, tmp_path, capsys):
    out = tmp_path / "new" / "folder"
    assert main(["figures", "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["README.md", "heat.png", "line.svg"]
    assert capsys.readouterr().out.split() == [str(out / name) for name in ("line.svg", "heat.png", "README.md")]
    assert (out / "README.md").read_text(encoding="utf-8") == (
        "# Figures\n\n"
        "Drawn by `make figures`. Each is one function of `rope_course.figures` that returns a `Picture`.\n\n"
        "## A line rises\n\n![From 1 to 2.](line.svg)\n\nFrom 1 to 2.\n\n"
        "```python\nfrom rope_course.figures import line\n\nline()\n```\n\n"
        "## It is hot\n\n![It is 40 \\[high\\].](heat.png)\n\nIt is 40 \\[high\\].\n\n"
        "```python\nfrom rope_course.figures import heat\n\nheat()\n```\n"
    )


def test_figures_go_to_the_folder_of_that_name_by_default(two_figures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["figures"]) == 0
    assert (tmp_path / "figures" / "line.svg").exists()


@pytest.mark.parametrize(("format", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_named_figures_are_drawn_alone_in_the_wanted_format(two_figures, tmp_path, format, start):
    assert main(["figures", "heat", "--out", str(tmp_path), "--format", format]) == 0
    (path,) = tmp_path.iterdir()
    assert path.name == f"heat.{format}"
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize(("format", "gallery"), [("png", True), ("pdf", False)])
def test_gallery_shows_what_a_page_can_show(two_figures, tmp_path, format, gallery):
    assert main(["figures", "--out", str(tmp_path), "--format", format]) == 0
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {f"line.{format}", f"heat.{format}", *(["README.md"] if gallery else [])}


def test_unknown_figure_lists_the_known_ones_and_draws_nothing(two_figures, tmp_path, capsys):
    assert main(["figures", "line", "cold", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.err == "rope-course figures: no figure is called cold; there are line, heat\n"
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []


def test_folder_that_cannot_be_made_is_told_in_one_line(two_figures, tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["figures", "--out", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("missing", "argv"),
    [("matplotlib", ["figures"]), ("nbclient", ["notebooks"]), ("ipykernel", ["notebooks"])],
)
def test_missing_extra_is_named_in_one_line(missing, argv, tmp_path):
    code = f"import sys; sys.modules[{missing!r}] = None; from rope_course.__main__ import main; sys.exit(main({argv}))"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "pip install 'rope_ref[notebooks]'" in done.stderr
    assert list(tmp_path.iterdir()) == []


# notebooks


def write_notebook(path, *sources):
    """Write a notebook of code cells, as an editor would leave it."""
    v4 = nbformat.v4
    cells = [
        v4.new_markdown_cell("# Title"),
        *(v4.new_code_cell(source, id=f"cell-{n}") for n, source in enumerate(sources, 1)),
    ]
    cells[1].metadata = {"tags": ["kept"], "execution": {"iopub.execute_input": "2024-01-01"}, "scrolled": True}
    metadata = {
        "language_info": {"name": "python", "version": "3.10"},
        "kernelspec": {"name": "other", "display_name": "x"},
    }
    nbformat.write(v4.new_notebook(cells=cells, metadata=metadata), path)


PICTURE = """
class Picture:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": f'<img alt="3 of 4" src="data:image/png;base64,{PIXELS}">', "text/plain": "3 of 4"}

Picture()
"""


@pytest.fixture
def other_kernel(tmp_path_factory, monkeypatch):
    """A kernel of the usual name that is not this Python, found before all others."""
    folder = tmp_path_factory.mktemp("jupyter")
    (folder / "kernels" / "python3").mkdir(parents=True)
    described = {"argv": ["no-such-python"], "display_name": "x", "language": "python"}
    (folder / "kernels" / "python3" / "kernel.json").write_text(json.dumps(described), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(folder))


def test_notebooks_are_executed_once_and_then_stay_the_same(tmp_path, capsys, other_kernel):
    good, bad = tmp_path / "a_good.ipynb", tmp_path / "b_bad.ipynb"
    write_notebook(good, "PIXELS = 'AAAA'", "import sys\nprint(1, flush=True)\nprint(sys.executable)", PICTURE)
    write_notebook(bad, "x = 1", "y = z\n", "never = 1")
    bad_before = bad.read_bytes()
    assert main(["notebooks", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert said.out == f"{good}: written\n{bad}: failed\n"
    assert said.err == f"{bad}, cell [2]: NameError: name 'z' is not defined\n"
    assert bad.read_bytes() == bad_before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a_good.ipynb", "b_bad.ipynb"]

    notebook = nbformat.read(good, as_version=4)
    assert notebook.metadata == {"kernelspec": running.KERNEL, "language_info": {"name": "python"}}
    assert [cell.metadata for cell in notebook.cells] == [{}, {"tags": ["kept"]}, {}, {}]
    assert [cell.id for cell in notebook.cells[1:]] == ["cell-1", "cell-2", "cell-3"]
    assert [cell.execution_count for cell in notebook.cells[1:]] == [1, 2, 3]
    assert notebook.cells[2].outputs == [{"name": "stdout", "output_type": "stream", "text": f"1\n{sys.executable}\n"}]

    before = good.read_bytes()
    assert main(["notebooks", str(good)]) == 0
    assert capsys.readouterr().out == f"{good}: unchanged\n"
    assert good.read_bytes() == before


def test_check_changes_nothing_and_names_the_cells_that_would_change(tmp_path, capsys):
    stored, changed = tmp_path / "stored.ipynb", tmp_path / "changed.ipynb"
    for path, pixels in ((stored, "AAAA"), (changed, "BBBB")):
        write_notebook(path, "PIXELS = 'AAAA'", PICTURE, "print(5)")
        notebook = nbformat.read(path, as_version=4)
        html = f'<img alt="3 of 4" src="data:image/png;base64,{pixels}">'
        data = {"text/html": html, "text/plain": "3 of 4"}
        notebook.cells[2].outputs = [nbformat.v4.new_output("execute_result", data, execution_count=2)]
        notebook.cells[3].outputs = [nbformat.v4.new_output("stream", text="5\n" if path == stored else "6\n")]
        nbformat.write(notebook, path)
    before = [stored.read_bytes(), changed.read_bytes()]
    assert main(["notebooks", "--check", str(changed), str(stored)]) == 1
    assert capsys.readouterr().out == f"{changed}: outputs would change in cells [3]\n{stored}: as stored\n"
    assert [stored.read_bytes(), changed.read_bytes()] == before


def cells(*outputs):
    made = [nbformat.v4.new_code_cell("x", outputs=list(one)) for one in outputs]
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title"), *made])


def test_comparison_passes_over_pixels_only():
    def shown(alt, pixels):
        html = f'<img alt="{alt}" src="data:image/png;base64,{pixels}">'
        return [nbformat.v4.new_output("display_data", {"text/plain": alt, "text/html": html})]

    before = cells(shown("3 of 4", "AAAA"), shown("5", "AAAA"), [])
    assert running.changed_cells(before, cells(shown("3 of 4", "BBBB"), shown("5", "CC/+=="), [])) == []
    assert running.changed_cells(before, cells(shown("2 of 4", "AAAA"), shown("5", "AAAA"), shown("", ""))) == [
        1,
        3,
    ]


def test_cell_that_takes_too_long_is_told(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(running, "CELL_TIMEOUT", 1)
    path = tmp_path / "slow.ipynb"
    write_notebook(path, "import time\ntime.sleep(60)")
    assert main(["notebooks", str(path)]) == 1
    assert capsys.readouterr().err == f"{path}, cell [1]: not done after 1 seconds\n"


@pytest.mark.parametrize("name", ["missing.ipynb", "empty"])
def test_path_without_a_notebook_is_told_in_one_line(tmp_path, capsys, name):
    (tmp_path / "empty").mkdir()
    assert main(["notebooks", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err == f"rope-course notebooks: there is no notebook at {tmp_path / name}\n"
