"""The model families: what their code fixes, as rows of data in families.toml.

A row is keyed by the model_type of the part that is read. Its keys:

pairing
    Which features form a pair, as the attention reads its weights.
base, head_dim, share
    What holds where a file leaves out the base, the width of a head, the share of it that turns; a table gives one to
    each layer type.
partial
    Whether a file may give the share where the row does not: the code of the others turns whole heads.
whole, narrow
    Whether the share counts for the type "proportional" alone; whether a file may give rotary_dim.
sections, order
    Pairs of each axis (time, height, width) where a file leaves them out, and how they are dealt out.
bases, scaled, yarn
    Layer types with a base each in flat files: the key that holds it; which of them are scaled; what YaRN has there
    where the file does not say.
labels
    Under which name of the entry a layer type finds its RoPE.
first, cycle, last, period
    Layer types where a file does not list them: those at the start, those that repeat, the last one, and the key that
    may give another period. `codes` reads them from a list of numbers, `listed` from a list of layers.
still, still_with, turns_with
    Layer types without RoPE; the key that must not be null for that to hold; the key without which none turns.
turns, interval, every
    A list with 1 for each layer that turns and 0 for the others, and what holds where it is left out.
layer_bases, layer_shares, scaled_layers
    Lists of a base (0 means no RoPE) or a share for each layer; a list of the layers that are scaled.
on, off_by_default
    Values that keys must have for the model to turn at all, and whether leaving them out turns it off.
names, double, kinds
    Other names of keys, a path each; a head of twice the usual width; the key that lists the layer types.
needs, entry, unread, ignored, only
    Keys that a file must give; whether it must have an entry of RoPE; keys that are refused; keys that the code passes
    over; lists of which only one value is read.
apart
    Whether a part of each head is kept apart and turned, as wide as the file says.
odd
    Whether widths that do not divide are rounded down, and an odd one turns one feature more, its exponent over itself.
base_times
    A key that multiplies the base.
refused
    Why a family is not read at all.
"""

import functools
import tomllib
from importlib import resources

__all__ = []


@functools.cache
def tables():
    """Read the data file, once, when a config is first read."""
    return tomllib.loads((resources.files("rope_ref.config") / "families.toml").read_text(encoding="utf-8"))


@functools.cache
def rows():
    """Return the row of each family, with the name and version of what it was read from."""
    others = ("same", "part", "harmless", "vision", "gguf")
    found = {
        name: {"family": name, "read_from": source, **row}
        for source, table in tables().items()
        if source not in others
        for name, row in table.items()
    }
    return found | {name: found[other] for name, other in tables()["same"].items()}


def find_family(*kinds):
    """Return the row of the first model_type that is known, as such or as the text part of one; else an empty row."""
    for kind in kinds:
        for name in (kind, f"{kind}_text"):
            if isinstance(kind, str) and name in rows():
                return rows()[name]
    return {}


def vision_family(*kinds):
    """Return the row of the first model_type that has a vision part which is read; else an empty row."""
    return next((tables()["vision"][kind] for kind in kinds if kind in tables()["vision"]), {})


@functools.cache
def gguf_pairings():
    """Return the pairing of each architecture of GGUF files whose layers share one RoPE."""
    return {name: pairing for pairing, names in tables()["gguf"].items() for name in names}


def own_part(kind):
    """Return the key under which a model keeps the part that is read, if it has a name of its own."""
    return tables()["part"].get(kind) if isinstance(kind, str) else None


def harmless():
    """Return the keys that speak of position and change nothing, each with the reason."""
    return tables()["harmless"]
