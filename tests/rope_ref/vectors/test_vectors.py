"""The published vectors: read back without rope_ref, held by it in every dtype, and deaf to no planted fault."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from places import ROOT

import rope_ref
from rope_ref import positions, scaling, vectors
from rope_ref.__main__ import main
from rope_ref.faults import FAULTS, rotate_correctly
from rope_ref.pairing import to_half
from rope_ref.rotation import apply_rope
from rope_ref.xpos import xpos_scales

DTYPES = {"float64": np.float64, "float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
NAMES = list(vectors.CASES)
SCALED = [name for name, case in vectors.CASES.items() if "scaling" in case["parameters"]]
AXIAL = [name for name in NAMES if name not in SCALED]
STORED = ROOT / "vectors"  # for those who have no Python; written anew by the command where cases change on purpose


def files(folder):
    """All files of a folder but the page that describes them: name and bytes."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != "README.md"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def different(folder, other):
    """Names of the files that only one folder has, or that hold other bytes."""
    one, two = files(folder), files(other)
    return sorted(name for name in one.keys() | two.keys() if one.get(name) != two.get(name))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All files, written once by the command."""
    folder = tmp_path_factory.mktemp("vectors") / "new"
    assert main(["vectors", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def load(folder):
    """Read one case as any program can: from its JSON alone."""

    def read(name):
        case = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        arrays = {key: np.array(a["data"], a["dtype"]).reshape(a["shape"]) for key, a in case["arrays"].items()}
        return case | arrays

    return read


# What the files say, worked out in the test alone --------------------------------------------------------------------


def angles_of(case):
    """Angle of each token and pair, in radians: the coordinate on the pair's axis times its speed."""
    ids = case["position_ids"]
    return ids.reshape(*ids.shape[:2], -1)[..., case["axis"]] * case["inv_freq"]


def table_of(case):
    """Cos and sin of the angles with their length factors, as the file says they were made."""
    sign = 1 if case["turn"] == "forward" else -1
    size = 1 / case["attention_factor"] if case["turn"] == "inverse" else case["attention_factor"]
    size = size * case.get("scale", 1.0)
    return size * np.cos(angles_of(case)), sign * size * np.sin(angles_of(case))


def turned(case, cos, sin):
    """Input of a case turned by cos and sin, pair by pair."""
    y = case["x"].copy()
    for i, ((a, b), (to_a, to_b)) in enumerate(zip(case["pair_in"], case["pair_out"], strict=True)):
        first, second = case["x"][..., a], case["x"][..., b]
        y[..., to_a] = first * cos[:, None, :, i] - second * sin[:, None, :, i]
        y[..., to_b] = first * sin[:, None, :, i] + second * cos[:, None, :, i]
    return y


def within(case, got, dtype):
    """Whether a result, rounded to a dtype, keeps the bound of the file everywhere."""
    error = np.abs(np.asarray(got).astype(DTYPES[dtype]).astype(np.float64) - case["y"])
    return bool((error <= case[f"bound_{dtype}"]).all())


@pytest.mark.parametrize("name", NAMES)
def test_output_is_the_turn_by_the_speeds_and_positions_of_the_file(load, name):
    case = load(name)
    assert within(case, turned(case, *table_of(case)), "float64")


@pytest.mark.parametrize("name", NAMES)
def test_output_is_the_turn_by_the_cos_and_sin_of_the_file(load, name):
    case = load(name)
    got = turned(case, case["cos"], case["sin"])
    lengths = np.abs(case["bound_float32"]) / (3.4 * 2.0**-24)
    assert (np.abs(got - case["y"]) <= 5 * lengths * 2.0**-53).all()


@pytest.mark.parametrize(
    "name", ["half_very_long_positions", "pi_positions", "yarn_inverse", "xpos_key", "cogvideox_cropped", "mrope_yarn"]
)
def test_numbers_are_the_float64_nearest_to_those_of_50_digits(load, name):
    case = load(name)
    ids = case["position_ids"]
    angles = oracles.exact(ids.reshape(*ids.shape[:2], -1)[..., case["axis"]]) * oracles.exact(case["inv_freq"])
    size = oracles.MP.mpf(case["attention_factor"]) * oracles.exact(case.get("scale", np.ones(angles.shape)))
    if case["turn"] == "inverse":
        size, angles = 1 / size, -angles
    cos, sin = (size * np.frompyfunc(function, 1, 1)(angles) for function in (oracles.MP.cos, oracles.MP.sin))
    assert_array_equal(case["cos"], oracles.two_floats(cos)[0])
    assert_array_equal(case["sin"], oracles.two_floats(sin)[0])
    first, second = np.array(case["pair_in"]).T
    want = oracles.turn(case["x"][..., first], case["x"][..., second], cos[:, None], sin[:, None])
    assert_array_equal(case["y"][..., first], want[0][0])
    assert_array_equal(case["y"][..., second], want[1][0])


@pytest.mark.parametrize("name", NAMES)
def test_bounds_are_those_of_the_library_written_a_little_larger(load, name):
    case = load(name)
    cos, sin = case["cos"], case["sin"]
    size = np.hypot(cos, sin)[:, None]
    (a, b), (to_a, to_b) = np.array(case["pair_in"]).T, np.array(case["pair_out"]).T
    lengths, angles = size * np.hypot(case["x"][..., a], case["x"][..., b]), np.abs(angles_of(case))[:, None]
    for dtype in DTYPES:
        for to in (to_a, to_b):
            want = oracles.fast_bound((case["y"][..., to],), lengths, angles, dtype)
            want = want + np.spacing(np.abs(case["y"][..., to])) / 2
            ratio = case[f"bound_{dtype}"][..., to] / want
            assert 1 - 1e-12 <= ratio.min() and ratio.max() < 1.0011
        copied = np.delete(case[f"bound_{dtype}"], [*to_a, *to_b], axis=-1)
        assert_array_equal(copied, 0)


@pytest.mark.parametrize("name", NAMES)
def test_inputs_and_positions_are_exact_in_every_dtype(load, name):
    case = load(name)
    for dtype in DTYPES.values():
        assert_array_equal(case["x"].astype(dtype).astype(np.float64), case["x"])
    assert len(np.unique(case["x"])) == min(128, case["x"].size) and (case["x"] != 0).all()
    if name != "cogvideox_cropped":
        assert case["position_ids"].dtype == np.int64 and np.abs(case["position_ids"]).max() <= 2**26


def test_by_hand(load):
    y = load("interleaved")["y"]
    # Odd numbers over 32; the second token starts at number 8: 37 * 8 + 11 = 307, 2 (307 mod 128) - 127 = -25.
    assert_array_equal(y[0, 0, 0, :4], np.array([-105, -31, 43, 117]) / 32)
    a, b = -25 / 32, 49 / 32
    want = [a * 0.5403023058681398 - b * 0.8414709848078965, a * 0.8414709848078965 + b * 0.5403023058681398]
    assert_allclose(y[0, 0, 1, :2], want, rtol=1e-15, atol=0)


# What the library makes of them --------------------------------------------------------------------------------------


def by_rope_ref(case, dtype):
    """Output of a case by the calls a reader of the documentation would write."""
    x = case["x"].astype(DTYPES[dtype])
    angles = positions.axis_angles(
        case["position_ids"].reshape(*case["cos"].shape[:2], -1), case["inv_freq"], case["axis"]
    )
    factor = case["attention_factor"]
    cos, sin = rope_ref.cos_sin(angles, attention_factor=factor)
    cos, sin = cos * case.get("scale", 1.0), sin * case.get("scale", 1.0)
    if case["turn"] != "forward":
        sin = -sin
    if case["turn"] == "inverse":
        cos, sin = cos / factor**2, sin / factor**2
    parameters, pairing = case["parameters"], case["pairing"]
    if pairing == "half by axis":
        out, width = np.empty_like(x), x.shape[-1] // 2
        for part, pairs in ((slice(0, width), slice(0, width // 2)), (slice(width, None), slice(width // 2, None))):
            apply_rope(x[..., part], cos[..., pairs], sin[..., pairs], pairing="half", out=out[..., part])
        return out
    if pairing == "interleaved in, half out":
        return to_half(apply_rope(x, cos, sin))
    if "first_feature" in parameters:
        out, part = x.copy(), slice(parameters["first_feature"], parameters["first_feature"] + parameters["rotary_dim"])
        apply_rope(x[..., part], cos, sin, pairing=pairing, out=out[..., part])
        return out
    return apply_rope(x, cos, sin, pairing=pairing, rotary_dim=parameters["rotary_dim"])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_library_holds_every_bound_in_every_dtype(load, name, dtype):
    case = load(name)
    got = by_rope_ref(case, dtype)
    assert got.dtype == DTYPES[dtype]
    assert within(case, got, dtype)


@pytest.mark.parametrize("name", SCALED)
def test_library_finds_the_same_speeds_and_factors_from_the_parameters(load, name):
    case = load(name)
    parameters = case["parameters"]
    got = getattr(scaling, parameters["scaling"])(parameters["rotary_dim"], parameters["base"], **parameters["options"])
    assert_allclose(got.inv_freq, case["inv_freq"], rtol=4e-15, atol=0)
    assert_allclose(got[1:], [case["attention_factor"], case["softmax_factor"]], rtol=1e-15, atol=0)
    if "sections" in parameters:
        axis = positions.mrope_axes(parameters["sections"], interleaved=parameters["interleaved_sections"])
        assert_array_equal(axis, case["axis"])


@pytest.mark.parametrize("name", AXIAL)
def test_library_finds_the_same_axes_from_the_parameters(load, name):
    case = load(name)
    parameters = case["parameters"]
    inv_freq, axis = positions.axial_pairs(
        parameters["rotary_dims"], parameters["bases"], alternating=parameters["alternating"]
    )
    assert_allclose(inv_freq, case["inv_freq"], rtol=4e-15, atol=0)
    assert_array_equal(axis, case["axis"])


def test_library_finds_the_same_positions(load):
    for name in ("half_left_padding", "half_right_padding"):
        case = load(name)
        want = positions.from_attention_mask(case["parameters"]["attention_mask"])
        assert_array_equal(case["position_ids"], want)
    case = load("half_packed")
    assert_array_equal(case["position_ids"], [positions.packed(case["parameters"]["document_lengths"])])
    for name in ("mrope", "mrope_video", "mrope_interleaved", "mrope_yarn"):
        case = load(name)
        rule = case["parameters"].get("after_video", "largest")
        want = positions.mrope_position_ids(case["parameters"]["segments"], after_video=rule)
        assert_array_equal(case["position_ids"], [want])
    for name, grid, tokens in [
        ("cogvideox", positions.video_grid(13, 30, 45), [(0, 0, 44), (7, 14, 23), (12, 29, 44)]),
        (
            "cogvideox_cropped",
            positions.video_grid(13, 30, 40, base_size=(30, 45)),
            [(0, 0, 0), (3, 8, 5), (12, 29, 39)],
        ),
    ]:
        columns = 45 if name == "cogvideox" else 40
        rows = [(t * 30 + h) * columns + w for t, h, w in tokens]
        assert_allclose(load(name)["position_ids"][0, -3:], grid[rows], rtol=2e-16, atol=0)
    for name in ("vision_half", "vision_half_by_axis", "vision_alternating"):
        assert_array_equal(load(name)["position_ids"], [positions.video_grid(1, 2, 3)[:, 1:]])


@pytest.mark.parametrize("name", ["xpos_query", "xpos_key", "xpos_half"])
def test_library_finds_the_same_scales(load, name):
    case = load(name)
    xpos = case["parameters"]["xpos"]
    scales = xpos_scales(case["position_ids"], 8, scale_base=xpos["scale_base"], center=xpos["center"])
    assert_allclose(case["scale"], 1 / scales if xpos["role"] == "key" else scales, rtol=2e-15, atol=0)


def test_inverse_undoes_and_gradient_is_the_adjoint(load):
    for forward, back in (("half", "half_inverse"), ("yarn", "yarn_inverse"), ("yarn", "yarn_gradient")):
        there, case = load(forward), load(back)
        assert_array_equal(there["position_ids"], case["position_ids"])
        assert_array_equal(there["inv_freq"], case["inv_freq"])
        if back == "yarn_gradient":  # <turned x, v> = <x, gradient for v>
            v = case["x"]
            assert_allclose((there["y"] * v).sum(), (there["x"] * case["y"]).sum(), rtol=1e-9, atol=0)
        else:
            again = turned(case | {"x": there["y"]}, case["cos"], case["sin"])
            assert_allclose(again, there["x"], rtol=0, atol=1e-14)


def test_every_scaling_of_the_library_has_a_case():
    assert {vectors.CASES[name]["parameters"]["scaling"] for name in SCALED} == set(scaling.METHODS)


# What they catch -----------------------------------------------------------------------------------------------------


def fault_is_seen(load, rotate, dtype):
    """Names of the files of default pairing in which a rotation breaks the bound of a dtype."""
    seen = []
    for name in ("interleaved", "long_positions", "pi_positions"):
        case = load(name)
        got = rotate(case["x"], case["position_ids"][0], case["parameters"]["base"])
        if not within(case, got, dtype):
            seen.append(name)
    return seen


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FAULTS)
def test_every_planted_fault_is_caught_in_every_dtype(load, name, dtype):
    seen = fault_is_seen(load, FAULTS[name].rotate, dtype)
    if name in ("bfloat16 positions", "float16 angles"):
        assert "long_positions" in seen
    else:
        assert "interleaved" in seen


@pytest.mark.parametrize("dtype", DTYPES)
def test_right_rotation_is_caught_nowhere(load, dtype):
    assert fault_is_seen(load, rotate_correctly, dtype) == []


def speeds(method, width=32, base=10000.0, **options):
    """A changed ladder of speeds: what a wrong choice of method or options gives."""
    return {"inv_freq": getattr(scaling, method)(width, base, **options).inv_freq}


def pairs(features):
    """Other features for each pair, read and written."""
    return {"pair_in": features, "pair_out": features}


PARTS = {"factor": 8, "original_length": 2048}
PLAIN = rope_ref.inverse_frequencies(32)
# Name: the case, and what a wrong program has in place of what is in the file.
PLANTED = {
    "no scaling": ("linear", lambda case: {"inv_freq": PLAIN}),
    "scaled twice": ("linear", lambda case: {"inv_freq": PLAIN / 16}),
    "multiplied for divided": ("linear", lambda case: {"inv_freq": PLAIN * 4}),
    "ntk without exponent": ("ntk", lambda case: {"inv_freq": rope_ref.inverse_frequencies(32, 80000.0)}),
    "length ignored": ("dynamic_ntk_long", lambda case: {"inv_freq": PLAIN}),
    "length frozen": ("dynamic_ntk_long", lambda case: speeds("ntk", factor=2)),
    "scaled too early": ("dynamic_ntk_short", lambda case: speeds("ntk", factor=2)),
    "ramp of the paper": ("ntk_by_parts", lambda case: speeds("ntk_by_parts", **PARTS, ramp="rotations")),
    "ramp of the code": ("ntk_by_parts_rotations", lambda case: speeds("ntk_by_parts", **PARTS)),
    "usual limits": ("ntk_by_parts_limits", lambda case: speeds("ntk_by_parts", **PARTS)),
    "share forgotten": (
        "ntk_by_parts_limits",
        lambda case: speeds("ntk_by_parts", **PARTS, beta_fast=16, beta_slow=2),
    ),
    "second release": ("ntk_by_parts_v1", lambda case: speeds("ntk_by_parts", 64, **PARTS)),
    "blend the wrong way round": ("yarn", lambda case: {"inv_freq": PLAIN * (9 / 8) - case["inv_freq"]}),
    "extended length": ("yarn", lambda case: speeds("yarn", factor=8, original_length=16384)),
    "no length factor": ("yarn", lambda case: {"attention_factor": 1.0}),
    "length factor twice": ("yarn_interleaved", lambda case: {"attention_factor": case["attention_factor"] ** 2}),
    "ramp of the code in yarn": ("yarn_rotations", lambda case: speeds("yarn", **PARTS)),
    "truncated": ("yarn_gpt_oss", lambda case: speeds("yarn", 64, 150000.0, factor=32, original_length=4096)),
    "one weight read": ("yarn_deepseek", lambda case: {"attention_factor": 0.1 * np.log(40) + 1}),
    "weights ignored": ("yarn_weights", lambda case: {"attention_factor": 0.1 * np.log(40) + 1}),
    "given factor ignored": ("yarn_given_length", lambda case: {"attention_factor": 0.1 * np.log(8) + 1}),
    "llama3 without blend": (
        "llama3",
        lambda case: {"inv_freq": np.where(np.arange(32) < 18, 1, 1 / 8) * rope_ref.inverse_frequencies(64, 500000.0)},
    ),
    "llama3 limits ignored": (
        "llama3_limits",
        lambda case: speeds("llama3", base=500000.0, factor=32, original_length=8192),
    ),
    "short list": ("longrope_long", lambda case: {"inv_freq": PLAIN / (1 + np.arange(16) / 16)}),
    "long list": ("longrope_short", lambda case: {"inv_freq": PLAIN / (1 + np.arange(16) ** 2 / 8)}),
    "narrow exponent": (
        "proportional",
        lambda case: {"inv_freq": np.append(rope_ref.inverse_frequencies(8, 1e6), np.zeros(12))},
    ),
    "other pairing": ("half_partial", lambda case: pairs([[0, 1], [2, 3], [4, 5]])),
    "exponent of the whole head": (
        "interleaved_partial",
        lambda case: {"inv_freq": rope_ref.inverse_frequencies(10)[:3]},
    ),
    "written as read": ("interleaved_in_half_out", lambda case: {"pair_out": case["pair_in"]}),
    "first features": ("interleaved_block", lambda case: pairs([[0, 1], [2, 3]])),
    "base of another model": ("half_wide", lambda case: {"inv_freq": rope_ref.inverse_frequencies(128)}),
    "float32 positions": (
        "half_very_long_positions",
        lambda case: {"position_ids": case["position_ids"].astype(np.float32).astype(np.float64)},
    ),
    "wrapped rows": ("half_negative_positions", lambda case: {"position_ids": case["position_ids"] % 2**20}),
    "clipped rows": ("half_negative_positions", lambda case: {"position_ids": np.maximum(case["position_ids"], 0)}),
    "padding counted": ("half_left_padding", lambda case: {"position_ids": np.tile(np.arange(5), (2, 1))}),
    "padding counted at the right": (
        "half_right_padding",
        lambda case: {"position_ids": np.tile(np.arange(5), (2, 1))},
    ),
    "interleaved for half": ("half", lambda case: pairs([[0, 1], [2, 3], [4, 5], [6, 7]])),
    "features swapped": ("half_one_pair", lambda case: pairs([[1, 0]])),
    "documents run on": ("half_packed", lambda case: {"position_ids": np.arange(7)[None]}),
    "batch and tokens swapped": ("interleaved_offsets", lambda case: {"position_ids": case["position_ids"].T}),
    "first sequence's offset": (
        "interleaved_offsets",
        lambda case: {"position_ids": case["position_ids"][[0, 0, 0]]},
    ),
    "one offset for all": ("half_decode", lambda case: {"position_ids": np.array([[250], [250]])}),
    "every step at zero": ("half_decode", lambda case: {"position_ids": np.zeros((2, 1))}),
    "turned forward": ("half_inverse", lambda case: {"turn": "forward"}),
    "inverse by a": ("yarn_inverse", lambda case: {"turn": "gradient"}),
    "gradient by 1 / a": ("yarn_gradient", lambda case: {"turn": "inverse"}),
    "query scaled as a key": ("xpos_query", lambda case: {"scale": 1 / case["scale"]}),
    "key not scaled": ("xpos_key", lambda case: {"scale": 1.0}),
    "scale laid out in halves": ("xpos_query", lambda case: {"scale": case["scale"][..., [0, 2, 1, 3]]}),
    "other centre": ("xpos_half", lambda case: {"scale": case["scale"] / case["scale"][:, :1]}),
    "rows and columns swapped": ("cogvideox", lambda case: {"position_ids": case["position_ids"][..., [0, 2, 1]]}),
    "text turned": ("cogvideox", lambda case: {"position_ids": case["position_ids"] + np.array([1, 0, 0])}),
    "one ladder for all axes": ("cogvideox", lambda case: {"inv_freq": rope_ref.inverse_frequencies(64)}),
    "crop forgotten": (
        "cogvideox_cropped",
        lambda case: {"position_ids": np.array([[[0, 0, 0], [3, 8, 5], [12, 29, 39]]])},
    ),
    "older grid": (
        "cogvideox_cropped",
        lambda case: {"position_ids": np.array([[[0, 0, 2], [3, 8, 7], [12, 29, 41]]])},
    ),
    "one base": ("three_bases", lambda case: {"inv_freq": positions.axial_pairs((8, 6, 6))[0]}),
    "half over the whole head": ("vision_half_by_axis", lambda case: pairs([[i, i + 8] for i in range(8)])),
    "half by axis": ("vision_half", lambda case: pairs([[i + 4 * (i // 4), i + 4 * (i // 4) + 4] for i in range(8)])),
    "blocks": ("vision_alternating", lambda case: {"axis": [0] * 4 + [1] * 4}),
    "one axis": ("mrope", lambda case: {"axis": [0] * 8}),
    "sections in turn": ("mrope", lambda case: {"axis": [0, 1, 2, 1, 2, 0, 1, 2]}),
    "sections in blocks": ("mrope_interleaved", lambda case: {"axis": [0] * 4 + [1] * 2 + [2] * 2}),
    "ladder restarts": (
        "mrope",
        lambda case: {"inv_freq": positions.axial_pairs((4, 6, 6), 1e6)[0]},
    ),
    "text after the grid": (
        "mrope_video",
        lambda case: {"position_ids": np.minimum(case["position_ids"], [[[9, 9, 9]] * 7 + [[3, 3, 3]]])},
    ),
    "unscaled speeds": ("mrope_yarn", lambda case: {"inv_freq": rope_ref.inverse_frequencies(16)}),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PLANTED)
def test_every_wrong_choice_is_caught_in_every_dtype(load, name, dtype):
    number, change = PLANTED[name]
    case = load(number)
    wrong = case | change(case)
    assert not within(case, turned(wrong, *table_of(wrong)), dtype)


def test_every_case_catches_something():
    of_the_library = {"interleaved", "long_positions", "pi_positions"}  # these meet the planted faults
    assert {case for case, _ in PLANTED.values()} | of_the_library == set(NAMES)


# The files -----------------------------------------------------------------------------------------------------------


def test_stored_files_are_what_the_command_writes_on_every_machine(folder):
    assert different(STORED, folder) == [], "write them again: python -m rope_ref vectors --out vectors"


def test_changed_missing_and_left_over_files_are_found(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "vectors")
    (tmp_path / "vectors" / "half" / "y.npy").unlink()
    (tmp_path / "vectors" / "old.json").write_text("{}", encoding="utf-8")
    changed = tmp_path / "vectors" / "index.json"
    changed.write_bytes(changed.read_bytes().replace(b"gpt-oss", b"gpt-osS"))
    assert different(tmp_path / "vectors", folder) == ["half/y.npy", "index.json", "old.json"]


def test_a_second_run_writes_the_same_bytes_over_the_first(folder, monkeypatch, tmp_path):
    few = {name: vectors.CASES[name] for name in ("half_one_pair", "linear", "xpos_key")}
    monkeypatch.setattr(vectors.files, "CASES", few)
    runs = []
    for _ in range(2):
        assert [path.name for path in vectors.write_vectors(tmp_path)] == [
            *(f"{name}.json" for name in few),
            "index.json",
        ]
        runs.append(files(tmp_path))
    assert runs[0] == runs[1]
    assert (tmp_path / "linear.json").read_bytes() == (folder / "linear.json").read_bytes()


def test_files_are_small(folder):
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    assert max(sizes) < 100_000 and sum(sizes) < 1_000_000


def test_index_lists_exactly_the_files_there_are(folder):
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    assert index["schema"] == vectors.SCHEMA
    assert sorted(path.stem for path in folder.glob("*.json")) == sorted([*index["cases"], "index"])
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == sorted(index["cases"])
    for name, listed in index["cases"].items():
        case = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        assert case["schema"] == index["schema"] and case["name"] == name
        assert {key: case[key] for key in ("about", "pairing", "turn")} == {
            key: listed[key] for key in ("about", "pairing", "turn")
        }
        assert listed["shape"] == case["arrays"]["x"]["shape"]


def test_every_field_is_described_and_every_description_is_of_a_field(folder):
    found = set()
    for name in NAMES:
        case = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        found |= set(case) | set(case["arrays"])
    assert found == set(vectors.FIELDS)


@pytest.mark.parametrize("name", NAMES)
def test_npy_files_hold_the_arrays_of_the_json(folder, load, name):
    case = load(name)
    assert {path.stem for path in (folder / name).iterdir()} == set(case["arrays"])
    for key in case["arrays"]:
        path = folder / name / f"{key}.npy"
        assert b"'fortran_order': False" in path.read_bytes()[:128]  # what simple readers of other languages expect
        array = np.load(path, allow_pickle=False)
        assert array.dtype == case[key].dtype
        assert_array_equal(array, case[key], strict=True)


@pytest.mark.parametrize("stop", range(1, 14))
def test_an_interrupted_run_leaves_no_half_of_a_file(monkeypatch, tmp_path, stop):
    monkeypatch.setattr(vectors.files, "CASES", {"half_one_pair": vectors.CASES["half_one_pair"]})  # ten arrays
    write, calls = Path.write_bytes, []

    def half(path, content):
        calls.append(path)
        if len(calls) == stop:
            write(path, content[: len(content) // 2])
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(Path, "write_bytes", half)
    if stop <= 12:
        with pytest.raises(KeyboardInterrupt):
            list(vectors.write_vectors(tmp_path))
    else:
        list(vectors.write_vectors(tmp_path))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == min(stop - 1, 12)
    for path in files:
        json.loads(path.read_text(encoding="utf-8")) if path.suffix == ".json" else np.load(path, allow_pickle=False)
    assert (tmp_path / "index.json").exists() == (stop == 13)


def test_command_prints_a_line_for_each_file(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(vectors.files, "CASES", {"half_one_pair": vectors.CASES["half_one_pair"]})
    assert main(["vectors", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / "half_one_pair.json"), str(tmp_path / "index.json")]


def test_missing_mpmath_is_named_in_one_line_and_nothing_is_written(tmp_path):
    code = (
        "import sys; sys.modules['mpmath'] = None; from rope_ref.__main__ import main; "
        "sys.exit(main(['vectors', '--out', 'new']))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "rope-ref vectors: vectors need mpmath; it comes with the extra: pip install 'rope_ref[test]'\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_without_mpmath_the_room_can_be_asked_for_and_says_what_it_needs():
    code = (
        "import sys; sys.modules['mpmath'] = None; import rope_ref\n"
        "assert hasattr(rope_ref, 'vectors') and rope_ref.vectors.CASES\n"
        "rope_ref.vectors.build('half')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr.endswith("vectors need mpmath; it comes with the extra: pip install 'rope_ref[test]'\n")


def test_folder_that_cannot_be_made_is_told_in_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["vectors", "--out", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
