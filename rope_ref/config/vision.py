"""The vision part of a config: two axes, rows and columns, each of which turns half of the pairs."""

from rope_ref.checks import check_choice, check_count
from rope_ref.config.entry import agreed
from rope_ref.config.families import vision_family
from rope_ref.config.parts import BASE, open_config, refuse_passed_over, rope_entry
from rope_ref.config.widths import check_pairs

__all__ = []

PARTS = ("thinker_config", "vision_config")


def open_vision(config):
    """Find the part of a config that describes the vision model, and its family's row, or raise."""
    part = open_config(config)
    kinds = [part.get("model_type")]
    for key in PARTS:
        if part.part(key).mapping:
            part = part.part(key)
            kinds = [part.get("model_type"), *kinds]
    row = vision_family(*kinds)
    if not row:
        raise ValueError(f"{part.name('model_type')} must be of a vision model that is read, got {kinds[0]!r}")
    return part, row


def read_vision(config):
    """Return the base, the width of a head, the pairing, and whether both axes share one row of speeds."""
    part, row = open_vision(config)
    entry = rope_entry(part)
    for key in ("rope_type", "type"):
        if entry.get(key) is not None:
            check_choice(entry.get(key), ("default", "axial"), entry.name(key))
    for key, value in entry.mapping.items():
        if key not in ("rope_type", "type", "rope_theta") and value is not None:
            raise ValueError(f"{entry.name(key)} must be left out for a vision model, got {value!r}")
    base = agreed(entry.found("rope_theta") + part.found(*BASE)) or row["base"]
    head_dim = agreed(part.found("head_dim", check=check_count))
    if head_dim is None:
        width = part.need(row["width"], "where head_dim is not", check_count)
        heads = part.need(row["heads"], "where head_dim is not", check_count)
        if width % heads:
            raise ValueError(f"{part.name(row['width'])} must be a multiple of {row['heads']}, got {width} and {heads}")
        head_dim = width // heads
    if head_dim % 4:
        raise ValueError(f"{part.name('head_dim')} must be a multiple of 4 for two axes, got {head_dim}")
    refuse_passed_over(part)
    return base, check_pairs(head_dim, head_dim, part.name("head_dim")), row["pairing"], row.get("dealt", False)
