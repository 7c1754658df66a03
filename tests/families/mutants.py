"""Published configurations with one key dropped, added, nulled, renamed or of a wrong type, as transformers reads them.

`make families` writes what transformers makes of each to tests/data/mutants.json; the tests hold that `rope_ref` reads
the same or refuses. A mutant that transformers itself refuses is left out.
"""

import copy
import json
import logging
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import probe
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

DATA = Path(__file__).resolve().parent.parent / "data"
NAMES = """
    rope_theta rope_scaling rope_parameters partial_rotary_factor head_dim hidden_size num_attention_heads rotary_dim
    rope_local_base_freq rope_type type factor original_max_position_embeddings max_position_embeddings mrope_section
    attention_factor low_freq_factor high_freq_factor short_factor long_factor beta_fast qk_rope_head_dim swa_rope_theta
    layer_types rope_interleave mrope_interleaved truncate mscale mscale_all_dim rotary_pct kv_channels
""".split()
ADDED = {"rope_offset": 3, "rotary_scale": 2.0, "partial_rotary_factor": 0.5, "rope_theta": 777.0, "head_dim": 48,
         "swa_rope_theta": 99.0, "yarn_alpha": 2, "rope_local_base_freq": 55.0, "rotary_dim": 16,
         "rope_scaling": {"rope_type": "linear", "factor": 2.0}}  # fmt: skip
WRONG = ["x", [1], {"a": 1}, -3, 0, 1.5, True, 1e400]


def places(config):
    """List every mapping of a configuration in which a key may be changed, parts other than the text left out."""
    found = [config]
    for key in ("text_config", "rope_scaling", "rope_parameters", "full_attention", "sliding_attention"):
        for place in list(found):
            if isinstance(place.get(key), dict):
                found.append(place[key])
    return found


def mutate(config, rng):
    """Change one key of a copy; return what was done and the copy."""
    config = copy.deepcopy(config)
    place = rng.choice(places(config))
    keys = [key for key in place if key in NAMES]
    how = rng.choice(["drop", "add", "null", "rename", "wrong"])
    if how == "add" or not keys:
        key = rng.choice(sorted(ADDED))
        place[key] = copy.deepcopy(ADDED[key])
        return f"add {key}", config
    key = rng.choice(keys)
    if how == "drop":
        del place[key]
    elif how == "null":
        place[key] = None
    elif how == "rename":
        place[rng.choice([key + "s", "x_" + key, key.replace("_", "")])] = place.pop(key)
    else:
        place[key] = rng.choice(WRONG)
    return f"{how} {key}", config


def as_transformers_reads(config):
    """Return the ladders that transformers makes of a configuration; None where it refuses or has no such type."""
    name = config.get("model_type")
    if name not in CONFIG_MAPPING:
        return None
    try:
        built = CONFIG_MAPPING[name].from_dict(copy.deepcopy(config))
        part = built.get_text_config()
        classes = sorted(probe.rotary_classes(name), key=lambda rotary: not probe.meant_for(rotary, part))
        ladders = probe.ladders(classes[0](part).eval())
    except Exception:
        return None
    ladders = {kind: ladder for kind, ladder in ladders.items() if len(ladder[0]) and np.isfinite(ladder[0]).all()}
    return ladders or None


def stored(ladder):
    """Make a ladder fit for JSON: how many pairs, and some of them."""
    inv_freq, factor = ladder
    at = sorted({0, 1 % len(inv_freq), len(inv_freq) // 2, len(inv_freq) - 1})
    return {"pairs": len(inv_freq), "at": at, "inv_freq": [float(f"{inv_freq[i]:.9g}") for i in at],
            "attention_factor": factor}  # fmt: skip


def main(count=20, seed=0):
    """Write the mutants."""
    rng, rows = random.Random(seed), []
    published = json.loads((DATA / "configs.json").read_text(encoding="utf-8"))["cases"]
    for case in published:
        for _ in range(count):
            how, config = mutate(case["config"], rng)
            ladders = as_transformers_reads(config)
            if ladders and {"full_attention", "sliding_attention", ""} >= ladders.keys():
                rows.append({"name": case["name"], "how": how, "config": config,
                             "ladders": {kind: stored(ladder) for kind, ladder in ladders.items()}})  # fmt: skip
    lines = ",\n".join(json.dumps(row) for row in rows)
    about = {"about": "Published configurations with one key changed, and what transformers makes of them.",
             "transformers": transformers.__version__}  # fmt: skip
    (DATA / "mutants.json").write_text(json.dumps(about)[:-1] + ',\n "cases": [\n' + lines + "\n]}\n", encoding="utf-8")
    print(len(rows), "mutants")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    main(*map(int, sys.argv[1:]))
