"""Read what a model's config.json says of its RoPE into explicit numbers: no mathematics here."""

from collections.abc import Mapping
from typing import NamedTuple

from rope_ref.checks import check_bool, check_count
from rope_ref.config.entry import ORIGINAL, Entry, Part, agreed
from rope_ref.config.families import LEFT_OUT, PAIRING_OF
from rope_ref.config.layers import flat_layer, nested_layer
from rope_ref.config.widths import read_sections, read_widths
from rope_ref.scaling import METHODS, Scaling

__all__ = ["Recipe", "RopeConfig", "from_config", "read_config"]

# Where a model of several parts keeps its text part.
TEXT_PARTS = ("thinker_config", "text_config", "llm_config", "language_config")
BASE = ("rope_theta", "rotary_emb_base")

# The rope types there are, and older names of two of them; "mrope" says only that sections follow.
TYPES = {method.rope_type: method for method in METHODS.values() if method.rope_type}
OLD_TYPES = {"su": "longrope", "mrope": "default"}
# Keys of rope_scaling or rope_parameters that are read ...
PLAIN = set("rope_theta partial_rotary_factor mrope_section mrope_interleaved interleaved".split())
SCALED = {ORIGINAL, *(key for method in TYPES.values() for key in method.keys)}
READ = {"rope_type", "type", *PLAIN, *SCALED}
# ... and keys that published files hold there and that do not change the rotation.
PASSED_OVER = {"finetuned", "llama_4_scaling_beta", "max_position_embeddings"}
# Keys beside the entry that change the rotation in ways that are not read; they are refused unless null, false or 1.
NOT_READ = """
    compress_rope_theta rope_position_scale rope_ratio rope_scaling_factor rotary_emb_scale_base rotary_scaling_factor
    use_dynamic_ntk
""".split()
NO_ROPE = ("alibi", "nope")  # "absolute" stands by habit in files of models that have RoPE


class Recipe(NamedTuple):
    """Which function of the scaling module a config asks for, with its numbers.

    Parameters
    ----------
    method : str
        Name of the function, or "plain" for no scaling.
    base : float
        Base b.
    arguments : dict
        Keywords of the function.
    rotary_dim, head_dim : int
        Rotated width, and width of one query or key head.
    pairing : {"interleaved", "half"} or None
        Which features form a pair; None where the model family is not known.
    sections : tuple of int, or None
        How many pairs read each axis in M-RoPE.
    sections_interleaved : bool
        Whether the axes of M-RoPE alternate from pair to pair.
    has_softmax_factor : bool
        Whether the attention of this family multiplies its scale by YaRN's softmax factor.

    Examples
    --------
    >>> config = {"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2}
    >>> read_config(config)[:5]
    ('plain', 10000.0, {}, 4, 4)
    """

    method: str
    base: float
    arguments: dict
    rotary_dim: int
    head_dim: int
    pairing: str | None
    sections: tuple | None
    sections_interleaved: bool
    has_softmax_factor: bool


class RopeConfig(NamedTuple):
    """What a model's configuration says of its RoPE.

    Parameters
    ----------
    scaling : Scaling
        Speeds, length factor and softmax factor.
    rotary_dim : int
        Rotated width, twice the number of pairs.
    head_dim : int
        Width of one query or key head. Where the rotated part is kept apart from the rest (multi-head latent
        attention of DeepSeek), the width of that part.
    pairing : {"interleaved", "half"} or None
        Which features form a pair, as the model's code in transformers reads its weights; None where the model family
        is not known.
    sections : tuple of int, or None
        How many pairs read each axis in M-RoPE (time, height, width); None for plain RoPE.
    sections_interleaved : bool, optional
        Whether the axes of M-RoPE alternate from pair to pair, as in Qwen3-VL.

    Examples
    --------
    >>> RopeConfig(Scaling([1.0]), 2, 4, "half", None).rotary_dim
    2
    """

    scaling: Scaling
    rotary_dim: int
    head_dim: int
    pairing: str | None
    sections: tuple | None
    sections_interleaved: bool = False


def text_part(config):
    """Find the part of a config that describes the text model, and the model_type it goes by."""
    part, kind = Part(config, "config"), config.get("model_type")
    for key in TEXT_PARTS:
        inner = part.part(key)
        if inner.mapping:
            agreed(part.found("rope_theta") + inner.found("rope_theta"))
            same_meaning(rope_entry(part), rope_entry(inner))
            part, kind = inner, inner.get("model_type") or kind
    if kind is not None and not isinstance(kind, str):
        raise TypeError(f"{part.name('model_type')} must be a text, got {kind!r}")
    names = [name for name in (kind, f"{kind}_text") if name in PAIRING_OF]
    return part, names[0] if names else None


def same_meaning(first, second):
    """Raise if two entries are both there and ask for different scalings."""
    if first.mapping and second.mapping:
        agreed([(entry.path, meaning(entry.mapping)) for entry in (first, second)])


def today(kind):
    """Return a rope type under its name of today."""
    return OLD_TYPES.get(kind, kind) if isinstance(kind, str) else kind


def meaning(entry):
    """Return an entry without what is null, its base and share (compared elsewhere), and with its type as of today."""
    kinds = [today(entry[key]) for key in ("rope_type", "type") if entry.get(key) is not None]
    rest = {key: value for key, value in entry.items() if value is not None and key not in ("rope_type", "type")}
    rest = {key: value for key, value in rest.items() if key not in ("rope_theta", "partial_rotary_factor")}
    return {"rope_type": kinds[0] if kinds else "default", **rest}


def refuse_other_positions(part, family):
    """Raise if the config asks for no RoPE, or for a change of it that is not read."""
    if part.get("alibi") is True:
        raise ValueError(f"{part.name('alibi')} must be false for a model with RoPE, got true")
    kind = part.get("position_embedding_type")
    if kind in NO_ROPE:
        raise ValueError(f"{part.name('position_embedding_type')} must be one with RoPE, got {kind!r}")
    for key in NOT_READ:
        value = part.get(key)
        if not (value is None or value is False or (value == 1 and value is not True) or read_by(family, key)):
            raise ValueError(f"{part.name(key)} must not be set: it changes RoPE in a way not read here")


def read_by(family, key):
    """Tell whether a key is read for one family though not for all."""
    return (family, key) == ("chatglm", "rope_ratio")


def rope_entry(part):
    """Return the mapping of RoPE parameters of a config, under its old or its new name."""
    old, new = part.part("rope_scaling"), part.part("rope_parameters")
    same_meaning(old, new)
    return new if new.mapping else old


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


def read_base(part, rope, family, key, nested):
    """Return the base."""
    if nested:
        return rope.need("rope_theta", "for each layer type")
    keys = BASE if key == "rope_theta" else (key,)
    base = agreed(rope.found("rope_theta") + part.found(*keys))
    if base is None:
        base = LEFT_OUT.get(family, {}).get(key)
    if base is None:
        raise ValueError(f"{part.name(key)} must be given: it is the base of RoPE, got none")
    if family == "chatglm":  # its code multiplies the base, and has no other scaling
        base *= agreed(part.found("rope_ratio")) or 1.0
    return base


def read_pairing(part, family):
    """Return which features form a pair; None where the family is not known."""
    if part.get("rope_interleave") is None:
        return PAIRING_OF.get(family)
    return "interleaved" if check_bool(part.get("rope_interleave"), part.name("rope_interleave")) else "half"


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
    if not isinstance(config, Mapping):
        raise TypeError(f"config must be a mapping, the parsed config.json, got {type(config).__name__}")
    seq_len = None if seq_len is None else check_count(seq_len, "seq_len")
    part, family = text_part(config)
    refuse_other_positions(part, family)
    entry = rope_entry(part)
    rope, base_key = nested_layer(entry, layer_type), None
    if rope is None:
        rope, base_key = flat_layer(part, entry, family, layer_type)
    nested = base_key is None
    kind = read_type(rope)
    rotary_dim, head_dim, share = read_widths(part, rope, family, kind, layer_type, nested)
    make, arguments = TYPES[kind].read(Entry(part, rope, kind, share), seq_len)
    return Recipe(
        make.__name__,
        read_base(part, rope, family, base_key, nested),
        arguments,
        rotary_dim,
        head_dim,
        read_pairing(part, family),
        *read_sections(rope, rotary_dim),
        part.get("qk_rope_head_dim") is not None,
    )


def from_config(mapping, seq_len=None, *, layer_type=None):
    r"""Read RoPE from a model's config.json.

    Parameters
    ----------
    mapping : mapping
        The parsed config.json, as published for transformers, of its version 5 (``rope_parameters``) or earlier
        (``rope_theta`` and ``rope_scaling``). Of a model with several parts the text part is read.
    seq_len : int, optional
        Present length, in tokens, for the types "dynamic" and "longrope", whose speeds depend on it. None is the
        length trained on: no change by "dynamic", and the short list of "longrope", as transformers does.
    layer_type : str, optional
        Which layers, such as "full_attention" or "sliding_attention", where these have a RoPE each.

    Returns
    -------
    RopeConfig
        Speeds, widths, pairing and M-RoPE sections.

    Raises
    ------
    TypeError
        If `mapping` is no mapping, or a value is not of its type.
    ValueError
        If a type is unknown (the message lists those known), a key is missing, unknown or contradicts another (the
        message names it), or layers differ and `layer_type` does not say which (it lists them).

    Notes
    -----
    Nothing is guessed. What a file of a known model family leaves out, because transformers' code for that family
    fixes it, is taken from there; where the family is not known, the missing key is an error.

    Where implementations read a file in several ways, transformers 5.24 is followed, but for two of its faults: inside
    a layer type, ``truncate`` is read where it stands; and an entry of YaRN, Llama 3 or LongRoPE without
    ``original_max_position_embeddings`` is an error, where transformers takes the extended length and then extends
    almost nothing. ``factor`` counts as it stands, also where it is not the ratio of the two lengths.

    Which layers are turned at all (``no_rope_layers`` and the like) is not read.

    Examples
    --------
    >>> config = {
    ...     "model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, "rope_theta": 10000.0,
    ...     "max_position_embeddings": 8192, "rope_scaling": {"rope_type": "linear", "factor": 4.0},
    ... }
    >>> rope = from_config(config)
    >>> rope.scaling.inv_freq, rope.pairing
    (array([0.25   , 0.025  , 0.0025 , 0.00025]), 'half')
    """
    recipe = read_config(mapping, seq_len, layer_type)
    scaling = METHODS[recipe.method].make(recipe.rotary_dim, recipe.base, **recipe.arguments)
    if not recipe.has_softmax_factor:
        scaling = scaling._replace(softmax_factor=1.0)
    return RopeConfig(
        scaling, recipe.rotary_dim, recipe.head_dim, recipe.pairing, recipe.sections, recipe.sections_interleaved
    )
