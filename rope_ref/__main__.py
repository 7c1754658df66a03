"""The command line, `python -m rope_ref` and `rope-ref`: one function a command.

To add a command, write a function under ``@command(...)``: its name is the command, its docstring the help, and it
returns the exit status. What it needs beyond NumPy it imports inside.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

COMMANDS = {}
CELL_TIMEOUT = 120  # seconds, as in the tests
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
CELL_METADATA = ("editable", "jupyter", "slideshow", "tags")  # the rest, such as timings, is dropped
PIXELS = re.compile("data:image/png;base64,[A-Za-z0-9+/=]+")  # never compared, as in the tests


class Refused(Exception):
    """What was asked cannot be done; the message is one line for the person who asked."""


class Failed(Exception):
    """A notebook did not run to its end; the message is one line that says where and why."""


def argument(*flags, **settings):
    """Describe one argument of a command, as argparse does."""
    return flags, settings


def command(*arguments):
    """Make a function a command with these arguments."""

    def register(run):
        COMMANDS[run.__name__] = run, arguments
        return run

    return register


def gallery(drawn):
    """Write the page that shows drawn figures: message, picture, alt text, and the call that draws it."""
    parts = [
        "# Figures",
        "Drawn by `make figures`. Each is one function of `rope_ref.figures` that returns a `Picture`.",
    ]
    for name, (file, *words) in drawn.items():
        caption, alt = (re.sub(r"([\\`*_\[\]<$])", r"\\\1", text) for text in words)  # signs that Markdown would read
        call = f"```python\nfrom rope_ref.figures import {name}\n\n{name}()\n```"
        parts += [f"## {caption}", f"![{alt}]({file})", alt, call]
    return "\n\n".join(parts) + "\n"


@command(
    argument("names", nargs="*", metavar="NAME", help="which figures; by default all of them, with a gallery page"),
    argument("--out", type=Path, default=Path("figures"), metavar="DIR", help="folder to write to (default: figures)"),
    argument("--format", choices=("svg", "png", "pdf"), help="kind of file; by default the one that suits each figure"),
)
def figures(options):
    """Draw figures into files."""
    try:
        from rope_ref.figures import FIGURES
        from rope_ref.files import write_file
    except ModuleNotFoundError as error:
        raise Refused(error) from None
    unknown = [name for name in options.names if name not in FIGURES]
    if unknown:
        raise Refused(f"no figure is called {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    drawn = {}
    for name in options.names or FIGURES:
        picture = FIGURES[name]()
        path = options.out / f"{name}.{options.format or FIGURES[name].format}"
        picture.save(path)
        print(path, flush=True)
        drawn[name] = path.name, picture.caption, picture.alt
    if not options.names and options.format != "pdf":  # a page cannot show a PDF
        write_file(options.out / "README.md", gallery(drawn).encode())
        print(options.out / "README.md")
    return 0


def notebook_paths(paths):
    """List the notebooks meant by files and folders, or raise where there is none."""
    found = []
    for path in paths:
        inside = sorted(path.glob("*.ipynb")) if path.is_dir() else [path]
        if not inside or not all(notebook.is_file() for notebook in inside):
            raise Refused(f"there is no notebook at {path}")
        found += inside
    return found


def kernel_class():
    """Make a kernel manager that starts this Python, whatever kernels are installed."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class ThisPython(AsyncKernelManager):
        @property
        def kernel_spec(self):
            return KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], **KERNEL)

    return ThisPython


def run_notebook(path):
    """Execute a notebook from its start and return it with fresh outputs, without what differs from run to run."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    notebook = nbformat.read(path, as_version=4)
    reached = []
    client = NotebookClient(
        notebook,
        kernel_manager_class=kernel_class(),
        timeout=CELL_TIMEOUT,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_execute=lambda cell, cell_index: reached.append(cell_index),
    )
    try:
        client.execute(stderr=subprocess.DEVNULL)  # what a cell writes to stderr comes another way
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        number = sum(notebook.cells[index].cell_type == "code" for index in set(reached))
        if isinstance(error, CellExecutionError):
            reason = f"{error.ename}: {error.evalue.partition(chr(10))[0]}"
        else:
            reason = "Python died" if isinstance(error, DeadKernelError) else f"not done after {CELL_TIMEOUT} seconds"
        raise Failed(f"{path}, cell [{number}]: {reason}") from None
    notebook.metadata.pop("widgets", None)
    notebook.metadata.update(kernelspec=KERNEL, language_info={"name": "python"})
    for cell in notebook.cells:
        cell.metadata = {key: value for key, value in cell.metadata.items() if key in CELL_METADATA}
    return notebook


def changed_cells(before, after):
    """Number the code cells whose outputs differ in more than pixels."""

    def shown(cell):
        return PIXELS.sub("", json.dumps(cell.outputs, sort_keys=True))

    cells = [[cell for cell in notebook.cells if cell.cell_type == "code"] for notebook in (before, after)]
    return [n for n, (old, new) in enumerate(zip(*cells, strict=True), 1) if shown(old) != shown(new)]


@command(
    argument("paths", nargs="*", type=Path, default=[Path("notebooks")], metavar="PATH", help="notebooks or folders"),
    argument("--check", action="store_true", help="change nothing; fail where outputs would change"),
)
def notebooks(options):
    """Execute notebooks again, in place."""
    try:
        import ipykernel  # noqa: F401  a kernel is started by name, so its lack would show late
        import nbclient  # noqa: F401
        import nbformat

        from rope_ref.files import write_file
    except ModuleNotFoundError:
        raise Refused("notebooks need Jupyter; it comes with the extra: pip install 'rope_ref[notebooks]'") from None
    status = 0
    for path in notebook_paths(options.paths):
        print(path, end=": ", flush=True)
        try:
            after = run_notebook(path)
        except Failed as error:
            print("failed", flush=True)
            print(error, file=sys.stderr)
            status = 1
            continue
        text = (nbformat.writes(after) + "\n").encode()
        changed = changed_cells(nbformat.read(path, as_version=4), after)
        if options.check:
            print(f"outputs would change in cells {changed}" if changed else "as stored")
            status = status or int(bool(changed))
        elif text == path.read_bytes():
            print("unchanged")
        else:
            write_file(path, text)
            print("written")
    return status


@command(
    argument("--lesson", type=int, metavar="N", help="one lesson; all of them by default"),
    argument("--solutions", action="store_true", help="add hints, solutions and the wrong answers to expect"),
)
def exercises(options):
    """Print the exercises, one lesson after the other."""
    from rope_ref.exercises import EXERCISES, sheet

    lessons = sorted({each.lesson for each in EXERCISES.values()})
    if options.lesson not in (None, *lessons):
        raise Refused(f"lesson {options.lesson} has no exercises; there are {', '.join(map(str, lessons))}")
    sys.stdout.reconfigure(encoding="utf-8")  # for the Greek letters, also where the output goes to a file
    print(sheet(options.lesson, options.solutions))
    return 0


@command(argument("--out", type=Path, required=True, metavar="FILE", help="CSV file of the results, new or begun"))
def train(options):
    """Train the 60 heads of lesson 6; a run that was stopped goes on where it was."""
    from rope_ref.training import run_grid

    try:
        run_grid(options.out, report=lambda line: print(line, flush=True))
    except ValueError as error:  # the file holds something else
        raise Refused(error) from None
    except KeyboardInterrupt:
        print(f"stopped: what is finished is in {options.out}; the same command goes on from there", file=sys.stderr)
        return 130  # as shells report it
    print(options.out)
    return 0


def read_json(path):
    """Read a JSON file, or raise one line that says what is wrong with it."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise Refused(f"{path} is not JSON: {error}") from None


def trained_length(config, recipe, given):
    """Find the length a model was trained on, in tokens, and say where it stands."""
    if given is not None:
        return given, "--trained"
    if "original_length" in recipe.arguments:
        return recipe.arguments["original_length"], "the original length of the scaling"
    for part in (config, *(config[key] for key in ("text_config", "llm_config") if isinstance(config.get(key), dict))):
        for key in ("max_position_embeddings", "n_positions", "seq_length"):
            if isinstance(part.get(key), int):
                return part[key], key
    raise Refused("the config does not say how long the model was trained: give --trained N")


@command(
    argument("config", type=Path, metavar="CONFIG.JSON", help="a model's config.json"),
    argument("--layer-type", metavar="NAME", help="which layers, where these have a RoPE each"),
    argument("--seq-len", type=int, metavar="N", help="present length in tokens, where the speeds depend on it"),
    argument("--trained", type=int, metavar="N", help="length trained on; by default as the config says"),
    argument("--json", action="store_true", help="print JSON"),
)
def frequencies(options):
    """Show how fast each pair of a model turns, what it saw in training, and what the scaling changed."""
    import numpy as np

    from rope_ref.config import read_config
    from rope_ref.frequencies import inverse_frequencies, wavelengths
    from rope_ref.pairing import check_count
    from rope_ref.scaling import from_config

    config = read_json(options.config)
    try:
        recipe = read_config(config, options.seq_len, options.layer_type)
        rope = from_config(config, options.seq_len, layer_type=options.layer_type)
        trained, source = trained_length(config, recipe, options.trained)
        check_count(trained, "--trained" if source == "--trained" else source)
    except (TypeError, ValueError) as error:
        raise Refused(f"{options.config}: {error}") from None
    inv_freq, plain = rope.scaling.inv_freq, inverse_frequencies(rope.rotary_dim, recipe.base)
    columns = {
        "inv_freq": inv_freq,
        "wavelength": wavelengths(inv_freq),
        "share_seen": np.minimum(1.0, trained * plain / (2 * np.pi)),
        "speed_ratio": inv_freq / plain,
    }
    facts = {
        "method": recipe.method,
        "base": recipe.base,
        "rotary_dim": rope.rotary_dim,
        "head_dim": rope.head_dim,
        "pairing": rope.pairing,
        "sections": rope.sections,
        "attention_factor": rope.scaling.attention_factor,
        "softmax_factor": rope.scaling.softmax_factor,
        "trained": trained,
    }
    if options.json:  # JSON has no infinity: the wavelength of a pair that does not turn is null
        rows = {
            name: [value if np.isfinite(value) else None for value in each.tolist()] for name, each in columns.items()
        }
        print(json.dumps(facts | rows, indent=1))
        return 0
    print("\n".join(f"{name:<17} {value}" for name, value in facts.items()), f"({source})")
    print("\npair    radians/token    tokens/turn   seen in training   speed, of plain RoPE")
    for i, (speed, turn, seen, ratio) in enumerate(zip(*columns.values(), strict=True)):
        print(f"{i:4}    {speed:13.6e}   {turn:12,.1f}   {seen:15.1%}    {ratio:12.4f}")
    return 0


def read_array(path):
    """Read an array from a .npy file, never a pickle, or raise one line that says what is wrong with it."""
    import numpy as np

    try:
        with path.open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, MemoryError) as error:  # a broken header can ask for more memory than there is
        raise Refused(f"{path} must be a .npy file of numbers: {' '.join(str(error).split())}") from None


@command(
    argument("x", type=Path, metavar="X.NPY", help="queries or keys before the turn, (..., seq_len, head_dim)"),
    argument("y", type=Path, metavar="Y.NPY", help="what a RoPE made of them"),
    argument("--positions", type=Path, metavar="P.NPY", help="positions that were meant, in tokens"),
    argument("--base", type=float, metavar="B", help="base that was meant"),
    argument("--rotary-dim", type=int, metavar="R", help="width that was meant to turn"),
)
def diagnose(options):
    """Say which convention, base, offset or known fault turns one array into another."""
    from rope_ref.diagnosis import diagnose

    position_ids = None if options.positions is None else read_array(options.positions)
    x, y = read_array(options.x), read_array(options.y)
    try:
        print(diagnose(x, y, position_ids, base=options.base, rotary_dim=options.rotary_dim))
    except (TypeError, ValueError) as error:
        raise Refused(error) from None
    return 0


@command(argument("--out", type=Path, required=True, metavar="DIR", help="folder to write to"))
def vectors(options):
    """Write inputs and exact outputs, as JSON and .npy, for the tests of other programs."""
    try:
        from rope_ref.vectors import write_vectors
    except ModuleNotFoundError as error:
        raise Refused(error) from None
    for path in write_vectors(options.out):
        print(path, flush=True)
    return 0


def build_parser():
    """Make the parser of all commands."""
    parser = argparse.ArgumentParser(prog="rope-ref", description="A NumPy reference for Rotary Position Embedding.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (run, arguments) in COMMANDS.items():
        one = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
        for flags, settings in arguments:
            one.add_argument(*flags, **settings)
        one.set_defaults(run=run)
    return parser


def main(argv=None):
    """Run one command and return its exit status."""
    options = build_parser().parse_args(argv)
    try:
        return options.run(options)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Refused, OSError) as error:
        print(f"rope-ref {options.command}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
