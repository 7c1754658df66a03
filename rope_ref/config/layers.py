"""Which layers a config speaks of, where they have a RoPE each."""

from collections.abc import Mapping

from rope_ref.checks import check_count
from rope_ref.config.entry import Part, agreed
from rope_ref.config.families import LEFT_OUT

__all__ = []

ATTENTION_LAYERS = ("full_attention", "sliding_attention", "chunked_attention")
# Layer types with a RoPE each in files without rope_parameters: which key holds the base, and whether it is scaled.
LOCAL_AND_GLOBAL = {
    "full_attention": ("rope_theta", True),
    "sliding_attention": ("rope_local_base_freq", False),
}
GLOBAL_KEYS = {
    "full_attention": ("global_rope_theta", True),
    "sliding_attention": ("local_rope_theta", False),
}
GLOBAL_SCALED = {
    "full_attention": ("rope_theta", True),
    "sliding_attention": ("rope_theta", False),
}


def layer_kinds(part):
    """Return the list of layer types, one for each layer; an empty one where the config has none."""
    kinds = [] if part.get("layer_types") is None else part.get("layer_types")
    if not isinstance(kinds, (list, tuple)):
        raise TypeError(f"{part.name('layer_types')} must be a list, got {kinds!r}")
    return kinds


def choose_layer(choices, layer_type):
    """Raise unless `layer_type` names one of the layer types."""
    if layer_type not in choices:
        listed = ", ".join(repr(name) for name in choices)
        raise ValueError(
            f"layer_type must be one of {listed}, which have a RoPE each in this config, got {layer_type!r}"
        )


def nested_layer(entry, layer_type):
    """Return the parameters of one layer type, where the entry holds a mapping for each; None where it is flat."""
    layers = [key for key, value in entry.mapping.items() if isinstance(value, Mapping)]
    if not layers:
        return None
    for key, value in entry.mapping.items():
        if key not in layers and value is not None and (key not in ("rope_type", "type") or value != "default"):
            raise ValueError(f"{entry.name(key)} must stand inside a layer type, as others do here, got {value!r}")
    choose_layer(layers, layer_type)
    return entry.part(layer_type)


def flat_layer(part, entry, family, layer_type):
    """Return the RoPE parameters and the key of the base, for a config without a mapping for each layer type."""
    if part.get("rope_local_base_freq") is not None or "rope_local_base_freq" in LEFT_OUT.get(family, {}):
        layers = LOCAL_AND_GLOBAL
    elif part.get("global_rope_theta") is not None or part.get("local_rope_theta") is not None:
        layers = GLOBAL_KEYS
    elif family == "olmo3" and entry.mapping:
        layers = GLOBAL_SCALED
    else:
        known = [name for name in ATTENTION_LAYERS if name in layer_kinds(part)]
        if layer_type is not None and layer_type not in known:
            listed = ", ".join(["None", *(repr(name) for name in known)])
            raise ValueError(f"layer_type must be {listed}: all layers share one RoPE here, got {layer_type!r}")
        return entry, "rope_theta"
    choose_layer(layers, layer_type)
    key, scaled = layers[layer_type]
    return (entry if scaled else Part({}, entry.path)), key


def layer_width(part, layer_type):
    """Return the head_dim that a table of single layers gives to all layers of one type; None where it gives none."""
    table = part.part("per_layer_config")
    rows = {str(key).lstrip("0"): table.part(key).found("head_dim", check=check_count) for key in table.mapping}
    # Layer 5 may stand under "05".
    found = [rows.get(str(i).lstrip("0"), []) for i, kind in enumerate(layer_kinds(part)) if kind == layer_type]
    if any(found) and not all(found):
        raise ValueError(f"{table.path} must give one head_dim to all layers of type {layer_type!r}, got some without")
    return agreed([pair for pairs in found for pair in pairs])
