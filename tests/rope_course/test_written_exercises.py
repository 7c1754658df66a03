"""The command writes the exercises into the notebooks, and the notebooks are what it writes."""

import copy
import re

import nbformat
import pytest
from places import ROOT

from rope_course import notebooks as running
from rope_course.__main__ import main
from rope_course.exercises import EXERCISES
from rope_course.notebooks import TAG, exercise_in, exercises_of, write_exercises

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FIRST, SECOND, THIRD, *_ = LESSON = [each for each in EXERCISES.values() if each.lesson == 1]


def written(notebook, exercises):
    """The notebook that comes out, beside the one that went in."""
    after = copy.deepcopy(notebook)
    write_exercises(after, exercises)
    return after


def names(notebook):
    """The exercises whose cells stand in a notebook, in their order, each once."""
    return list(dict.fromkeys(filter(None, map(exercise_in, notebook.cells))))


def strangers(notebook):
    """The answers that are handed in outside the cells of their exercises."""
    unmarked = [cell.source for cell in notebook.cells if cell.cell_type == "code" and exercise_in(cell) is None]
    return [name for source in unmarked for name in re.findall(r'\bcheck\(\s*"([^"]*)"', source)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_what_the_command_writes(path):
    notebook = nbformat.read(path, as_version=4)
    assert names(notebook) == [each.name for each in exercises_of(path)] != []
    assert strangers(notebook) == []
    assert written(notebook, exercises_of(path)) == notebook


def notebook_of(exercises):
    """A notebook in which prose stands before, between and behind some exercises."""
    v4 = nbformat.v4
    cells = [v4.new_markdown_cell("# Title")]
    for each in exercises:
        tags = {"tags": [TAG + each.name]}
        cells.append(v4.new_markdown_cell(each.markdown, metadata=tags, id=f"ask-{each.name}"))
        cells.append(v4.new_code_cell(each.cell, metadata=tags, id=f"answer-{each.name}"))
        cells.append(v4.new_markdown_cell(f"After {each.name}."))
    return v4.new_notebook(cells=cells)


def test_written_notebook_is_written_once():
    notebook = notebook_of(LESSON)
    assert written(notebook, LESSON) == notebook


@pytest.mark.parametrize("number", range(2))
def test_changed_text_is_written_over_and_the_cell_stays(number):
    notebook = notebook_of(LESSON)
    notebook.cells[1 + number].source = "How much?"
    assert written(notebook, LESSON) == notebook_of_same_ids(notebook, LESSON)


def notebook_of_same_ids(notebook, exercises):
    """The notebook as it should be, its prose cells under the ids that they have."""
    wanted = notebook_of(exercises)
    for cell, old in zip(wanted.cells, notebook.cells, strict=True):
        cell.id = old.id
    return wanted


@pytest.mark.parametrize("missing", range(3))
def test_new_exercise_comes_behind_the_one_before_it_and_the_rest_is_numbered_again(missing):
    without = [each for each in LESSON[:3] if each is not LESSON[missing]]
    before = notebook_of([each._replace(number=n) for n, each in enumerate(without, 1)])
    after = written(before, LESSON[:3])
    assert names(after) == [each.name for each in LESSON[:3]]
    found = [cell.source for cell in after.cells if exercise_in(cell)]
    assert found == [text for each in LESSON[:3] for text in (each.markdown, each.cell)]
    prose = ["# Title", *(f"After {each.name}." for each in without)]
    assert [cell.source for cell in after.cells if not exercise_in(cell)] == prose
    place = [cell.source for cell in after.cells].index(LESSON[missing].markdown)
    assert exercise_in(after.cells[place - 1]) == (LESSON[missing - 1].name if missing else None)


def test_exercise_that_is_taken_out_goes_with_its_cells():
    after = written(notebook_of(LESSON), [each for each in LESSON if each is not SECOND])
    assert SECOND.name not in names(after)
    assert f"After {SECOND.name}." in [cell.source for cell in after.cells]


def test_one_empty_cell_with_the_tag_is_a_place():
    notebook = notebook_of([])
    notebook.cells.append(nbformat.v4.new_code_cell("", metadata={"tags": ["hard", TAG + FIRST.name]}))
    after = written(notebook, [FIRST])
    assert [cell.source for cell in after.cells] == ["# Title", FIRST.markdown, FIRST.cell]
    assert after.cells[2].metadata.tags == ["hard", TAG + FIRST.name]


def test_exercises_in_another_order_than_their_numbers_are_refused():
    notebook = notebook_of([SECOND, FIRST])
    with pytest.raises(running.Failed, match=f"order of their numbers: {FIRST.name}, {SECOND.name}$"):
        write_exercises(notebook, LESSON)


def test_notebook_without_a_mark_and_notebook_of_no_lesson_are_left_alone(tmp_path):
    notebook = notebook_of([])
    assert written(notebook, LESSON) == notebook
    assert exercises_of(tmp_path / "mine.ipynb") == [] == exercises_of(tmp_path / "77_mine.ipynb")


def test_answer_outside_the_cells_of_its_exercise_is_found():
    notebook = notebook_of([FIRST])
    notebook.cells.append(nbformat.v4.new_code_cell('check("mirror_score", 5)'))
    assert strangers(notebook) == ["mirror_score"]


def test_command_writes_the_exercises_before_it_runs_them(tmp_path, capsys):
    path = tmp_path / "01_short.ipynb"
    notebook = notebook_of([SECOND])
    notebook.cells.insert(1, nbformat.v4.new_code_cell("from rope_course.exercises import check"))
    nbformat.write(notebook, path)
    before = path.read_bytes()
    assert main(["notebooks", "--check", str(path)]) == 1
    assert capsys.readouterr().out == f"{path}: exercises would change\n"
    assert path.read_bytes() == before
    assert main(["notebooks", str(path)]) == 0
    after = nbformat.read(path, as_version=4)
    assert names(after) == [each.name for each in LESSON]
    assert [cell.id for cell in after.cells if exercise_in(cell) == SECOND.name] == [
        f"ask-{SECOND.name}",
        f"answer-{SECOND.name}",
    ]
    shown = [cell.outputs[0].text for cell in after.cells if cell.cell_type == "code" and exercise_in(cell)]
    assert len(shown) == len(LESSON) and "Not answered yet" in shown[0]
    capsys.readouterr()
    assert main(["notebooks", "--check", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: as stored\n"
