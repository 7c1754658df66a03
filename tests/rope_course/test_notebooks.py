"""What every notebook keeps, beyond what nbval compares. Each rule returns its complaints; each is shown to fail."""

import ast
import functools
import re

import nbformat
import pytest
from places import ROOT

from rope_course.exercises import EXERCISES

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*\.\d+(?:[eE][+-]?\d+)?|(?<![\w.])\d+[eE][+-]?\d+")
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")
OPENING = ["**You will**", "**You will learn**", "**You need**"]
IGNORED = re.compile(r"nbval[-_](ignore|skip)", re.IGNORECASE)
TIMING = re.compile(r"%%?time|\btimeit\b|\bperf_counter\b|\btime\.time\b|__version__|\bversion\(")


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook):
    return [(number, output) for number, cell in enumerate(code_cells(notebook), 1) for output in cell.outputs]


def printed(notebook):
    """Text that nbval compares, without the pixels: streams, plain text, HTML."""
    for number, output in outputs(notebook):
        data = output.get("data", {})
        for text in (output.get("text"), data.get("text/plain"), data.get("text/html")):
            if text:
                yield number, re.sub(r"data:[\w/+.-]+;base64,[A-Za-z0-9+/=]+", "", text)


def headings(notebook):
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return re.findall(r"(?m)^#{1,6} +(.*)$", text)


@functools.cache
def library_names(package=ROOT / "rope_ref"):
    """Public functions and classes of the library."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in package.rglob("*.py")]
    found = {node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return {name for name in found if not name.startswith("_")}


def cells_are_short(notebook):
    lengths = [len(cell.source.splitlines()) for cell in code_cells(notebook)]
    return [f"code cell {n}: {lines} lines, 15 at most" for n, lines in enumerate(lengths, 1) if lines > 15]


def run_once_in_order(notebook):
    counts = [cell.execution_count for cell in code_cells(notebook)]
    return [] if counts == list(range(1, len(counts) + 1)) else [f"execution counts are {counts}, not 1, 2, ..."]


def no_trailing_semicolon(notebook):
    cells = enumerate(code_cells(notebook), 1)
    return [f"code cell {n}: {line}" for n, c in cells for line in c.source.splitlines() if line.rstrip().endswith(";")]


def no_timings_or_versions(notebook):
    cells = enumerate(code_cells(notebook), 1)
    return [f"code cell {n}: {found}" for n, c in cells for found in TIMING.findall(c.source)]


def no_warnings(notebook):
    return [f"code cell {n}: stderr" for n, output in outputs(notebook) if output.get("name") == "stderr"]


def errors_are_meant(notebook):
    cells = enumerate(code_cells(notebook), 1)
    return [
        f"code cell {n}: an error without the tag raises-exception"
        for n, cell in cells
        if any(output.output_type == "error" for output in cell.outputs)
        and "raises-exception" not in cell.metadata.get("tags", [])
    ]


def images_have_alt_text(notebook):
    found = []
    for n, output in outputs(notebook):
        data = output.get("data", {})
        found += [f"code cell {n}: bare {kind}, without alt text" for kind in data if kind.startswith("image/")]
        tags = re.findall(r"<img\b[^>]*>", data.get("text/html", ""))
        found += [f"code cell {n}: <img> without alt text" for tag in tags if not re.search(r'\balt="[^"]+"', tag)]
    return found


def no_object_addresses(notebook):
    return [f"code cell {n}: {found}" for n, text in printed(notebook) for found in ADDRESS.findall(text)]


def numbers_are_the_same_everywhere(notebook):
    """Eight significant digits at most, nothing that is zero up to rounding. A bare power of ten is a bound."""
    found = []
    for n, text in printed(notebook):
        for number in NUMBER.findall(text):
            mantissa = re.split("[eE]", number)[0]
            if len(re.sub(r"[.,]", "", mantissa).lstrip("0")) > 8:
                found.append(f"code cell {n}: {number} has more than 8 digits")
            if 0 < abs(float(number.replace(",", ""))) < 1e-12 and "." in mantissa:
                found.append(f"code cell {n}: {number} is zero up to rounding")
    return found


def no_library_code(notebook):
    names = library_names()
    cells = enumerate(code_cells(notebook), 1)
    defined = [(n, name) for n, c in cells for name in re.findall(r"(?m)^\s*(?:async def|def|class) +(\w+)", c.source)]
    return [f"code cell {n}: {name} has its home in rope_ref" for n, name in defined if name in names]


def no_widget_state(notebook):
    found = ["widget state in the metadata"] if "widgets" in notebook.metadata else []
    kinds = [(n, kind) for n, output in outputs(notebook) for kind in output.get("data", {})]
    return found + [f"code cell {n}: {kind}" for n, kind in kinds if kind.startswith("application/")]


def no_metadata_that_changes(notebook):
    found = ["language_info.version"] if "version" in notebook.metadata.get("language_info", {}) else []
    allowed = {"tags", "jupyter", "slideshow", "editable"}
    return found + [f"cell {n}: {key}" for n, c in enumerate(notebook.cells, 1) for key in set(c.metadata) - allowed]


def opening_says_what_and_why(notebook):
    first = notebook.cells[0]
    found = [f"the first cell lacks {phrase}" for phrase in OPENING if phrase not in first.source]
    return found if first.cell_type == "markdown" and re.match(r"# \S", first.source) else [*found, "no title"]


def ends_with_exercises_and_sources(notebook):
    last = [re.sub(r"\W+$", "", heading) for heading in headings(notebook)]
    found = [] if {"On your own", "Exercises"} & set(last) else ["no heading 'On your own'"]
    return found if last and last[-1] == "Sources" else [*found, "the last heading is not 'Sources'"]


def sources_are_described(notebook):
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    items = re.findall(r"(?m)^\s*(?:[-*]|\d+\.) +(.*)$", re.split(r"(?m)^#+ +Sources.*$", text)[-1])
    return [item for item in items if len(re.sub(r"https?://\S+|arXiv:\S+", "", item).split()) < 3]


def ignored_outputs_have_a_reason(notebook):
    """Where nbval is told to look away, the prose just before says that the output is not compared."""
    found, prose = [], ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            prose = cell.source
        elif IGNORED.search(" ".join([*cell.metadata.get("tags", []), cell.source])) and "not compared" not in prose:
            found.append(cell.source)
    return found


RULES = [
    cells_are_short,
    run_once_in_order,
    no_trailing_semicolon,
    no_timings_or_versions,
    no_warnings,
    errors_are_meant,
    images_have_alt_text,
    no_object_addresses,
    numbers_are_the_same_everywhere,
    no_library_code,
    no_widget_state,
    no_metadata_that_changes,
    opening_says_what_and_why,
    ends_with_exercises_and_sources,
    sources_are_described,
    ignored_outputs_have_a_reason,
]


def too_large(path, limit=1_000_000):
    return path.stat().st_size >= limit


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_keeps_the_rule(path, rule):
    assert rule(nbformat.read(path, as_version=4)) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_small_and_valid(path):
    nbformat.validate(nbformat.read(path, as_version=4))
    assert not too_large(path)


def test_large_file_is_found(tmp_path):
    (tmp_path / "large").write_bytes(b"x" * 1_000_000)
    (tmp_path / "small").write_bytes(b"x" * 999_999)
    assert too_large(tmp_path / "large")
    assert not too_large(tmp_path / "small")


def result(data):
    return nbformat.v4.new_output("execute_result", data, execution_count=2)


def stream(text, name="stdout"):
    return nbformat.v4.new_output("stream", name=name, text=text)


def good_notebook():
    """A notebook that keeps every rule; the faults below are planted in its second code cell."""
    v4 = nbformat.v4
    picture = {
        "text/html": '<img alt="23 of 64 pairs" src="data:image/png;base64,0xABCDEF1234567890.123456789/+=">',
        "text/plain": "23 of 64 pairs",
    }
    numbers = "0.0001 12,345.678 3.1415927 1e-15 2147483648 numpy 2.4.6.1\n"
    cells = [
        v4.new_markdown_cell("# Title\n**You will** draw. **You will learn** to read. **You need** nothing."),
        v4.new_code_cell("import numpy as np", execution_count=1),
        v4.new_markdown_cell("What do you expect?"),
        v4.new_code_cell("def helper():\n    return 1", execution_count=2, outputs=[result(picture), stream(numbers)]),
        v4.new_markdown_cell(
            '## On your own\n\nTry d = 64.\n\n## Sources\n\n- J. Su et al., "RoFormer", arXiv:2104.09864.'
        ),
    ]
    return v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_good_notebook_passes(rule):
    assert rule(good_notebook()) == []


def source(text):
    return lambda notebook: notebook.cells[3].update(source=text)


def output(*new):
    return lambda notebook: notebook.cells[3].update(outputs=list(new))


def prose(number, old, new):
    return lambda notebook: notebook.cells[number].update(source=notebook.cells[number].source.replace(old, new))


PLANTED = [
    (cells_are_short, source("x = 1\n" * 16)),
    (run_once_in_order, lambda notebook: notebook.cells[3].update(execution_count=3)),
    (run_once_in_order, lambda notebook: notebook.cells[3].update(execution_count=None)),
    (no_trailing_semicolon, source("x;")),
    (no_timings_or_versions, source("%timeit x")),
    (no_timings_or_versions, source("np.__version__")),
    (no_warnings, output(stream("careful", "stderr"))),
    (errors_are_meant, output(nbformat.v4.new_output("error", ename="E", evalue="", traceback=[]))),
    (images_have_alt_text, output(result({"image/png": "AAAA"}))),
    (images_have_alt_text, output(result({"image/svg+xml": "<svg/>"}))),
    (images_have_alt_text, output(result({"text/html": '<img src="data:image/png;base64,AAAA">'}))),
    (images_have_alt_text, output(result({"text/html": '<img alt="" src="data:image/png;base64,AAAA">'}))),
    (no_object_addresses, output(result({"text/plain": "<Figure at 0x" + "7f3a5c0d1e20>"}))),
    (numbers_are_the_same_everywhere, output(stream("3.14159265\n"))),
    (numbers_are_the_same_everywhere, output(stream("[-1.23456789e+02]\n"))),
    (numbers_are_the_same_everywhere, output(result({"text/html": "<td>47,117.24012</td>"}))),
    (numbers_are_the_same_everywhere, output(stream("2.2e-16\n"))),
    (no_library_code, source("def apply_rope(x):\n    return x")),
    (no_library_code, source("if x:\n    def apply_rope(x):\n        return x")),
    (no_widget_state, lambda notebook: notebook.metadata.update(widgets={})),
    (no_widget_state, output(result({"application/vnd.jupyter.widget-view+json": {}}))),
    (no_metadata_that_changes, lambda notebook: notebook.metadata.language_info.update(version="3.11.7")),
    (no_metadata_that_changes, lambda notebook: notebook.cells[3].metadata.update(execution={})),
    (opening_says_what_and_why, prose(0, "# Title", "Title")),
    (opening_says_what_and_why, prose(0, "**You need** nothing.", "")),
    (ends_with_exercises_and_sources, prose(4, "## On your own", "")),
    (ends_with_exercises_and_sources, prose(4, "## Sources", "## More")),
    (sources_are_described, prose(4, 'J. Su et al., "RoFormer", arXiv', "https://arxiv.org/abs/2104.09864 arXiv")),
    (ignored_outputs_have_a_reason, source("# NBVAL_IGNORE_OUTPUT\nx")),
    (ignored_outputs_have_a_reason, lambda notebook: notebook.cells[3].metadata.update(tags=["nbval-ignore-output"])),
]


@pytest.mark.parametrize(("rule", "plant"), PLANTED, ids=lambda value: getattr(value, "__name__", ""))
def test_rule_finds_a_planted_fault(rule, plant):
    notebook = good_notebook()
    plant(notebook)
    assert [found.__name__ for found in RULES if found(notebook)] == [rule.__name__]


def test_every_rule_has_a_planted_fault():
    assert {rule.__name__ for rule, _ in PLANTED} == {rule.__name__ for rule in RULES}


def test_reason_for_an_ignored_output_is_read():
    notebook = good_notebook()
    notebook.cells[3].source = "# NBVAL_IGNORE_OUTPUT\nx"
    notebook.cells[2].source = "This draw is random, so its output is not compared."
    assert ignored_outputs_have_a_reason(notebook) == []


def lessons_that_differ(notebooks, exercises, page):
    """Lessons that have not all three: a notebook, exercises, and a row in the teacher's map."""
    rows = {int(number) for number in re.findall(r"(?m)^\| (\d\d) \| \[", page)}
    return sorted((notebooks | exercises | rows) - (notebooks & exercises & rows))


def test_every_lesson_has_a_notebook_exercises_and_a_row_in_the_map():
    notebooks = {int(path.stem[:2]) for path in NOTEBOOKS}
    page = (ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    assert lessons_that_differ(notebooks, {each.lesson for each in EXERCISES.values()}, page) == []


def test_lesson_that_lacks_one_is_found():
    page = "| 01 | [a](01_a.ipynb) | 35 |\n| 02 | [b](02_b.ipynb) | 30 |\n"
    assert lessons_that_differ({1, 2}, {1, 2}, page) == []
    assert lessons_that_differ({1, 2, 3}, {1, 4}, page) == [2, 3, 4]
