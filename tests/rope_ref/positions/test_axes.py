"""Images, videos and multimodal text, beside numbers that the models' own code returned.

Their tables are float32: an angle may be off by a rounding of the frequency, so the limit is 2e-6.
"""

import json
import math
import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from places import DATA

from rope_ref import apply_rope, cos_sin, inverse_frequencies, positions, rotation_angles
from rope_ref.positions import (
    axial_angles,
    axial_pairs,
    axis_angles,
    crop_region,
    mrope_angles,
    mrope_axes,
    mrope_position_ids,
    video_grid,
    video_split,
)

FLOAT32_TABLE = {"rtol": 0, "atol": 2e-6}


def load(name):
    """A file of numbers from elsewhere."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def by_name(name, key="name"):
    """The cases of a file, by their names."""
    return {case[key]: case for case in load(name)["cases"]}


def array(stored, part="data"):
    """An array as the files keep it: flat, with its shape."""
    return np.array(stored[part]).reshape(stored["shape"])


def formula(shape):
    """The queries of the files, x[k] = ((37 k + 11) mod 101 - 50) / 64."""
    k = np.arange(math.prod(shape))
    return (((37 * k + 11) % 101 - 50) / 64).reshape(shape).astype(np.float32)


def at_features(table, pairing, widths):
    """Cos or sin of each pair, written at both features of the pair; "half by axis" does so axis by axis."""
    if pairing == "interleaved":
        return np.repeat(table, 2, axis=-1)
    if pairing == "half":
        return np.concatenate((table, table), axis=-1)
    blocks = np.split(table, np.cumsum(widths)[:-1] // 2, axis=-1)
    return np.concatenate([half for block in blocks for half in (block, block)], axis=-1)


def turn(x, angles, pairing, widths):
    """Queries turned by `apply_rope`, the features of each axis on their own where the pairing says so."""
    cos, sin = cos_sin(angles)
    if pairing != "half by axis":
        return apply_rope(x, cos, sin, pairing=pairing)
    out, stops = np.empty_like(x), np.cumsum(widths)
    for start, stop in zip(stops - widths, stops, strict=True):
        part, pairs = slice(start, stop), slice(start // 2, stop // 2)
        apply_rope(x[..., part], cos[..., pairs], sin[..., pairs], pairing="half", out=out[..., part])
    return out


def assert_tables(angles, outputs, pairing="interleaved", widths=()):
    """Compare cos and sin of the angles with a stored table, of pairs or of features."""
    for got, name in zip(cos_sin(angles), ("cos", "sin"), strict=True):
        want = array(outputs[name])
        want = want.reshape(-1, want.shape[-1])
        if want.shape[-1] != got.shape[-1]:
            got = at_features(got, pairing, widths)
        assert_allclose(got.reshape(want.shape), want, **FLOAT32_TABLE)


# The table of calls in the docstring of rope_ref.positions: every line is run.

RECIPES = {
    model.strip(): (pairing, call)
    for model, pairing, call in re.findall(
        r"^    (\S.*?)  +(interleaved|half by axis|half)  +(\S.*)$", positions.__doc__, flags=re.MULTILINE
    )
}
DIFFUSERS, MROPE, MODELS = by_name("diffusers_rope.json"), by_name("mrope.json"), by_name("axes_models.json")
STORED = DIFFUSERS | MROPE | MODELS


def image(height, width):
    """Row and column of each patch of an image, as the docstring defines it."""
    return video_grid(1, height, width)[:, 1:]


def moved(stored):
    """Position ids (3, batch, seq_len) as (batch, seq_len, 3)."""
    return np.moveaxis(array(stored), 0, -1)


HW = np.array(MODELS["pixtral_vision_d16"]["inputs"]["hw"])
IDS = MROPE["qwen2vl_text_d16_section_2_3_3"]["inputs"]["position_ids"]
# Model: the stored case, the names its call uses, and the widths where each axis is turned on its own.
RUN = {
    "CogVideoX": (
        "3d_linspace_d16_g2x3_T2_crop((0, 0), (2, 3))",
        {"frames": 2, "height": 2, "width": 3, "base": (2, 3), "d": 16},
    ),
    "CogVideoX 1.5": ("3d_slice_d16_g2x3_T2_max4x5", {"frames": 2, "height": 2, "width": 3, "d": 16}),
    "Wan": ("3d_wan_d16_T2H2W3", {"grid": video_grid(2, 2, 3), "d": 16}),
    "HunyuanVideo": ("hunyuanvideo_d16_T2H2W3", {"grid": video_grid(2, 2, 3), "dims": (4, 6, 6)}),
    "Cosmos": (
        "3d_cosmos_d12_scale_2_1_3",
        {"grid": video_grid(2, 2, 2), "dims": video_split(12, "wan"), "bases": (10000 * 2.0**2, 10000, 10000 * 3.0**2)},
    ),
    "Allegro": ("allegro_d12_T2H2W3", {"grid": video_grid(2, 2, 3), "scales": (2.2, 2.0, 2.0), "d": 12}, (4, 4, 4)),
    "Flux": ("flux_d16", {"ids": np.array(MODELS["flux_d16"]["inputs"]["ids"]), "dims": (4, 6, 6)}),
    "HunyuanDiT": ("2d_d8_grid4x3_crop", {"image": video_grid(1, 4, 3, crop=((1, 2), (5, 8)))[:, 1:], "d": 8}),
    "Lumina": ("lumina_d16_2x3", {"image": image(2, 3), "d": 16}),
    "Qwen2-VL vision": (
        "qwen2vl_vision_axial_d16",
        {"image": np.array(MROPE["qwen2vl_vision_axial_d16"]["inputs"]["hw"]), "d": 16},
    ),
    "Gemma 4 vision": ("gemma4_vision_d16", {"image": HW, "d": 16}, (8, 8)),
    "Llama 4 vision": ("llama4_vision_d16_3x3", {"image": image(3, 3), "d": 16}),
    "Pixtral vision": ("pixtral_vision_d16", {"image": HW, "inv_freq": inverse_frequencies(16), "d": 16}),
    "Qwen2-VL text": (
        "qwen2vl_text_d16_section_2_3_3",
        {"position_ids": moved(IDS), "inv_freq": inverse_frequencies(16), "sections": (2, 3, 3)},
    ),
    "Qwen3-VL text": (
        "qwen3vl_text_d16_sections_4_2_2",
        {
            "position_ids": moved(MODELS["qwen3vl_text_d16_sections_4_2_2"]["inputs"]["position_ids_3_b_s"]),
            "inv_freq": inverse_frequencies(16),
            "sections": (4, 2, 2),
        },
    ),
}


@pytest.fixture(params=RECIPES)
def recipe(request):
    """One line of the docstring, run: its stored outputs, angles, pairing and widths."""
    pairing, call = RECIPES[request.param]
    case, names, *widths = RUN[request.param]
    return STORED[case]["outputs"], eval(call, vars(positions) | {"np": np} | names), pairing, *(widths or [()])


def test_the_docstring_lists_every_model_there_are_numbers_for():
    assert list(RECIPES) == list(RUN)
    elsewhere = {  # held by tests of their own below
        *(name for name in STORED if name.startswith(("1d_", "cogvideox_"))),
        "3d_linspace_d16_g3x2_T3_crop((2, 1), (5, 4))",
        "qwen2vl_image_4x6_merge2_text3_text2",
        "qwen2_5_vl_video_3x4x4_merge2_1s_per_grid_tps2",
    }
    assert {case for case, *_ in RUN.values()} | elsewhere == set(STORED)


def test_each_call_of_the_docstring_gives_the_models_own_numbers(recipe):
    outputs, angles, pairing, widths = recipe
    if "cos" in outputs:
        assert_tables(angles, outputs, pairing, widths)
    stored = outputs.get("out", outputs.get("q_out"))
    if stored is None:
        return
    want = array(stored).astype(np.float32)
    x = formula(want.shape)
    if want.shape[-2] != angles.shape[-2]:  # heads after tokens
        x, want = np.swapaxes(x, -2, -3), np.swapaxes(want, -2, -3)
    assert_allclose(turn(x, angles, pairing, np.array(widths, int)), want, **FLOAT32_TABLE)


def test_a_recipe_with_the_axes_exchanged_would_be_seen():
    for model in ("Lumina", "Qwen2-VL vision", "Gemma 4 vision", "Llama 4 vision", "Pixtral vision", "HunyuanDiT"):
        case, names, *widths = RUN[model]
        outputs, (pairing, call) = STORED[case]["outputs"], RECIPES[model]
        swapped = eval(call, vars(positions) | {"np": np} | names | {"image": names["image"][:, ::-1]})
        with pytest.raises(AssertionError):
            assert_tables(swapped, outputs, pairing, *(widths or [()]))


# CogVideoX


@pytest.mark.parametrize("name", [name for name in DIFFUSERS if name.startswith("1d_")])
def test_one_axis_is_ordinary_rotation(name):
    case = DIFFUSERS[name]
    angles = rotation_angles(case["params"]["pos"], inverse_frequencies(8))
    assert_array_equal(axial_angles(np.array(case["params"]["pos"])[:, None], (8,)), angles)
    if "cos" in case["outputs"]:
        return assert_tables(angles, case["outputs"])
    for got, part in zip(cos_sin(angles), ("real", "imag"), strict=True):
        assert_allclose(got, array(case["outputs"]["freqs_cis"], part), **FLOAT32_TABLE)


@pytest.mark.parametrize(
    ("mode", "case"),
    [
        ("linspace", DIFFUSERS["3d_linspace_d16_g3x2_T3_crop((2, 1), (5, 4))"]),
        ("even", MODELS["cogvideox_0.30.3_d16_g3x2_T3_crop((2, 1), (5, 4))"]),
    ],
)
def test_a_crop_that_does_not_start_at_zero_is_spread_as_the_release_does_it(mode, case):
    angles = axial_angles(video_grid(3, 3, 2, crop=((2, 1), (5, 4)), mode=mode), video_split(16))
    assert_tables(angles, case["outputs"])


def test_the_two_releases_differ_where_the_crop_does_not_start_at_zero():
    grids = [video_grid(3, 3, 2, crop=((2, 1), (5, 4)), mode=mode) for mode in ("linspace", "even")]
    differ = np.abs(np.subtract(*(np.cos(axial_angles(grid, video_split(16))) for grid in grids))).max()
    assert_allclose(differ, 0.385, rtol=0, atol=5e-4)
    square = [video_grid(1, 30, 30, base_size=(30, 45), mode=mode)[:30, 2] for mode in ("linspace", "even")]
    assert_allclose(square[0][[0, -1]], [8, 38 * 29 / 30], rtol=1e-15, atol=0)
    assert_allclose(square[1], np.arange(8, 38), rtol=1e-15, atol=0)


def test_text_tokens_with_coordinates_of_zero_are_left_as_they_are():
    case = DIFFUSERS["cogvideox_apply_text3_video12"]
    want = array(case["outputs"]["out"]).astype(np.float32)
    grid = np.concatenate((np.zeros((3, 3)), video_grid(2, 2, 3)))
    x = formula(want.shape)
    got = apply_rope(x, *cos_sin(axial_angles(grid, video_split(16))))
    assert_allclose(got, want, **FLOAT32_TABLE)
    assert_array_equal(got[..., :3, :], x[..., :3, :])


@pytest.fixture(scope="module")
def full_size():
    """The table of 49 frames of 480 x 720 in CogVideoX, and the largest memory it took, in bytes."""
    tracemalloc.start()
    angles = axial_angles(video_grid(13, 480 / 16, 720 / 16, base_size=(30, 45)), video_split(64))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return angles, peak


def test_the_full_size_table_is_that_of_the_released_code(full_size):
    (case,) = load("diffusers_cogvideox_full_size.json")["cases"]
    angles, _ = full_size
    assert angles.shape == (17550, 32)
    assert [2 * angles.shape[-1], len(angles)] == case["table_shape"][::-1]
    stored = {"cos": case["cos_rows"], "sin": case["sin_rows"]}
    assert_tables(angles[case["rows"]], stored)
    for got, name in zip(cos_sin(angles), ("cos", "sin"), strict=True):
        # One rounding of float32 in each of 1,123,200 numbers adds up to 0.03 if all go one way.
        assert_allclose(2 * got.sum(), case[f"sum_{name}_float64"], rtol=0, atol=0.05)


def test_the_full_size_table_takes_little_more_memory_than_it_fills(full_size):
    angles, peak = full_size
    assert peak < 1.5 * angles.nbytes


def test_patches_are_listed_frame_by_frame_and_row_by_row():
    grid = video_grid(2, 3, 5)
    assert grid.shape == (30, 3) and grid.dtype == np.float64
    for t, h, w in np.ndindex(2, 3, 5):
        assert_array_equal(grid[(t * 3 + h) * 5 + w], [t, h, w])


def test_coordinates_of_an_image_are_in_row_major_order():
    case = by_name("cases_axes.json", "id")["RI-140"]
    got = image(case["inputs"]["H"], case["inputs"]["W"]).tolist()
    assert got == case["expected"]
    assert got not in case["wrong_values"].values()


def test_a_grid_larger_than_the_base_is_squeezed_on_to_it():
    assert_array_equal(video_grid(1, 4, 8, base_size=(2, 4))[:8, 2], np.arange(8) / 2)
    assert_array_equal(video_grid(1, 2, 4, base_size=(4, 8))[::4, 1], [0, 2])
    assert_array_equal(video_grid(3, 1, 1, base_size=(5, 5)), [[0, 0, 0], [1, 0, 0], [2, 0, 0]])


@pytest.mark.parametrize("mode", ["linspace", "even", "slice"])
def test_the_grid_of_the_training_has_whole_numbers_in_every_mode(mode):
    want = video_grid(13, 30, 45)
    assert_array_equal(want, np.round(want))
    assert_array_equal(video_grid(13, 30, 45, base_size=(30, 45), mode=mode), want)


def test_slice_counts_from_zero_whatever_the_table():
    want = video_grid(2, 24, 42)
    assert_array_equal(video_grid(2, 24, 42, base_size=(48, 85), mode="slice"), want)
    assert_array_equal(video_grid(2, 24, 42, mode="slice"), want)
    assert (video_grid(2, 24, 42, base_size=(48, 85)) != want).any()


def test_a_given_crop_takes_the_place_of_the_one_worked_out():
    crop = ((2, 1), (5, 4))
    assert_array_equal(video_grid(1, 3, 2, base_size=(30, 45), crop=crop), video_grid(1, 3, 2, crop=crop))
    worked_out = video_grid(1, 30, 40, base_size=(30, 45))
    assert_array_equal(video_grid(1, 30, 40, crop=crop_region(30, 40, (30, 45))), worked_out)


def test_a_single_row_stands_at_the_top_of_the_crop():
    assert_array_equal(video_grid(1, 1, 2, crop=((3, 0), (7, 2)))[:, 1], [3, 3])


def test_the_crop_is_centred_with_halves_rounded_to_even():
    case = by_name("cases_axes.json", "id")["RI-144"]
    base = case["inputs"]["base_h"], case["inputs"]["base_w"]
    got = [[list(corner) for corner in crop_region(*grid, base)] for grid in case["inputs"]["grids"]]
    assert got == case["expected"]
    assert got not in case["wrong_values"].values()


def test_the_crop_follows_the_released_code_where_float64_decides():
    # 30 / 44 * 11 and 45 / 66 * 11 are both 7.5, which rounds to 8; in float64 both come out below.
    assert crop_region(44, 11, (30, 45)) == ((0, 19), (30, 26))
    assert crop_region(11, 66, (30, 45)) == ((12, 0), (19, 45))


def test_a_head_is_shared_out_by_both_rules():
    case = by_name("cases_axes.json", "id")["RI-037"]
    got = {
        rule: [list(video_split(d, name)) for d in case["inputs"][f"head_dims_rule_{rule}"]]
        for rule, name in (("A", "wan"), ("B", "cogvideox"))
    }
    assert got == case["expected"]
    assert got not in case["wrong_values"].values()
    assert video_split(64) == (16, 24, 24)


@pytest.mark.parametrize("head_dim", range(1, 200))
def test_a_shared_head_has_even_blocks_that_add_up_or_is_refused(head_dim):
    for rule, fits in (("cogvideox", head_dim % 16 == 0), ("wan", head_dim % 2 == 0 and head_dim >= 6)):
        if fits:
            blocks = video_split(head_dim, rule)
            assert sum(blocks) == head_dim and min(blocks) > 0 and not any(width % 2 for width in blocks)
        else:
            with pytest.raises(ValueError, match=f"head_dim must be .*, got {head_dim}"):
                video_split(head_dim, rule)


def test_the_released_head_has_eight_hands_for_time():
    inv_freq, axis = axial_pairs(video_split(64))
    assert_array_equal(np.bincount(axis), [8, 12, 12])
    time = inv_freq[axis == 0]
    assert_allclose(time, [1, 0.316228, 0.1, 0.0316228, 0.01, 0.00316228, 0.001, 0.000316228], rtol=1e-5, atol=0)
    assert_array_equal(inv_freq[axis == 1], inv_freq[axis == 2])
    assert inv_freq[axis == 1][0] == 1.0


def test_video_scores_ignore_a_shift_of_the_clip_and_text_scores_do_not():
    rng = np.random.default_rng(1)
    q, k = rng.standard_normal((2, 12, 64))
    shift = np.array([5, 10, 20])
    scores = []
    for grid in (video_grid(2, 2, 3), video_grid(2, 2, 3) + shift):
        cos, sin = cos_sin(axial_angles(grid, video_split(64)))
        scores.append((apply_rope(q, cos, sin) @ apply_rope(k, cos, sin).T, q @ apply_rope(k, cos, sin).T))
    (video, text), (video_shifted, text_shifted) = scores
    assert_allclose(video_shifted, video, rtol=0, atol=1e-12)
    assert np.abs(text_shifted - text).max() > 1


# Axes


def test_block_and_alternating_axes_share_one_ladder():
    case = by_name("cases_axes.json", "id")["RI-142"]
    where = [case["inputs"]["y"], case["inputs"]["x"]]
    inv_freq = inverse_frequencies(case["inputs"]["head_dim"])
    wrong = case["wrong_values"]["confused"]
    for name, axis in (("block", [0, 0, 1, 1]), ("alternating", [0, 1, 0, 1])):
        got = axis_angles(where, inv_freq, axis)
        assert_allclose(got, case["expected"][name], **case["tolerance"])
        assert not np.allclose(got, wrong[name], rtol=1e-3, atol=1e-3)


def test_angles_are_one_product_rounded_once():
    rng = np.random.default_rng(0)
    coordinates, inv_freq, axis = rng.standard_normal((2, 5, 3)), rng.random(7), rng.integers(0, 3, 7)
    got = axis_angles(coordinates, inv_freq, axis)
    assert got.shape == (2, 5, 7) and got.dtype == np.float64
    for b, m, i in np.ndindex(got.shape):
        assert got[b, m, i] == float(coordinates[b, m, axis[i]]) * float(inv_freq[i])


def test_coordinates_are_left_unchanged_whatever_their_dtype():
    for dtype in (np.int8, np.uint8, np.int64, np.float32, np.float64):
        coordinates = np.array([[100, 1], [2, 3]], dtype)
        before = coordinates.copy()
        assert_array_equal(axis_angles(coordinates, [3.0, 1.0], [0, 1]), [[300.0, 1.0], [6.0, 3.0]])
        assert_array_equal(coordinates, before)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.booleans())
def test_each_axis_has_the_ladder_of_its_own_width_and_base(halves, alternating):
    widths, bases = [2 * half for half in halves], [10.0 ** (2 + number) for number in range(len(halves))]
    inv_freq, axis = axial_pairs(widths, bases, alternating=alternating)
    for number, (width, base) in enumerate(zip(widths, bases, strict=True)):
        want = [base ** (-2 * i / width) for i in range(width // 2)]
        assert_allclose(inv_freq[axis == number], want, rtol=1e-14, atol=0)
    turns = [number for i in range(max(halves)) for number in range(len(halves)) if i < halves[number]]
    assert axis.tolist() == (turns if alternating else sorted(turns))


def test_any_number_of_axes_will_do():
    coordinates = np.arange(2 * 5).reshape(2, 5)
    assert_array_equal(axial_angles(coordinates, (2,) * 5), coordinates)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: axis_angles([[1, 2]], [1.0, 0.1], [0, 2]), ValueError, "axis must be from 0 to 1 .*, got 2"),
        (lambda: axis_angles([[1, 2]], [1.0, 0.1], [0, -1]), ValueError, "axis must be from 0 to 1 .*, got -1"),
        (lambda: axis_angles([[1, 2]], [1.0, 0.1], [0]), ValueError, "axis must name one axis for each of the 2 pairs"),
        (lambda: axis_angles([[1, 2]], [1.0], 0), ValueError, "axis must name one axis for each of the 1 pairs"),
        (lambda: axis_angles([[1, 2]], [1.0], [0.0]), TypeError, "axis must hold integers, got dtype float64"),
        (lambda: axis_angles([[1, 2]], [1.0, 0.1], [True, False]), TypeError, "axis must hold integers"),
        (lambda: axis_angles(1.0, [1.0], [0]), ValueError, "coordinates must have shape"),
        (lambda: axis_angles([[1, np.nan]], [1.0], [0]), ValueError, "coordinates must be finite, got nan"),
        (lambda: axis_angles([[1e308, 1]], [10.0], [0]), ValueError, "coordinates times inv_freq must be angles"),
        (lambda: axis_angles([[True, False]], [1.0], [0]), TypeError, "coordinates must hold real numbers"),
        (lambda: axial_angles([[1, 2]], (4, 4, 4)), ValueError, "rotary_dims must hold one width for each axis"),
        (lambda: axial_angles([[1, 2, 3]], (4, 4)), ValueError, "rotary_dims must hold one width for each axis"),
        (lambda: axial_angles(1.0, (4,)), ValueError, "rotary_dims must hold one width for each axis"),
        (lambda: axial_angles([[1, 2]], (4, 3)), ValueError, "rotary_dims must be even, got 3"),
        (lambda: axial_angles([[1, 2]], (4, 0)), ValueError, "rotary_dims must be positive, got 0"),
        (lambda: axial_angles([[1, 2]], (4, 4.0)), TypeError, "rotary_dims must be an integer, got 4.0"),
        (lambda: axial_angles([[1, 2]], 8), TypeError, "rotary_dims must be one width an axis, got 8"),
        (lambda: axial_angles([[1, 2]], ()), ValueError, "rotary_dims must name the width of at least one axis"),
        (
            lambda: axial_angles([[1, 2]], (4, 4), [1e4]),
            ValueError,
            "base must be one number, or one for each of the 2",
        ),
        (
            lambda: axial_angles([[1, 2]], (4, 4), [1e4, 0.0]),
            ValueError,
            "base must be positive and finite .*, got 0.0",
        ),
        (lambda: axial_angles([[1, 2]], (4, 4), "x"), TypeError, "base must be a number, got 'x'"),
        (lambda: video_split(72), ValueError, r"multiple of 16, .*got 72: 18 \+ 27 \+ 27"),
        (lambda: video_split(4, "wan"), ValueError, r"even and at least 6, .*got 4: 4 \+ 0 \+ 0"),
        (lambda: video_split(64.0), TypeError, "head_dim must be an integer, got 64.0"),
        (lambda: video_split(64, "thirds"), ValueError, "rule must be 'cogvideox' or 'wan', got 'thirds'"),
    ],
)
def test_wrong_axes_are_refused_by_name(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_table_too_small_for_the_grid_is_refused_with_both_numbers():
    case = by_name("cases_axes.json", "id")["RI-146"]
    with pytest.raises(ValueError) as raised:
        video_grid(1, *case["inputs"]["grid"], base_size=case["inputs"]["max_size"], mode="slice")
    assert all(word in str(raised.value) for word in ("height", *case["expected"]["message_mentions"]))
    with pytest.raises(ValueError, match="width must be at most 30 and 45, the base_size, got 30 and 46"):
        video_grid(1, 30, 46, base_size=(30, 45), mode="slice")


def test_pixels_that_are_no_whole_number_of_patches_are_refused():
    case = by_name("cases_axes.json", "id")["RI-148"]
    with pytest.raises(ValueError, match=r"height must be a whole number of patches, got 1\.5") as raised:
        video_grid(1, case["inputs"]["height"] / 16, case["inputs"]["width"] / 16)
    assert any(word in str(raised.value) for word in case["expected"]["message_mentions"])


@pytest.mark.parametrize("whole", [2, 2.0, np.float32(2), np.int8(2), np.uint64(2)])
def test_a_count_of_patches_may_be_any_whole_number(whole):
    assert_array_equal(video_grid(whole, whole, whole, base_size=(whole, whole)), video_grid(2, 2, 2))


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((0, 2, 2), {}, ValueError, "frames must be positive, got 0"),
        ((1, -2, 2), {}, ValueError, "height must be positive, got -2"),
        ((1, 2, 0.0), {}, ValueError, "width must be positive, got 0"),
        ((1.5, 2, 2), {}, ValueError, "frames must be a whole number of patches, got 1.5"),
        ((1, 2, np.float32(2.5)), {}, ValueError, "width must be a whole number of patches, got 2.5"),
        ((1, np.nan, 2), {}, ValueError, "height must be a whole number of patches, got nan"),
        ((1, 2, np.inf), {}, ValueError, "width must be a whole number of patches, got inf"),
        ((1, "2", 2), {}, TypeError, "height must be an integer, got '2'"),
        ((True, 2, 2), {}, TypeError, "frames must be an integer, got True"),
        ((1, 2, 2), {"base_size": (0, 2)}, ValueError, "base_size must be positive, got 0"),
        ((1, 2, 2), {"base_size": (2.5, 2)}, ValueError, "base_size must be a whole number of patches, got 2.5"),
        ((1, 2, 2), {"base_size": (2, 2, 2)}, ValueError, "base_size must be 2 counts, got 3"),
        ((1, 2, 2), {"base_size": 2}, TypeError, "base_size must be 2 counts, got 2"),
        ((1, 2, 2), {"base_size": 2, "mode": "slice"}, TypeError, "base_size must be 2 counts, got 2"),
        ((1, 2, 200), {"base_size": (1, 40)}, ValueError, "height and width must leave at least one row"),
        ((1, 2, 2), {"crop": ((0, 0), (2,))}, ValueError, "crop must be an array"),
        ((1, 2, 2), {"crop": (0, 2)}, ValueError, r"crop must be \(\(top, left\), \(bottom, right\)\)"),
        ((1, 2, 2), {"crop": ((0, 2), (2, 2))}, ValueError, "crop must be .* with at least one row and column"),
        ((1, 2, 2), {"crop": ((0, 0), (2, np.inf))}, ValueError, "crop must be finite, got inf"),
        ((1, 2, 2), {"crop": ((0, 0), (2, 2)), "mode": "slice"}, ValueError, "crop must be None in mode 'slice'"),
        ((1, 2, 2), {"mode": "nearest"}, ValueError, "mode must be 'linspace', 'even' or 'slice', got 'nearest'"),
    ],
)
def test_wrong_grids_are_refused_by_name(arguments, options, error, message):
    with pytest.raises(error, match=message):
        video_grid(*arguments, **options)


# M-RoPE


def test_three_positions_share_one_ladder():
    case = by_name("cases_axes.json", "id")["RI-150"]
    inv_freq = inverse_frequencies(case["inputs"]["head_dim"])
    angles = mrope_angles([case["inputs"]["positions"]], inv_freq, case["inputs"]["sections"])
    y = apply_rope(np.arange(1.0, 9.0)[None], *cos_sin(angles), pairing="half")
    for got, name in ((angles[0], "angles"), (y[0], "y")):
        assert_allclose(got, case["expected"][name], **case["tolerance"])
        for wrong in case["wrong_values"].values():
            assert not np.allclose(got, wrong[name], rtol=1e-3, atol=1e-3)


def test_dealing_out_in_turn_stops_where_a_section_is_used_up():
    case = by_name("cases_axes.json", "id")["RI-152"]
    axis = mrope_axes(case["inputs"]["sections"], interleaved=True)
    assert axis.dtype == np.int64
    assert axis.tolist() == case["expected"]["axis"]
    assert np.bincount(axis).tolist() == case["expected"]["counts"]
    for wrong in case["wrong_values"].values():
        assert axis.tolist() != wrong["axis"]
    assert mrope_axes(case["inputs"]["sections"]).tolist() == case["wrong_values"]["chunked"]["axis"]
    assert mrope_axes((11, 11, 10), interleaved=True).tolist() == [i % 3 for i in range(32)]


@pytest.mark.parametrize("interleaved", [False, True])
def test_text_turns_as_with_one_position_also_on_scaled_frequencies(interleaved):
    ids = mrope_position_ids([("text", 6)])
    inv_freq = inverse_frequencies(16) * np.linspace(1, 0.25, 8)
    got = mrope_angles(ids, inv_freq, (4, 2, 2), interleaved=interleaved)
    assert_array_equal(got, rotation_angles(np.arange(6), inv_freq))


def test_scaled_frequencies_scale_every_section():
    ids = mrope_position_ids([("text", 1), ("image", (1, 3, 2))])
    want = mrope_angles(ids / 4, inverse_frequencies(16), (2, 3, 3))
    assert_array_equal(mrope_angles(ids, inverse_frequencies(16) / 4, (2, 3, 3)), want)


def test_text_after_an_image_resumes_after_its_largest_id():
    case = by_name("cases_axes.json", "id")["RI-154"]
    segments = [
        ("text", case["inputs"]["text"]),
        ("image", case["inputs"]["grid"]),
        ("text", case["inputs"]["text_after"]),
    ]
    for rule in ("largest", "grid"):
        ids = mrope_position_ids(segments, after_video=rule)
        assert ids.dtype == np.int64
        assert ids.T.tolist() == case["expected"]
        assert ids.T.tolist() not in case["wrong_values"].values()


@pytest.mark.parametrize(
    ("name", "segments"),
    [
        ("qwen2vl_image_4x6_merge2_text3_text2", [("text", 3), ("image", (1, 2, 3)), ("text", 2)]),
        (
            "qwen2_5_vl_video_3x4x4_merge2_1s_per_grid_tps2",
            [("text", 2), ("video", (3, 2, 2), 2.0), ("text", 1)],
        ),
    ],
)
def test_ids_are_those_of_the_released_code(name, segments):
    outputs = MROPE[name]["outputs"]
    ids = mrope_position_ids(segments, after_video="grid")
    assert_array_equal(ids, moved(outputs["position_ids_3_b_s"])[0])
    assert ids.max() + 1 - len(ids) == array(outputs["mrope_position_deltas"])[0, 0]


@pytest.mark.parametrize("rule", ["largest", "grid"])
@pytest.mark.parametrize("case", load("axes_models.json")["segments"], ids=lambda case: case["name"])
def test_both_rules_after_a_video_are_those_of_their_releases(case, rule):
    ids = mrope_position_ids(case["segments"], after_video=rule)
    assert_array_equal(ids, case[rule]["position_ids"])
    assert ids.max() + 1 - len(ids) == case[rule]["delta"]
    other = case["grid" if rule == "largest" else "largest"]
    assert ids.tolist() != other["position_ids"]


def test_after_a_long_video_one_rule_repeats_ids_that_frames_have():
    segments = [("text", 3), ("video", (6, 2, 2)), ("text", 3)]
    largest, grid = (mrope_position_ids(segments, after_video=rule) for rule in ("largest", "grid"))
    assert_array_equal(largest[-3:], [[9] * 3, [10] * 3, [11] * 3])
    assert_array_equal(grid[-3:], [[5] * 3, [6] * 3, [7] * 3])
    assert_array_equal(largest[:-3], grid[:-3])
    assert grid[:-3, 0].max() == 8 and grid.max() + 1 == 9


sizes = st.integers(1, 3)
SEGMENTS = st.one_of(
    st.tuples(st.just("text"), sizes),
    st.tuples(st.just("image"), st.tuples(st.just(1), sizes, sizes)),
    st.tuples(st.just("video"), st.tuples(sizes, sizes, sizes)),
    st.tuples(st.just("video"), st.tuples(sizes, sizes, sizes), st.sampled_from([0.5, 0.75, 2, 3])),
)


@given(st.lists(SEGMENTS, min_size=1, max_size=5), st.sampled_from(["largest", "grid"]))
def test_ids_are_those_of_a_plain_loop(segments, rule):
    want, start = [], 0
    for kind, size, *interval in segments:
        if kind == "text":
            want += [(start + i,) * 3 for i in range(size)]
            start += size
            continue
        step = interval[0] if interval else 1
        piece = [(start + math.floor(t * step), start + h, start + w) for t, h, w in np.ndindex(*size)]
        start = max(map(max, piece)) + 1 if rule == "largest" else start + max(size[1:])
        want += piece
    assert_array_equal(mrope_position_ids(segments, after_video=rule), want)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: mrope_axes((2, 3)), ValueError, "sections must be three counts of pairs, .* got 2"),
        (lambda: mrope_axes((2, 3, 0)), ValueError, "sections must be positive, got 0"),
        (lambda: mrope_axes((2, 3, 3.0)), TypeError, "sections must be an integer, got 3.0"),
        (lambda: mrope_axes(8), TypeError, "sections must be three counts of pairs, got 8"),
        (
            lambda: mrope_axes((2, 3, 3), interleaved=True),
            ValueError,
            r"sections must leave room .*got \(2, 3, 3\): .* \(3, 3, 2\)",
        ),
        (
            lambda: mrope_angles(np.zeros((4, 3)), np.ones(8), (2, 3, 4)),
            ValueError,
            "sections must add up to the 8 pairs of inv_freq, got 9",
        ),
        (
            lambda: mrope_angles(np.zeros((3, 1, 4)), np.ones(8), (2, 3, 3)),
            ValueError,
            r"position_ids must have shape \(\.\.\., seq_len, 3\).*got \(3, 1, 4\); np.moveaxis",
        ),
        (lambda: mrope_angles(5, np.ones(8), (2, 3, 3)), ValueError, "position_ids must have shape"),
        (lambda: mrope_angles([["a"] * 3], np.ones(8), (2, 3, 3)), TypeError, "position_ids must hold real numbers"),
    ],
)
def test_wrong_sections_and_ids_are_refused_by_name(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("segments", "error", "message"),
    [
        ([], ValueError, "segments must hold at least one segment"),
        (["text"], ValueError, r"segments\[0\] must be \(kind, size\)"),
        ([("text", 1), ("text",)], ValueError, r"segments\[1\] must be \(kind, size\)"),
        ([("video", (1, 1, 1), 1, 1)], ValueError, r"segments\[0\] must be \(kind, size\)"),
        ([("audio", 3)], ValueError, r"the kind of segments\[0\] must be 'text', 'image' or 'video', got 'audio'"),
        ([(0, 3)], ValueError, r"the kind of segments\[0\] must be 'text', 'image' or 'video', got 0"),
        ([("text", 0)], ValueError, r"segments\[0\] must be positive, got 0"),
        ([("text", 1.5)], TypeError, r"segments\[0\] must be an integer, got 1.5"),
        ([("text", 3, 1)], ValueError, r"segments\[0\] must have no interval"),
        ([("image", (1, 2, 2), 1)], ValueError, r"segments\[0\] must have no interval"),
        ([("image", (2, 2, 2))], ValueError, r"segments\[0\] must have one frame, as an image has, got 2"),
        ([("image", (2, 2))], ValueError, r"segments\[0\] must be 3 counts, got 2"),
        ([("image", 4)], TypeError, r"segments\[0\] must be 3 counts, got 4"),
        ([("video", (2, 0, 2))], ValueError, r"segments\[0\] must be positive, got 0"),
        ([("video", (2, 1.5, 2))], ValueError, r"segments\[0\] must be a whole number of patches, got 1.5"),
        ([("video", (2, 2, 2), 0)], ValueError, r"the interval of segments\[0\] must be positive and finite .*, got 0"),
        ([("video", (2, 2, 2), np.nan)], ValueError, r"the interval of segments\[0\] must be positive and finite"),
        ([("video", (2, 2, 2), "1")], TypeError, r"the interval of segments\[0\] must be a number, got '1'"),
        ([("video", (2, 2, 2), 1e300)], ValueError, r"the interval of segments\[0\] must keep positions within"),
    ],
)
def test_wrong_segments_are_refused_by_number(segments, error, message):
    with pytest.raises(error, match=message):
        mrope_position_ids(segments)


def test_an_unknown_rule_after_a_video_is_refused():
    with pytest.raises(ValueError, match="after_video must be 'largest' or 'grid', got 'max'"):
        mrope_position_ids([("text", 1)], after_video="max")
