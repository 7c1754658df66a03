"""What a model means: the faults it takes, in words, and the call that gives the output back."""

import itertools

from rope_ref.diagnosis.laws import COSINE_FIRST
from rope_ref.diagnosis.models import bits_of
from rope_ref.faults import FAULTS

__all__ = []

WORDS = {
    "output in the other order": "half-split pairs are read, but written side by side.",
    "positions off by a constant": "Every position is off by the same number of tokens.",
    "positions ignored": "All tokens stand at one position.",
    "positions counted anew from 0": "The token's index is taken for its position.",
    "positions of the first sequence for all": "The whole batch takes the positions of its first sequence.",
    "exponent (2i - 1) / d": "Exponent (2i - 1)/d instead of 2i/d.",
    "exponent (2i - 1) / d, i from 1": "Exponent (2i - 1)/d with i from 1, where (2i - 2)/d is meant.",
    "wrong base": "The base is that of another model.",
    "width of the head in the exponent": "The exponent divides by the width of the head, as proportional RoPE does.",
    "pairs that stand still": "Some pairs of the rotated width do not turn, as in a proportional width.",
    "NTK scaling": "The base is raised for a longer context (NTK-aware scaling).",
    "linear scaling": "All frequencies are divided by one number, as linear scaling does.",
    "turned too fast": "All frequencies are multiplied by one number.",
    "YaRN scaling": "The slow pairs are slowed for a longer context (YaRN).",
    "NTK-by-parts scaling": "The slow pairs are slowed for a longer context (YaRN without its length factor).",
    "Llama 3 scaling": "The slow pairs are slowed for a longer context (Llama 3).",
    "frequencies of no known law": "The pairs turn evenly, at speeds of no law known here.",
    "block at an offset": "The features that are turned do not start at the first one.",
    "float32 angles": "Angles are held in single precision.",
    "wrong width": "Other features are turned than `rotary_dim` says.",
}
PAIR_WORDS = {"interleaved": "interleaved pairs", "half": "half-split pairs"}


def in_words(name):
    """Describe a fault in one sentence."""
    if name in WORDS:
        return WORDS[name]
    return FAULTS[name].what if name in FAULTS else f"{name[0].upper()}{name[1:]}: rounded too early."


def faults_of(view, model):
    """List every way to understand a model, as the faults it takes."""
    fixed = {
        "cos and sin swapped": model.swapped,
        "opposite direction": model.sign < 0,
        **dict.fromkeys(model.candidate.faults, True),
        model.precision: model.precision,
        "wrong width": view.rotary_dim not in (None, model.width),
        "block at an offset": view.rotary_dim and model.start,
        view.fault: view.fault,
    }
    fixed = [name for name, there in fixed.items() if there]
    return [(*law, *offset, *fixed) for law, offset in itertools.product(model.law.causes, offset_causes(view, model))]


def offset_causes(view, model):
    """List what the offset of a model may mean, each entry the faults it takes."""
    if model.offset == 0 or view.fault == "positions ignored":
        return [()]
    fault = "positions from one" if model.offset == 1 else "positions off by a constant"
    if view.given:
        return [(fault,)]
    return [(), (fault,)] if model.offset == 1 else [()]


# Calls ---------------------------------------------------------------------------------------------------------------


def places_text(view, model):
    """Write the positions of a model."""
    count = view.x.shape[1]
    if view.fault == "positions ignored":
        return f"np.full({count}, {model.offset!r})"
    text = "position_ids" if view.given and view.fault is None else f"np.arange({count})"
    if view.fault == "positions of the first sequence for all":
        text = "position_ids[0]"
    return f"{text} + {model.offset:g}" if model.offset else text


def tables_text(view, model):
    """Write the call that makes the cosines and sines of a model."""

    def held(text, stage):
        bits = bits_of(model.precision, stage)
        return text if bits is None else f"round_to_bits({text}, {bits})"

    speeds = f"-({model.candidate.text})" if model.sign < 0 else model.candidate.text
    places, speeds = held(places_text(view, model), "positions"), held(speeds, "frequencies")
    angles = held(f"rotation_angles({places}, {speeds})", "angles")
    if model.precision == "float32 angles":
        angles = f"np.float32({angles})"
    tables = f"cos_sin({angles}" + (f", attention_factor={model.factor!r})" if model.factor != 1 else ")")
    if (table := held("table", "tables")) != "table":
        tables = f"[{table} for table in {tables}]"
    return f"{tables}[::-1]" if model.swapped else tables


def call_text(view, model):
    """Write the call that gives the output back; None where there is no short one."""
    if model.candidate.text is None:
        return None
    x = "x" if view.axis == -2 else f"np.swapaxes(x, -2, {view.axis})"
    if model.law.name == "rotation":
        text = rotation_text(x, view, model)
    elif (model.start, model.width) != (0, view.x.shape[-1]):
        return None
    elif model.law.name == "added instead of rotated":
        back = "" if model.law in COSINE_FIRST else "[::-1]"
        text = f'{x} + join_pairs(*{tables_text(view, model)}{back}, "{model.law.write}")'
    elif (model.factor, model.sign, model.swapped, model.precision, model.candidate.faults) == (1, 1, False, "", ()):
        text = planted_text(x, view, model)
    else:
        return None
    return text if view.axis == -2 else f"np.swapaxes({text}, -2, {view.axis})"


def rotation_text(x, view, model):
    """Write the call of a rotation, of all features or of a block of them."""
    law, start, stop = model.law, model.start, model.start + model.width
    part = x if start == 0 else f"{x}[..., {start}:{stop}]"
    text = f"apply_rope({part}, *{tables_text(view, model)}" + (', pairing="half")' if law.read == "half" else ")")
    if law.read != law.write:
        text = f"to_{law.write}({text}, {model.width})"
    return text if start == 0 else f"np.concatenate(({x}[..., :{start}], {text}, {x}[..., {stop}:]), axis=-1)"


def planted_text(x, view, model):
    """Write the call of a planted fault, for the pairing in which it is planted or the other one."""
    rotate = f'FAULTS["{model.law.causes[0][0]}"].rotate'
    given = f"{places_text(view, model)}, base={model.candidate.base!r}"
    if model.law.read == model.law.write == "half":
        return f"to_half({rotate}(to_interleaved({x}), {given}))"
    return f"{rotate}({x}, {given})"
