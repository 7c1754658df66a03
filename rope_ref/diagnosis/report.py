"""The verdict in words: what was found, how sure that is, and what would tell more."""

import itertools
import math
from dataclasses import replace

import numpy as np

from rope_ref.diagnosis.confirm import errors
from rope_ref.diagnosis.findings import PAIR_WORDS, Diagnosis, Explanation
from rope_ref.diagnosis.frequencies import same_function
from rope_ref.diagnosis.measure import PAIRINGS, ROTATIONS, firm
from rope_ref.diagnosis.name import NEUTRAL, as_meant, meanings, parting, phrase
from rope_ref.diagnosis.numbers import near
from rope_ref.diagnosis.tolerances import COMMON_BASES, COPIED, DIFFER, PROBES, SAME, SINGLE
from rope_ref.faults.laws import layout
from rope_ref.faults.planted import row_of
from rope_ref.faults.rounding import UNIT
from rope_ref.faults.tables import frequencies, places
from rope_ref.frequencies import inverse_frequencies

__all__ = []

# DeepSeek-V3 writes the first features first, nanochat turns clockwise.
MEANT_SOMEWHERE = (("concatenated output",), ("opposite direction",))
LOOSE = ("float32 angles", "frequencies of no known law")


# Where nothing gives the output back, or nothing is turned -----------------------------------------------------------


def unexplained(view, verdict, sure):
    """Report an output without explanations."""
    return Diagnosis(verdict, (), sure, "", math.nan, view.dtype)


def without_turn(choices):
    """Report an output that is the input, a multiple of it or its features reordered; None if it is not."""
    view, one_head = choices[0], all(each.axis == -2 for each in choices)
    x, y = view.x, view.y
    if not view.moved.any():
        return nothing_turned(view, one_head)
    times = float((x * y).sum() / np.maximum((x**2).sum(), 1e-300))
    if (np.abs(y - times * x) <= COPIED * UNIT[view.dtype] * np.abs(y)).all():
        verdict = f"nothing is turned: the output is {times:.6g} times the input"
        return unexplained(view, verdict, "no pair is turned")
    columns = {x[..., j].tobytes() for j in range(x.shape[-1])}
    if len(columns) == x.shape[-1] and all(y[..., j].tobytes() in columns for j in range(x.shape[-1])):
        sure = "every feature of the output is one of the input"
        return unexplained(view, "not RoPE: features are only reordered", sure)
    return None


def nothing_turned(view, one_head):
    """Report an output that is the input."""
    if not view.ids.any():
        sure = "position 0 turns nothing, whatever base and pairing are: give later positions"
        return Diagnosis("right: at position 0 nothing turns", (), sure, "", 0.0, view.dtype)
    words = {"positions ignored": "All tokens stand at position 0, or nothing was called."}
    if one_head:
        words["positions along the head axis"] = row_of("axis", -3).what
    width, base = view.rotary_dim or view.x.shape[-1] // 2 * 2, view.base or COMMON_BASES[0]
    shown = width, 0, view.base, inverse_frequencies(width, base), 1, 0.0, 1.0, 0.0, "x.copy()"
    made = tuple(Explanation((name,), what, *2 * PAIRINGS[:1], *shown) for name, what in words.items())
    apart = "An input with several heads would tell them apart." if one_head else ""
    sure = "the output is the input; what was meant to turn it cannot be seen"
    return Diagnosis("nothing is turned: the output is the input", made, sure, apart, 0.0, view.dtype)


def without_explanation(view, found):
    """Report an output that nothing gives back, whatever was read off it."""
    partly = mostly_right(view)
    if partly is not None:
        return partly
    pairs = " or ".join(dict.fromkeys(PAIR_WORDS[each.turn.pairing] for each in found if firm(each)))
    if pairs:
        verdict = f"RoPE, but unexplained: {pairs} keep their length, and their angles follow no law known here"
        sure = "the lengths fit a rotation; no frequencies, offset or known fault give the output back"
        return unexplained(view, verdict, sure if view.base else f"{sure}; say with `base` what was meant")
    if view.x.shape[1] * view.x.shape[2] == 2:
        return unexplained(view, "too little to tell", "one pair at one position: a length and an angle fit any output")
    change = view.y - view.x
    size = np.abs(view.x).max() + np.abs(change).max()
    alike = len(view.x) > 1 and np.abs(change - change[0]).max() <= COPIED * UNIT[view.dtype] * size / 2
    added = ": the same vector is added in every row, one that depends on the position alone" if alike else ""
    sure = "no way of pairing features keeps their lengths, and no known mix-up fits"
    return unexplained(view, f"not RoPE{added}", sure)


def mostly_right(view):
    """Report an output that is right in most places, and the first place where it is not; None if it is not."""
    if view.axes:
        return None
    most, best, what = 0.5, None, None
    bases = [view.base] if view.base else COMMON_BASES
    for law, base, (start, width) in itertools.product(ROTATIONS[::2], bases, view.blocks):
        turn = replace(law, start=start, width=width, base=base)
        wrong = np.concatenate([ratio > 1 for ratio in errors(turn, view)])
        if 1 - wrong.mean() > most:
            most, best, what = 1 - wrong.mean(), wrong, f"{PAIR_WORDS[law.pairing]}, base {base:.10g}"
    if best is None:
        return None
    row, token, feature = (int(number) for number in np.argwhere(best)[0])
    rows = f"row {row}, " if len(best) > 1 else ""
    verdict = f"RoPE, but not everywhere: all but {best.sum():,} of {best.size:,} features are right in {what}"
    return unexplained(view, verdict, f"the first that is not is {rows}token {token}, feature {feature}")


# Where something does ------------------------------------------------------------------------------------------------


def explanation(view, turn, rows, error):
    """Put what a turn says into an explanation."""
    own = np.abs(frequencies(turn, turn.width))
    sizes = view.x.shape[-1], view.x.shape[1] if view.ids.ndim < 2 or turn.grid else view.ids.shape[-1]
    given = view.given and view.axis == -2
    want = as_meant(view, turn)
    want = replace(want, pairing="interleaved") if any(row.field == "pairing" for row in rows) else want
    phrases = [phrase(row, turn, view.x.shape[1]) for row in rows]
    details = [f"{text[0].upper()}{text[1:]}." for text in phrases if text not in {row.name for row in rows}]
    return Explanation(
        faults=tuple(row.name for row in rows),
        what=" ".join([*(row.what for row in rows), *details]) or f"RoPE in {PAIR_WORDS[turn.pairing]}, nothing wrong.",
        pairing=turn.pairing,
        written=layout(turn) if turn.write else turn.pairing,
        rotary_dim=turn.width,
        start=turn.start,
        base=turn.base,
        inv_freq=own,
        direction=turn.sign,
        offset=offset_of(turn),
        attention_factor=turn.factor,
        error=error,
        call=turn.call(*sizes, given),
        meant=want.call(*sizes, view.given or view.axis == -3),
        parting=parting(turn, view.ids),
        position_ids=places(turn, view.ids),
    )


def offset_of(turn):
    """Return what is added to every position, or the one position of all tokens."""
    return turn.offset + (turn.pieces[0][1] if turn.pieces and turn.pieces[0][::2] == (0, 0.0) else 0.0)


def explanations(view, kept):
    """Explain the turns kept, with the fewest faults first, each kind once: list (explanation, turn, phrases)."""
    made = {}
    for found, error in kept:
        for same in same_function(found, view.base is not None):
            for turn, rows in meanings(view, same):
                names = tuple(row.name for row in rows)
                key = (names, same.pairing, same.law, same.write, same.start, same.width, same.offset, same.sign)
                if key not in made:
                    made[key] = explanation(view, turn, rows, error), turn, rows
    return sorted(made.values(), key=lambda each: (len(each[0].faults), abs(each[0].offset)))


def finding(view, kept):
    """Report the turns that give the output back."""
    found = explanations(view, kept)
    return faulty(view, found) if found[0][0].faults else right(view, found)


def right(view, found):
    """Report an output that is right, or may be."""
    first, told = found[0][0], view.base is not None
    fine = ((), ("other pairing",), ("positions from one",))
    meant = [each for each in found if each[0].faults in fine] if told else found
    other = [each for each, _, _ in found if told and not near(each.base or 1.0, first.base or 1.0, SINGLE)]
    hidden = [" and ".join(each.faults) for each in other if each.faults]
    facts = [
        f", base {first.base:.10g}" if first.base and not told else "",
        f", positions from {view.ids.flat[0] + first.offset:g}" if first.offset else "",
        f", lengths times {first.attention_factor:.10g}" if first.attention_factor != 1 else "",
        f"; largest error {first.error:.2g} of the bound for {view.dtype}",
    ]
    sure = f"certain up to position {np.abs(view.ids + first.offset).max():g}"
    sure += ", if this is what was meant" if len(meant) > 1 else ""
    sure += f"; this input cannot show {', '.join(hidden)}" if hidden else ""
    return explained(view, f"right: RoPE in {PAIR_WORDS[first.pairing]}{''.join(facts)}", sure, meant)


def faulty(view, found):
    """Report an output that every explanation finds something wrong with."""
    first, apart = found[0][0], tell_apart(view, found)
    if set(first.faults) <= NEUTRAL and len(found) == 1:
        sure = "certain, if this is what was meant"
    elif len(found) == 1:
        sure = "certain; some models mean it so" if first.faults in MEANT_SOMEWHERE else "certain"
    elif apart.startswith("No "):
        sure = "the function is certain, its cause is open"
    else:
        sure = "open: each of these gives the output back"
    if any(name in LOOSE or name.startswith("computed in") for name in first.faults):
        sure = f"likely: within what such a computation may be off by{'; ' + sure if len(found) > 1 else ''}"
    neutral = all(set(each.faults) <= NEUTRAL for each, _, _ in found)
    kind = "not RoPE:" if "added instead of rotated" in first.faults else "RoPE, with" if neutral else "RoPE, but"
    said = dict.fromkeys(cause(view, turn, rows) for _, turn, rows in found)
    return explained(view, f"{kind} {'; or '.join(said)}", sure, found)


def cause(view, turn, rows):
    """Say the faults of an explanation, and from which token on they hold."""
    since = f" from token {turn.since:,} on" if turn.before is not None else ""
    return " and ".join(phrase(row, turn, view.x.shape[1]) for row in rows) + since


def explained(view, verdict, sure, found):
    """Report explanations, given with their turns."""
    made = tuple(each for each, _, _ in found)
    return Diagnosis(verdict, made, sure, tell_apart(view, found), made[0].error, view.dtype)


def tell_apart(view, found):
    """Say which position would tell explanations apart, computing all of them there."""
    if len(found) < 2:
        return ""
    x = np.tile(np.random.default_rng(0).standard_normal((1, view.x.shape[-1])), (len(PROBES), 1))
    # Of a turn with two parts the later one is compared.
    usual = {"pieces": (), "ids": "given", "before": None, "grid": (), "axis": -2}
    ids = [np.multiply.outer(PROBES, np.ones(max(turn.axes) + 1)) if turn.axes else PROBES for _, turn, _ in found]
    outputs = np.stack([replace(turn, **usual).rotate(x, each) for (_, turn, _), each in zip(found, ids, strict=True)])
    gaps = np.abs(outputs[:, None] - outputs).max(axis=-1)
    if np.max(gaps) < SAME:
        return "No input tells these apart: they are one and the same function. What was meant decides."
    differ = (gaps > DIFFER).sum(axis=(0, 1))
    if not differ.any():
        return f"No position up to {PROBES[-1]:,} tells these apart by more than 1e-5."
    best = int(np.argmax(differ))
    rest = "" if differ[best] == len(found) * (len(found) - 1) else " Not all of them: some are all but one function."
    return f"A token at position {PROBES[best]} would tell them apart.{rest}"
