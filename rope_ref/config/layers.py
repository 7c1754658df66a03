"""Which layers a model has, of which type each is, and which of them turn."""

from typing import NamedTuple

from rope_ref.checks import check_count, check_fraction, check_integer, check_weight
from rope_ref.config.entry import agreed

__all__ = []

LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
# Layer types whose queries and keys a RoPE may turn, and those that have none to turn.
ATTENTION = set(
    """
    attention full_attention sliding_attention chunked_attention local_attention global_attention indexed_attention
    hybrid hybrid_sliding compressed_sparse_attention heavily_compressed_attention minimax_m3_sparse
    reference_sliding_attention
    """.split()
)
NO_ATTENTION = {"linear_attention", "conv", "mamba", "mamba2", "recurrent", "cross_attention"}
MOST_LAYERS = 10_000  # far beyond any model: a number that is no count of layers must not fill the memory
LETTERS = {"L": "sliding_attention", "G": "full_attention"}


class Layer(NamedTuple):
    """One layer: its number and type, whether it turns (else `why` names what says no), and what it has of its own."""

    number: int | None
    kind: str | None
    why: str | None = None
    base: tuple | None = None
    share: tuple | None = None
    scaled: bool = True

    @property
    def turns(self):
        """Tell whether the layer has a RoPE."""
        return self.why is None


def named(part, row, key, check=check_count):
    """List what stands under the name that a family has for a key, as (name, checked value)."""
    *path, last = row.get("names", {}).get(key, [None])
    for step in path:
        part = part.part(step)
    return part.found(last, check=check) if last else []


def one_each(part, key, count, check):
    """Return the (name, value) of each layer from a list with one value a layer; None where there is no list."""
    values = part.list(key)
    if values is None:
        return None
    values = values[:count] if len(values) == count + extra_layers(part) else values
    if len(values) != count:
        raise ValueError(f"{part.name(key)} must have one value for each of {count} layers, got {len(values)}")
    return [(f"{part.name(key)}[{i}]", check(value, f"{part.name(key)}[{i}]")) for i, value in enumerate(values)]


def extra_layers(part):
    """Return how many layers beyond the model's own, which predict further tokens, its lists may cover."""
    extra = part.get("num_nextn_predict_layers")
    return extra if isinstance(extra, int) and not isinstance(extra, bool) else 0


def check_kind(value, name):
    """Return a layer type, or raise: it must be a text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, got {value!r}")
    return value


def read_kinds(part, row, count):
    """Return the type of each layer, from the file or by the rule of its family; None where neither says."""
    key = row.get("kinds", "layer_types")
    listed = part.list(key)
    if listed is not None:
        kinds = [check_kind(kind, part.name(key)) for kind in listed]
        blocks = [kind for kind in kinds if kind != "mlp"]  # Dory lists attention and mlp by turns
        if count in (None, len(kinds)):
            return blocks
        return [kind for _, kind in one_each(part, key, count, check_kind)]
    for rule, read in (("codes", coded_kinds), ("listed", listed_kinds), ("cycle", repeated_kinds)):
        kinds = read(part, row[rule], row, count) if rule in row and count is not None else None
        if kinds is not None:
            return kinds
    return None


def coded_kinds(part, codes, row, count):
    """Read layer types from a list of numbers, one a layer."""
    numbers = one_each(part, codes["key"], count, check_integer)
    if numbers is None:
        return None
    for name, number in numbers:
        if str(number) not in codes:
            known = ", ".join(key for key in codes if key != "key")
            raise ValueError(f"{name} must be one of {known}, got {number}")
    return [codes[str(number)] for _, number in numbers]


def listed_kinds(part, rule, row, count):
    """Read layer types from a list of the layers that have another type than the rest."""
    key, kind, otherwise, *left_out = rule
    numbers = part.list(key)
    if numbers is None:
        return left_out * count or None
    chosen = {check_integer(number, part.name(key)) for number in numbers}
    return [kind if i in chosen else otherwise for i in range(count)]


def repeated_kinds(part, cycle, row, count):
    """Repeat the layer types of a family, with the period that the file gives."""
    period = part.get(row["period"]) if "period" in row else None
    if isinstance(period, str) and period and set(period) <= set(LETTERS):
        cycle = [LETTERS[letter] for letter in period]
    elif isinstance(period, (list, tuple)):
        cycle = [check_kind(kind, part.name(row["period"])) for kind in period]
    elif period is not None:
        rest = check_count(period, part.name(row["period"])) - 1
        cycle = cycle[:1] + cycle[1:2] * rest if cycle[0] != cycle[1] else cycle[:1] * rest + cycle[-1:]
    first, last = row.get("first", []), row.get("last")
    kinds = [*first, *(cycle * (count // len(cycle) + 1))][:count]
    return [*kinds[:-1], last] if last else kinds


def turning(part, row, count):
    """Return for each layer the key that says it does not turn, or None: from a list of ones and zeros."""
    key = row.get("turns")
    if key is None:
        return [None] * count
    flags = one_each(part, key, count, check_integer) if part.list(key) else None
    if flags is None:
        every = agreed(part.found(row["interval"], check=check_count)) if "interval" in row else None
        every = every or row.get("every")
        if every is None:
            raise ValueError(f"{part.name(key)} must be given: it says which layers turn, got none")
        return [part.name(key) if (i + 1) % every == 0 else None for i in range(count)]
    for name, flag in flags:
        if flag not in (0, 1):
            raise ValueError(f"{name} must be 1 for a layer with RoPE or 0 for one without, got {flag}")
    return [None if flag else name for name, flag in flags]


def still(part, row, kind):
    """Return what says that layers of a type do not turn in this family, or None."""
    needed = row.get("turns_with")
    if needed in part.mapping and part.get(needed) is None:
        return part.name(needed)
    switch = row.get("still_with")
    if kind in row.get("still", []) and not (switch in part.mapping and part.get(switch) is None):
        return f"the layer type {kind!r} of {row['family']}"
    return None


def listed_count(part, row):
    """Return how many layers the lists of a family speak of, which have a value for each; None without such a list."""
    keys = row.get("turns"), row.get("codes", {}).get("key"), row.get("layer_bases"), row.get("layer_shares")
    lists = [(part.name(key), part.get(key)) for key in keys if key and isinstance(part.get(key), (list, tuple))]
    return agreed([(name, len(values)) for name, values in lists if values])


def read_layers(part, row):
    """List the layers of a model; None where the file does not say how many or of which types they are."""
    found = part.found(*LAYERS, check=check_count) + named(part, row, "num_hidden_layers")
    count = agreed(found) or listed_count(part, row)
    if count is not None and count > MOST_LAYERS:
        raise ValueError(f"{found[0][0]} must be at most {MOST_LAYERS:,}, got {count:,}")
    kinds = read_kinds(part, row, count)
    if kinds is None and (count is None or "still" in row or "bases" in row or "cycle" in row or "listed" in row):
        return None
    kinds = [None] * count if kinds is None else kinds
    for kind in kinds:
        if kind is not None and kind not in ATTENTION | NO_ATTENTION:
            name = part.name(row.get("kinds", "layer_types"))
            raise ValueError(f"{name} must hold layer types that are known, got {kind!r}")
    return with_their_own(part, row, kinds)


def with_their_own(part, row, kinds):
    """Make a layer of each type, with what lists of the file give to it alone."""
    count, flags = len(kinds), turning(part, row, len(kinds))
    base_key, share_key, scaled_key = (row.get(key) for key in ("layer_bases", "layer_shares", "scaled_layers"))
    given = part.get(base_key) if base_key == "rope_theta" else part.list(base_key)  # rope_theta may be one for all
    listed_bases = isinstance(given, (list, tuple))
    bases = one_each(part, base_key, count, check_weight) if listed_bases else [None] * count
    shares = one_each(part, share_key, count, check_fraction) if share_key else None
    scaled = part.list(scaled_key) if scaled_key else None
    layers = []
    for i, (kind, base) in enumerate(zip(kinds, bases, strict=True)):
        why = flags[i] or still(part, row, kind) or (base[0] if base and base[1] == 0 else None)
        why = f"the layer type {kind!r}" if kind in NO_ATTENTION else why
        layers.append(Layer(i, kind, why, base, shares[i] if shares else None, scaled is None or i in scaled))
    return layers


def asked_about(layers, layer_type, labels):
    """List the layers with attention that a layer type, or None for all of them, asks about."""
    own = [layer for layer in layers if layer.kind not in NO_ATTENTION]
    return [layer for layer in own if layer_type in (None, layer.kind, labels.get(layer.kind, layer.kind))]


def spans(numbers):
    """Write layer numbers in words: 0-4, 6, 8-9."""
    runs = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs)
