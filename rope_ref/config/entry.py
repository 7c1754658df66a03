"""One mapping of a config, and what a scaling method asks of it; an error names each key as the file has it."""

from collections.abc import Mapping

from rope_ref.checks import check_count, check_positive

__all__ = []

ORIGINAL = "original_max_position_embeddings"
LONGEST = ("max_position_embeddings", "n_positions", "max_seq_len")


class Part:
    """One mapping of a config, and where it stands; it remembers which keys were asked for."""

    def __init__(self, mapping, path):
        self.mapping, self.path = mapping, path
        self.asked, self.parts = set(), {}

    def get(self, key):
        """Return the value of a key; None where it is missing or null."""
        self.asked.add(key)
        return self.mapping.get(key)

    def name(self, key):
        """Name a key as the file has it."""
        return f"{self.path}[{key!r}]"

    def part(self, key):
        """Return the mapping under a key; an empty one where it is missing or null."""
        value = self.get(key)
        if value is not None and not isinstance(value, Mapping):
            raise TypeError(f"{self.name(key)} must be a mapping, got {value!r}")
        return self.parts.setdefault(key, Part({} if value is None else value, self.name(key)))

    def list(self, key):
        """Return the list under a key; None where it is missing or null."""
        value = self.get(key)
        if value is not None and not isinstance(value, (list, tuple)):
            raise TypeError(f"{self.name(key)} must be a list, got {value!r}")
        return value

    def found(self, *keys, check=check_positive):
        """List the keys that have a value, as (name, checked value)."""
        return [(self.name(key), check(self.get(key), self.name(key))) for key in keys if self.get(key) is not None]

    def need(self, key, why, check=check_positive):
        """Return the checked value of a key, or raise: it must be there."""
        if self.get(key) is None:
            raise ValueError(f"{self.name(key)} must be given {why}, got none")
        return check(self.get(key), self.name(key))


def agreed(found):
    """Return the value that all (name, value) pairs have, or None where there are none, or raise."""
    for name, value in found[1:]:
        if value != found[0][1]:
            raise ValueError(f"{found[0][0]} and {name} must agree, got {found[0][1]!r} and {value!r}")
    return found[0][1] if found else None


class Entry:
    """The RoPE parameters of a type, in the part of a config that they stand in: what a scaling method reads."""

    def __init__(self, part, rope, kind, share):
        self.part, self.rope, self.kind, self.share = part, rope, kind, share
        self.get, self.name = rope.get, rope.name

    def need(self, key, check=check_positive):
        """Return the checked value of a key, or raise: the type cannot do without it."""
        return self.rope.need(key, f"for the type {self.kind!r}", check)

    def number(self, *keys):
        """Return the positive number under these keys, which must agree; None where there is none."""
        return agreed(self.rope.found(*keys))

    def original_length(self):
        """Return the length that the model was trained on before it was extended."""
        found = self.rope.found(ORIGINAL, check=check_count) + self.part.found(ORIGINAL, check=check_count)
        why = f"for the type {self.kind!r}: the length before it was extended"
        return agreed(found) or self.rope.need(ORIGINAL, why)

    def longest(self):
        """Return the length that the model is published for."""
        found = agreed(self.part.found(*LONGEST, check=check_count))
        return found or self.part.need(LONGEST[0], f"for the type {self.kind!r}")

    def growth(self, original):
        """Return by what factor the context grows: as it stands, or as the ratio of the two lengths."""
        factor = self.number("factor")
        return self.longest() / original if factor is None else factor
