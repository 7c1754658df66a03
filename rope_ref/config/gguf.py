"""The header of a GGUF file, as a mapping: the same numbers under other names."""

import re
from collections.abc import Mapping

from rope_ref.checks import check_choice
from rope_ref.config.entry import ORIGINAL, Part
from rope_ref.config.families import gguf_pairings

__all__ = []

ARCHITECTURE = "general.architecture"
# Names of a header, after the architecture, and those of a config.
NAMES = {
    "rope.freq_base": "rope_theta",
    "rope.dimension_count": "rotary_dim",
    "attention.key_length": "head_dim",
    "embedding_length": "hidden_size",
    "attention.head_count": "num_attention_heads",
    "context_length": "max_position_embeddings",
}
SCALING = {"factor": "factor", "original_context_length": ORIGINAL, "attn_factor": "attn_factor"}
TYPES = {"none": "default", "linear": "linear", "yarn": "yarn"}
HARMLESS = ("rope.scaling.finetuned",)


def is_header(mapping):
    """Tell whether a mapping is the header of a GGUF file."""
    return isinstance(mapping, Mapping) and ARCHITECTURE in mapping


def as_config(header):
    """Return the config that a header means, the pairing of the file, and the name in the header of each name in it."""
    part = Part(header, "header")
    kind = check_choice(part.get(ARCHITECTURE), sorted(gguf_pairings()), part.name(ARCHITECTURE))
    full = {f"{kind}.{name}": f"config[{key!r}]" for name, key in NAMES.items()}
    full |= {f"{kind}.rope.scaling.{name}": f"config['rope_scaling'][{key!r}]" for name, key in SCALING.items()}
    config = {key: part.get(f"{kind}.{name}") for name, key in NAMES.items()}
    config["rope_theta"] = 10000.0 if config["rope_theta"] is None else config["rope_theta"]
    entry = {key: part.get(f"{kind}.rope.scaling.{name}") for name, key in SCALING.items()}
    scaling = part.get(f"{kind}.rope.scaling.type")
    if scaling is not None:
        entry["rope_type"] = TYPES[check_choice(scaling, TYPES, part.name(f"{kind}.rope.scaling.type"))]
    full[f"{kind}.rope.scaling.type"] = "config['rope_scaling']['rope_type']"
    for key, value in header.items():
        if str(key).startswith(f"{kind}.rope.") and key not in part.asked and key[len(kind) + 1 :] not in HARMLESS:
            raise ValueError(f"{part.name(key)} must not be set: it changes RoPE in a way not read here, got {value!r}")
    return config | {"rope_scaling": entry}, gguf_pairings()[kind], {key: part.name(name) for name, key in full.items()}


def in_words_of_the_header(message, names):
    """Return a message about a config with the names of the header."""
    return re.sub("|".join(map(re.escape, names)), lambda found: names[found[0]], message)
