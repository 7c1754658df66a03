"""Read what a model's config.json says of its RoPE into explicit numbers: no mathematics here.

Files are read as transformers 5.24 reads them, the program they are published for. What they say of RoPE stands under
many names, old and new; every name that is understood stands in this package, and a name that is not is refused.
"""

from collections.abc import Mapping

from rope_ref.checks import check_count, check_positive
from rope_ref.config.entry import Entry, Part, agreed
from rope_ref.config.gguf import as_config, in_words_of_the_header, is_header
from rope_ref.config.layers import ATTENTION, Layer, asked_about, named, read_layers, spans
from rope_ref.config.parts import BASE, off, open_text, refuse_passed_over, refuse_unread, rope_entry
from rope_ref.config.recipe import Recipe
from rope_ref.config.types import TYPES, read_type
from rope_ref.config.widths import of_kind, read_pairing, read_sections, read_widths

__all__ = ["read_config", "read_each_layer"]

# Layer types with a base each in flat files of any family, recognised by their keys.
BY_KEYS = [
    {"full_attention": "rope_theta", "sliding_attention": "rope_local_base_freq"},
    {"full_attention": "global_rope_theta", "sliding_attention": "local_rope_theta"},
]


class Reading:
    """One config opened: the part that is read, its family's row, its entry of RoPE and its layers."""

    def __init__(self, config, seq_len):
        self.seq_len = None if seq_len is None else check_count(seq_len, "seq_len")
        self.part, self.row, self.passed = open_text(config)
        refuse_unread(self.part, self.row)
        self.off = off(self.part, self.row)
        self.entry = rope_entry(self.part)
        self.layers = read_layers(self.part, self.row)
        self.labels = self.row.get("labels", {})
        self.nested = [key for key, value in self.entry.mapping.items() if isinstance(value, Mapping)]
        self.bases = {} if self.nested else self.flat_bases()
        if self.layers is not None:
            self.layers = [self.without_entry(layer) for layer in self.layers]

    def without_entry(self, layer):
        """Return a layer as one that does not turn, where the entry of its type is null."""
        label, entry = self.labels.get(layer.kind, layer.kind), self.entry
        null = self.nested and label in entry.mapping and entry.mapping[label] is None
        return layer._replace(why=layer.why or entry.name(label)) if null else layer

    def flat_bases(self):
        """Return which key holds the base of each layer type, in a file with a flat entry; none where all share one."""
        part, own = self.part, self.row.get("bases")
        if own and (len({*own.values()}) > 1 or self.entry.mapping):
            return own
        for keys in BY_KEYS:
            if any(part.get(key) is not None for key in keys.values() if key != "rope_theta"):
                return keys
        return {}

    def choices(self):
        """Return the layer types that have a RoPE each."""
        return self.nested or list(self.bases)

    def check_layer_type(self, layer_type):
        """Raise unless a layer type is one that the config has."""
        choices = self.choices()
        label = self.labels.get(layer_type, layer_type)
        if choices and label not in choices:
            keys = " and ".join(self.part.name(key) for key in dict.fromkeys(self.bases.values()))
            raise ValueError(
                f"layer_type must be one of {', '.join(map(repr, choices))}, which have a RoPE each in this config"
                f"{f' ({keys})' if keys else ''}, got {layer_type!r}"
            )
        known = dict.fromkeys(layer.kind for layer in self.layers or [] if layer.kind in ATTENTION)
        if not choices and layer_type is not None and layer_type not in known:
            listed = ", ".join(["None", *map(repr, known)])
            raise ValueError(f"layer_type must be {listed}: all layers share one RoPE here, got {layer_type!r}")

    def one_recipe(self, layer_type):
        """Return the recipe of all layers of a type, or raise: some do not turn, or they differ."""
        if self.off:
            raise ValueError(f"{self.off} must be one with RoPE, got {value_of(self.off, self.part)}: nothing turns")
        self.check_layer_type(layer_type)
        asked = asked_about(self.layers or [], layer_type, self.labels)
        without = [layer for layer in asked if not layer.turns]
        if without:
            raise ValueError(
                f"layer_type must name layers that turn, got {layer_type!r}: layers "
                f"{spans([layer.number for layer in without])} have no RoPE, says {without[0].why}; "
                "rope_of_layers reads each layer"
            )
        recipes = [(layer, self.recipe(layer)) for layer in asked or [Layer(None, layer_type)]]
        for layer, recipe in recipes[1:]:
            if recipe != recipes[0][1]:
                raise ValueError(
                    f"layer_type must name layers with one RoPE, got {layer_type!r}: layers {recipes[0][0].number} and "
                    f"{layer.number} differ; rope_of_layers reads each layer"
                )
        return recipes[0][1]

    def recipes(self):
        """List the recipe of each layer, None where it has no RoPE."""
        if not self.row:
            name = self.part.name("model_type")
            raise ValueError(f"{name} must be of a family that is known: its code may leave layers without RoPE")
        if self.layers is None:
            raise ValueError(
                f"{self.part.name('num_hidden_layers')} and {self.part.name('layer_types')} must say how many layers "
                "there are and of which types, got too little"
            )
        return [self.recipe(layer) if layer.turns and not self.off else None for layer in self.layers]

    def entry_of(self, layer):
        """Return the RoPE parameters of a layer, and the keys of its base."""
        label = self.labels.get(layer.kind, layer.kind)
        for key in self.bases.values():
            self.part.get(key)
        if self.nested:
            return self.entry_of_type(label), None
        if not layer.scaled:
            return plain_entry(self.entry), BASE
        if not self.bases:
            return self.entry, BASE
        scaled = self.row.get("scaled", ["full_attention"])
        if not scaled and self.entry.mapping and read_type(self.entry) != "default":
            raise ValueError(f"{self.entry.path} must ask for no scaling, which {self.row['family']} does not have")
        keys = BASE if self.bases[label] == "rope_theta" else (self.bases[label],)
        if label in scaled:
            added = self.row.get("yarn", {}) if read_type(self.entry) == "yarn" else {}
            return (Part({**added, **self.entry.mapping}, self.entry.path) if added else self.entry), keys
        if self.entry.get("rope_theta") is not None:
            name = self.entry.name("rope_theta")
            raise ValueError(f"{name} must stand beside the entry where layer types have a base each")
        return Part({}, self.entry.path), keys

    def entry_of_type(self, label):
        """Return the parameters of one layer type, from an entry that holds a mapping for each."""
        entry = self.entry
        for key, value in entry.mapping.items():
            says_nothing = value is None or (key in ("rope_type", "type") and value == "default")
            if key not in self.nested and not says_nothing:
                raise ValueError(f"{entry.name(key)} must stand inside a layer type, as others do here, got {value!r}")
        if label not in self.nested:
            raise ValueError(f"{entry.name(label)} must be given for the layers of this type, got none")
        return entry.part(label)

    def recipe(self, layer):
        """Return the recipe of one layer."""
        part, row, label = self.part, self.row, self.labels.get(layer.kind, layer.kind)
        rope, base_keys = self.entry_of(layer)
        kind = read_type(rope)
        rotary_dim, head_dim, share = read_widths(part, rope, row, kind, layer, label, base_keys is None)
        make, arguments = TYPES[kind].read(Entry(part, rope, kind, share), self.seq_len)
        recipe = Recipe(
            make.__name__,
            self.base(layer, rope, base_keys, label) ** (share if kind == "default" else 1),
            arguments,
            rotary_dim,
            head_dim,
            read_pairing(part, row),
            *read_sections(part, rope, row, rotary_dim),
            bool(part.get("qk_rope_head_dim")),
        )
        refuse_passed_over(self.passed[0])
        return recipe

    def base(self, layer, rope, keys, label):
        """Return the base of one layer."""
        part, row = self.part, self.row
        part.get(BASE[0])  # asked for: it is what a list of bases stands in for
        if layer.base is not None:
            return layer.base[1]
        if keys is None:
            return self.nested_base(rope)
        base = agreed(rope.found("rope_theta") + part.found(*keys) + named(part, row, "rope_theta", check_positive))
        base = of_kind(row.get("base"), label) if base is None else base
        if base is None:
            raise ValueError(f"{part.name(keys[0])} must be given: it is the base of RoPE, got none")
        times = part.found(row["base_times"]) if "base_times" in row else []
        return base * (agreed(times) or 1.0)

    def nested_base(self, rope):
        """Return the base of a layer type; one beside the entry must be that of one of them."""
        base = rope.need("rope_theta", "for each layer type")
        all_bases = [self.entry.mapping[key].get("rope_theta") for key in self.nested]
        for name, value in self.part.found(*BASE, *self.row.get("bases", {}).values()):
            if value not in all_bases:
                raise ValueError(f"{name} must be the base of a layer type, {all_bases}, got {value}")
        return base


def plain_entry(entry):
    """Return what an entry says to layers that are not scaled: the base alone."""
    return Part({key: value for key, value in entry.mapping.items() if key == "rope_theta"}, entry.path)


def value_of(name, part):
    """Return the value of a key by its full name, for an error."""
    return repr(part.mapping.get(name.rsplit("'", 2)[1]))


def read_config(config, seq_len=None, layer_type=None):
    """Read RoPE from a model's config.json into explicit numbers; `from_config` of the scaling module uses them.

    Parameters
    ----------
    config : mapping
        The parsed config.json.
    seq_len : int, optional
        Present length, in tokens; None is the length trained on.
    layer_type : str, optional
        Which layers, where these have a RoPE each.

    Returns
    -------
    Recipe
        A function of the scaling module, its numbers, and the widths.

    Raises
    ------
    TypeError, ValueError
        As `from_config`.

    Examples
    --------
    >>> scaled = {"rope_type": "linear", "factor": 4.0}
    >>> config = {"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2, "rope_scaling": scaled}
    >>> read_config(config)[:3]
    ('linear', 10000.0, {'factor': 4.0})
    """
    if not is_header(config):
        return Reading(config, seq_len).one_recipe(layer_type)
    meant, pairing, names = as_config(config)
    try:
        return Reading(meant, seq_len).one_recipe(layer_type)._replace(pairing=pairing)
    except (TypeError, ValueError) as error:
        raise type(error)(in_words_of_the_header(str(error), names)) from None


def read_each_layer(config, seq_len=None):
    """Read RoPE from a model's config.json for each layer: a `Recipe`, or None where the layer has no RoPE.

    Parameters
    ----------
    config : mapping
        The parsed config.json.
    seq_len : int, optional
        Present length, in tokens; None is the length trained on.

    Returns
    -------
    list
        A `Recipe` for each layer, None where it has no RoPE.

    Raises
    ------
    TypeError, ValueError
        As `rope_of_layers`.

    Examples
    --------
    >>> config = {"model_type": "smollm3", "head_dim": 4, "num_hidden_layers": 2, "no_rope_layers": [1, 0]}
    >>> [recipe and recipe.base for recipe in read_each_layer(config)]
    [2000000.0, None]
    """
    if is_header(config):
        raise ValueError("mapping must be a config.json: the header of a GGUF file does not say which layers turn")
    return Reading(config, seq_len).recipes()
