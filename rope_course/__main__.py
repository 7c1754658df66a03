"""The command line, `python -m rope_course` and `rope-course`: one function a command."""

import sys
from pathlib import Path

from rope_ref.commands import Commands, Refused, argument

COMMANDS = Commands("rope-course", "Lessons on Rotary Position Embedding.")
command, main = COMMANDS.command, COMMANDS.main


@command(
    argument("names", nargs="*", metavar="NAME", help="which figures; by default all of them, with a gallery page"),
    argument("--out", type=Path, default=Path("figures"), metavar="DIR", help="folder to write to (default: figures)"),
    argument("--format", choices=("svg", "png", "pdf"), help="kind of file; by default the one that suits each figure"),
)
def figures(options):
    """Draw figures into files."""
    try:
        from rope_course.figures import FIGURES
        from rope_course.figures.gallery import draw_into
    except ModuleNotFoundError as error:
        raise Refused(error) from None
    unknown = [name for name in options.names if name not in FIGURES]
    if unknown:
        raise Refused(f"no figure is called {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    for path in draw_into(options.out, options.names, options.format):
        print(path, flush=True)
    return 0


@command(
    argument("paths", nargs="*", type=Path, default=[Path("notebooks")], metavar="PATH", help="notebooks or folders"),
    argument("--check", action="store_true", help="change nothing; fail where cells or outputs would change"),
)
def notebooks(options):
    """Write the exercises into notebooks and execute them again, in place."""
    try:
        from rope_course.notebooks import Failed, notebook_paths, refresh
    except ModuleNotFoundError:
        raise Refused("notebooks need Jupyter; it comes with the extra: pip install 'rope_ref[notebooks]'") from None
    status = 0
    for path in notebook_paths(options.paths):
        print(path, end=": ", flush=True)
        try:
            words, as_it_was = refresh(path, options.check)
            print(words)
        except Failed as error:
            print("failed", flush=True)
            print(error, file=sys.stderr)
            as_it_was = False
        status = status if as_it_was else 1
    return status


@command(
    argument("--lesson", type=int, metavar="N", help="one lesson; all of them by default"),
    argument("--solutions", action="store_true", help="add hints, solutions and the wrong answers to expect"),
)
def exercises(options):
    """Print the exercises, one lesson after the other."""
    from rope_course.exercises import EXERCISES, sheet

    lessons = sorted({each.lesson for each in EXERCISES.values()})
    if options.lesson not in (None, *lessons):
        raise Refused(f"lesson {options.lesson} has no exercises; there are {', '.join(map(str, lessons))}")
    sys.stdout.reconfigure(encoding="utf-8")  # for the Greek letters, also where the output goes to a file
    print(sheet(options.lesson, options.solutions))
    return 0


@command(argument("--out", type=Path, required=True, metavar="FILE", help="CSV file of the results, new or begun"))
def train(options):
    """Train the 60 heads of lesson 6; a run that was stopped goes on where it was."""
    from rope_course.training import run_grid

    try:
        run_grid(options.out, report=lambda line: print(line, flush=True))
    except ValueError as error:  # the file holds something else
        raise Refused(error) from None
    except KeyboardInterrupt:
        print(f"stopped: what is finished is in {options.out}; the same command goes on from there", file=sys.stderr)
        return 130  # as shells report it
    print(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
