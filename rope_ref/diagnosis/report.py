"""The verdict in words: what was found, how sure that is, and what would tell more."""

import itertools
import math

import numpy as np

from rope_ref.diagnosis.findings import Diagnosis, Explanation, explanations
from rope_ref.diagnosis.ladders import COMMON_BASES, SINGLE, near, ordinary
from rope_ref.diagnosis.laws import PAIRINGS, ROTATIONS, output
from rope_ref.diagnosis.models import Model, errors, model_tables
from rope_ref.diagnosis.readings import firm
from rope_ref.diagnosis.views import UNIT, blocks, changed
from rope_ref.diagnosis.words import PAIR_WORDS, in_words
from rope_ref.frequencies import inverse_frequencies

__all__ = []

# DeepSeek-V3 writes the first features first, nanochat turns clockwise.
MEANT_SOMEWHERE = (("concatenated output",), ("opposite direction",))
LOOSE = ("float32 angles", "frequencies of no known law")
PROBES = (1, 2, 3, 17, 100, 300, 1000, 3000, 10_000, 100_000)  # positions at which explanations are compared


# Where nothing gives the output back, or nothing is turned -----------------------------------------------------------


def unexplained(view, verdict, sure):
    """Report an output without explanations."""
    return Diagnosis(verdict, (), sure, "", math.nan, view.dtype)


def without_turn(view, heads):
    """Report an output that is the input, a multiple of it or its features reordered; None if it is not."""
    x, y = view.x, view.y
    if not changed(view).any():
        return nothing_turned(view, heads)
    times = float((x * y).sum() / np.maximum((x**2).sum(), 1e-300))
    if (np.abs(y - times * x) <= 8 * UNIT[view.dtype] * np.abs(y)).all():
        verdict = f"nothing is turned: the output is {times:.6g} times the input"
        return unexplained(view, verdict, "no pair is turned")
    columns = {x[..., j].tobytes() for j in range(x.shape[-1])}
    if len(columns) == x.shape[-1] and all(y[..., j].tobytes() in columns for j in range(x.shape[-1])):
        sure = "every feature of the output is one of the input"
        return unexplained(view, "not RoPE: features are only reordered", sure)
    return None


def nothing_turned(view, heads):
    """Report an output that is the input."""
    if not view.positions.any():
        sure = "position 0 turns nothing, whatever base and pairing are: give later positions"
        return Diagnosis("right: at position 0 nothing turns", (), sure, "", 0.0, view.dtype)
    words = {"positions ignored": "All tokens stand at position 0, or nothing was called."}
    if heads == 1:
        words["positions along the head axis"] = in_words("positions along the head axis")
    width = view.rotary_dim or view.x.shape[-1] // 2 * 2
    own = inverse_frequencies(width, view.base or COMMON_BASES[0])
    made = tuple(
        Explanation((name,), what, PAIRINGS[0], PAIRINGS[0], width, 0, view.base, own, 1, 0.0, 1.0, 0.0, "x.copy()")
        for name, what in words.items()
    )
    apart = "An input with several heads would tell them apart." if heads == 1 else ""
    sure = "the output is the input; what was meant to turn it cannot be seen"
    return Diagnosis("nothing is turned: the output is the input", made, sure, apart, 0.0, view.dtype)


def without_explanation(view, found):
    """Report an output that nothing gives back, whatever was read off it."""
    partly = mostly_right(view)
    if partly is not None:
        return partly
    pairs = " or ".join(dict.fromkeys(PAIR_WORDS[each.law.read] for each in found if firm(each)))
    if pairs:
        verdict = f"RoPE, but unexplained: {pairs} keep their length, and their angles follow no law known here"
        sure = "the lengths fit a rotation; no frequencies, offset or known fault give the output back"
        return unexplained(view, verdict, sure if view.base else f"{sure}; say with `base` what was meant")
    if view.x.shape[1] * view.x.shape[2] == 2:
        return unexplained(view, "too little to tell", "one pair at one position: a length and an angle fit any output")
    change = view.y - view.x
    size = np.abs(view.x).max() + np.abs(change).max()
    alike = len(view.x) > 1 and np.abs(change - change[0]).max() <= 4 * UNIT[view.dtype] * size
    added = ": the same vector is added in every row, one that depends on the position alone" if alike else ""
    sure = "no way of pairing features keeps their lengths, and no known mix-up fits"
    return unexplained(view, f"not RoPE{added}", sure)


def mostly_right(view):
    """Report an output that is right in most places, and the first place where it is not; None if it is not."""
    most, best, what = 0.5, None, None
    bases = [view.base] if view.base else COMMON_BASES
    for law, base, (start, width) in itertools.product(ROTATIONS[::2], bases, blocks(view)):
        model = Model(law, start, width, 1.0, 1, False, ordinary(width, base), 0.0, "")
        wrong = np.concatenate([ratio > 1 for ratio in errors(model, view)])
        if 1 - wrong.mean() > most:
            most, best, what = 1 - wrong.mean(), wrong, f"{PAIR_WORDS[law.read]}, base {base:.10g}"
    if best is None:
        return None
    row, token, feature = (int(place) for place in np.argwhere(best)[0])
    rows = f"row {row}, " if len(best) > 1 else ""
    verdict = f"RoPE, but not everywhere: all but {best.sum():,} of {best.size:,} features are right in {what}"
    return unexplained(view, verdict, f"the first that is not is {rows}token {token}, feature {feature}")


# Where something does ------------------------------------------------------------------------------------------------


def finding(view, kept):
    """Report the models that give the output back."""
    pairs = explanations(view, kept)
    return faulty(view, pairs) if pairs[0][0].faults else right(view, pairs)


def right(view, pairs):
    """Report an output that is right, or may be."""
    first, meant, hidden = pairs[0][0], pairs, []
    if view.base is not None:
        meant = [pair for pair in pairs if pair[0].faults in ((), ("other pairing",), ("positions from one",))]
        hidden = [
            " and ".join(each.faults)
            for each, _ in pairs
            if each.faults and not near(each.base or 1.0, first.base or 1.0, SINGLE)
        ]
    verdict = f"right: RoPE in {PAIR_WORDS[first.pairing]}"
    if first.base and view.base is None:
        verdict += f", base {first.base:.10g}"
    if first.offset:
        verdict += f", positions from {view.positions[0] + first.offset:g}"
    if first.attention_factor != 1:
        verdict += f", lengths times {first.attention_factor:.10g}"
    verdict += f"; largest error {first.error:.2g} of the bound for {view.dtype}"
    sure = f"certain up to position {np.abs(view.positions + first.offset).max():g}"
    if len(meant) > 1:
        sure += ", if this is what was meant"
    if hidden:
        sure += f"; this input cannot show {', '.join(hidden)}"
    return explained(view, verdict, sure, meant, tell_apart(meant, view.x.shape[-1]))


def faulty(view, pairs):
    """Report an output that every explanation finds something wrong with."""
    first, apart = pairs[0][0], tell_apart(pairs, view.x.shape[-1])
    if len(pairs) == 1:
        sure = "certain; some models mean it so" if first.faults in MEANT_SOMEWHERE else "certain"
    elif apart.startswith("No "):
        sure = "the function is certain, its cause is open"
    else:
        sure = "open: each of these gives the output back"
    if any(name in LOOSE or name.startswith("computed in") for name in first.faults):
        sure = f"likely: within what such a computation may be off by{'; ' + sure if len(pairs) > 1 else ''}"
    kind = "not RoPE:" if "added instead of rotated" in first.faults else "RoPE, but"
    causes = "; or ".join(dict.fromkeys(" and ".join(each.faults) for each, _ in pairs))
    return explained(view, f"{kind} {causes}", sure, pairs, apart)


def explained(view, verdict, sure, pairs, apart):
    """Report explanations, given with their models."""
    made = tuple(each for each, _ in pairs)
    return Diagnosis(verdict, made, sure, apart, made[0].error, view.dtype)


def tell_apart(pairs, head_dim):
    """Say which position would tell explanations apart, computing all of them there."""
    if len(pairs) < 2:
        return ""
    x, gaps = np.random.default_rng(0).standard_normal((1, head_dim)), []
    for place in PROBES:
        outputs = np.repeat(x, len(pairs), axis=0)
        for y, (_, model) in zip(outputs, pairs, strict=True):
            turned, (cos, sin, _) = (
                slice(model.start, model.start + model.width),
                model_tables(model, np.array([place])),
            )
            y[turned] = output(model.law, x[:, turned], cos, sin)
        gaps.append(np.abs(outputs[:, None] - outputs).max(axis=-1))
    if np.max(gaps) < 1e-9:
        return "No input tells these apart: they are one and the same function. What was meant decides."
    differ = (np.array(gaps) > 1e-5).sum(axis=(1, 2))
    if not differ.any():
        return f"No position up to {PROBES[-1]:,} tells these apart by more than 1e-5."
    best = int(np.argmax(differ))
    every = differ[best] == len(pairs) * (len(pairs) - 1)
    rest = "" if every else " Not all of them: some are all but one function."
    return f"A token at position {PROBES[best]} would tell them apart.{rest}"
