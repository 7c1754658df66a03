"""A key dropped, added, nulled, renamed or of a wrong type: right or a clear error, never another number in silence."""

import copy
import json
import random

import numpy as np
import pytest
from places import DATA

from rope_ref import from_config, rope_of_layers

KEPT = json.loads((DATA / "mutants.json").read_text(encoding="utf-8"))["cases"]
PUBLISHED = json.loads((DATA / "configs.json").read_text(encoding="utf-8"))["cases"]
# Where the file is followed and transformers 5.24.0 is not: it passes over the flat keys of MiMo-V2-Flash for values of
# its own, and gives the base of OLMo 3 to the full layers alone, since it is taken out before the others ask.
FOLLOWED = {
    "XiaomiMiMo/MiMo-V2-Flash": "rope_theta swa_rope_theta partial_rotary_factor",
    "allenai/Olmo-3": "rope_theta",
}
VALUES = [None, True, False, 0, 1, 2, -1, 0.5, 1e400, "x", "1", [], [1], {}, {"a": 1}, {"rope_theta": {}}]


def same(rope, ladder):
    """Whether what was read is what transformers made."""
    if len(rope.scaling.inv_freq) != ladder["pairs"]:
        return False
    close = np.allclose(rope.scaling.inv_freq[ladder["at"]], ladder["inv_freq"], rtol=2e-6, atol=1e-12)
    return close and abs(rope.scaling.attention_factor - ladder["attention_factor"]) < 1e-6


def outcome(case, kind):
    """What reading a mutant gives: right, refused, or another number."""
    try:
        rope = from_config(case["config"], layer_type=kind or None)
    except (TypeError, ValueError) as error:
        assert len(str(error)) > 20
        return "refused"
    return "right" if same(rope, case["ladders"][kind]) else "another number"


def followed(name, how):
    """Whether the file is followed where transformers is not."""
    return any(name.startswith(start) and how.split()[1] in keys.split() for start, keys in FOLLOWED.items())


def test_mutants_are_read_as_transformers_reads_them_or_refused():
    told = [(case["name"], case["how"], outcome(case, kind)) for case in KEPT for kind in case["ladders"]]
    told = [each for each in told if not followed(*each[:2])]
    assert [each for each in told if each[2] == "another number"] == []
    counts = [sum(each[2] == what for each in told) for what in ("right", "refused")]
    assert min(counts) > 150, counts
    ways = {case["how"].split()[0] for case in KEPT}
    assert ways == {"drop", "add", "null", "rename", "wrong"}


def test_another_number_would_be_seen():
    case = copy.deepcopy(next(case for case in KEPT if outcome(case, next(iter(case["ladders"]))) == "right"))
    kind = next(iter(case["ladders"]))
    case["ladders"][kind]["inv_freq"][-1] *= 1.01
    assert outcome(case, kind) == "another number"


def changed(config, rng):
    """A copy of a configuration with a random value under a random key, at any depth."""
    config = copy.deepcopy(config)
    places = [config]
    for place in places:
        places += [value for value in place.values() if isinstance(value, dict)]
    place = rng.choice([place for place in places if place])
    place[rng.choice(sorted(place))] = copy.deepcopy(rng.choice(VALUES))
    return config


@pytest.mark.parametrize("seed", range(20))
def test_no_value_of_any_key_raises_anything_but_a_clear_error(seed):
    rng = random.Random(seed)
    for case in PUBLISHED:
        config = changed(case["config"], rng)
        before = copy.deepcopy(config)
        for read in (from_config, rope_of_layers):
            try:
                read(config)
            except (TypeError, ValueError) as error:
                assert len(str(error)) > 20, (case["name"], config)
        assert config == before or config != config or str(config) == str(before)
