"""The recipe "add a scaling" of CONTRIBUTING.md: one file beside its oracle is all that the package needs."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from places import ROOT

METHOD = '''
"""Every second pair slowed."""

import numpy as np

from rope_ref.checks import check_factor
from rope_ref.frequencies import inverse_frequencies
from rope_ref.scaling.base import Method, Scaling

__all__ = ["every_second"]


def every_second(rotary_dim, base=10000.0, *, factor):
    """Slow every second pair by the factor."""
    own, factor = inverse_frequencies(rotary_dim, base), check_factor(factor)
    return Scaling(np.where(np.arange(len(own)) % 2, own / factor, own))


METHODS = (
    Method(
        every_second,
        "second",
        keys=("factor",),
        read=lambda entry, seq_len: (every_second, {"factor": entry.need("factor")}),
        vectors={"every_second": ("Every second pair slowed.", {"factor": 4.0})},
    ),
)
'''
ORACLE = '''

def every_second(width, base, factor):
    """Slow every second pair."""
    return [speed / factor if i % 2 else speed for i, speed in enumerate(ladder(width, base))], 1, 1
'''
MODEL = {
    "model_type": "llama",
    "hidden_size": 16,
    "num_attention_heads": 2,
    "rope_theta": 10000.0,
    "max_position_embeddings": 64,
}


@pytest.fixture
def run(tmp_path):
    """Run code, or a command, with a copy of the package in which the method is planted."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "rope_ref", tmp_path / "rope_ref", ignore=ignored)
    (tmp_path / "rope_ref" / "scaling" / "every_second.py").write_text(METHOD, encoding="utf-8")
    with (tmp_path / "rope_ref" / "vectors" / "exact.py").open("a", encoding="utf-8") as file:
        file.write(ORACLE)

    def run(*arguments):
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    return run


def test_planted_method_is_offered_and_named(run):
    done = run("-c", "from rope_ref import scaling; print(scaling.every_second(8, factor=2).inv_freq.tolist())")
    assert json.loads(done.stdout) == [1.0, 0.05, 0.01, 0.0005]
    done = run(
        "-c", "from rope_ref import scaling; print('every_second' in scaling.__all__, 'every_second' in dir(scaling))"
    )
    assert done.stdout.split() == ["True", "True"]


def test_planted_method_is_read_from_a_config_and_shown_by_the_command(run, tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps(MODEL | {"rope_scaling": {"rope_type": "second", "factor": 2.0}}), encoding="utf-8")
    done = run("-m", "rope_ref", "frequencies", str(config), "--json")
    shown = json.loads(done.stdout)
    assert (shown["method"], shown["speed_ratio"]) == ("every_second", [1.0, 0.5, 1.0, 0.5])
    config.write_text(json.dumps(MODEL | {"rope_scaling": {"rope_type": "second"}}), encoding="utf-8")
    assert (
        "['factor'] must be given for the type 'second', got none"
        in run("-m", "rope_ref", "frequencies", str(config)).stderr
    )
    config.write_text(json.dumps(MODEL | {"rope_scaling": {"rope_type": "spiral"}}), encoding="utf-8")
    assert "'second'" in run("-m", "rope_ref", "frequencies", str(config)).stderr


def test_planted_method_has_vectors_that_its_oracle_makes(run):
    code = (
        "import numpy as np\n"
        "from rope_ref import scaling, vectors\n"
        "case = vectors.build('every_second')\n"
        "parameters = case['parameters']\n"
        "own = scaling.every_second(parameters['rotary_dim'], parameters['base'], **parameters['options']).inv_freq\n"
        "print(parameters['scaling'], np.abs(own / case['arrays']['inv_freq'] - 1).max() < 1e-14)"
    )
    assert run("-c", code).stdout.split() == ["every_second", "True"]
