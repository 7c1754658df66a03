"""`python -m rope_ref frequencies config.json`: what it prints of a model, and what it refuses."""

import json
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rope_ref.__main__ import main

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "rope_theta": 500000.0,
    "max_position_embeddings": 131072,
    "rope_scaling": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
}


@pytest.fixture
def command(tmp_path, capsys):
    def run(config, *options):
        path = tmp_path / "config.json"
        path.write_text(config if isinstance(config, str) else json.dumps(config))
        status = main(["frequencies", str(path), *options])
        return status, *capsys.readouterr()

    return run


def test_json_holds_speeds_shares_and_what_the_scaling_did(command):
    status, out, _ = command(LLAMA, "--json")
    told = json.loads(out)
    assert status == 0
    assert (told["method"], told["rotary_dim"], told["pairing"], told["trained"]) == ("llama3", 128, "half", 8192)
    plain = 500000.0 ** (-np.arange(0, 128, 2) / 128)
    ratio = np.array(told["speed_ratio"])
    assert_allclose(np.array(told["inv_freq"]) / plain, ratio, rtol=1e-12, atol=0)
    assert (ratio == 1).sum() == 29 and (np.abs(ratio - 1 / 8) < 1e-12).sum() == 29
    # the pairs never finish a turn in 8,192 tokens that notebook 03 counts: 29 of 64
    assert sum(share < 1 for share in told["share_seen"]) == 29
    assert told["share_seen"][63] == pytest.approx(8192 * plain[63] / 6.283185307179586, rel=1e-12)


def test_table_has_a_line_for_each_pair_and_says_where_the_trained_length_stands(command):
    status, out, _ = command(LLAMA)
    assert status == 0
    assert "trained           8192 (the original length of the scaling)" in out
    assert out.splitlines()[-1].split() == ["63", "3.068926e-07", "20,473,564.1", "0.3%", "0.1250"]


def test_trained_length_can_be_given_and_is_else_read_from_the_config(command):
    plain = LLAMA | {"rope_scaling": None}
    assert "trained           131072 (max_position_embeddings)" in command(plain)[1]
    assert "trained           4096 (--trained)" in command(plain, "--trained", "4096")[1]


def test_present_length_changes_dynamic_speeds(command):
    dynamic = LLAMA | {"max_position_embeddings": 4096, "rope_scaling": {"type": "dynamic", "factor": 2.0}}
    ratios = [
        json.loads(command(dynamic, "--json", *more)[1])["speed_ratio"][-1] for more in ((), ("--seq-len", "8192"))
    ]
    assert ratios[0] == 1 and ratios[1] == pytest.approx(1 / 3, rel=1e-12)  # s L / L0 - (s - 1) = 3


def test_a_pair_that_does_not_turn_has_wavelength_null(command):
    gemma = {
        "model_type": "gemma4_text",
        "head_dim": 8,
        "max_position_embeddings": 1024,
        "rope_parameters": {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.5},
    }
    status, out, err = command(gemma, "--json")
    assert status == 0, err
    assert json.loads(out)["wavelength"][-1] is None
    assert "inf" in command(gemma)[1]


@pytest.mark.parametrize(
    ("config", "options", "says"),
    [
        ("[1", (), "is not JSON"),
        ("[]", (), "config must be a mapping"),
        (LLAMA | {"rope_scaling": {"type": "spiral"}}, (), "must be one of 'default', 'dynamic'"),
        (LLAMA, ("--trained", "-3"), "--trained must be positive, got -3"),
        (LLAMA, ("--seq-len", "0"), "seq_len must be"),
        (
            {k: v for k, v in LLAMA.items() if k not in ("max_position_embeddings", "rope_scaling")},
            (),
            "give --trained N",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(command, config, options, says):
    status, out, err = command(config, *options)
    assert (status, out) == (2, "")
    assert says in err and err.count("\n") == 1


def test_a_missing_file_is_refused_in_one_line(capsys):
    assert main(["frequencies", "no/such/config.json"]) == 2
    assert (
        capsys.readouterr().err == "rope-ref frequencies: cannot read no/such/config.json: No such file or directory\n"
    )


def test_a_reader_that_stops_early_is_no_error(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    code = "import sys; from rope_ref.__main__ import main; sys.exit(main(sys.argv[1:]))"
    run = subprocess.Popen(
        [sys.executable, "-c", code, "frequencies", str(tmp_path / "config.json"), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    run.stdout.close()
    assert run.stderr.read() == b"" and run.wait() == 0
    run.stderr.close()
