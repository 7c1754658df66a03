"""Figures of notebook 07, longer than trained."""

import itertools
import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from rope_course.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    VERMILLION,
    WIDTH,
    Picture,
    figure,
    label_end,
    number,
    plain,
    spoken,
)
from rope_ref.checks import check_count, check_positive
from rope_ref.config import read_config
from rope_ref.frequencies import inverse_frequencies, rotation_angles
from rope_ref.scaling import (
    first_new_position,
    from_config,
    linear,
    neighbour_distance,
    ntk,
    ntk_by_parts,
    share_seen,
    yarn,
)
from rope_ref.xpos import apply_xpos, xpos_scales

MODELS = Path(__file__).resolve().parent.parent / "models.json"
TURN = 2 * np.pi
NEAR = 1e-9  # what counts as equal: speeds differ in their last digits
LOOKS = {  # colour, dash and marker of a method, the same in all figures
    "plain": (GREY, (0, (1, 1.2)), "o"),
    "PI": (ORANGE, "-", "s"),
    "NTK": (GREEN, (0, (6, 2)), "^"),
    "YaRN": (BLUE, "-.", "D"),
}

# Where texts stand: left of a point; in a column to the right of the axes.
BESIDE = {"textcoords": "offset points", "ha": "right", "va": "center"}
COLUMN = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "annotation_clip": False, "ha": "right"}


def first_new(trained, used, length):
    """Find the first position with a new angle, or raise where training left no arc open."""
    found = first_new_position(trained, used, length)
    if found is None:
        raise ValueError(f"trained must be so short that some hand does not finish a turn, got {length}")
    return found


def methods(rotary_dim, base, length, factor):
    """Give the speeds of plain RoPE and of three methods that slow it down."""
    by_parts = ntk_by_parts(rotary_dim, base, factor=factor, original_length=length)
    return {
        "plain": inverse_frequencies(rotary_dim, base),
        "PI": linear(rotary_dim, base, factor=factor).inv_freq,
        "NTK": ntk(rotary_dim, base, factor=factor).inv_freq,
        "YaRN": by_parts.inv_freq,
    }


@figure(caption="Fast hands have seen the whole circle; only slow hands meet new angles")
def arc_covered(rotary_dim=128, base=10_000.0, trained=2048, longer=8192):
    """Draw which share of its circle each hand sweeps in training, and what a longer text adds."""
    inv_freq = inverse_frequencies(rotary_dim, base)
    seen, then = share_seen(inv_freq, trained), share_seen(inv_freq, longer)
    pairs, full = np.arange(len(inv_freq)), int((seen >= 1).sum())
    least = 100 * seen.min()
    fig = Figure(figsize=(WIDTH, 4), layout="constrained")
    ax = fig.subplots()
    ax.bar(pairs, 100 * seen, 0.8, color=BLUE)
    fresh = {"facecolor": "white", "edgecolor": VERMILLION, "hatch": "////", "linewidth": 1}
    grows = then > seen
    ax.bar(pairs[grows], 100 * (then - seen)[grows], 0.8, 100 * seen[grows], **fresh)
    ax.set(xlabel="pair index i, fastest to slowest", ylabel="share of the circle swept (%)")
    ax.set(xlim=(-1, len(pairs)), ylim=(0, 118), yticks=range(0, 101, 20))
    ax.text((full - 1) / 2, 103, f"{full} hands: whole circle seen", ha="center", va="bottom", color=BLUE)
    key = [Patch(color=BLUE), Patch(**fresh)]
    names = [f"seen in {trained:,} tokens", f"new in {longer:,} tokens"]
    fig.legend(key, names, loc="outside lower center", ncols=2, frameon=False)
    if full < len(pairs):
        slow = len(pairs) - full
        ax.text(full + (slow - 1) / 2, 103, f"{slow} hands: new arc", ha="center", va="bottom", color=VERMILLION)
        leader = {"arrowstyle": "-", "color": INK, "shrinkB": 0}
        ax.annotate(
            f"least seen:\n{least:.1f} %", (pairs[-1], least), (pairs[-1] + 0.4, 46), ha="right", arrowprops=leader
        )
    rest = f"; {len(pairs) - full} slow ones have not" if full < len(pairs) else ", all of them"
    caption = f"Trained on {trained:,} tokens, {full} hands have seen the whole circle{rest}"
    alt = (
        f"A bar for each of {len(pairs)} hands: the share of its circle swept in {trained:,} tokens, and on top what "
        f"{longer:,} tokens add. The {full} fastest are full; the other {len(pairs) - full} are not and gain new arc. "
        f"The slowest has swept {least:.1f} % and would reach {100 * then.min():.1f} %."
    )
    return Picture(fig, alt, {"seen": seen, "then": then, "full": full, "least": least}, caption)


@figure(caption="All methods slow the last hand by the factor; they differ in the hands before it")
def speed_ratios(rotary_dim=128, base=10_000.0, original_length=2048, factor=8):
    """Draw the speed of each pair under PI, NTK and the two ramps of YaRN, over its speed without scaling."""
    speeds = methods(rotary_dim, base, original_length, factor)
    own = speeds.pop("plain")
    speeds["YaRN text"] = ntk_by_parts(
        rotary_dim, base, factor=factor, original_length=original_length, ramp="rotations"
    ).inv_freq
    ratios = {name: each / own for name, each in speeds.items()}
    apart = np.maximum(ratios["YaRN"] / ratios["YaRN text"], ratios["YaRN text"] / ratios["YaRN"])
    most = int(apart.argmax())
    fig = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    ax = fig.subplots()
    looks = {**LOOKS, "YaRN text": (VERMILLION, (0, (3, 1)), "v")}
    for name, ratio in ratios.items():
        color, dash, marker = looks[name]
        start = 3 * list(ratios).index(name)
        ax.plot(ratio, color=color, linestyle=dash, marker=marker, markevery=(start, 12), label=name)
    ends = [ratios[name][most] for name in ("YaRN", "YaRN text")]
    ax.annotate("", (most, ends[0]), (most, ends[1]), arrowprops={"arrowstyle": "<->", "color": INK, "shrinkA": 0})
    ax.annotate(f"{apart[most]:.2f} times apart\nat pair {most}", (most, min(ends)), (-10, -4), color=INK, **BESIDE)
    ax.set_yscale("log", base=2)
    parts = [1, *(2.0**-k for k in range(1, int(np.log2(factor)) + 1))]
    ax.set_yticks(parts, ["1", *(f"1/{round(1 / part)}" for part in parts[1:])])
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set(xlabel="pair index i, fastest to slowest", ylabel="new speed / old speed", xlim=(-1, len(own)))
    names = [f"PI: 1/{factor:g} for all", "NTK: higher base", "YaRN, released code", "YaRN, text of the paper"]
    fig.legend(*(ax.get_legend_handles_labels()[0], names), loc="outside lower center", ncols=2, frameon=False)
    caption = f"All methods slow the last hand {factor:g} times; they differ in the hands before it"
    alt = (
        f"New speed over old speed of {len(own)} pairs for a factor of {factor:g} and {original_length:,} trained "
        f"tokens. PI is level at 1/{factor:g}. NTK falls from 1 to 1/{factor:g} at the last pair. Both YaRN ramps keep "
        f"1 for the fast pairs and 1/{factor:g} for the slow ones; between, the paper's text and the released code "
        f"differ most at pair {most}, by {apart[most]:.2f} times."
    )
    return Picture(fig, alt, {"ratios": ratios, "apart": apart, "most": most}, caption)


def side_by_side(values, span):
    """Give one label to names whose values lie closer together than a tenth of the span, so that none collide."""
    groups = []
    for name, value in sorted(values.items(), key=lambda item: item[1]):
        if groups and value - groups[-1][-1][1] < 0.1 * span:
            groups[-1].append((name, value))
        else:
            groups.append([(name, value)])
    labels = []
    for group in groups:
        inside = [name for name in values if name in dict(group)]
        left = [name for name in values if name not in inside]
        text = f"all but {left[0]}" if len(left) == 1 else ", ".join(inside)
        labels.append((text, float(np.mean([value for _, value in group]))))
    return labels


@figure(caption="PI keeps every hand inside its trained arc; NTK lets the middle hands out")
def angle_map(pairs=(0, 20, 45, 63), rotary_dim=128, base=10_000.0, trained=2048, factor=4):
    """Draw the angle of four pairs against the position, without scaling and under three methods."""
    speeds = methods(rotary_dim, base, trained, factor)
    if len(pairs) != 4 or not all(0 <= pair < rotary_dim // 2 for pair in pairs):
        raise ValueError(f"pairs must be four pair numbers below {rotary_dim // 2}, got {tuple(pairs)}")
    last = int(factor * trained)
    m = np.linspace(0, last, 3)
    arc = trained * speeds["plain"]
    fig = Figure(figsize=(WIDTH, 6), layout="constrained")
    axes = fig.subplots(2, 2, sharex=True)
    for ax, pair in zip(axes.flat, pairs, strict=True):
        top = last * speeds["plain"][pair]
        known = top * 2 if arc[pair] >= TURN else arc[pair]
        ax.axhspan(0, known, color=PALE, linewidth=0, zorder=0)
        ax.axvline(trained, color=GREY, linewidth=0.8, linestyle=":")
        for name, each in speeds.items():
            color, dash, _ = LOOKS[name]
            ax.plot(m, m * each[pair], color=color, linestyle=dash, linewidth=2.2)
        for names, height in side_by_side({name: last * each[pair] for name, each in speeds.items()}, top):
            label_end(ax, last, height, names)
        said = "whole circle" if arc[pair] >= TURN else f"0 to {number(arc[pair])} rad"
        ax.set_title(f"pair {pair} has seen: {said}", loc="left")
        ax.set(ylim=(0, 1.05 * top), xlim=(0, last), ylabel="angle (radians)")
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.4g}"))
    axes[0, 0].set_xticks([0, trained, last])
    axes[0, 0].xaxis.set_major_formatter(plain)
    for ax in axes[1]:
        ax.set_xlabel("position m (tokens)")
    key = f"shaded: angles seen in training; dotted line: {trained:,} tokens; angles include whole turns"
    fig.supxlabel(key, color=GREY, fontsize=10)
    chosen = list(pairs)
    ends = {name: last * each[chosen] for name, each in speeds.items()}
    beyond = {name: (arc[chosen] < TURN) & (end > arc[chosen] * (1 + NEAR)) for name, end in ends.items()}
    alt = (
        f"Angle of pairs {spoken(pairs)} against position 0 to {last:,}, trained arc shaded up to {trained:,} tokens. "
        f"At {last:,} PI has turned pair {pairs[0]} by {number(ends['PI'][0])} radians and the others by "
        f"{number(ends['NTK'][0])}. Pair {pairs[2]} has seen {number(arc[pairs[2]])} radians; NTK takes it to "
        f"{number(ends['NTK'][2])}, PI and YaRN to {number(ends['PI'][2])}."
    )
    return Picture(fig, alt, {"arc": arc[chosen], "ends": ends, "beyond": beyond})


@figure(caption="PI pays for reach with close neighbours; NTK keeps neighbours apart but reaches less than it says")
def neighbours_and_reach(rotary_dim=128, base=10_000.0, trained=2048, factors=(2, 4, 8), reported=(3400, 6200, 8800)):
    """Draw how far apart neighbours stand, and the first position at which some slow hand leaves its trained arc."""
    own = inverse_frequencies(rotary_dim, base)
    points = {"plain": [(neighbour_distance(own), first_new(own, own, trained))]}
    for name in ("PI", "NTK", "YaRN"):
        scaled = [methods(rotary_dim, base, trained, factor)[name] for factor in factors]
        points[name] = [(neighbour_distance(each), first_new(own, each, trained)) for each in scaled]
    if len(reported) != len(factors):
        raise ValueError(f"reported must hold a length for each factor, {len(factors)}, got {len(reported)}")
    fig = Figure(figsize=(WIDTH, 5), layout="constrained")
    ax = fig.subplots()
    between = np.geomspace(1, max(factors), 33)
    for name, places in points.items():
        color, dash, marker = LOOKS[name]
        path = [methods(rotary_dim, base, trained, factor)[name] for factor in between]
        path = [(neighbour_distance(each), first_new(own, each, trained)) for each in path]
        ax.plot(*np.transpose(path), color=color, linestyle=dash, linewidth=1.2, zorder=1)
        ax.plot(*np.transpose(places), marker, color=color, markersize=8, linestyle="none")
    for factor, (x, y) in zip(factors, points["PI"], strict=True):
        ax.annotate(f"PI {factor}: {y:,}", (x, y), (10, 0), textcoords="offset points", va="center")
    for factor, said, (x, y) in zip(factors, reported, points["NTK"], strict=True):
        ax.plot(x, said, "o", markerfacecolor="white", color=INK, markersize=8, zorder=0)
        ax.annotate(f"NTK {factor}: {y:,}\nusers report {said:,}", (x, np.sqrt(y * said)), (-12, 0), **BESIDE)
    for factor, (x, y) in zip(factors, points["YaRN"], strict=True):
        label_end(ax, x, y, f"YaRN {factor}", xytext=(9, 0))
    label_end(ax, *points["plain"][0], "plain", xytext=(9, 0))
    ax.set_yscale("log", base=2)
    ax.set_yticks([trained * 2**k for k in range(int(np.log2(max(factors))) + 1)])
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(plain)
    ax.set(
        xlabel="distance between the clocks of neighbours (hands of length 1)", xlim=(0, 1.05 * points["plain"][0][0])
    )
    ax.set(ylabel="first position with an angle\nnever seen by its hand (tokens)")
    fig.supxlabel("white circles: measured by users, reported; all else computed", color=GREY, fontsize=10)
    reach = spoken([y for _, y in points["NTK"]])
    far = points["NTK"][-1][1] / trained
    caption = (
        f"PI brings neighbours together; NTK keeps them apart, but its factor of {factors[-1]} reaches {far:.1f} times"
    )
    apart = {name: f"{places[-1][0]:.2f}" for name, places in points.items()}
    alt = (
        f"Scatter plot for {trained:,} trained tokens and factors {spoken(factors)}: distance of neighbours against "
        f"the first position with a new angle. Plain {apart['plain']}; PI falls to {apart['PI']} and reaches "
        f"{points['PI'][-1][1]:,}; NTK stays at {apart['NTK']} and reaches {reach}, where users report "
        f"{spoken(reported)}; YaRN keeps {apart['YaRN']} and reaches as far as PI."
    )
    return Picture(fig, alt, {"points": points, "reported": list(reported)}, caption)


@figure(caption="YaRN lengthens queries and keys: scores grow by the square of its factor")
def temperature(marked=16, largest=64):
    """Draw the length factor of YaRN, and by what scores grow, against the growth of the context."""
    if not 1 < marked <= largest:
        raise ValueError(f"marked must lie above 1 and up to {largest}, got {marked}")
    factors = np.geomspace(1, check_positive(largest, "largest"), 97)
    length = np.array([yarn(4, factor=s, original_length=64).attention_factor for s in factors])
    at = yarn(4, factor=marked, original_length=64).attention_factor
    fig = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    ax = fig.subplots()
    curves = (
        (length**2, at**2, VERMILLION, "--", "s", "scores: its square", "left"),
        (length, at, BLUE, "-", "o", "lengths: 0.1 ln s + 1", "left"),
    )
    for curve, value, color, dash, marker, name, _ in curves:
        ax.semilogx(factors, curve, color=color, linestyle=dash, base=2)
        ax.plot(marked, value, marker, color=color, markersize=8)
        ax.annotate(f"{value:.4f}", (marked, value), (-8, 8), textcoords="offset points", ha="right")
        label_end(ax, factors[-1], curve[-1], name)
    ax.axvline(marked, color=GREY, linewidth=0.8, linestyle=":")
    ax.set_xticks([2.0**k for k in range(int(np.log2(largest)) + 1)])
    ax.xaxis.set_major_formatter(plain)
    ax.set(xlabel="factor s: how many times longer", ylabel="multiplied by", xlim=(1, largest), ylim=(0.95, None))
    alt = (
        f"Two rising curves against the factor s from 1 to {largest}, both 1 at s = 1: the length factor 0.1 ln s + 1, "
        f"and its square, by which scores grow. At s = {marked} they are {at:.4f} and {at**2:.4f}; at s = {largest} "
        f"{length[-1]:.4f} and {length[-1] ** 2:.4f}."
    )
    return Picture(fig, alt, {"factors": factors, "length": length, "at": at})


@figure(caption="With xPos the score of a past key falls smoothly; that of a future key grows without limit")
def xpos_scores(near=512, far=4096, rotary_dim=128, base=10_000.0, scale_base=512):
    """Draw the score of equal query and key against their distance, with and without the size factor of xPos."""
    r = np.arange(-check_count(far, "far"), far + 1)
    angles = rotation_angles(r, inverse_frequencies(rotary_dim, base))
    scales = xpos_scales(r, rotary_dim, scale_base=scale_base)
    ones = np.ones((len(r), rotary_dim))  # the key stands at 0, where xPos changes nothing
    sized = apply_xpos(ones, angles, scales).mean(axis=1)
    bare = apply_xpos(ones, angles, np.ones_like(scales)).mean(axis=1)
    fig = Figure(figsize=(WIDTH, 6.2), layout="constrained")
    top, bottom = fig.subplots(2)
    inside = np.abs(r) <= near
    starts = np.arange(0, len(r), 64)
    for curve, color, dash, name in ((bare, GREY, "--", "without"), (sized, BLUE, "-", "with xPos")):
        top.plot(r[inside], curve[inside], color=color, linestyle=dash, linewidth=1.4, label=name)
        bottom.semilogy(r[starts], np.maximum.reduceat(np.abs(curve), starts), color=color, linestyle=dash)
    for ax in (top, bottom):
        ax.axvline(0, color=INK, linewidth=0.8)
    top.axhline(0, color=INK, linewidth=0.8)
    top.set(ylabel="score / score at 0", xlim=(-near, near), xlabel="distance r: query minus key (tokens)")
    bottom.set(ylabel="largest size in 64 tokens", xlim=(-far, far), xlabel="distance r, wider (tokens)")
    bottom.xaxis.set_major_formatter(plain)
    fig.legend(*top.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    for x, text in ((0.25, "future keys"), (0.75, "past keys")):
        top.text(x, 0.93, text, transform=top.transAxes, ha="center", color=GREY)
    past, largest = sized[r >= 0], float(np.abs(sized[r < 0]).max())
    wiggle = {name: float(np.abs(np.diff(c[r >= 0], 2)).sum()) for name, c in (("xpos", sized), ("plain", bare))}
    alt = (
        f"Score of equal vectors against distance, d = {rotary_dim}, with and without xPos. For past keys up to "
        f"{far:,} xPos stays from {past.min():.3f} to 1, and is {wiggle['plain'] / wiggle['xpos']:.0f} times smoother. "
        f"For future keys its swings grow, in the logarithmic lower panel to {largest:.0f} within {far:,} tokens."
    )
    data = {"distances": r, "with": sized, "without": bare, "wiggle": wiggle, "largest": largest}
    return Picture(fig, alt, data)


# Mean loss of Llama 2 13B, trained on 4,096 tokens, on the last 4,096 tokens of long texts; nothing was trained anew.
# Read in the README and eval_loss.py of bojone/rerope.
REPORTED = {
    "plain RoPE": {4096: 1.4967308, 8192: 8.8614693},
    "NTK, fixed": {4096: 1.6081059, 8192: 1.5417398, 16_384: 1.5162833},
    "ReRoPE, window 1,024": {4096: 1.4995655, 8192: 1.4266723, 16_384: 1.4001029},
}


@figure(caption="Reported: past its trained length plain RoPE fails, and a change of speed repairs it")
def reported_losses():
    """Draw the losses that the ReRoPE repository reports for Llama 2 13B at its trained length and beyond."""
    rows = [(name, length, loss) for name, losses in REPORTED.items() for length, loss in losses.items()]
    fig = Figure(figsize=(WIDTH, 3.8), layout="constrained")
    ax = fig.subplots()
    looks = {4096: ("o", GREY), 8192: ("s", BLUE), 16_384: ("^", VERMILLION)}
    for row, (_, length, loss) in enumerate(rows):
        marker, color = looks[length]
        ax.plot(loss, row, marker, color=color, markersize=8)
        ax.annotate(f"{loss:.4f}", (loss, row), (10, 0), textcoords="offset points", va="center")
    for row in np.cumsum([len(losses) for losses in REPORTED.values()])[:-1] - 0.5:
        ax.axhline(row, color=PALE, linewidth=1)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator([1.5, 2, 3, 5, 8]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.set_yticks(range(len(rows)), [f"{name}, {length:,}" for name, length, _ in rows])
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel="mean loss (nats a token), lower is better", ylabel="method, tokens read")
    ax.set(xlim=(1.28, 12), ylim=(len(rows) - 0.5, -0.5))
    fig.supxlabel("reported in github.com/bojone/rerope for Llama 2 13B; not measured here", color=GREY, fontsize=10)
    bare, fixed = REPORTED["plain RoPE"], REPORTED["NTK, fixed"]
    alt = (
        f"Dot plot of reported losses of Llama 2 13B, trained on 4,096 tokens. Plain RoPE: {bare[4096]:.4f} at 4,096 "
        f"tokens, {bare[8192]:.4f} at 8,192. NTK without training: {fixed[4096]:.4f}, {fixed[8192]:.4f} and "
        f"{fixed[16_384]:.4f} at 16,384. ReRoPE falls from {rows[5][2]:.4f} to {rows[7][2]:.4f}."
    )
    return Picture(fig, alt, {"losses": REPORTED})


KINDS = {
    "linear": "PI",
    "dynamic_ntk": "dynamic NTK",
    "ntk": "NTK",
    "yarn": "YaRN",
    "llama3": "Llama 3",
    "longrope": "LongRoPE",
}
# What a hand does in a context: it goes round, stays within the arc it knows, sweeps new arc, or does not turn.
ROUND, KNOWN, NEW, STILL = range(4)
FACES = {
    ROUND: {"facecolor": PALE, "edgecolor": "none"},
    KNOWN: {"facecolor": BLUE, "edgecolor": "none"},
    NEW: {"facecolor": "white", "edgecolor": VERMILLION, "hatch": "//////", "linewidth": 0.8},
    STILL: {"facecolor": "white", "edgecolor": GREY, "linewidth": 0.8},
}
SAID = {
    ROUND: "finishes a turn",
    KNOWN: "never finishes, arc known",
    NEW: "sweeps new arc",
    STILL: "does not turn",
}


def scaled_models():
    """Read public models whose speeds are scaled: a list of mappings, each with its configuration and source."""
    return json.loads(MODELS.read_text(encoding="utf-8"))["scaled"]


def what_scaling_did(model):
    """Tell what each hand of a published model does in its first context, and scaled in the longer one."""
    length, longer, layers = (model[key] for key in ("original_context", "extended_context", "layer_type"))
    recipe = read_config(model["config"], longer, layers)
    own = inverse_frequencies(recipe.rotary_dim, recipe.base)
    scaled = from_config(model["config"], longer, layer_type=layers).scaling.inv_freq
    seen, then = share_seen(own, length), share_seen(scaled, longer)
    before = np.where(seen < 1, KNOWN, ROUND)
    after = np.where(then < 1, KNOWN, ROUND)
    after[then > seen * (1 + NEAR)] = NEW
    after[scaled == 0] = STILL
    counts = {"before": int((seen < 1).sum()), "after": int((then < 1).sum()), "new": int((after == NEW).sum())}
    plain_new = int((share_seen(own, longer) > seen * (1 + NEAR)).sum())
    return {"kind": recipe.method, "states": (before, after), "new without": plain_new, **counts}


@figure(caption="Scaling puts the slow hands of most models back on the arc they know")
def model_scalings(models=None):
    """Draw what the scaling of public models did to each hand: in the first context, and in the longer one."""
    models = scaled_models() if models is None else models
    done = {model["model"]: model | what_scaling_did(model) for model in models}
    fig = Figure(figsize=(WIDTH, 0.5 * len(done) + 1.5), layout="constrained")
    fig.get_layout_engine().set(w_pad=0.12)  # two columns beside the axes: without it the label on the left is cut
    ax = fig.subplots()
    for row, each in enumerate(done.values()):
        pairs = len(each["states"][0])
        for states, y in zip(each["states"], (row - 0.33, row + 0.01), strict=True):
            edges = np.flatnonzero(np.diff(states, prepend=-1, append=-1))
            for start, end in itertools.pairwise(edges):
                ax.barh(y, (end - start) / pairs, 0.3, start / pairs, align="edge", **FACES[states[start]])
        texts = (f"{each['before']} → {each['after']}", 88), (f"{each['new without']} → {each['new']}", 168)
        for text, right in texts:
            ax.annotate(text, (1, row), (right, 0), va="center", **COLUMN)
    for text, right in (("never finish:\nfirst → longer", 88), ("new arc:\nplain → scaled", 168)):
        ax.annotate(text, (1, -0.6), (right, 0), va="bottom", color=GREY, **COLUMN)
    labels = []
    for name, each in done.items():
        kind = KINDS.get(each["kind"], each["kind"])
        short, long = (number(each[key] / 1024) for key in ("original_context", "extended_context"))
        labels.append(f"{name}\n{kind}, {short}k → {long}k")
    ax.set_yticks(range(len(labels)), labels, fontsize=9.5)
    ax.tick_params(axis="y", length=0)
    ax.set_xticks([0, 1], ["fastest", "slowest"])
    under = "hands of a head; upper bar: first context,\nlower bar: longer context, scaled (1k: 1,024 tokens)"
    ax.set(xlabel=under, ylabel="model, scaling, contexts")
    ax.set(xlim=(0, 1), ylim=(len(done) - 0.5, -0.6))
    ax.spines[:].set_visible(False)
    key = [Patch(**FACES[state]) for state in SAID]
    fig.legend(key, SAID.values(), loc="outside lower center", ncols=2, frameon=False)
    kept = sum(each["new"] == 0 for each in done.values())
    caption = f"In {kept} of {len(done)} models scaling leaves no hand an angle that it has not seen"
    outside = ", ".join(f"{each['new']} of {name}" for name, each in done.items() if each["new"])
    alt = (
        f"Two bars of hands for each of {len(done)} public models: in the context before scaling, and in the longer "
        f"one with scaling. In {kept} models no hand sweeps new arc after scaling. "
        f"Hands that do: {outside or 'none'}."
    )
    return Picture(fig, alt, {"models": done, "kept": kept}, caption)
