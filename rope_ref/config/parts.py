"""Which part of a config is read, and that no key in it that speaks of position is passed over."""

import re
from collections.abc import Mapping

from rope_ref.config.entry import Part, agreed
from rope_ref.config.families import find_family, harmless, own_part, vision_family
from rope_ref.config.types import today

__all__ = []

# Where a model of several parts keeps its text part.
TEXT_PARTS = ("thinker_config", "text_config", "llm_config", "language_config")
ENTRIES = ("rope_scaling", "rope_parameters")
BASE = ("rope_theta", "rotary_emb_base")
NO_ROPE = ("alibi", "nope")  # "absolute" stands by habit in files of models that have RoPE
# Names that speak of position or rotation.
SPEAKS = re.compile(
    r"rope|rotar|theta|nope|partial|freq|yarn|position|alibi|wavelength|compress\w*_ratio|dynamic_ntk|ntk_|_ntk|use_mla",
    re.IGNORECASE,
)


def open_config(config):
    """Return a config as a part, or raise: it must be a mapping whose model_type, if any, is a text."""
    if not isinstance(config, Mapping):
        raise TypeError(f"config must be a mapping, the parsed config.json, got {type(config).__name__}")
    part = Part(config, "config")
    kind = part.get("model_type")
    if kind is not None and not isinstance(kind, str):
        raise TypeError(f"{part.name('model_type')} must be a text, got {kind!r}")
    return part


def open_text(config):
    """Find the part of a config that describes the text model, its family's row, and the parts it lies in."""
    part = open_config(config)
    passed, kinds = [part], [part.get("model_type")]
    own = own_part(kinds[0])
    for key in (*([own] if own else []), *TEXT_PARTS):
        inner = part.part(key)
        if inner.mapping:
            agreed(part.found("rope_theta") + inner.found("rope_theta"))
            same_meaning(rope_entry(part), rope_entry(inner))
            part = inner
            passed.append(part)
            kinds = [part.get("model_type")] if part.get("model_type") else kinds
    if kinds[0] is not None and not isinstance(kinds[0], str):
        raise TypeError(f"{part.name('model_type')} must be a text, got {kinds[0]!r}")
    row = find_family(*kinds)
    if not row and vision_family(*kinds):
        raise ValueError(f"{part.name('model_type')} must be of a text model unless part is 'vision', got {kinds[0]!r}")
    return part, row, passed


def same_meaning(first, second):
    """Raise if two entries are both there and ask for different scalings."""
    if first.mapping and second.mapping:
        agreed([(entry.path, meaning(entry.mapping)) for entry in (first, second)])
        agreed(first.found("rope_theta") + second.found("rope_theta"))


def meaning(entry):
    """Return an entry without what is null, its base and share (compared elsewhere), and with its type as of today."""
    kinds = [today(entry[key]) for key in ("rope_type", "type") if entry.get(key) is not None]
    rest = {key: value for key, value in entry.items() if value is not None and key not in ("rope_type", "type")}
    rest = {key: value for key, value in rest.items() if key not in ("rope_theta", "partial_rotary_factor")}
    return {"rope_type": kinds[0] if kinds else "default", **rest}


def rope_entry(part):
    """Return the mapping of RoPE parameters of a config, under its old or its new name."""
    old, new = (part.part(key) for key in ENTRIES)
    same_meaning(old, new)
    return new if new.mapping else old


def off(part, row):
    """Return the name of the key that says that nothing turns in this model, or None."""
    kind = part.get("position_embedding_type")
    if part.get("alibi") is True or (isinstance(kind, str) and kind in NO_ROPE):
        return part.name("alibi" if part.get("alibi") is True else "position_embedding_type")
    for key, value in row.get("on", {}).items():
        if part.get(key) != value and (key in part.mapping or row.get("off_by_default")):
            return part.name(key)
    return None


def refuse_unread(part, row):
    """Raise if a family is not read, or the file has or lacks a key in a way that is not read for it."""
    if "refused" in row:
        raise ValueError(f"config['model_type'] must be one that is read, got {row['family']!r}: {row['refused']}")
    for key in row.get("unread", []):
        if part.get(key):
            raise ValueError(f"{part.name(key)} must not be set: it changes RoPE in a way not read here")
    for key, value in row.get("only", {}).items():
        if any(other != value for other in part.list(key) or []):
            raise ValueError(f"{part.name(key)} must hold {value!r} alone: other layers turn in a way not read here")
    for key in row.get("ignored", []):
        part.get(key)
    if row.get("entry") and not rope_entry(part).mapping:
        raise ValueError(f"{part.name(ENTRIES[1])} must be given for {row['family']}, whose code scales without it")


def refuse_passed_over(part):
    """Raise if a key that speaks of position was not asked for, unless it is null, false, 1, or harmless."""
    for key, value in part.mapping.items():
        if key in part.asked or not SPEAKS.search(str(key)) or key in harmless():
            continue
        if not (value is None or value is False or (value == 1 and value is not True)):
            raise ValueError(f"{part.name(key)} must not be set: it speaks of position in a way not read here")
    for key, inner in part.parts.items():
        if key not in ENTRIES:
            refuse_passed_over(inner)
