"""Read what a model's config.json says of its RoPE into explicit numbers: no mathematics here.

Files are read as transformers 5.24 reads them, the program they are published for. What they say of RoPE stands under
many names, old and new; every name that is understood stands in this file, and a name that is not is refused.
"""

from collections.abc import Mapping
from typing import NamedTuple

from rope_ref.checks import check_bool, check_count, check_fraction, check_positive

__all__ = ["Recipe", "read_config"]

# Where a model of several parts keeps its text part.
TEXT_PARTS = ("thinker_config", "text_config", "llm_config", "language_config")
# Names of one thing, the one in use today first.
HIDDEN_SIZE = ("hidden_size", "n_embd", "d_model")
HEADS = ("num_attention_heads", "n_head", "n_heads")
HEAD_DIM = ("head_dim", "kv_channels")
BASE = ("rope_theta", "rotary_emb_base")
SHARE = ("partial_rotary_factor", "rotary_pct", "rope_pct")
LONGEST = ("max_position_embeddings", "n_positions", "max_seq_len")
ORIGINAL = "original_max_position_embeddings"

# The rope types there are, and older names of two of them; "mrope" says only that sections follow.
TYPES = ("default", "linear", "dynamic", "yarn", "llama3", "longrope", "proportional")
OLD_TYPES = {"su": "longrope", "mrope": "default"}
# Keys of rope_scaling or rope_parameters that are read ...
PLAIN = set("rope_theta partial_rotary_factor mrope_section mrope_interleaved interleaved".split())
SCALED = set(
    f"""
    factor alpha {ORIGINAL} attention_factor beta_fast beta_slow truncate mscale mscale_all_dim extrapolation_factor
    attn_factor low_freq_factor high_freq_factor short_factor long_factor short_mscale long_mscale
    """.split()
)
READ = {"rope_type", "type", *PLAIN, *SCALED}
# ... and keys that published files hold there and that do not change the rotation.
PASSED_OVER = {"finetuned", "llama_4_scaling_beta", "max_position_embeddings"}
# Keys beside the entry that change the rotation in ways that are not read; they are refused unless null, false or 1.
NOT_READ = """
    compress_rope_theta rope_position_scale rope_ratio rope_scaling_factor rotary_emb_scale_base rotary_scaling_factor
    use_dynamic_ntk
""".split()
NO_ROPE = ("alibi", "nope")  # "absolute" stands by habit in files of models that have RoPE
ATTENTION_LAYERS = ("full_attention", "sliding_attention", "chunked_attention")

# What the code of transformers fixes for a model_type, so that the file need not say it. First, which features pair.
PAIRINGS = {
    "half": """
        apertus dbrx exaone4 falcon falcon_h1 gemma gemma2 gemma3_text gemma3n_text gemma4_text
        gemma4_unified_text glm4_moe gpt_neox gpt_oss granite granitemoe hunyuan_v1_dense hunyuan_v1_moe lfm2
        llama minicpm3 minimax minimax_m2 ministral ministral3 mistral mixtral mllama_text_model modernbert
        nemotron olmo olmo2 olmo3 olmoe persimmon phi phi3 phimoe qwen2 qwen2_5_omni_text qwen2_5_vl
        qwen2_5_vl_text qwen2_moe qwen2_vl qwen2_vl_text qwen3 qwen3_5_moe_text qwen3_5_text qwen3_moe
        qwen3_next qwen3_omni_moe_text qwen3_vl_moe_text qwen3_vl_text seed_oss smollm3 stablelm starcoder2
    """,
    "interleaved": """
        chatglm codegen cohere cohere2 deepseek_v2 deepseek_v3 deepseek_v32 ernie4_5 ernie4_5_moe glm glm4 glm4_moe_lite
        glm4v_text glm_moe_dsa gptj helium kimi_k2 llama4_text longcat_flash mistral4 roformer
    """,
}
PAIRING_OF = {name: pairing for pairing, names in PAIRINGS.items() for name in names.split()}
# Then, values of keys that published files of a model_type leave out.
LEFT_OUT = {
    "chatglm": {"rope_theta": 10000.0, "partial_rotary_factor": 0.5},
    "codegen": {"rope_theta": 10000.0},
    "ernie4_5": {"head_dim": 128},
    "falcon": {"rope_theta": 10000.0},
    "gemma": {"head_dim": 256},
    "gemma2": {"head_dim": 256},
    "gemma3_text": {"rope_theta": 1000000.0, "rope_local_base_freq": 10000.0, "head_dim": 256},
    "gemma3n_text": {"rope_theta": 1000000.0, "rope_local_base_freq": 10000.0, "head_dim": 256},
    "gemma4_text": {"head_dim": 256, "global_head_dim": 512},
    "gemma4_unified_text": {"head_dim": 256, "global_head_dim": 512},
    "glm": {"head_dim": 128, "partial_rotary_factor": 0.5},
    "glm4": {"head_dim": 128, "partial_rotary_factor": 0.5},
    "glm4_moe": {"partial_rotary_factor": 0.5},
    "gpt_neox": {"partial_rotary_factor": 0.25},
    "gpt_oss": {"head_dim": 64},
    "gptj": {"rope_theta": 10000.0},
    "helium": {"head_dim": 128},
    "llama": {"rope_theta": 10000.0},
    "llama4_text": {"head_dim": 128},
    "minimax_m2": {"head_dim": 128},
    "ministral3": {"head_dim": 128},
    "nemotron": {"partial_rotary_factor": 0.5},
    "persimmon": {"partial_rotary_factor": 0.5},
    "phi": {"partial_rotary_factor": 0.5},
    "qwen3": {"head_dim": 128},
    "qwen3_5_moe_text": {"head_dim": 256, "partial_rotary_factor": 0.25},
    "qwen3_5_text": {"head_dim": 256, "partial_rotary_factor": 0.25},
    "qwen3_next": {"head_dim": 256, "partial_rotary_factor": 0.25},
    "qwen3_vl_text": {"head_dim": 128},
    "roformer": {"rope_theta": 10000.0},
    "seed_oss": {"head_dim": 128},
    "stablelm": {"partial_rotary_factor": 0.25},
}
# Families that need a key whose absence would mean something else.
NEEDED = {"gptj": "rotary_dim", "codegen": "rotary_dim"}
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


class Part:
    """One mapping of a config, and where it stands, so that an error names the key as the file has it."""

    def __init__(self, mapping, path):
        self.mapping, self.path = mapping, path

    def get(self, key):
        """Return the value of a key; None where it is missing or null."""
        return self.mapping.get(key)

    def name(self, key):
        """Name a key as the file has it."""
        return f"{self.path}[{key!r}]"

    def part(self, key):
        """Return the mapping under a key; an empty one where it is missing or null."""
        value = self.get(key)
        if value is not None and not isinstance(value, Mapping):
            raise TypeError(f"{self.name(key)} must be a mapping, got {value!r}")
        return Part({} if value is None else value, self.name(key))

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


def read_type(rope):
    """Return the rope type of an entry under its name of today, or raise."""
    found = [(rope.name(key), rope.get(key)) for key in ("rope_type", "type") if rope.get(key) is not None]
    for name, value in found:
        if today(value) not in TYPES:
            listed = ", ".join(repr(kind) for kind in (*TYPES, *OLD_TYPES))
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


def layer_width(part, layer_type):
    """Return the head_dim that a table of single layers gives to all layers of one type; None where it gives none."""
    table = part.part("per_layer_config")
    rows = {str(key).lstrip("0"): table.part(key).found("head_dim", check=check_count) for key in table.mapping}
    # Layer 5 may stand under "05".
    found = [rows.get(str(i).lstrip("0"), []) for i, kind in enumerate(layer_kinds(part)) if kind == layer_type]
    if any(found) and not all(found):
        raise ValueError(f"{table.path} must give one head_dim to all layers of type {layer_type!r}, got some without")
    return agreed([pair for pairs in found for pair in pairs])


def read_head_dim(part, family, layer_type):
    """Return the width of one head."""
    left_out = LEFT_OUT.get(family, {})
    own = layer_width(part, layer_type)
    if own is not None:
        return own
    keys = HEAD_DIM
    if layer_type == "full_attention" and (part.get("global_head_dim") is not None or "global_head_dim" in left_out):
        keys = ("global_head_dim",)
    head_dim = agreed(part.found(*keys, check=check_count))
    if head_dim is None:
        head_dim = left_out.get(keys[0])
    if head_dim is not None:
        return head_dim
    sizes = part.found(*HIDDEN_SIZE, check=check_count), part.found(*HEADS, check=check_count)
    for found, key in zip(sizes, (HIDDEN_SIZE[0], HEADS[0]), strict=True):
        if not found:
            raise ValueError(f"{part.name(key)} must be given where head_dim is not, got none")
    hidden, heads = agreed(sizes[0]), agreed(sizes[1])
    if hidden % heads:
        raise ValueError(f"{sizes[0][0][0]} must be a multiple of {sizes[1][0][0]}, got {hidden} and {heads}")
    return hidden // heads


def read_share(part, rope, family, nested):
    """Return the share of the head that is turned, and where it stands; 1 where nothing is said."""
    found = rope.found(SHARE[0], check=check_fraction)
    if not (nested and found):
        found += part.found(*SHARE, check=check_fraction)
    left_out = LEFT_OUT.get(family, {}).get(SHARE[0])
    if not found and left_out is not None:
        found = [(part.name(SHARE[0]), left_out)]
    return found


def read_widths(part, rope, family, kind, layer_type, nested):
    """Return the rotated width, the width of one head, and the share of the first in the second."""
    apart = agreed(part.found("qk_rope_head_dim", check=check_count))
    if apart is not None:  # the rotated part stands alone, and the share says what it is of the whole
        return apart, apart, 1.0
    head_dim, found = read_head_dim(part, family, layer_type), read_share(part, rope, family, nested)
    share = agreed(found)
    if kind == "proportional":
        return head_dim, head_dim, 1.0 if share is None else share
    widths = [(name, int(head_dim * value)) for name, value in found]
    if family in NEEDED:
        part.need(NEEDED[family], f"for {family}", check_count)
    width = agreed(part.found("rotary_dim", check=check_count) + widths)
    width = head_dim if width is None else width
    if width % 2 or not 0 < width <= head_dim:
        name = next((name for name, _ in widths), part.name("head_dim" if width == head_dim else "rotary_dim"))
        raise ValueError(f"{name} must give an even rotary_dim of at most head_dim, {head_dim}, got {width}")
    return width, head_dim, 1.0


def read_sections(rope, rotary_dim):
    """Return how many pairs read each axis, and whether the axes alternate."""
    sections, name = rope.get("mrope_section"), rope.name("mrope_section")
    if sections is None:
        if "mrope" in (rope.get("rope_type"), rope.get("type")):
            rope.need("mrope_section", "for the type 'mrope'")
        return None, False
    if not isinstance(sections, (list, tuple)):
        raise TypeError(f"{name} must be a list of integers, got {sections!r}")
    sections, pairs = tuple(check_count(section, name) for section in sections), rotary_dim // 2
    if sum(sections) != pairs:
        raise ValueError(f"{name} must sum to the {pairs} pairs of a rotary_dim of {rotary_dim}, got {list(sections)}")
    return sections, agreed(rope.found("mrope_interleaved", "interleaved", check=check_bool)) or False


def read_pairing(part, family):
    """Return which features form a pair; None where the family is not known."""
    if part.get("rope_interleave") is None:
        return PAIRING_OF.get(family)
    return "interleaved" if check_bool(part.get("rope_interleave"), part.name("rope_interleave")) else "half"


def read_original(part, rope, kind):
    """Return the length that the model was trained on before it was extended."""
    found = rope.found(ORIGINAL, check=check_count) + part.found(ORIGINAL, check=check_count)
    return agreed(found) or rope.need(ORIGINAL, f"for the type {kind!r}: the length before it was extended")


def read_longest(part, kind):
    """Return the length that the model is published for."""
    return agreed(part.found(*LONGEST, check=check_count)) or part.need(LONGEST[0], f"for the type {kind!r}")


def read_growth(part, rope, kind, original):
    """Return by what factor the context grows: as it stands, or as the ratio of the two lengths."""
    factor = agreed(rope.found("factor"))
    return read_longest(part, kind) / original if factor is None else factor


def linear_arguments(part, rope, seq_len):
    """Read position interpolation."""
    return "linear", {"factor": rope.need("factor", "for the type 'linear'")}


def dynamic_arguments(part, rope, seq_len):
    """Read dynamic NTK; with a fixed alpha, as HunYuan has it, the length plays no part."""
    alpha, factor = agreed(rope.found("alpha")), agreed(rope.found("factor"))
    if alpha is not None:
        if factor not in (None, 1):
            raise ValueError(f"{rope.name('factor')} must be left out or 1 beside 'alpha', got {factor}")
        return "ntk", {"factor": alpha}
    factor, original = rope.need("factor", "for the type 'dynamic'"), read_longest(part, "dynamic")
    length = original if seq_len is None else seq_len
    return "dynamic_ntk", {"factor": factor, "original_length": original, "seq_len": length}


def yarn_arguments(part, rope, seq_len):
    """Read YaRN."""
    original = read_original(part, rope, "yarn")
    arguments = {"factor": read_growth(part, rope, "yarn", original), "original_length": original}
    if rope.get("attn_factor") not in (None, 1):
        raise ValueError(
            f"{rope.name('attn_factor')} must be 1, since some programs multiply by it and others ignore it; "
            f"'attention_factor' gives the length factor, got {rope.get('attn_factor')!r}"
        )
    for key in ("mscale", "mscale_all_dim", "attention_factor", "extrapolation_factor"):
        if rope.get(key) is not None:
            arguments[key] = rope.get(key)
    for key in ("beta_fast", "beta_slow"):
        if rope.get(key):  # 0 is as good as null
            arguments[key] = rope.get(key)
    if rope.get("truncate") is not None:
        arguments["truncate"] = check_bool(rope.get("truncate"), rope.name("truncate"))
    return "yarn", arguments


def llama3_arguments(part, rope, seq_len):
    """Read the scaling of Llama 3.1."""
    keys = ("factor", "low_freq_factor", "high_freq_factor")
    arguments = {key: rope.need(key, "for the type 'llama3'") for key in keys}
    return "llama3", arguments | {"original_length": read_original(part, rope, "llama3")}


def longrope_arguments(part, rope, seq_len):
    """Read LongRoPE; Phi-3.5-MoE gives the length factor of each list."""
    original = read_original(part, rope, "longrope")
    length = original if seq_len is None else seq_len
    lists = ("short_factor", "long_factor")  # checked where they are used: their length depends on rotary_dim
    arguments = {key: rope.need(key, "for the type 'longrope'", lambda values, name: values) for key in lists}
    lengths = rope.found("attention_factor", "long_mscale" if length > original else "short_mscale")
    if lengths:
        arguments["attention_factor"] = agreed(lengths)
    else:
        arguments["factor"] = read_growth(part, rope, "longrope", original)
    return "longrope", arguments | {"original_length": original, "seq_len": length}


def proportional_arguments(part, rope, seq_len):
    """Read the type of Gemma 4; the share of pairs that turn is read with the widths."""
    return "proportional", {"factor": agreed(rope.found("factor")) or 1.0}


def plain_arguments(part, rope, seq_len):
    """Read plain RoPE."""
    return "plain", {}


ARGUMENTS = {
    "default": plain_arguments,
    "linear": linear_arguments,
    "dynamic": dynamic_arguments,
    "yarn": yarn_arguments,
    "llama3": llama3_arguments,
    "longrope": longrope_arguments,
    "proportional": proportional_arguments,
}


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
    method, arguments = ARGUMENTS[kind](part, rope, seq_len)
    if kind == "proportional":
        arguments["partial_rotary_factor"] = share
    return Recipe(
        method,
        read_base(part, rope, family, base_key, nested),
        arguments,
        rotary_dim,
        head_dim,
        read_pairing(part, family),
        *read_sections(rope, rotary_dim),
        part.get("qk_rope_head_dim") is not None,
    )
