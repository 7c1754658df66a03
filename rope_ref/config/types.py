"""The rope types: which of their keys are read."""

from rope_ref.config.entry import ORIGINAL, agreed
from rope_ref.scaling import METHODS

__all__ = []

# The rope types there are, and older names of two of them; "mrope" says only that sections follow.
TYPES = {method.rope_type: method for method in METHODS.values() if method.rope_type}
OLD_TYPES = {"su": "longrope", "mrope": "default"}
# Keys of rope_scaling or rope_parameters that are read ...
PLAIN = set("rope_theta partial_rotary_factor mrope_section xdrope_section mrope_interleaved interleaved".split())
SCALED = {ORIGINAL, *(key for method in TYPES.values() for key in method.keys)}
READ = {"rope_type", "type", *PLAIN, *SCALED}
# ... and keys that published files hold there and that do not change the rotation.
PASSED_OVER = {"finetuned", "llama_4_scaling_beta", "max_position_embeddings"}


def today(kind):
    """Return a rope type under its name of today."""
    return OLD_TYPES.get(kind, kind) if isinstance(kind, str) else kind


def read_type(rope):
    """Return the rope type of an entry under its name of today, or raise."""
    found = [(rope.name(key), rope.get(key)) for key in ("rope_type", "type") if rope.get(key) is not None]
    for name, value in found:
        if not isinstance(value, str) or today(value) not in TYPES:
            listed = ", ".join(repr(kind) for kind in (*sorted(TYPES), *OLD_TYPES))
            raise ValueError(f"{name} must be one of {listed}, got {value!r}")
    unknown = sorted(str(key) for key in rope.mapping if key not in READ | PASSED_OVER and rope.get(key) is not None)
    if unknown:
        raise ValueError(f"{rope.name(unknown[0])} is not a key that is known; known are {', '.join(sorted(READ))}")
    kind = agreed([(name, today(value)) for name, value in found])
    if kind is None:
        scaled = [key for key in rope.mapping if key in SCALED and rope.get(key) is not None]
        if scaled:
            raise ValueError(f"{rope.name('rope_type')} must be given beside {scaled[0]!r}, got none")
        return "default"
    if kind == "default" and rope.get("factor") not in (None, 1):
        raise ValueError(f"{rope.name('factor')} must be left out for the type 'default', got {rope.get('factor')!r}")
    if kind != "longrope" and rope.get("short_factor") is not None:
        raise ValueError(f"{rope.name('short_factor')} must be left out for the type {kind!r}, which has no lists")
    return kind
