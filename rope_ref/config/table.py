"""The table of a model's pairs: how fast each turns, what it saw in training, and what the scaling changed."""

from rope_ref.checks import check_count
from rope_ref.config.gguf import is_header
from rope_ref.config.layers import spans
from rope_ref.config.read import Reading, read_config
from rope_ref.config.ropes import from_config
from rope_ref.frequencies import inverse_frequencies, wavelengths
from rope_ref.scaling import share_seen

__all__ = []


def words(kind, recipe):
    """Say in words what turns a layer."""
    if recipe is None:
        return "no RoPE" if kind is None else f"{kind}, no RoPE"
    said = [kind] if kind else []
    said.append(f"base {recipe.base:,.0f}" if recipe.base.is_integer() else f"base {recipe.base:,}")
    if recipe.method == "linear":
        said.append(f"times 1/{recipe.arguments['factor']:g}")
    elif recipe.method != "plain":
        factor = recipe.arguments.get("factor")
        said.append(recipe.method + (f" with factor {factor:g}" if factor else ""))
    return ", ".join([*said, f"width {recipe.rotary_dim} of {recipe.head_dim}"])


def layer_groups(config, seq_len=None):
    """Return what turns the layers, as {words: layer numbers}; nothing where the file does not tell its layers."""
    if is_header(config):
        return {}
    reading, groups = Reading(config, seq_len), {}
    if not reading.row or not reading.layers:
        return groups
    for layer, recipe in zip(reading.layers, reading.recipes(), strict=True):
        groups.setdefault(words(layer.kind, recipe), []).append(layer.number)
    return groups


def group_lines(groups):
    """Write the groups of layers, a line each."""
    return [f"layers {spans(numbers)}: {said}" for said, numbers in groups.items()]


def trained_length(config, recipe):
    """Find the length a model was trained on, in tokens, and say where it stands, or raise."""
    if "original_length" in recipe.arguments:
        return recipe.arguments["original_length"], "the original length of the scaling"
    for part in (config, *(config[key] for key in ("text_config", "llm_config") if isinstance(config.get(key), dict))):
        for key in ("max_position_embeddings", "n_positions", "seq_length"):
            if isinstance(part.get(key), int):
                return check_count(part[key], key), key
    raise ValueError("the config does not say how long the model was trained: give --trained N")


def frequency_table(config, seq_len=None, layer_type=None, trained=None):
    """Return what holds for all pairs, a column of numbers for each property of a pair, and where `trained` stands."""
    recipe = read_config(config, seq_len, layer_type)
    rope = from_config(config, seq_len, layer_type=layer_type)
    source = "--trained"
    if trained is None:
        trained, source = trained_length(config, recipe)
    inv_freq, plain = rope.scaling.inv_freq, inverse_frequencies(rope.rotary_dim, recipe.base)
    columns = {
        "inv_freq": inv_freq,
        "wavelength": wavelengths(inv_freq),
        "share_seen": share_seen(plain, check_count(trained, source)),
        "speed_ratio": inv_freq / plain,
    }
    facts = {
        "method": recipe.method,
        "base": recipe.base,
        "rotary_dim": rope.rotary_dim,
        "head_dim": rope.head_dim,
        "pairing": rope.pairing,
        "sections": rope.sections,
        "attention_factor": rope.scaling.attention_factor,
        "softmax_factor": rope.scaling.softmax_factor,
        "trained": trained,
    }
    return facts, columns, source
