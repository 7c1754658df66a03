"""The wheel holds both packages and their data, and nothing else. `make wheel-check` installs and uses it."""

import shutil
import subprocess
import sys
import zipfile

from places import ROOT


def expected(root):
    """Files of the package that a user needs."""
    kinds = {".css", ".csv", ".html", ".js", ".json", ".py", ".toml"}
    files = [path for path in root.glob("rope_*/**/*") if path.suffix in kinds]
    return {path.relative_to(root).as_posix() for path in files}


def complaints(names, root):
    """What is missing from a wheel's file list, and what should not be there."""
    files = {name for name in names if not name.split("/")[0].endswith(".dist-info")}
    missing = [f"missing: {name}" for name in sorted(expected(root) - files)]
    return missing + [f"not wanted: {name}" for name in sorted(files - expected(root))]


def test_wheel_holds_both_packages_their_data_and_nothing_else(tmp_path):
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("rope_ref", "rope_course", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "rope_ref" / "planted.json").write_text("{}", encoding="utf-8")
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", "out"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

    (wheel,) = (tmp_path / "out").glob("rope_ref-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert complaints(names, tmp_path) == []
    assert "rope_ref/planted.json" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert any(name.endswith(".dist-info/entry_points.txt") for name in names)


def test_missing_and_unwanted_files_are_found():
    names = [*expected(ROOT), "tests/test_wheel.py", "rope_ref-0.dist-info/METADATA"]
    names.remove("rope_ref/__init__.py")
    assert complaints(names, ROOT) == ["missing: rope_ref/__init__.py", "not wanted: tests/test_wheel.py"]
