"""Compare every model type of transformers that has a rotary class with what `rope_ref` reads: `make families`.

Each type is built with its own default configuration. What `rope_ref` reads from that configuration, as a dict, is
compared layer by layer with what the model did: frequencies, length factor, pairing, and which layers turned. The rows
go to tests/data/families.json with the date; the tests hold `rope_ref` to them where transformers is not installed.
"""

import datetime
import json
import logging
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import probe
import torch
import transformers

from rope_ref import from_config, rope_of_layers
from rope_ref.config.families import find_family
from rope_ref.config.layers import spans

OUT = Path(__file__).resolve().parent.parent / "data" / "families.json"
# Keys of a configuration that a row keeps: all that may bear on the rotation.
KEPT = re.compile(
    r"rope|rotar|theta|nope|partial|freq|yarn|position|alibi|layer|block|interval|pattern|head|hidden_size|d_model|n_embd"
    r"|attn_|sliding_window|kv_channels|hybrid|use_mla|^model_type$|_config$|coder$|idxs|compress|mlp_layer_types|n_",
)
# Vision models by themselves: read as their part.
VISION = ("mlcd", "mlcd_vision_model", "eomt_dinov3", "sam3_vit_model")


def reduced(config):
    """Keep what may bear on the rotation of a configuration."""
    kept = {key: value for key, value in config.items() if KEPT.search(key) and not key.startswith("_")}
    kept = {key: reduced(value) if key.endswith(("_config", "coder")) and isinstance(value, dict) else value
            for key, value in kept.items()}  # fmt: skip
    return {key: value for key, value in kept.items() if not (isinstance(value, str) and len(value) > 60)}


def plain(value):
    """Make a value fit for JSON."""
    return json.loads(json.dumps(value, default=str))


def seen_layers(calls, error, count):
    """Return which ladder each layer used, None where it did not turn; None where the run does not tell."""
    own = [call for call in calls if "Indexer" not in call[1] and "Compressor" not in call[1] and call[1] != "Watch"]
    numbers = {call[2] for call in own}
    if error or None in numbers or not isinstance(count, int):
        return None
    if not own:
        return [None] * count
    used = {call[2]: call[4] or "" for call in own}
    return [used.get(i) for i in range(max(count, max(numbers) + 1))]


def same(rope, ladder):
    """Tell whether what was read is a ladder of the model."""
    inv_freq, factor = ladder
    if len(rope.scaling.inv_freq) != len(inv_freq):
        return False
    close = np.allclose(rope.scaling.inv_freq, inv_freq, rtol=2e-6, atol=1e-12)
    return bool(close and abs(rope.scaling.attention_factor - factor) < 1e-6)


def read(config, ladders):
    """Read a configuration layer by layer, or, where it does not tell its layers, by layer type."""
    try:
        return rope_of_layers(config), True
    except ValueError as error:
        if "must say how many layers" not in str(error):
            raise
    return [from_config(config, layer_type=kind or None) for kind in ladders], False


def judge_vision(config, ladders, told):
    """Say what reading a vision model by itself gives."""
    try:
        rope = from_config(config, part="vision")
    except (TypeError, ValueError) as error:
        return "refused", str(error), None
    right = same(rope, ladders[""]) and told <= {rope.pairing}
    return ("right", "as part='vision'", rope.pairing) if right else ("wrong", "frequencies or pairing", None)


def judge(config, ladders, layers, told):
    """Say what reading a configuration gives: right, refused or wrong, the reason, and the pairing that was read."""
    try:
        got, by_layer = read(config, ladders)
        ropes = [rope for rope in got if rope is not None]
        if not ropes and layers is not None and not any(kind is not None for kind in layers):
            known = find_family(config["model_type"]).get("pairing")
            return "right", "no layer turns", known if told <= {known} else None
    except (TypeError, ValueError) as error:
        return "refused", str(error), None
    if by_layer and layers is not None and [rope is not None for rope in got] != [kind is not None for kind in layers]:
        return "wrong", f"layers that turn: {spans([i for i, rope in enumerate(got) if rope is not None])}", None
    if by_layer and layers is not None:
        for i, (rope, kind) in enumerate(zip(got, layers, strict=True)):
            if rope is not None and not same(rope, ladders[kind]):
                return "wrong", f"frequencies of layer {i}", None
    if not all(any(same(rope, ladder) for ladder in ladders.values()) for rope in ropes):
        return "wrong", "frequencies", None
    pairings = {rope.pairing for rope in ropes}
    if told and pairings - {None} and pairings != told:
        return "wrong", f"pairing {pairings}, where the model has {told}", None
    return "right", "", pairings.pop() if len(pairings) == 1 else None


def row(model_type):
    """Measure one model type and compare."""
    config, part, _, rotary = probe.build_rotary(model_type)
    calls, error = probe.run_on_meta(model_type, part)
    vision = model_type in VISION
    evidence, ladders = probe.vision_pairing(model_type, rotary) if vision else probe.pairing(model_type, rotary, calls)
    given = plain(config.to_dict())
    # A stack that runs several times shows fewer layers than it counts.
    count = None if hasattr(part, "num_layers_per_stack") else getattr(part, "num_hidden_layers", None)
    layers = seen_layers(calls, error, count)
    told = {each.get("read") for each in evidence.values()} - {None}
    small = reduced(given)
    found = [
        judge_vision(each, ladders, told) if vision else judge(each, ladders, layers, told) for each in (given, small)
    ]
    status, message, pairing = found[0]
    small = small if found[0] == found[1] else given
    points = {kind: sorted({0, 1, len(f) // 2, len(f) - 1}) for kind, (f, _) in ladders.items()}
    return {
        "model_type": model_type,
        "status": status,
        "pairing": pairing,
        "reason": message,
        "rotary": type(rotary).__name__,
        "ladders": {
            kind: {"pairs": len(f), "at": points[kind], "inv_freq": [float(f"{f[i]:.9g}") for i in points[kind]],
                   "attention_factor": a} for kind, (f, a) in ladders.items()
        },
        "pairing_seen": plain(evidence),
        "layers_seen": layers,
        "config": small,
    }  # fmt: skip


def main(names):
    """Measure the model types, print the table, and write it where all were asked for."""
    torch.set_num_threads(1)
    rows = []
    for name in names or probe.model_types():
        rows.append(row(name))
        told = rows[-1]
        print(f"{name:40} {told['status']:8} {told['pairing'] or '-':12} {told['reason']}", flush=True)
    counts = {status: sum(row["status"] == status for row in rows) for status in ("right", "refused", "wrong")}
    counts["right, pairing known"] = sum(row["status"] == "right" and row["pairing"] is not None for row in rows)
    about = {
        "about": "Model types of transformers with a rotary class, built by default, against what rope_ref reads.",
        "transformers": transformers.__version__,
        "torch": torch.__version__.split("+")[0],
        "date": datetime.date.today().isoformat(),
        "counts": counts,
    }
    print(counts)
    if not names:
        lines = ",\n".join(json.dumps(row) for row in rows)
        OUT.write_text(json.dumps(about, indent=1)[:-2] + ',\n "cases": [\n' + lines + "\n]}\n", encoding="utf-8")
    return counts["wrong"]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    sys.exit(bool(main(sys.argv[1:])))
