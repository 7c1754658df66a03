"""The command line, `python -m rope_ref` and `rope-ref`: one function a command."""

import argparse
import sys
from pathlib import Path

COMMANDS = {}


class Refused(Exception):
    """What was asked cannot be done; the message is one line for the person who asked."""


def argument(*flags, **settings):
    """Describe one argument of a command, as argparse does."""
    return flags, settings


def command(*arguments):
    """Make a function a command: its name, its docstring as help, and its arguments."""

    def register(run):
        COMMANDS[run.__name__] = run, arguments
        return run

    return register


def gallery(pictures):
    """Write the page that shows drawn figures: message, picture, alt text, and the call that draws it."""
    parts = [
        "# Figures",
        "Drawn by `make figures`. Each is one function of `rope_ref.figures` that returns a `Picture`.",
    ]
    for name, (file, picture) in pictures.items():
        call = f"```python\nfrom rope_ref.figures import {name}\n\n{name}()\n```"
        parts += [f"## {picture.caption}", f"![{picture.alt}]({file})", picture.alt, call]
    return "\n\n".join(parts) + "\n"


@command(
    argument("names", nargs="*", metavar="NAME", help="which figures; all of them by default"),
    argument("--out", type=Path, default=Path("figures"), metavar="DIR", help="folder to write to (figures)"),
    argument("--format", choices=("svg", "png", "pdf"), help="kind of file; by default the one that suits each figure"),
)
def figures(options):
    """Draw figures into files; all of them with a gallery page."""
    from rope_ref.figures import FIGURES
    from rope_ref.figures.picture import write_file

    unknown = [name for name in options.names if name not in FIGURES]
    if unknown:
        raise Refused(f"no figure is called {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    drawn = {}
    for name in options.names or FIGURES:
        picture = FIGURES[name]()
        path = options.out / f"{name}.{options.format or FIGURES[name].format}"
        picture.save(path)
        print(path, flush=True)
        drawn[name] = path.name, picture
    if not options.names and options.format != "pdf":  # a page cannot show a PDF
        write_file(options.out / "README.md", gallery(drawn).encode())
        print(options.out / "README.md")
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
    except (Refused, ModuleNotFoundError, OSError) as error:
        print(f"rope-ref {options.command}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
