"""Each kind of fault in a hundred random settings, public reports, and right outputs, never to be called wrong."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from places import DATA
from random_settings import BFLOAT16, Setting, held

from rope_ref import positions, scaling
from rope_ref.diagnosis import diagnose
from rope_ref.faults import Turn

CASES = {case["id"]: case for case in json.loads((DATA / "diagnosis_cases.json").read_text("utf-8"))["cases"]}
SETTINGS = 100


def explained(found, name):
    """Whether a fault alone explains an output; the pairing is not told, so the other one may be listed too."""
    return any(set(each.faults) - {"other pairing"} == {name} for each in found.explanations)


# Kinds: from a setting to the positions that were meant and the output, with the fault that made it ----------------


def cut_at(s, least=2):
    return int(s.rng.integers(least, s.tokens - 2))


def far(s):
    """Positions that bfloat16 cannot hold."""
    return s.ids + 1001


def stuck(s):
    return s.ids, s.turned(np.where(np.arange(s.tokens) < cut_at(s), s.ids, 0))


def clamped(s):
    return s.ids, s.turned(np.minimum(s.ids, s.ids[cut_at(s)]))


def restart(s):
    first = int(s.rng.integers(3, s.tokens // 2))
    second = int(s.rng.integers(first + 2, s.tokens - 1))
    return s.ids, s.turned(np.concatenate((s.ids[:first], np.arange(second - first), np.arange(s.tokens - second))))


def jump(s):
    return s.ids, s.turned(s.ids + int(s.rng.integers(3, 40)) * (np.arange(s.tokens) >= cut_at(s)))


def chunks(s):
    parts = np.array_split(s.ids, 4)
    return s.ids, s.turned(np.concatenate([parts[0], parts[3], parts[1], parts[2]]))


def offset(s):
    return s.ids, s.turned(s.ids + int(s.rng.integers(2, 200)))


def anew(s):
    ids = s.ids + np.cumsum(s.rng.integers(1, 4, s.tokens))
    return ids, s.turned(np.arange(s.tokens))


def one_position(s):
    return s.ids, s.turned(np.full(s.tokens, int(s.rng.choice([0, 3]))))


def rounded_tables(s):
    s.out = s.dtype = np.float32
    s.x = s.x.astype(np.float32)
    return s.ids, s.turned(s.ids, table=lambda table: held(table, BFLOAT16))


def all_rounded(s):
    angles = np.multiply.outer(held(far(s), BFLOAT16), held(s.inv_freq(), BFLOAT16))
    return far(s), s.turned(far(s), angles=held(angles, BFLOAT16))


def grown_in_bfloat16(s):
    cut = cut_at(s, 4)
    late = np.multiply.outer(held(s.ids[cut:], BFLOAT16), held(s.inv_freq(), BFLOAT16))
    early = np.multiply.outer(s.ids[:cut], s.inv_freq())
    s.ids_cut = cut
    return s.ids, s.turned(s.ids, angles=np.concatenate((early, held(late, BFLOAT16))))


KINDS = {
    "frequencies rounded to bfloat16": lambda s: (s.ids, s.turned(s.ids, held(s.inv_freq(), BFLOAT16))),
    "frequencies rounded to float16": lambda s: (far(s), s.turned(far(s), held(s.inv_freq(), np.float16))),
    "all pairs turn alike": lambda s: (s.ids, s.turned(s.ids, np.ones(s.width // 2))),
    "wrong base": lambda s: (s.ids, s.turned(s.ids, s.inv_freq(3 * s.base))),
    "linear scaling": lambda s: (s.ids, s.turned(s.ids, s.inv_freq() / 4)),
    "positions stuck": stuck,
    "positions stuck, clamped": clamped,
    "positions restart": restart,
    "positions jump": jump,
    "positions in other runs": chunks,
    "positions reversed": lambda s: (s.ids, s.turned(s.ids[::-1])),
    "positions off by a constant": offset,
    "positions counted anew from 0": anew,
    "positions ignored": one_position,
    "bfloat16 positions": lambda s: (far(s), s.turned(held(far(s), BFLOAT16))),
    "bfloat16 tables": rounded_tables,
    "bfloat16 positions, frequencies and angles": all_rounded,
}


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_recovered_in_a_hundred_settings(name):
    missed = []
    for seed in range(SETTINGS):
        s = Setting(seed)
        ids, y = KINDS[name](s)
        found = diagnose(s.x, y, ids, **s.meant)
        if not explained(found, name.partition(", c")[0]):
            missed.append((seed, s.width, s.dtype.__name__, s.out.__name__, found.verdict))
    assert missed == []


def test_a_table_that_grew_in_low_precision_is_right_up_to_there():
    for seed in range(SETTINGS):
        s = Setting(seed)
        s.ids = 3000 + np.arange(s.tokens)
        ids, y = grown_in_bfloat16(s)
        found = diagnose(s.x, y, ids, **s.meant)
        assert explained(found, "bfloat16 positions, frequencies and angles"), (seed, found.verdict)
        assert f"right up to token {s.ids_cut - 1:,}" in found.parting
        assert f"from token {s.ids_cut:,} on" in found.verdict


@pytest.mark.parametrize("name", ["positions restart", "positions stuck", "positions jump"])
def test_wrong_positions_are_read_with_no_base_told(name):
    for seed in range(SETTINGS):
        s = Setting(seed, dtypes=(np.float32,))
        ids, y = KINDS[name](s)
        assert explained(diagnose(s.x, y, ids, rotary_dim=s.width), name), seed


@pytest.mark.parametrize("name", ["frequencies rounded to bfloat16", "wrong base"])
def test_width_that_is_not_told_is_no_matter_in_single_precision(name):
    for seed in range(SETTINGS):
        s = Setting(seed, dtypes=(np.float32,))
        s.base = 1e4
        ids, y = KINDS[name](s)
        found = diagnose(s.x, y, ids + 0, base=s.base)
        assert explained(found, name), (seed, found.verdict)


def test_scaling_that_was_left_off_or_is_there_is_named_where_it_was_meant():
    for seed in range(SETTINGS):
        s = Setting(seed)
        meant = scaling.llama3(s.width, s.base, factor=8.0, original_length=128)
        s.ids = 1000 + np.arange(s.tokens)
        left_off = diagnose(s.x, s.turned(s.ids), s.ids, base=s.base, scaling=meant)
        assert explained(left_off, "scaling left off"), (seed, left_off.verdict)
        assert diagnose(s.x, s.turned(s.ids, meant.inv_freq), s.ids, base=s.base, scaling=meant).right, seed


def test_length_factor_that_was_left_off_is_named():
    meant = scaling.yarn(64, factor=16.0, original_length=4096)
    s = Setting(0, dtypes=(np.float32,))
    s.width, s.x = 64, s.x[..., :1].repeat(64, axis=-1) * np.arange(1, 65, dtype=np.float32)
    assert diagnose(s.x, s.turned(s.ids, meant.inv_freq, factor=meant.attention_factor), s.ids, scaling=meant).right
    found = diagnose(s.x, s.turned(s.ids, meant.inv_freq), s.ids, scaling=meant)
    assert explained(found, "wrong length factor")


# What a pattern says -------------------------------------------------------------------------------------------------


def told(actual, meant=None, width=32):
    """Diagnose one row in float32 whose tokens stand at other positions than was meant."""
    s = Setting(1, dtypes=(np.float32,))
    s.width, s.tokens, s.base, s.pairing = width, len(actual), 1e4, "interleaved"
    s.x = s.rng.standard_normal((len(actual), width)).astype(np.float32)
    meant = np.arange(len(actual)) if meant is None else meant
    return diagnose(s.x, s.turned(np.asarray(actual)), meant, base=s.base)


def test_tokens_that_stand_at_one_position_are_counted():
    found = told([*range(8), *[5] * 8])
    assert "tokens 8 to 15 stand at position 5" in found.verdict
    assert found.parting == "right up to token 7; from there all tokens stand at position 5, where 8 was meant"
    assert_allclose(found.position_ids, [*range(8), *[5] * 8], rtol=0, atol=0)


def test_restarts_are_counted_in_words():
    assert "positions restart at token 6" in told([*range(6), *range(10)]).verdict
    many = told([*range(6), *range(5), *range(4), *range(3), *range(5), *range(4)]).verdict
    assert "positions restart at tokens 6, 11, 15 and 2 more" in many
    parting = told([*range(2000), *range(48)]).parting
    assert parting == "right up to token 1,999; from there positions restart at 0, where 2,000 was meant".replace(
        "2,000 was", "2000 was"
    )


def test_parting_of_other_runs_says_how_positions_go_on():
    assert told([*range(6), *range(9, 19)]).parting.startswith("right up to token 5; from there positions go on from 9")
    back = told([*range(6), *range(15, 5, -1)])
    assert back.parting.startswith("right up to token 5; from there positions run backwards from 15")
    assert back.faults == ("positions in other runs",)
    assert told(range(3, 19)).parting == ""


def test_runs_in_a_batch_are_read_too():
    s = Setting(0, dtypes=(np.float32,))
    s.x, s.width, s.base = s.rng.standard_normal((2, 3, 12, 16)).astype(np.float32), 16, 1e4
    meant = np.stack((np.arange(12), np.arange(20, 32)))
    actual = meant.copy()
    actual[1, 6:] = np.arange(6)
    found = diagnose(s.x, s.turned(actual), meant, base=1e4)
    assert found.faults == ("positions restart",)
    assert "token 18" in found.verdict
    # Positions told for one sequence, those of the other differ: seen without being told.
    assert diagnose(s.x, s.turned(meant), np.arange(12), base=1e4).faults == ("positions jump",)


def test_call_of_each_pattern_gives_the_output_back():
    from rope_ref import apply_rope, cos_sin, inverse_frequencies, rotation_angles

    names = {"np": np, "apply_rope": apply_rope, "cos_sin": cos_sin, "rotation_angles": rotation_angles}
    names |= {"inverse_frequencies": inverse_frequencies, "position_ids": np.arange(16), "Turn": Turn}
    restart, stuck, jump = [*range(6), *range(10)], [*range(8), *[0] * 8], [*range(4), *range(9, 21)]
    for actual in (restart, stuck, jump, range(15, -1, -1), [5] * 16):
        s = Setting(1, dtypes=(np.float32,))
        s.width, s.x = 32, s.rng.standard_normal((16, 32)).astype(np.float32)
        s.base, s.pairing = 1e4, "interleaved"
        found = diagnose(s.x, s.turned(np.array(actual)), np.arange(16), base=1e4)
        got = eval(found.call, {**names, "x": s.x})
        assert_allclose(got, s.turned(np.array(actual)), rtol=0, atol=3e-6)
        right = eval(found.meant, {**names, "x": s.x})
        assert_allclose(right, s.turned(np.arange(16)), rtol=0, atol=3e-6)


def test_report_is_plain_data_for_programs():
    found = told([*range(6), *range(10)])
    data = json.loads(json.dumps(found.to_dict()))
    assert data["faults"] == ["positions restart"]
    assert (data["right"], data["rope"], data["dtype"]) == (False, True, "float32")
    first = data["explanations"][0]
    assert first["position_ids"][6:8] == [0.0, 1.0]
    assert len(first["inv_freq"]) == 16
    assert json.loads(json.dumps(diagnose(np.eye(4), np.eye(4)[::-1]).to_dict()))["error"] is None


# Public reports ------------------------------------------------------------------------------------------------------


def case(number, tokens, width, dtype=np.float32):
    s = Setting(0, dtypes=(dtype,))
    s.x, s.width, s.tokens = s.rng.standard_normal((tokens, width)).astype(dtype), width, tokens
    s.base = 1e4
    return CASES[number], s


@pytest.mark.parametrize("pairing", ["interleaved", "half"])
@pytest.mark.parametrize(("number", "tokens", "dtype"), [("ND-01a", 16, np.float32), ("ND-01b", 16, np.float32)])
def test_reported_frequencies_in_bfloat16(number, tokens, dtype, pairing):
    each = CASES[number]["input"]
    own = np.array(each.get("inv_freq rounded to bfloat16", each.get("inv_freq")))
    _, s = case(number, tokens, each["head_dim"], dtype)
    s.pairing = pairing
    found = diagnose(s.x, s.turned(np.arange(tokens), own), np.arange(tokens), base=1e4)
    assert explained(found, "frequencies rounded to bfloat16")
    assert "wrong base" not in found.faults
    assert "frequencies rounded to bfloat16" in found.verdict


def test_reported_frequencies_in_bfloat16_with_data_in_bfloat16():
    _, s = case("ND-01d", 512, 128, BFLOAT16)
    s.out = BFLOAT16
    found = diagnose(s.x, s.turned(np.arange(512), held(s.inv_freq(), BFLOAT16)), np.arange(512), base=1e4)
    assert explained(found, "frequencies rounded to bfloat16")


def test_reported_integer_exponent():
    _, s = case("ND-02b", 16, 64)
    found = diagnose(s.x, s.turned(np.arange(16), np.ones(32)), np.arange(16))
    assert explained(found, "all pairs turn alike")
    assert "exponent came out 0" in str(found)


def test_reported_decoding_at_position_0():
    _, s = case("ND-05", 32, 64)
    found = diagnose(s.x, s.turned(np.r_[np.arange(8), np.zeros(24)]), np.arange(32), base=1e4)
    assert CASES["ND-05"]["right"] == "tokens 8..31 stand at position 0"
    assert "tokens 8 to 31 stand at position 0" in found.verdict


def test_reported_packing():
    _, s = case("ND-07", 32, 64)
    found = diagnose(s.x, s.turned(np.r_[np.arange(10), np.arange(12), np.arange(10)]), np.arange(32), base=1e4)
    assert CASES["ND-07"]["right"] in found.verdict


def test_reported_axes():
    each, s = case("ND-10b", 32, 64)
    grid = np.indices(each["input"]["grid"]).reshape(3, -1).T
    angles = [
        np.multiply.outer(grid[:, axis], 1e4 ** (-np.arange(0, width, 2) / width))
        for axis, width in enumerate(each["input"]["widths t,h,w"])
    ]
    y = s.turned(None, angles=np.concatenate(angles, axis=-1))
    assert diagnose(s.x, y, grid, base=1e4).right
    found = diagnose(s.x, y, np.arange(32), base=1e4)
    assert found.verdict == "RoPE, with several axes: the tokens fill a grid of 2 x 4 x 4" or found.faults == (
        "several axes",
    )


def test_reported_scaling_with_equal_limits():
    _, s = case("ND-16", 64, 128)
    own = 5e5 ** (-np.arange(0, 128, 2) / 128)
    own = np.where(own * 8192 / (2 * np.pi) > 1, own, own / 16)
    found = diagnose(s.x, s.turned(np.arange(64), own), np.arange(64), base=5e5)
    assert found.faults == ("Llama 3 scaling",)
    assert found.verdict.startswith("RoPE, with Llama 3 scaling")
    assert "factor=16.0, original_length=8192, low_freq_factor=1.0, high_freq_factor=1.0" in found.call


# Right outputs -------------------------------------------------------------------------------------------------------


def scaled(rng, width, base):
    """A random scaling of any kind."""
    length, factor = int(2 ** rng.integers(9, 16)), float(rng.choice([2, 4, 8, 1.5, rng.uniform(1, 40)]))
    both = {"factor": factor, "original_length": length}
    seq_len = int(length * rng.uniform(0.5, 4)) + 1
    lists = {"short_factor": rng.uniform(1, 2, width // 2), "long_factor": rng.uniform(1, 30, width // 2)}
    choices = [
        lambda: scaling.linear(width, base, factor=factor),
        lambda: scaling.ntk(width, base, factor=factor),
        lambda: scaling.dynamic_ntk(width, base, **both, seq_len=seq_len),
        lambda: scaling.ntk_by_parts(width, base, **both),
        lambda: scaling.ntk_by_parts_v1(width, base, **both),
        lambda: scaling.yarn(width, base, **both, truncate=bool(rng.integers(2))),
        lambda: scaling.llama3(width, base, **both, high_freq_factor=float(rng.choice([1, 4]))),
        lambda: scaling.longrope(width, base, **both, seq_len=seq_len, **lists),
        lambda: scaling.proportional(width, base, factor=factor, partial_rotary_factor=0.5),
    ]
    return choices[int(rng.integers(len(choices)))]()


def with_axes(s, rng):
    """Coordinates of a grid or of text with an image, and the angles of three axes, in blocks or in turn."""
    pairs = s.width // 2
    if rng.random() < 0.5:
        ids = positions.video_grid(*(int(size) for size in rng.integers(1, 5, 3)))
        parts = [int(2 * part) for part in rng.multinomial(pairs - 3, [1 / 3] * 3) + 1]
        if pairs % 3 == 0 and rng.random() < 0.5:
            return ids, positions.axial_angles(ids, [2 * pairs // 3] * 3, s.base, alternating=True)
        return ids, positions.axial_angles(ids, parts, s.base)
    image = ("image", (1, *(int(size) for size in rng.integers(1, 5, 2))))
    ids = positions.mrope_position_ids([("text", int(rng.integers(1, 8))), image, ("text", 3)])
    if rng.random() < 0.5:
        third = pairs // 3
        return ids, positions.mrope_angles(ids, s.inv_freq(), (pairs - 2 * third, third, third), interleaved=True)
    parts = tuple(int(part) for part in rng.multinomial(pairs - 3, [1 / 3] * 3) + 1)
    return ids, positions.mrope_angles(ids, s.inv_freq(), parts)


def right_setting(seed):
    """A right output of any kind: input, output, positions and what was meant."""
    s = Setting(seed, dtypes=(np.float32, BFLOAT16, np.float16, np.float64))
    rng, kind, given = s.rng, seed % 6, dict(s.meant)
    if rng.random() < 0.5:
        del given["rotary_dim"]
    if kind == 0:
        given["scaling"] = found = scaled(rng, s.width, s.base)
        return s.x, s.turned(s.ids, found.inv_freq, factor=found.attention_factor), s.ids, given
    if kind == 1 and s.x.ndim == 4:
        mask = np.sort(rng.integers(0, 2, (2, s.tokens)), axis=1) | (np.arange(s.tokens) == s.tokens - 1)
        ids = positions.from_attention_mask(mask)
    elif kind == 2:
        lengths = rng.multinomial(s.tokens - 3, [1 / 3] * 3) + 1
        ids = positions.packed([int(length) for length in lengths])
    elif kind == 3:
        ids = np.sort(rng.uniform(0, 500, s.tokens)) if rng.random() < 0.5 else rng.permutation(1000)[: s.tokens]
    elif kind == 4:
        ids, angles = with_axes(s, rng)
        s.x = rng.standard_normal((*s.x.shape[:-2], len(ids), s.x.shape[-1])).astype(s.dtype)
        return s.x, s.turned(ids, angles=angles), ids, given
    else:
        ids = s.ids
    return s.x, s.turned(ids), ids, given


def test_a_right_output_is_never_called_wrong():
    wrong = []
    for seed in range(600):
        x, y, ids, given = right_setting(seed)
        found = diagnose(x, y, ids, **given)
        wrong += [] if found.right else [(seed, found.verdict)]
    assert wrong == []


# What cannot be known ------------------------------------------------------------------------------------------------


def test_what_cannot_be_known_is_said():
    rng = np.random.default_rng(0)
    one = rng.standard_normal((1, 2)), rng.standard_normal((1, 2))
    assert diagnose(*one).verdict == "too little to tell"
    s = Setting(3, dtypes=(np.float64,))
    s.width, s.pairing, s.x = 2, "interleaved", rng.standard_normal((1, 2))
    found = diagnose(s.x, s.turned(np.array([7])))  # one pair: any position that is 7 but for whole turns
    assert found.apart.startswith("A token at position") or len(found.explanations) == 1
    s.x, s.width = rng.standard_normal((1, 16)).repeat(6, axis=0), 16
    found = diagnose(s.x, s.turned(np.zeros(6)), np.arange(6), base=s.base)  # equal rows, nothing turned
    assert found.verdict == "nothing is turned: the output is the input"


# What the kinds above do not come upon -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-4, 1e4])
def test_size_of_the_input_is_no_matter(size):
    s = Setting(2, dtypes=(np.float32,))
    s.x = (size * s.x).astype(np.float32)
    assert diagnose(s.x, s.turned(s.ids), s.ids, **s.meant).right
    assert explained(diagnose(s.x, s.turned(s.ids + 2), s.ids, **s.meant), "positions off by a constant")
    first, second = s.x[..., :8:2].astype(np.float64), s.x[..., 1:8:2].astype(np.float64)
    angles = np.multiply.outer(s.ids, 1e4 ** (-np.arange(0, 8, 2) / 8))
    y = np.empty((*first.shape[:-1], 8))
    y[..., ::2] = first * np.cos(angles) + second * np.sin(angles)
    y[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
    assert diagnose(s.x[..., :8], y.astype(np.float32), s.ids, base=1e4).faults == ("lost minus",)


def test_tokens_that_are_zero_tell_nothing_and_do_no_harm():
    s = Setting(4, dtypes=(np.float32,))
    s.x[..., 3, :] = 0
    assert diagnose(s.x, s.turned(s.ids), s.ids, **s.meant).right
    grid = np.stack((s.ids // 4, s.ids % 4), axis=-1)
    half = s.width // 4
    ladders = [1e4 ** (-np.arange(count) / count) for count in (half, s.width // 2 - half)]
    angles = np.concatenate([np.multiply.outer(grid[:, axis], own) for axis, own in enumerate(ladders)], axis=-1)
    assert diagnose(s.x, s.turned(None, angles=angles), grid, base=1e4, rotary_dim=s.width).right


def test_two_fields_are_named_together():
    s = Setting(7, dtypes=(np.float32,))
    s.pairing = "interleaved"
    back = s.turned(s.ids, -s.inv_freq(), table=lambda table: held(table, BFLOAT16))
    assert diagnose(s.x, back, s.ids, **s.meant).faults == ("opposite direction", "bfloat16 tables")
    rng = np.random.default_rng(0)
    own = -np.sort(rng.uniform(0.05, 1, s.width // 2))[::-1]
    found = diagnose(s.x, s.turned(np.arange(s.tokens), own), np.arange(s.tokens), **s.meant)
    assert found.faults == ("opposite direction", "frequencies of no known law")
    assert_allclose(found.inv_freq, -own, rtol=0, atol=1e-6)


def test_width_of_the_scaling_that_was_meant_is_the_one_that_turns():
    s = Setting(3, dtypes=(np.float32,))
    s.width, s.pairing, s.x = 32, "half", s.rng.standard_normal((12, 48)).astype(np.float32)
    meant = scaling.proportional(32, partial_rotary_factor=0.5)
    found = diagnose(s.x, s.turned(np.arange(12), meant.inv_freq), scaling=meant)
    assert found.right
    assert found.rotary_dim == 32
    narrower = diagnose(s.x, s.turned(np.arange(12), meant.inv_freq), scaling=meant, rotary_dim=48)
    assert not narrower.right
