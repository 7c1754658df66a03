"""What both command lines are made of: help, errors, exit status."""

import subprocess
import sys
import tomllib

import pytest
from places import ROOT

import rope_course.__main__
import rope_ref.__main__
from rope_ref.commands import Commands, argument


def run(*argv, package="rope_ref", **settings):
    """Run a command line in a new process."""
    command = [sys.executable, "-m", package, *argv]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **settings)


@pytest.mark.parametrize(
    ("package", "commands", "some"),
    [
        ("rope_ref", rope_ref.__main__.COMMANDS, {"frequencies", "diagnose", "vectors"}),
        ("rope_course", rope_course.__main__.COMMANDS, {"figures", "notebooks", "exercises", "train"}),
    ],
)
def test_help_lists_every_command(package, commands, some):
    done = run("--help", package=package)
    assert done.returncode == 0
    assert all(f"\n    {name}" in done.stdout for name in commands.known)
    assert some <= commands.known.keys()


@pytest.mark.parametrize("package", ["rope_ref", "rope_course"])
def test_no_command_and_an_unknown_one_are_errors(package):
    for argv in ([], ["dance"]):
        done = run(*argv, package=package)
        assert done.returncode == 2
        assert f"usage: {package.replace('_', '-')}" in done.stderr


def test_exit_status_of_a_command_is_that_of_the_process():
    assert run("figures", "dance", package="rope_course").returncode == 2


def test_console_scripts_are_these_command_lines():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {
        "rope-ref": "rope_ref.__main__:main",
        "rope-course": "rope_course.__main__:main",
    }


def test_command_is_one_function(capsys):
    commands = Commands("counter", "It counts.")

    @commands.command(argument("number", type=int), argument("--twice", action="store_true"))
    def count(options):
        """Count to a number."""
        print(options.number * (2 if options.twice else 1))
        return 5

    assert commands.main(["count", "21", "--twice"]) == 5
    assert capsys.readouterr().out == "42\n"
