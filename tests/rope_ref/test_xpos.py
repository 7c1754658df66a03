"""xPos: sizes that fall with distance, centred anywhere, and refused where a dtype cannot hold them."""

import json

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import MP
from places import DATA

from rope_ref import apply_rope, attention_scores, cos_sin, inverse_frequencies, rotation_angles
from rope_ref.xpos import apply_xpos, xpos_scales

GOLDEN = {case["name"]: case for case in json.loads((DATA / "xpos.json").read_text(encoding="utf-8"))["cases"]}
CASES = {case["id"]: case for case in json.loads((DATA / "cases_xpos.json").read_text(encoding="utf-8"))["cases"]}
DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}
RNG = np.random.default_rng(0)
Q, K = RNG.standard_normal((2, 40, 8))


def turn(x, positions, *, downscale=False, pairing="interleaved", **options):
    """xPos of vectors at positions, with the default base."""
    width = np.shape(x)[-1]
    angles, scales = rotation_angles(positions, inverse_frequencies(width)), xpos_scales(positions, width, **options)
    return apply_xpos(x, angles, scales, downscale=downscale, pairing=pairing)


def scores(queries, keys, **options):
    """Scores of queries and keys, each given as (vectors, positions)."""
    return attention_scores(turn(*queries, **options), turn(*keys, downscale=True, **options), scale=1)


def array(stored):
    """An array of a data file."""
    return np.array(stored["data"]).reshape(stored["shape"])


# By hand.


def test_scales_by_hand():
    assert_allclose(xpos_scales([0, 512, 1024], 4)[:, 0], [1, 2 / 7, 4 / 49], rtol=1e-15, atol=0)
    assert_allclose(xpos_scales(512, 4), [0.4 / 1.4, 0.9 / 1.4], rtol=1e-15, atol=0)
    assert_allclose(np.prod(xpos_scales([3, 5], 4, center=4), axis=0), [1, 1], rtol=1e-15, atol=0)
    assert_allclose(xpos_scales([8], 2, scale_base=8), [[2 / 7]], rtol=1e-15, atol=0)
    assert_allclose(xpos_scales([512], 128)[0, 0], 0.2857, rtol=0, atol=5e-5)


def test_query_shrinks_and_key_grows_by_hand():
    # One pair, a quarter turn, and the size 2 / 7 at position 512.
    quarter, scales = [[np.pi / 2]], xpos_scales([512], 2)
    assert_allclose(apply_xpos([[7.0, 0.0]], quarter, scales), [[0, 2]], rtol=0, atol=1e-15)
    assert_allclose(apply_xpos([[2.0, 0.0]], quarter, scales, downscale=True), [[0, 7]], rtol=0, atol=1e-15)


@pytest.mark.parametrize("pairing", ["interleaved", "half"])
@pytest.mark.parametrize("downscale", [False, True])
def test_xpos_is_the_turn_by_scaled_cosines_and_sines(pairing, downscale):
    positions = np.arange(40)
    cos, sin = cos_sin(rotation_angles(positions, inverse_frequencies(8)))
    scales = xpos_scales(positions, 8)
    sizes = 1 / scales if downscale else scales
    want = apply_rope(Q, sizes * cos, sizes * sin, pairing=pairing)
    assert_array_equal(turn(Q, positions, downscale=downscale, pairing=pairing), want)


def test_features_beyond_the_pairs_are_copied():
    x = np.concatenate((Q, K), axis=-1)
    positions = np.arange(40)
    angles, scales = rotation_angles(positions, inverse_frequencies(8)), xpos_scales(positions, 8)
    got = apply_xpos(x, angles, scales)
    assert_array_equal(got[:, 8:], K)
    assert_array_equal(got[:, :8], turn(Q, positions))


def test_scales_equal_50_digits():
    positions = np.array([-5000, -1, 0, 1, 511, 4096, 100_000])
    want = [
        [((MP.mpf(2 * j) / 64 + MP.mpf("0.4")) / MP.mpf("1.4")) ** (MP.mpf(int(m) - 100) / 512) for j in range(32)]
        for m in positions
    ]
    assert_allclose(xpos_scales(positions, 64, center=100), np.array(want, float), rtol=1e-13, atol=0)


# The score.


@pytest.mark.parametrize("pairing", ["interleaved", "half"])
def test_score_is_a_matter_of_distance_alone(pairing):
    m, n = np.array([700, 1700, 5, 9000]), np.array([188, 1188, -507, 8488])
    got = [scores((Q[:1], [i]), (K[:1], [j]), pairing=pairing)[0, 0] for i, j in zip(m, n, strict=True)]
    assert_allclose(got, got[0], rtol=1e-10, atol=0)
    assert not np.isclose(got[0], scores((Q[:1], [188]), (K[:1], [700]), pairing=pairing)[0, 0], rtol=1e-3, atol=0)


@pytest.mark.parametrize("center", [0, 20, 4096.5])
def test_score_does_not_depend_on_the_centre(center):
    positions = np.arange(40)
    assert_allclose(
        scores((Q, positions), (K, positions), center=center),
        scores((Q, positions), (K, positions)),
        rtol=0,
        atol=1e-12,
    )


def test_decoding_with_cached_keys_gives_the_scores_of_the_full_pass():
    full = scores((Q, np.arange(40)), (K, np.arange(40)), scale_base=16)
    cached = np.concatenate(
        [
            turn(K[start : start + 8], np.arange(start, start + 8), downscale=True, scale_base=16)
            for start in range(0, 40, 8)
        ]
    )
    rows = [attention_scores(turn(Q[m : m + 1], [m], scale_base=16), cached, scale=1)[0] for m in range(40)]
    assert_allclose(rows, full, rtol=0, atol=1e-12)


def test_centre_on_the_number_of_queries_as_in_lucidrains_0_9_1_spoils_cached_keys():
    full = scores((Q, np.arange(40)), (K, np.arange(40)), scale_base=16, center=20)
    keys = turn(K, np.arange(40), downscale=True, scale_base=16, center=20)
    last = turn(Q[39:], [39], scale_base=16, center=39)  # one query: its own centre
    assert np.max(np.abs(attention_scores(last, keys, scale=1) - full[39:])) > 0.1


def test_scale_laid_out_in_halves_on_interleaved_pairs_as_in_lucidrains_0_6_5_is_no_matter_of_distance():
    def faulty(x, m, downscale):
        cos, sin = cos_sin(rotation_angles([m], inverse_frequencies(8)))
        scales = np.tile(xpos_scales([m], 8), 2)  # features 0 ... 7 take the scales of pairs 0 1 2 3 0 1 2 3
        return apply_rope(x, cos, sin) * (1 / scales if downscale else scales)

    pairs = [(700, 188), (1700, 1188)]
    wrong = [(faulty(Q[:1], m, False) @ faulty(K[:1], n, True).T).item() for m, n in pairs]
    right = [scores((Q[:1], [m]), (K[:1], [n]))[0, 0] for m, n in pairs]
    assert_allclose(*right, rtol=1e-11, atol=0)
    assert abs(wrong[0] - right[0]) > 1e-3


def test_sizes_fall_for_past_keys_and_explode_for_future_ones():
    ones = np.ones((1, 64))
    past, future = (scores((ones, [m]), (ones, [0]))[0, 0] for m in (4096, -4096))
    assert 0 < past < 64 * 0.05
    assert abs(future) > 64 * 100


# Against what public implementations returned.


@pytest.mark.parametrize(("name", "center"), [("torchscale_S4", (4 + 1) // 2), ("lucidrains_S4", 4 // 2)])
def test_public_implementations_return_the_same(name, center):
    case = GOLDEN[name]
    x, outputs = array(case["inputs"]["x"]), case["outputs"]
    for key, downscale in (("q", False), ("k", True)):
        got = turn(x, np.arange(4), downscale=downscale, center=center)
        assert_allclose(got, array(outputs[key]), rtol=0, atol=1e-6)
    if "zeta" in outputs:
        assert_allclose(xpos_scales(512, 8), array(outputs["zeta"]), rtol=1e-6, atol=0)


def test_torchscale_decodes_as_it_computes_the_full_pass():
    case = GOLDEN["torchscale_decode_last_of_5"]
    x, outputs = array(case["inputs"]["x"]), case["outputs"]
    got = turn(x, np.arange(5), center=(5 + 1) // 2)
    assert_allclose(got[:, -1:], array(outputs["q_last"]), rtol=0, atol=1e-6)
    keys = turn(x, np.arange(5), downscale=True, center=(5 + 1) // 2)
    assert_allclose(keys, array(outputs["k"]), rtol=0, atol=1e-6)
    assert np.max(np.abs(keys - turn(x, np.arange(5), downscale=True, center=5 // 2))) > 1e-4  # lucidrains' centre


# Cases of public fault reports.


def test_ri_130_score_at_two_shifted_pairs():
    case = CASES["RI-130"]
    q, k = [case["inputs"]["q"]], [case["inputs"]["k"]]
    got = [scores((q, [m]), (k, [n]))[0, 0] for m, n in case["inputs"]["pairs"]]
    assert_allclose(got, case["expected"], **case["tolerance"])
    for wrong in case["wrong_values"].values():
        assert not np.allclose(got, wrong, **case["tolerance"])
    same = [attention_scores(turn(q, [m]), turn(k, [n]), scale=1)[0, 0] for m, n in case["inputs"]["pairs"]]
    assert_allclose(same, case["wrong_values"]["key_scale_not_inverted"], rtol=1e-11, atol=1e-12)


def test_ri_132_sizes_at_large_positions():
    case = CASES["RI-132"]
    expected = case["expected"]
    (query,), (key,) = (xpos_scales([position], 4)[:, 0] for position in case["inputs"]["positions"])
    assert_allclose(query / key, expected["score_factor"], **case["tolerance"])
    assert_allclose(-np.log(query), expected["log_key_scale_at_40000"], **case["tolerance"])
    for dtype in ("float32", "float16"):
        limit = expected[f"{dtype}_limit_position"]
        assert_allclose(1 / xpos_scales(limit, 4)[0], float(np.finfo(dtype).max), rtol=1e-11, atol=0)


# What a dtype cannot hold is refused; what it can hold is right.

LAST = {"float16": 3966, "bfloat16": 35694, "float32": 35694}


@pytest.mark.parametrize("downscale", [False, True])
@pytest.mark.parametrize("dtype", LAST)
def test_position_beyond_a_dtype_is_refused_and_the_last_one_is_right(dtype, downscale):
    x, last = np.ones((1, 4), DTYPES[dtype]), LAST[dtype]
    got = turn(x, [last], downscale=downscale)
    assert got.dtype == x.dtype
    want = turn(np.ones((1, 4)), [last], downscale=downscale)
    step = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6}[dtype]
    assert_allclose(got.astype(float), want, rtol=0, atol=step * np.max(np.abs(want)))
    with pytest.raises(
        ValueError, match=f"scales must be numbers that {dtype} holds, and 1 over them too, got .*center"
    ):
        turn(x, [last + 1], downscale=downscale)
    assert np.isfinite(turn(x, [last + 1], center=last, downscale=downscale).astype(float)).all()


def test_result_beyond_a_dtype_is_refused_without_a_warning():
    x = np.full((1, 2), 60000, np.float16)
    with pytest.raises(
        ValueError, match="x must be small enough for float16 to hold the result, got one that overflows"
    ):
        turn(x, [1000], downscale=True)
    assert np.isfinite(turn(x, [1000])).all()


def test_position_beyond_float64_is_refused():
    assert np.isfinite(xpos_scales([280_000, -280_000], 4)).all()
    for position in (300_000, -300_000):
        with pytest.raises(ValueError, match=f"position_ids must be near enough to center .* got {position}"):
            xpos_scales([0, position], 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([True], 4), "position_ids must hold real numbers"),
        (([np.nan], 4), "position_ids must be finite"),
        (([0], 5), "rotary_dim must be even, got 5"),
        (([0], 4.0), "rotary_dim must be an integer, got 4.0"),
    ],
)
def test_bad_arguments_of_the_scales_are_named(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        xpos_scales(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale_base": 0}, "scale_base must be positive"),
        ({"scale_base": "512"}, "scale_base must be a number, got '512'"),
        ({"center": [0, 1]}, r"center must be one number, got shape \(2,\)"),
        ({"center": None}, "center must hold real numbers"),
        ({"center": np.inf}, "center must be finite"),
    ],
)
def test_bad_options_of_the_scales_are_named(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        xpos_scales([0], 4, **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": np.ones((3, 4), int)}, "x must be of float16"),
        ({"scales": np.ones((3, 1))}, r"scales must have the shape of angles, \(3, 2\), got \(3, 1\)"),
        ({"scales": np.zeros((3, 2))}, "scales must be positive, got 0.0"),
        ({"scales": np.full((3, 2), np.nan)}, "scales must be finite, got nan"),
        ({"downscale": None}, r"downscale must be True \(keys\) or False \(queries\), got None"),
        ({"pairing": "neox"}, "pairing must be 'interleaved' or 'half'"),
        ({"x": np.ones((5, 4))}, "cos and sin must have shape"),
        ({"angles": np.ones((3, 2), complex)}, "angles must hold real numbers"),
    ],
)
def test_bad_arguments_of_the_turn_are_named(change, message):
    arguments = {"x": np.ones((3, 4)), "angles": np.zeros((3, 2)), "scales": np.ones((3, 2)), **change}
    with pytest.raises((TypeError, ValueError), match=message):
        apply_xpos(arguments.pop("x"), arguments.pop("angles"), arguments.pop("scales"), **arguments)


def test_inputs_are_left_unchanged():
    x, angles, scales = np.ones((3, 4)), np.ones((3, 2)), np.full((3, 2), 0.5)
    apply_xpos(x, angles, scales, downscale=True)
    assert (x == 1).all() and (angles == 1).all() and (scales == 0.5).all()
