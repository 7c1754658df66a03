"""`python -m rope_ref diagnose x.npy y.npy`: the report it prints, and the files that it refuses in one line."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from rope_ref import apply_rope, cos_sin, inverse_frequencies, rotation_angles
from rope_ref.__main__ import main
from rope_ref.diagnosis import diagnose

X = np.random.default_rng(0).standard_normal((16, 48)).astype(np.float32)
IDS = np.arange(100, 116)


def turned(x=X, ids=IDS):
    """Turn 32 of 48 features, half-split, base 500000."""
    return apply_rope(x, *cos_sin(rotation_angles(ids, inverse_frequencies(32, 500000.0))), pairing="half")


@pytest.fixture
def command(tmp_path, capsys):
    """Save arrays, or write bytes as they are, run the command on them, and return status, output and errors."""

    def run(x, y, *options, **arrays):
        paths = {}
        for name, content in {"x": x, "y": y, **arrays}.items():
            paths[name] = path = tmp_path / f"{name}.npy"
            if isinstance(content, bytes):
                path.write_bytes(content)
            elif content is not None:
                np.save(path, content)
        given = ["--positions", str(paths["positions"])] if "positions" in paths else []
        status = main(["diagnose", str(paths["x"]), str(paths["y"]), *given, *options])
        return status, *capsys.readouterr()

    return run


def test_report_is_the_one_of_diagnose_and_goes_to_stdout(command):
    status, out, err = command(X, turned())
    assert (status, err) == (0, "")
    assert out == f"{diagnose(X, turned())}\n"
    assert out.startswith("right: RoPE in half-split pairs, base 500000, positions from 100;")


@pytest.mark.parametrize(
    ("options", "arrays", "verdict"),
    [
        (("--base", "10000"), {}, "RoPE, but wrong base"),
        (("--rotary-dim", "16"), {}, "RoPE, but wrong width"),
        ((), {"positions": IDS - 1}, "RoPE, but positions from one"),
    ],
)
def test_each_option_says_what_was_meant(command, options, arrays, verdict):
    status, out, _ = command(X, turned(), *options, **arrays)
    assert status == 0
    assert verdict in out.splitlines()[0]


def test_what_is_not_rope_is_a_finding_and_no_failure(command):
    status, out, _ = command(X, X[:, ::-1])
    assert status == 0
    assert out.startswith("not RoPE: features are only reordered\n")


def saved(array, tmp_path):
    np.save(tmp_path / "part.npy", array)
    return (tmp_path / "part.npy").read_bytes()


class Planted:
    """Unpickled, it raises: no file may come so far."""

    def __reduce__(self):
        return exec, ("raise SystemExit('unpickled')",)


@pytest.mark.parametrize("which", ["x", "y", "positions"])
@pytest.mark.parametrize(
    "broken",
    [
        "missing",
        "empty",
        "text",
        "pickle",
        "objects",
        "archive",
        "cut short",
        "too large for memory",
        "header cut short",
    ],
)
def test_file_that_cannot_be_read_gets_one_line_with_its_name(command, tmp_path, which, broken):
    whole = saved(X, tmp_path)
    huge = whole.replace(b"(16, 48), }" + b" " * 13, b"(1600000000000, 48), }  ", 1)
    archive = tmp_path / "archive.npz"
    np.savez(archive, x=X)
    content = {
        "missing": None,
        "empty": b"",
        "text": b"1.0 2.0 3.0\n",
        "pickle": pickle.dumps(Planted()),
        "objects": saved(np.array([Planted()], object), tmp_path),
        "archive": archive.read_bytes(),
        "cut short": whole[:-8],
        "too large for memory": huge,
        "header cut short": whole[:40],
    }[broken]
    assert huge != whole
    status, out, err = command(**{"x": X, "y": turned(), "positions": IDS, which: content})
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    reason = "cannot read" if broken == "missing" else ""
    assert err.startswith(f"rope-ref diagnose: {reason}")
    assert f"{which}.npy" in err
    assert broken == "missing" or "must be a .npy file of numbers: " in err


def test_folder_is_refused_too(tmp_path, capsys):
    assert main(["diagnose", str(tmp_path), str(tmp_path)]) == 2
    assert "cannot read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("x", "y", "options", "arrays", "message"),
    [
        (X, X[:8], (), {}, "x and y must have one shape"),
        (X[0], X[0], (), {}, "x and y must have one shape"),
        (X.astype(int), X, (), {}, "x must be of float16, bfloat16, float32 or float64, got dtype int64"),
        (X, np.full_like(X, np.nan), (), {}, "y must be finite"),
        (X, turned(), (), {"positions": IDS[:3]}, "position_ids must have shape"),
        (X, turned(), ("--base", "-1"), {}, "base must be positive"),
        (X, turned(), ("--rotary-dim", "3"), {}, "rotary_dim must be even"),
    ],
)
def test_arrays_and_numbers_that_do_not_meet_get_one_line(command, x, y, options, arrays, message):
    status, out, err = command(x, y, *options, **arrays)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith(f"rope-ref diagnose: {message}")


def test_command_runs_from_a_shell(tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", turned())
    order = [sys.executable, "-m", "rope_ref", "diagnose", str(tmp_path / "x.npy"), str(tmp_path / "y.npy")]
    done = subprocess.run([*order, "--base", "500000"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("right: RoPE in half-split pairs, positions from 100; ")
