"""Figures of notebook 08, video: three clocks in one head."""

import numpy as np
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rope_course.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    SKY,
    VERMILLION,
    WIDTH,
    Picture,
    figure,
)
from rope_ref.decay import decay_curve
from rope_ref.frequencies import cos_sin, inverse_frequencies, rotation_angles
from rope_ref.positions import axial_angles, axial_pairs, crop_region, video_grid, video_split
from rope_ref.rotation import apply_rope, rotate_expanded, rotation_matrix

AXES = ("time", "height", "width")
LOOKS = ((BLUE, "o", "///"), (ORANGE, "s", "---"), (GREEN, "D", "xxx"))  # hue, marker and hatching of each axis
CLIP = (13, 30, 45)  # frames, rows and columns of patches: 49 frames of 480 x 720 in CogVideoX
ROUNDING = 1e-12  # what the tests allow; digits below it differ between processors


@figure(caption="One head of 64 holds three clocks: each axis starts again at speed 1")
def head_map(rotary_dims=(16, 24, 24)):
    """Draw which axis turns each pair of a head, and how fast, beside the one ladder that the model does not have."""
    inv_freq, axis = axial_pairs(rotary_dims)
    pairs = np.arange(len(axis))
    whole = inverse_frequencies(2 * len(axis))
    fig = Figure(figsize=(WIDTH, 4.8), layout="constrained")
    strip, ax = fig.subplots(2, sharex=True, height_ratios=(1, 3.4))
    ax.semilogy(pairs, whole, ":", color=GREY, linewidth=1.2, zorder=1)
    leader = {"arrowstyle": "-", "color": GREY, "shrinkB": 3}
    beside = {"xytext": (19.3, 0.45), "ha": "right", "va": "center", "color": GREY, "arrowprops": leader}
    ax.annotate(
        f"dotted: one ladder for all\n{len(axis)} pairs, not the model",
        (len(axis) // 2, whole[len(axis) // 2]),
        **beside,
    )
    for name, width, (color, marker, hatch), number_of_axis in zip(AXES, rotary_dims, LOOKS, range(3), strict=True):
        mine = pairs[axis == number_of_axis]
        for pair in mine:
            look = {"facecolor": "white", "edgecolor": color, "hatch": hatch, "linewidth": 1.2}
            strip.add_patch(Rectangle((pair - 0.43, 0), 0.86, 1, **look))
        strip.text(mine.mean(), 1.12, f"{name}: {width} features,\n{len(mine)} pairs", ha="center", va="bottom")
        ax.plot(mine, inv_freq[mine], marker, color=color, linestyle="-", linewidth=1)
        ax.annotate("1", (mine[0], 1), (0, 6), textcoords="offset points", ha="center")
        slowest = {"textcoords": "offset points", "ha": "right", "va": "top"}
        ax.annotate(f"{inv_freq[mine[-1]]:.6f}", (mine[-1], inv_freq[mine[-1]]), (4, -13), **slowest)
    strip.set(ylim=(0, 2.2), yticks=[], ylabel="the head")
    strip.spines[:].set_visible(False)
    strip.tick_params(length=0)
    ax.set(xlabel="pair index i (features 2i and 2i + 1)", ylabel="speed θᵢ (radians per frame or patch)")
    ax.set(xlim=(-0.8, len(axis) - 0.2), ylim=(5e-5, 3), xticks=range(0, len(axis), 4))
    fig.align_ylabels()
    counts = np.bincount(axis)
    told = ", ".join(
        f"{name} {count} pairs from 1 to {inv_freq[axis == i][-1]:.6f}"
        for i, (name, count) in enumerate(zip(AXES, counts, strict=True))
    )
    alt = (
        f"The {len(axis)} pairs of one head in a row, in three hues and hatchings, and below them the speed of each, "
        f"on a logarithmic axis. Three falling lines, each starting at 1 radian: {told}. "
        f"A dotted line shows one ladder over all {2 * len(axis)} features."
    )
    return Picture(fig, alt, {"inv_freq": inv_freq, "axis": axis, "whole": whole})


def draw_clock(ax, centre, angles, color, linewidth):
    """Draw one dial whose hands all start at the right and have turned anticlockwise by their angles."""
    rim = {"units": "xy", "offsets": [centre], "offset_transform": ax.transData}
    ax.add_collection(EllipseCollection(0.86, 0.86, 0, facecolors="white", edgecolors=GREY, linewidths=1, **rim))
    # The y axis runs down, as rows of text do; hands are drawn with y up, so that anticlockwise looks it.
    tips = centre + 0.39 * np.stack((np.cos(angles), -np.sin(angles)), axis=-1)
    hands = np.stack((np.broadcast_to(centre, tips.shape), tips), axis=1)
    ax.add_collection(LineCollection(hands, colors=color, linewidths=linewidth))
    ax.plot(*tips.T, "o", color=color, markersize=2 + linewidth, markeredgewidth=0)


@figure(caption="The document's clock has 384 time hands; the released code has 8, in each of 48 heads", format="png")
def two_clocks(frames=(0, 2, 12), widths=(768, 16), heads=48):
    """Draw the clock of the source document and that of the released code at some frames, and all their speeds."""
    clocks = [inverse_frequencies(width) for width in widths]
    fig = Figure(figsize=(WIDTH, 5.6), layout="constrained")
    dials, speeds = fig.subplots(2, 1, height_ratios=(2.4, 1))
    looks = ((GREY, 0.4), (BLUE, 2.2))
    names = ("the document:\n{} hands,\nnot the model", "released code:\n{} hands")
    for row, (inv_freq, (color, linewidth)) in enumerate(zip(clocks, looks, strict=True)):
        for column, angles in enumerate(rotation_angles(frames, inv_freq)):
            draw_clock(dials, (column, row), angles, color, linewidth)
        ticks = speeds.vlines(inv_freq, row - 0.15, row + 0.25, color=color, linewidth=linewidth)
        ticks.set_snap(False)  # moved to whole pixels, 384 lines would seem to stand in groups
        listed = ", ".join(f"{speed:.3g}" for speed in inv_freq[:3])
        told = f"{len(inv_freq)} speeds: {listed}, …, {inv_freq[-1]:.3g}"
        speeds.annotate(told, (inv_freq[-1], row - 0.15), (0, 3), textcoords="offset points", va="bottom")
    dials.set_xticks(range(len(frames)), frames)
    dials.set_yticks(range(2), [name.format(len(inv_freq)) for name, inv_freq in zip(names, clocks, strict=True)])
    dials.set(xlabel="latent frame m", ylabel="clock", aspect="equal")
    dials.set(xlim=(-0.5, len(frames) - 0.5), ylim=(1.5, -0.5))
    speeds.set_xscale("log")
    speeds.set_yticks(range(2), ["the document", "released code"])
    speeds.set(xlabel="speed (radians per latent frame)", ylabel="clock", xlim=(8e-5, 1.3), ylim=(1.4, -0.6))
    for ax in (dials, speeds):
        ax.tick_params(axis="y", length=0)
        ax.spines[:].set_visible(False)
    dials.tick_params(axis="x", length=0)
    speeds.spines["bottom"].set_visible(True)
    last = frames[-1]
    moved = [int((last * inv_freq > 0.1).sum()) for inv_freq in clocks]
    curves = [decay_curve(np.arange(last + 1), inv_freq) for inv_freq in clocks]
    alt = (
        f"Two clocks at frames {', '.join(map(str, frames))}. The document's has {len(clocks[0])} hands, a dense fan, "
        f"with second speed {clocks[0][1]:.4f} and last {clocks[0][-1]:.6f}. The released code has {len(clocks[1])}, "
        f"in each of {heads} heads, with {clocks[1][1]:.4f} and {clocks[1][-1]:.6f}. At frame {last}, {moved[0]} and "
        f"{moved[1]} hands have moved by more than 0.1 radians."
    )
    caption = (
        f"The document's clock has {len(clocks[0])} time hands; "
        f"the released code has {len(clocks[1])}, in each of {heads} heads"
    )
    return Picture(fig, alt, {"inv_freq": clocks, "moved": moved, "curves": curves}, caption)


def scores_of_ones(query, keys, rotary_dims):
    """Score a query of ones at one place, shape (..., 1, axes), with keys of ones at others, (..., seq_len, axes)."""
    ones = np.ones((*keys.shape[:-1], sum(rotary_dims)))
    asks = apply_rope(ones[..., :1, :], *cos_sin(axial_angles(query, rotary_dims)))
    return (apply_rope(ones, *cos_sin(axial_angles(keys, rotary_dims))) @ np.swapaxes(asks, -1, -2))[..., 0]


def with_turned_axes(coordinates, heads):
    """Turn the rows and columns of each head by an angle of its own, spread over a right angle."""
    turns = rotation_matrix(np.pi / 2 * np.arange(heads)[:, None] / heads)
    plane = coordinates[:, 1:] @ turns
    return np.concatenate((np.broadcast_to(coordinates[:, :1], (heads, len(coordinates), 1)), plane), axis=-1)


@figure(caption="The three clocks add up, so a patch resembles its own row and column: a cross", format="png")
def patch_maps(clip=CLIP, place=(6, 15, 22), head_dim=64, heads=48):
    """Draw the score of a vector of ones at one patch with itself at all others, with common and with turned axes."""
    frames, height, width = clip
    grid, split = video_grid(*clip).reshape(*clip, 3), video_split(head_dim)
    query, (t, h, w) = grid[place][None], place
    flat, deep = grid[t].reshape(-1, 3), grid[:, h].reshape(-1, 3)
    cross = scores_of_ones(query, flat, split).reshape(height, width)
    in_time = scores_of_ones(query, deep, split).reshape(frames, width)
    turned = scores_of_ones(with_turned_axes(query, heads), with_turned_axes(flat, heads), split).mean(axis=0)
    turned = turned.reshape(height, width)

    fig = Figure(figsize=(WIDTH, 4.9), layout="constrained")
    axes = fig.subplot_mosaic([["cross", "round"], ["time", [["."], ["key"], ["."]]]], height_ratios=(height, frames))
    maps = {"cross": cross, "round": turned, "time": in_time}
    lowest = min(each.min() for each in maps.values())
    marks = {"A": (h, w + 10), "B": (h + 7, w + 7)}  # about as far from the query
    for name in ("cross", "round"):
        for letter, (row, column) in marks.items():
            axes[name].text(column, row, letter, ha="center", va="center", color="white", weight="bold")
    for name, each in maps.items():
        drawn = axes[name].imshow(each, cmap="cividis", vmin=lowest, vmax=head_dim, interpolation="nearest")
        axes[name].plot(w, t if name == "time" else h, "o", markersize=5, markerfacecolor="none", color=INK)
        axes[name].set(xlabel="column (patches)", ylabel="latent frame" if name == "time" else "row (patches)")
        axes[name].spines[:].set_visible(True)
    axes["cross"].set_title("the model: frame fixed", loc="left")
    axes["round"].set_title(f"not the model: axes turned in each head,\nmean of {heads} heads", loc="left")
    axes["time"].set_title("the model: row fixed", loc="left")
    axes["key"].set_label("<colorbar>")
    fig.colorbar(
        drawn, cax=axes["key"], orientation="horizontal", label="score with the query in the ring, q = k = ones"
    )

    far = np.hypot(*(flat[:, 1:] - query[:, 1:]).T).reshape(height, width)
    ring = np.abs(far - 10) < 0.5
    spread = [float(np.ptp(each[ring])) for each in (cross, turned)]
    straight, slanted = ([float(each[at]) for at in marks.values()] for each in (cross, turned))
    alt = (
        f"Scores of a vector of ones with itself. Model: {head_dim} at the query, {straight[0]:.1f} at A, ten columns "
        f"away, {straight[1]:.1f} at B, seven rows and seven columns away: a bright cross over rows and columns, and "
        f"over frames and columns. With the axes of each head turned, a round spot: {slanted[0]:.1f} at A and "
        f"{slanted[1]:.1f} at B. Spread of scores at distance 10: {spread[0]:.1f} against {spread[1]:.1f}."
    )
    data = {"cross": cross, "time": in_time, "round": turned, "spread": spread, "straight": straight}
    return Picture(fig, alt, data | {"slanted": slanted, "far": far})


def scores_before_and_after(move, seed, head_dim):
    """Score a query and a key, each of them text or video, before and after the whole clip moves."""
    q, k = np.random.default_rng(seed).standard_normal((2, 1, head_dim))
    places = {"text": np.zeros((2, 3)), "q": np.array([[2.0, 3, 4]] * 2), "k": np.array([[1.0, 7, 9]] * 2)}
    for name in "qk":
        places[name][1] += move
    split = video_split(head_dim)
    found = {}
    for asks, answers in (("video", "video"), ("text", "text"), ("text", "video"), ("video", "text")):
        at_q, at_k = places["q" if asks == "video" else asks], places["k" if answers == "video" else answers]
        turned = [rotate_expanded(x.repeat(2, 0), axial_angles(at, split)) for x, at in ((q, at_q), (k, at_k))]
        found[asks, answers] = (turned[0] * turned[1]).sum(axis=-1)
    return found


@figure(caption="Moving the clip keeps scores within the video, and changes those with text")
def clip_shift(move=(5, 10, 20), seed=0, head_dim=64):
    """Draw the score of one query and one key before and after the whole clip moves, for text and for video."""
    scores = scores_before_and_after(move, seed, head_dim)
    fig = Figure(figsize=(WIDTH, 4), layout="constrained")
    ax = fig.subplots()
    changes = {}
    for column, (names, (before, after)) in enumerate(scores.items()):
        for side, value, look in (
            (-0.19, before, {"facecolor": PALE, "edgecolor": GREY}),
            (0.19, after, {"facecolor": SKY, "edgecolor": INK, "hatch": "////"}),
        ):
            ax.bar(column + side, value, 0.34, linewidth=1, **look)
            beyond = {"textcoords": "offset points", "ha": "center", "va": "bottom" if value > 0 else "top"}
            ax.annotate(f"{value:.2f}".replace("-", "−"), (column + side, value), (0, 3 if value > 0 else -3), **beyond)
        changes[names] = after - before
    ax.axhline(0, color=INK, linewidth=1)
    values = np.array(list(scores.values()))
    room = 0.16 * np.ptp(values)
    top = max(values.max(), 0) + room
    for column, change in enumerate(changes.values()):
        text = "unchanged" if abs(change) < ROUNDING else f"changed by\n{change:.2f}".replace("-", "−")
        ax.text(column, top, text, ha="center", va="bottom")
    ax.set_xticks(range(4), [f"{asks} query,\n{answers} key" for asks, answers in scores])
    ax.tick_params(axis="x", length=0)
    ax.set(ylim=(min(values.min(), 0) - room, top + 1.4 * room), ylabel="score (dot product)")
    moved = f"{move[0]} frames, {move[1]} rows and {move[2]} columns"
    ax.set_xlabel(f"who asks and who answers; left bar: before, hatched bar: after the clip moves by\n{moved}")
    kept = [names for names, change in changes.items() if abs(change) < ROUNDING]
    told = "; ".join(
        f"{asks} query with {answers} key {before:.2f} and {after:.2f}"
        for (asks, answers), (before, after) in scores.items()
    )
    alt = (
        f"Scores of one query and one key before and after the clip moves by {moved}: {told}. "
        f"Changes below {ROUNDING:.0e}: {', '.join(f'{a} with {b}' for a, b in kept)}."
    )
    return Picture(fig, alt, {"scores": scores, "changes": changes})


@figure(caption="A video of another size is squeezed into the trained grid, or counted beyond it", format="png")
def grid_rescale(base_size=(30, 45), size=(45, 30)):
    """Draw the coordinates of all patches of a trained size, and of another size by both published rules."""
    largest = max(base_size[0], size[0]), max(base_size[1], size[1])
    grids = {
        "trained": video_grid(1, *base_size),
        "linspace": video_grid(1, *size, base_size=base_size),
        "slice": video_grid(1, *size, base_size=largest, mode="slice"),
    }
    fig = Figure(figsize=(WIDTH, 3.7), layout="constrained")
    axes = fig.subplots(1, 3, sharex=True, sharey=True)
    beyond, steps = {}, {}
    titles = {"trained": "trained on {} × {}", "linspace": "CogVideoX, linspace", "slice": "CogVideoX 1.5, slice"}
    for ax, (name, grid) in zip(axes, grids.items(), strict=True):
        row, column = grid[:, 1], grid[:, 2]
        outside = (row > base_size[0] - 0.5) | (column > base_size[1] - 0.5)  # half a step around the outer patches
        beyond[name] = int(outside.sum())
        width = base_size[1] if name == "trained" else size[1]
        steps[name] = float(row[width] - row[0]), float(column[1] - column[0])
        ax.add_patch(Rectangle((-0.5, -0.5), *base_size[::-1], facecolor=PALE, edgecolor=GREY, zorder=0))
        ax.plot(column[~outside], row[~outside], "o", color=BLUE, markersize=1.4, markeredgewidth=0)
        ax.plot(column[outside], row[outside], "x", color=VERMILLION, markersize=2.6, markeredgewidth=0.8)
        step = "steps {:.2f} and {:.2f}".format(*steps[name]) if name == "linspace" else "step 1"
        ax.set_title(f"{titles[name].format(*base_size)}:\n{step}", loc="left")
        ax.set(aspect="equal", xlim=(-2, largest[1]), ylim=(largest[0], -2))
    axes[0].set_ylabel("row coordinate (patches)")
    for ax in axes:
        ax.set_xlabel("column coordinate")
    fig.supxlabel("grey: the trained grid; crosses: coordinates beyond it", color=GREY, fontsize=10)
    (top, left), (bottom, right) = crop_region(*size, base_size)
    alt = (
        f"Coordinates of patches. Trained: {base_size[0]} rows by {base_size[1]} columns, one step apart. A request of "
        f"{size[0]} by {size[1]}: linspace squeezes it into rows {top} to {bottom} and columns {left} to {right}, "
        f"in steps of {steps['linspace'][0]:.4f} and {steps['linspace'][1]:.4f}, with {beyond['linspace']} patches "
        f"beyond that grid; slice counts whole numbers, with {beyond['slice']} of {size[0] * size[1]:,} patches beyond."
    )
    caption = f"A video of {size[0]} × {size[1]} patches is squeezed into the trained grid, or counted beyond it"
    return Picture(fig, alt, {"grids": grids, "beyond": beyond, "steps": steps}, caption)
