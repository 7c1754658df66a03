"""What the command lines `python -m rope_ref` and `python -m rope_course` are made of."""

import argparse
import os
import sys

__all__ = []


class Refused(Exception):
    """What was asked cannot be done; the message is one line for the person who asked."""


def argument(*flags, **settings):
    """Describe one argument of a command, as argparse does."""
    return flags, settings


class Commands:
    """A command line: one function a command.

    The name of the function is the command, its docstring the help, and it returns the exit status. What it needs
    beyond NumPy it imports inside.
    """

    def __init__(self, program, description):
        self.program, self.description, self.known = program, description, {}

    def command(self, *arguments):
        """Make a function a command with these arguments."""

        def register(run):
            self.known[run.__name__] = run, arguments
            return run

        return register

    def parser(self):
        """Make the parser of all commands."""
        parser = argparse.ArgumentParser(prog=self.program, description=self.description)
        commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
        for name, (run, arguments) in self.known.items():
            one = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
            for flags, settings in arguments:
                one.add_argument(*flags, **settings)
            one.set_defaults(run=run)
        return parser

    def main(self, argv=None):
        """Run one command and return its exit status."""
        options = self.parser().parse_args(argv)
        try:
            return options.run(options)
        except BrokenPipeError:  # the reader, such as `head`, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except (Refused, OSError) as error:
            print(f"{self.program} {options.command}: {error}", file=sys.stderr)
            return 2
