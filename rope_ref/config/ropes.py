"""What a config.json says of RoPE, as speeds: for the layers of one type, or layer by layer."""

from typing import NamedTuple

import numpy as np

from rope_ref.checks import check_choice
from rope_ref.config.read import read_config, read_each_layer
from rope_ref.config.vision import read_vision
from rope_ref.frequencies import inverse_frequencies
from rope_ref.scaling import METHODS, Scaling

__all__ = ["RopeConfig", "from_config", "rope_of_layers"]


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
    sections_interleaved : bool or "alternating", optional
        How the axes of M-RoPE are dealt out, as `rope_ref.positions.mrope_axes` takes it.

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
    sections_interleaved: bool | str = False


def made(recipe):
    """Make the speeds that a recipe asks for."""
    scaling = METHODS[recipe.method].make(recipe.rotary_dim, recipe.base, **recipe.arguments)
    if not recipe.has_softmax_factor:
        scaling = scaling._replace(softmax_factor=1.0)
    return RopeConfig(
        scaling, recipe.rotary_dim, recipe.head_dim, recipe.pairing, recipe.sections, recipe.sections_interleaved
    )


def from_config(mapping, seq_len=None, *, layer_type=None, part=None):
    r"""Read RoPE from a model's config.json.

    Parameters
    ----------
    mapping : mapping
        The parsed config.json, as published for transformers, of its version 5 (``rope_parameters``) or earlier
        (``rope_theta`` and ``rope_scaling``). Of a model with several parts the text part is read. Or the header of a
        GGUF file, ``general.architecture`` and its keys such as ``llama.rope.freq_base``, as a mapping.
    seq_len : int, optional
        Present length, in tokens, for the types "dynamic" and "longrope", whose speeds depend on it. None is the
        length trained on: no change by "dynamic", and the short list of "longrope", as transformers does.
    layer_type : str, optional
        Which layers, such as "full_attention" or "sliding_attention", where these have a RoPE each.
    part : {"vision"}, optional
        Which part of a model of several; the text part by default.

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
        message names it), or the layers asked about differ or have no RoPE (it names them): `rope_of_layers` reads
        each layer. A key that speaks of position and is not read is refused, unless it is null, false or 1.

    See Also
    --------
    rope_of_layers : The same for each layer, None where it has no RoPE.

    Notes
    -----
    Nothing is guessed. What a file of a known model family leaves out, because transformers' code for that family
    fixes it, is taken from there; where the family is not known, the missing key is an error.

    Where implementations read a file in several ways, transformers 5.24 is followed, but for some of its faults: inside
    a layer type, ``truncate`` is read where it stands; the bases that stand flat in files of MiMo-V2-Flash and OLMo 3
    hold for the layers they are meant for, where it takes its own for some; and an entry of YaRN, Llama 3 or LongRoPE
    without ``original_max_position_embeddings`` is an error, where transformers takes the extended length and then
    extends almost nothing. ``factor`` counts as it stands, also where it is not the ratio of the two lengths.

    The pairing of a GGUF file is that of the file, not of the publication: when llama.cpp converts a model of the
    architecture "llama", it reorders the rows of q and k so that interleaved pairs fit, and leaves those of, say,
    "qwen2" in halves. Factors that it keeps as tensors (``rope_freqs`` of Llama 3.1, the lists of LongRoPE) are not in
    the header: with such a tensor the speeds are these divided by it.

    Of a vision part half of the pairs read one axis and half the other: `sections` counts them, rows first and columns
    second, but for Llama 4, which reads the column first. DINOv3 gives them 2 pi times the centres of the patches,
    which lie between -1 and 1.

    What is asked about is every layer with attention, or those of `layer_type`. Where the file does not say how many
    layers there are, they are not counted. Keys of other parts, such as ``audio_config``, are left alone.

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
    if part is not None:
        check_choice(part, ("vision", None), "part")
        return vision(*read_vision(mapping))
    return made(read_config(mapping, seq_len, layer_type))


def vision(base, head_dim, pairing, dealt):
    """Make the speeds of a vision model: half of the pairs for each of two axes."""
    speeds = inverse_frequencies(head_dim if dealt else head_dim // 2, base)
    speeds = np.concatenate([speeds[0::2], speeds[1::2]] if dealt else [speeds, speeds])
    return RopeConfig(Scaling(speeds), head_dim, head_dim, pairing, (head_dim // 4, head_dim // 4))


def rope_of_layers(mapping, seq_len=None):
    """Read RoPE from a model's config.json, layer by layer: also which layers have none.

    Parameters
    ----------
    mapping : mapping
        The parsed config.json, as for `from_config`; of a model with several parts the text part is read.
    seq_len : int, optional
        Present length, in tokens, as for `from_config`.

    Returns
    -------
    list
        A `RopeConfig` for each layer, the first one first; None where nothing turns: a layer that its model leaves
        without RoPE, or one with no attention.

    Raises
    ------
    TypeError, ValueError
        As `from_config`; and if the file says too little to know how many layers there are and of which types.

    Examples
    --------
    SmolLM3 leaves every fourth layer without RoPE:

    >>> config = {"model_type": "smollm3", "head_dim": 4, "num_hidden_layers": 4}
    >>> [rope is not None for rope in rope_of_layers(config)]
    [True, True, True, False]
    """
    recipes, known = read_each_layer(mapping, seq_len), []
    for recipe in recipes:  # most layers share one recipe, which then is made once
        if recipe is not None and recipe not in [other for other, _ in known]:
            known.append((recipe, made(recipe)))
    return [next((rope for other, rope in known if other == recipe), None) for recipe in recipes]
