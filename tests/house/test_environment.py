"""The conda environment, the pins and pyproject.toml say the same. No conda is needed: its parser reads the file."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from places import ROOT
from rattler import MatchSpec

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements(project, extra=None):
    """Names and bounds of the core dependencies, or of an extra with the extras it names."""
    found = {}
    for text in project["optional-dependencies"][extra] if extra else project["dependencies"]:
        requirement = Requirement(text)
        if canonicalize_name(requirement.name) == canonicalize_name(project["name"]):
            for inner in requirement.extras:
                found |= requirements(project, inner)
        else:
            found[canonicalize_name(requirement.name)] = requirement.specifier
    return found


def environment_complaints(text, project):
    """What an environment.yml says otherwise than pyproject.toml."""
    entries = yaml.safe_load(text)["dependencies"]
    by_pip = [line for entry in entries if isinstance(entry, dict) for line in entry["pip"]]
    specs = [MatchSpec(entry, strict=True) for entry in entries if isinstance(entry, str)]
    conda = {canonicalize_name(spec.name.normalized): SpecifierSet(spec.version or "") for spec in specs}

    core = requirements(project)
    must = core | requirements(project, "notebooks") | {"python": SpecifierSet(project["requires-python"])}
    may = must | requirements(project, "test") | {"pip": SpecifierSet()}
    complaints = [f"{name} is missing" for name in must if name not in conda]
    complaints += [f"{name} is not in pyproject.toml" for name in conda if name not in may]
    complaints += [
        f"{name} has {bounds or 'no bound'}, pyproject.toml has {may[name] or 'none'}"
        for name, bounds in conda.items()
        if name in may and bounds != may[name]
    ]
    if by_pip != ["-e .[test]"]:
        complaints.append(f"pip must install -e .[test] alone, got {by_pip}")
    return complaints


def pin_complaints(text):
    """Lines that are not `name==version`, with a marker at most."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+( ?; ?[^@:/]+)?", line)]


def unpinned(text, project):
    """Requirements of pyproject.toml that no line pins, or pins outside their bounds."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    pins = {canonicalize_name(line.split("==")[0]): line.split(";")[0].split("==")[1].strip() for line in lines}
    needed = requirements(project) | requirements(project, "test")
    return [name for name, bounds in needed.items() if name not in pins or pins[name] not in bounds]


ENVIRONMENT = (ROOT / "environment.yml").read_text(encoding="utf-8")
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8")


def test_environment_has_the_names_and_bounds_of_pyproject():
    assert environment_complaints(ENVIRONMENT, PROJECT) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("numpy >=2.0", "numpy >=1.26", "numpy has >=1.26, pyproject.toml has >=2.0"),
        ("numpy >=2.0", "numpy", "numpy has no bound, pyproject.toml has >=2.0"),
        ("python >=3.11", "python >=3.10", "python has >=3.10, pyproject.toml has >=3.11"),
        ("  - jupyter >=1.1\n", "", "jupyter is missing"),
        ("- jupyter >=1.1", "- jupyter >=1.1\n  - pandas", "pandas is not in pyproject.toml"),
        ("-e .[test]", "-e .", "pip must install -e .[test] alone, got ['-e .']"),
    ],
)
def test_environment_check_finds_a_difference(old, new, complaint):
    assert old in ENVIRONMENT
    assert environment_complaints(ENVIRONMENT.replace(old, new), PROJECT) == [complaint]


def test_environment_check_refuses_what_conda_cannot_read():
    with pytest.raises(Exception, match="is not valid"):
        environment_complaints(ENVIRONMENT.replace("numpy >=2.0", "numpy at >>2.0"), PROJECT)


def test_constraints_are_exact_pins_without_addresses():
    assert pin_complaints(CONSTRAINTS) == []


@pytest.mark.parametrize(
    "line",
    [
        "numpy",
        "numpy>=2.0",
        "numpy==2.*",
        "numpy @ file:///tmp/numpy.whl",
        "-e .",
        "--index-url https://example.org/simple",
        "https://example.org/numpy-2.4.6.tar.gz",
    ],
)
def test_pin_check_finds_a_line_that_is_no_pin(line):
    assert pin_complaints(f"{CONSTRAINTS}\n{line}\n") == [line]


def test_constraints_pin_every_requirement_within_its_bounds():
    assert unpinned(CONSTRAINTS, PROJECT) == []


def test_pin_check_finds_a_requirement_without_a_fitting_pin():
    without = re.sub(r"(?m)^nbval==.*\n", "", CONSTRAINTS)
    too_old = re.sub(r"(?m)^numpy==.*$", "numpy==1.26.4", without)
    assert sorted(unpinned(too_old, PROJECT)) == ["nbval", "numpy"]


def tracked(folder):
    """Names of the files git keeps, or would keep."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_no_second_lock_file_is_tracked():
    files = tracked(ROOT)
    assert "pyproject.toml" in files
    assert not [name for name in files if Path(name).name in {"uv.lock", "poetry.lock", "Pipfile.lock"}]


def test_tracked_sees_a_lock_file(tmp_path):
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / "uv.lock").touch()
    assert tracked(tmp_path) == ["uv.lock"]
