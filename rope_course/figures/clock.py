"""Figures of notebook 03, the clock with many hands."""

import json
from pathlib import Path

import numpy as np
from matplotlib.collections import EllipseCollection, LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Wedge

from rope_course.figures.picture import (
    BLUE,
    GREY,
    INK,
    SKY,
    VERMILLION,
    WIDTH,
    Picture,
    figure,
    label_end,
    number,
    plain,
    spoken,
    thin_out,
    with_looks,
)
from rope_ref.checks import check_count
from rope_ref.decay import decay_curve
from rope_ref.frequencies import inverse_frequencies, rotation_angles, wavelengths
from rope_ref.pairing import split_pairs
from rope_ref.rotation import rotate_expanded

MODELS = Path(__file__).resolve().parent.parent / "models.json"


def published_models():
    """Read the RoPE parameters of public models: a list of mappings, each with its source."""
    return json.loads(MODELS.read_text(encoding="utf-8"))["models"]


def from_home(angles):
    """Measure how far each hand is from where it started, the short way round: radians from 0 to pi."""
    return np.abs((angles + np.pi) % (2 * np.pi) - np.pi)


def draw_dials(ax, start, now, turned):
    """Draw one dial for each row and column: the hand at the start, the hand now, and the arc between them."""
    rows, columns = turned.shape
    longest = np.hypot(*np.moveaxis(start, -1, 0)).max()
    start, now = (np.broadcast_to(0.37 * hands / longest, (rows, columns, 2)).reshape(-1, 2) for hands in (start, now))
    centres = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
    # The y axis runs down, as rows of text do; hands are drawn with y up, so that anticlockwise looks it.
    up = np.array((1, -1))
    rim = {"units": "xy", "offsets": centres, "offset_transform": ax.transData}
    ax.add_collection(EllipseCollection(0.84, 0.84, 0, facecolors="white", edgecolors=GREY, linewidths=0.8, **rim))
    first = np.degrees(np.arctan2(start[:, 1], start[:, 0]))
    last = first + np.degrees(turned.ravel()) % 360
    arcs = [
        Wedge(centre, np.hypot(*hand), -b, -a) for centre, hand, a, b in zip(centres, start, first, last, strict=True)
    ]
    ax.add_collection(PatchCollection(arcs, facecolors=SKY, edgecolors="none", alpha=0.35))
    for hands, look in (
        (start, {"colors": GREY, "linestyles": (0, (1, 1.2)), "linewidths": 1.4}),
        (now, {"colors": BLUE, "linewidths": 2.6}),
    ):
        ax.add_collection(LineCollection(np.stack((centres, centres + up * hands), axis=1), **look))
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), aspect="equal")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


@figure(caption="The first hand races round, the last one barely moves")
def clock_wall(positions=(0, 1, 7, 44, 710), rotary_dim=16, base=10_000.0, q=None):
    """Draw one dial for each pair and position; its hand is that pair of q, turned."""
    # This seed gives no pair so short that its hand could not be seen.
    q = np.random.default_rng(425).standard_normal(rotary_dim) if q is None else np.asarray(q, float)
    inv_freq = inverse_frequencies(rotary_dim, base)
    angles = rotation_angles(positions, inv_freq)
    turned = rotate_expanded(np.broadcast_to(q, (len(angles), rotary_dim)), angles)
    rows, pairs = angles.shape
    fig = Figure(figsize=(WIDTH, min(0.8, 6.3 / pairs) * rows + 1.6), layout="constrained")
    ax = fig.subplots()
    draw_dials(ax, np.stack(split_pairs(q), axis=-1), np.stack(split_pairs(turned), axis=-1), angles)
    ax.set_xticks(range(pairs), [f"{i}\n{number(tokens)}" for i, tokens in enumerate(wavelengths(inv_freq))])
    ax.set_yticks(range(rows), [f"{m:,}" for m in positions])
    ax.set(xlabel="pair index i, and its period (tokens for one turn)", ylabel="position m (tokens)")
    key = "dotted: where the hand began; shaded: how far it has turned, whole turns left out"
    fig.supxlabel(key, color=GREY, fontsize=10)

    last, turns, degrees = positions[-1], int(angles[-1, 0] / (2 * np.pi)), np.degrees(angles[-1, -1])
    caption = f"At position {last:,} the first hand has gone round {turns} times, the last has turned {degrees:.0f}°"
    near = ", ".join(f"{gap:.2g} at {m:,}" for m, gap in zip(positions, from_home(angles)[:, 0], strict=True) if m)
    alt = (
        f"{pairs} dials for each of {rows} positions, one hand a dial, turning anticlockwise from a dotted line. "
        f"At position {last:,} the first hand has made {turns} turns and the last {degrees:.0f} degrees. "
        f"Radians between the first hand and its start: {near}."
    )
    return Picture(fig, alt, {"angles": angles, "turned": turned, "from_home": from_home(angles)}, caption)


@figure(caption="A larger base slows the slow pairs: fewer finish a turn in the same context")
def pair_speeds(rotary_dim=128, bases=(10_000.0, 500_000.0), lengths=(2048, 4096, 8192, 131_072)):
    """Draw the tokens each pair needs for one turn, for up to four bases, beside the lengths of some contexts."""
    periods = {base: wavelengths(inverse_frequencies(rotary_dim, base)) for base in bases}
    above = {(base, length): int((tokens > length).sum()) for base, tokens in periods.items() for length in lengths}
    counts = {length: spoken([above[base, length] for base in bases]) for length in lengths}
    named = spoken([round(base) for base in bases])
    pairs = rotary_dim // 2
    fig = Figure(figsize=(WIDTH, 5), layout="constrained")
    ax = fig.subplots()
    looks = ((BLUE, "o"), (VERMILLION, "^"), (GREY, "s"), (INK, "D"))
    for (base, tokens), (color, marker) in with_looks(periods.items(), looks, "bases"):
        ax.semilogy(tokens, marker, color=color, markersize=4)
        label_end(ax, pairs - 1, tokens[-1], f"base {base:,.0f}")
    above_line = {"textcoords": "offset points", "va": "bottom"}
    for length in lengths:
        ax.axhline(length, color=GREY, linestyle="--", linewidth=1)
        ax.annotate(f"{length:,}: {counts[length]}", (0, length), xytext=(0, 2), **above_line)
    header = f"context (tokens): pairs above it,\nbase {named}"
    ax.annotate(header, (0, max(lengths)), xytext=(0, 20), color=GREY, **above_line)
    ax.yaxis.set_major_formatter(plain)
    ax.set(xlabel="pair index i", ylabel="period (tokens for one turn)", xlim=(-1, pairs))
    told = ", ".join(f"{counts[length]} above {length:,}" for length in lengths[:3])
    alt = (
        f"Period of each of {pairs} pairs in tokens, a straight line on a logarithmic axis for base {named}. "
        f"Pairs that need more tokens for one turn than a context has: {told}."
    )
    alone = f"Of {pairs} pairs, {counts[lengths[0]]} need more than {lengths[0]:,} tokens for one turn"
    return Picture(fig, alt, {"periods": periods, "above": above}, alone if len(bases) == 1 else None)


@figure(caption="Every row is slower than the one above: binary digits by 2, pairs by less", format="png")
def odometer(positions=64, rotary_dim=64, base=10_000.0):
    """Draw the binary digits of each position above the cosine of each pair's angle."""
    m = np.arange(check_count(positions, "positions"))
    digits = (m >> np.arange(max(1, int(m[-1]).bit_length()))[:, None]) & 1
    inv_freq = inverse_frequencies(rotary_dim, base)
    cosines = np.cos(rotation_angles(m, inv_freq)).T
    ratios = {d: float(np.divide(*inverse_frequencies(d, base)[:2])) for d in (rotary_dim, 128)}
    ratio = ratios[rotary_dim]
    fig = Figure(figsize=(WIDTH, 5.2), layout="constrained")
    top, bottom = fig.subplots(2, sharex=True, height_ratios=(1, 2.4))
    top.imshow(digits, cmap="gray", aspect="auto", interpolation="nearest")
    shown = bottom.imshow(cosines, cmap="cividis", vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    top.set_title("binary digits, 0 black and 1 white: each row is 2 times slower than the one above", loc="left")
    bottom.set_title(
        f"cos(m θᵢ), d = {rotary_dim}: each row is {ratio:.2f} times slower (d = 128: {ratios[128]:.2f})", loc="left"
    )
    top.set(ylabel="binary digit", yticks=range(len(digits)))
    top.tick_params(bottom=False)
    bottom.set(xlabel="position m (tokens)", ylabel="pair index i")
    for ax in (top, bottom):
        ax.spines[:].set_visible(True)
    fig.align_ylabels()
    fig.colorbar(shown, ax=bottom, label="cos(m θᵢ)", ticks=(-1, 0, 1), aspect=14, pad=0.01)
    caption = f"Every row is slower than the one above: binary digits 2 times, pairs only {ratio:.2f} times"
    alt = (
        f"Two stacks of strips over positions 0 to {m[-1]}. Above, {len(digits)} binary digits in black and white: "
        f"each row is slower than the one above by a factor of 2. Below, the cosine of {len(inv_freq)} pairs, "
        f"in smooth shades: the factor is {ratio:.2f} at d = {rotary_dim}; at d = 128 it is {ratios[128]:.2f}."
    )
    return Picture(fig, alt, {"digits": digits, "cosines": cosines, "ratios": ratios}, caption)


@figure(caption="No later position looks as much like position 0 as its neighbour does")
def position_returns(rotary_dim=64, base=10_000.0, last=200_000, claimed=62_832):
    """Draw how far the whole clock at each position is from the clock at 0."""
    m = np.arange(1, check_count(last, "last") + 1)
    inv_freq = inverse_frequencies(rotary_dim, base)
    apart = np.sqrt(rotary_dim * np.maximum(0.0, 1 - decay_curve(m, inv_freq)))
    if not 1 <= claimed <= last:
        raise ValueError(f"claimed must lie from 1 to {last}, got {claimed}")
    neighbour, nearest = apart[0], 2 + int(np.argmin(apart[1:]))
    around = max(1, claimed // 100 * 100)
    least_at = around + int(np.argmin(apart[around - 1 :]))
    at_claimed, least = apart[claimed - 1], apart[least_at - 1]
    home = min(last, round(wavelengths(inv_freq)[-1]))  # where the slowest hand has made its first turn
    fig = Figure(figsize=(WIDTH, 4.2), layout="constrained")
    ax = fig.subplots()
    ax.semilogx(*thin_out(m, apart, 500), color=BLUE, linewidth=1.2)
    ax.axhline(neighbour, color=VERMILLION, linestyle="--", linewidth=1.6)
    ax.annotate(f"position 1: {neighbour:.2f}", (1, neighbour), xytext=(10, -5), textcoords="offset points", va="top")
    marks = (
        ((home, apart[home - 1]), f"{home:,}, the slowest hand's first turn: {apart[home - 1]:.2f}", (0.62, 0.95), "^"),
        ((claimed, at_claimed), f"{claimed:,}, where it is said to return: {at_claimed:.2f}", (0.66, 0.43), "o"),
        ((least_at, least), f"nearest after that, {least_at:,}: {least:.2f}", (0.95, 0.30), "s"),
    )
    for point, text, place, marker in marks:
        ax.plot(*point, marker, color=INK, markersize=7, markeredgecolor="white")
        leader = {"arrowstyle": "-", "color": GREY, "shrinkB": 4}
        placed = {"textcoords": "axes fraction", "ha": "right", "va": "center", "arrowprops": leader}
        ax.annotate(text, point, place, **placed)
    ax.xaxis.set_major_formatter(plain)
    ax.set(
        xlabel="position m (tokens)",
        ylabel="distance from the clock at 0\n(hands of length 1)",
        xlim=(1, last),
        ylim=(0, None),
    )
    returns = apart[nearest - 1] <= neighbour
    caption = f"Position {nearest:,} looks more like position 0 than its neighbour does" if returns else None
    alt = (
        f"Distance between the clock at position m and the clock at 0, for m from 1 to {last:,} and d = {rotary_dim}. "
        f"At m = 1 it is {neighbour:.2f}; the least for any later m is {apart[nearest - 1]:.2f}, at {nearest:,}. "
        f"At {home:,}, after the slowest hand's first turn, it is {apart[home - 1]:.2f}, at {claimed:,} "
        f"{at_claimed:.2f}, and the least from {around:,} on is {least:.2f}."
    )
    data = {"positions": m, "apart": apart, "neighbour": neighbour, "nearest": nearest, "least": least, "home": home}
    return Picture(fig, alt, data, caption)


@figure(caption="Many hands of real models never finish a turn in the context they were trained on")
def model_clocks(models=None):
    """Draw the period of every hand of public models beside the context each was trained on."""
    clocks = []
    for model in published_models() if models is None else models:
        periods = wavelengths(inverse_frequencies(model["rotary_dim"], model["base"]))
        late = np.flatnonzero(periods > model["trained_context"])
        clocks.append({**model, "periods": periods, "unfinished": late, "share": len(late) / len(periods)})
    clocks.sort(key=lambda clock: clock["share"])
    fig = Figure(figsize=(WIDTH, 0.29 * len(clocks) + 1.3), layout="constrained")
    ax = fig.subplots()
    beside = {
        "xycoords": ("axes fraction", "data"),
        "textcoords": "offset points",
        "annotation_clip": False,
        "ha": "right",
    }
    for row, clock in enumerate(clocks):
        periods, context = clock["periods"], clock["trained_context"]
        turned, late = periods[periods <= context], periods[clock["unfinished"]]
        ax.plot(turned, np.full(len(turned), row), "o", color=BLUE, markersize=3.5, markeredgewidth=0)
        ax.plot(late, np.full(len(late), row), "D", color=VERMILLION, markersize=4.5, markerfacecolor="white")
        ax.plot([context] * 2, [row - 0.42, row + 0.42], color=INK, linewidth=2)
        for text, right in ((f"{clock['base']:,.0f}", 62), (f"{len(late)} of {len(periods)}", 132)):
            ax.annotate(text, (1, row), (right, 0), va="center", **beside)
    top = len(clocks) - 0.3
    for text, right in (("base", 62), ("never finish\na turn", 132)):
        ax.annotate(text, (1, top), (right, 0), va="bottom", color=GREY, **beside)
    bar = {"ha": "center", "va": "bottom", "color": GREY, "annotation_clip": False}
    ax.annotate("bar: trained context", (clocks[-1]["trained_context"], top), **bar)
    ax.set_xscale("log")
    ax.set_xticks([10, 1000, 100_000, 10_000_000])
    ax.xaxis.set_major_formatter(plain)
    ax.set_yticks(range(len(clocks)), [clock["model"] for clock in clocks])
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel="period (tokens for one turn)", ylabel="model", ylim=(-0.6, len(clocks) - 0.4))
    some = sum(bool(len(clock["unfinished"])) for clock in clocks)
    which = f"all {some}" if some == len(clocks) else f"{some} of {len(clocks)}"
    caption = f"In {which} models some hands never finish a turn in the trained context"
    told = ", ".join(
        f"{len(clock['unfinished'])} of {len(clock['periods'])} in {clock['model']}"
        for clock in (clocks[0], clocks[-1])
    )
    alt = (
        f"One row for each of {len(clocks)} public models: a mark for the period of each hand, a bar at the trained "
        f"context, diamonds for the hands beyond it, always the slowest ones. Smallest and largest share: {told}."
    )
    return Picture(fig, alt, {"clocks": {clock["model"]: clock for clock in clocks}}, caption)
