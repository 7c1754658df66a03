"""Figures of notebook 01, derive it by hand."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Arc

from rope_course.figures.picture import BLUE, GREEN, GREY, INK, VERMILLION, WIDTH, Picture, figure
from rope_ref.attention import relative_score
from rope_ref.frequencies import rotation_angles
from rope_ref.rotation import rotate_expanded

Q, K, THETA = (1.0, 2.0), (3.0, 1.0), np.pi / 6  # the pair of vectors that the class derives with


def turned(vector, position_ids, theta=THETA):
    """Turn one vector of two features to several positions, or several vectors each to its own."""
    position_ids = np.asarray(position_ids)
    rows = np.broadcast_to(np.asarray(vector, float), (*position_ids.shape, 2))
    return rotate_expanded(rows, rotation_angles(position_ids, [theta]))


def diagonal_spread(scores):
    """Find how far the scores of one distance differ, at the worst distance."""
    offsets = range(1 - len(scores), len(scores))
    return max(float(np.ptp(np.diagonal(scores, offset))) for offset in offsets)


@figure(caption="Both arrows turn; the angle between them stays, and so does the score")
def two_arrows(q=Q, k=K, theta=THETA, places=((5, 2), (6, 3), (25, 22), (105, 102))):
    """Draw a query at m and a key at n for some places of equal distance, and the angle between them."""
    reach = 1.35 * max(np.hypot(*q), np.hypot(*k))  # leaves room for the names at the tips
    fig = Figure(figsize=(WIDTH, 7.2), layout="constrained")
    scores, between = [], []
    for ax, (m, n) in zip(fig.subplots(2, 2).flat, places, strict=True):
        at_m, at_n = turned(q, [m], theta)[0], turned(k, [n], theta)[0]
        start, stop = np.degrees([np.arctan2(*at_n[::-1]), np.arctan2(*at_m[::-1])])
        scores.append(float(at_m @ at_n))
        between.append((stop - start) % 360)
        ax.add_patch(Arc((0, 0), 1.7, 1.7, theta1=start, theta2=start + between[-1], color=GREEN, linewidth=2))
        middle = np.radians(start + between[-1] / 2)
        ax.text(
            1.45 * np.cos(middle),
            1.25 * np.sin(middle),
            f"{between[-1]:.0f}°",
            color=GREEN,
            ha="center",
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},  # keeps it clear of the dashed arrows
        )
        for name, plain, end, color, position in (("q", q, at_m, BLUE, m), ("k", k, at_n, VERMILLION, n)):
            ax.annotate("", plain, (0, 0), arrowprops={"arrowstyle": "->", "color": color, "linestyle": (0, (4, 3))})
            ax.annotate("", end, (0, 0), arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 2.4})
            x, y = end[0], end[1] + np.copysign(0.45, end[1])
            ax.text(x, y, f"{name} at {position}", color=color, ha="center", va="center")
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="feature 1", ylabel="feature 2")
        ax.set_title(f"m = {m}, n = {n}: score {scores[-1]:.4f}")
    alt = (
        f"Four panels with q at m and k at n, for (m, n) = {', '.join(map(str, places))}; dashed arrows show both "
        f"before turning. The arrows point elsewhere in each panel. The angle from k to q is {between[0]:.0f} degrees "
        f"and the score {scores[0]:.4f} in all four."
    )
    return Picture(fig, alt, {"scores": np.array(scores), "between": np.array(between)})


@figure(caption="One q and one k: the score is constant along diagonals. New keys: it is not", format="png")
def score_grid(q=Q, k=K, theta=THETA, length=24, seed=1):
    """Draw the score of every query position with every key position, for one key and for a new key at each place."""
    places = np.arange(length)
    queries = turned(q, places, theta)
    fresh = np.random.default_rng(seed).normal(scale=np.hypot(*k) / np.sqrt(2), size=(length, 2))
    grids = {
        "the same k at every position": queries @ turned(k, places, theta).T,
        "a new random k at every position": queries @ turned(fresh, places, theta).T,
    }
    top = max(np.abs(grid).max() for grid in grids.values())
    fig = Figure(figsize=(WIDTH, 3.9), layout="constrained")
    axes = fig.subplots(1, 2, sharey=True)
    for ax, (name, grid) in zip(axes, grids.items(), strict=True):
        image = ax.imshow(grid, cmap="RdBu_r", vmin=-top, vmax=top, origin="lower")
        ax.set(xlabel="key position n", title=name)
    axes[0].set_ylabel("query position m")
    fig.colorbar(image, ax=axes, label="score", shrink=0.8)
    same, other = (diagonal_spread(grid) for grid in grids.values())
    alt = (
        f"Two heat maps of the score over m and n from 0 to {length - 1}. Left, one k: stripes along the diagonals, "
        f"where the score differs by less than 1e-12. Right, a new k at each position: no stripes, and scores of one "
        f"distance differ by up to {other:.1f}."
    )
    if same > 1e-12:
        raise ArithmeticError(f"scores of one distance must agree to 1e-12, got a spread of {same:.1e}")
    return Picture(fig, alt, {"grids": grids, "spread_same": same, "spread_fresh": other})


@figure(caption="Left is not right: the score sees the sign of m - n")
def left_and_right(q=Q, k=K, theta=THETA, reach=12):
    """Draw the score against the signed distance, with its even and its odd part."""
    distances, smooth = np.arange(-reach, reach + 1), np.linspace(-reach, reach, 481)
    score = {r: relative_score(q, k, r, [theta]) for r in (3, -3)}
    curve, mirrored = relative_score(q, k, smooth, [theta]), relative_score(q, k, -smooth, [theta])
    even, odd = (curve + mirrored) / 2, (curve - mirrored) / 2
    fig = Figure(figsize=(WIDTH, 4.0), layout="constrained")
    ax = fig.subplots()
    ax.axhline(0, color=GREY, linewidth=0.8)
    for values, color, dash, name in (
        (even, GREEN, "--", "even part, A cos"),
        (odd, VERMILLION, ":", "odd part, B sin"),
        (curve, BLUE, "-", "score"),
    ):
        ax.plot(smooth, values, dash, color=color)
        ax.plot([], [], dash, color=color, label=name)
    ax.plot(distances, relative_score(q, k, distances, [theta]), "o", color=BLUE)
    for (r, value), place in zip(score.items(), ((0.0, -8.6), (-9.0, 8.2)), strict=True):
        text = f"m - n = {r}: {value:+.4f}"
        ax.annotate(text, (r, value), place, ha="center", va="center", arrowprops={"arrowstyle": "->", "color": INK})
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False)
    ax.set(xlabel="distance m - n (tokens)", ylabel="score", ylim=(-9.5, 9.5))
    a, b = q[0] * k[0] + q[1] * k[1], q[0] * k[1] - q[1] * k[0]
    alt = (
        f"Score against m - n from -{reach} to {reach}: a wave that is not symmetric. At 3 it is {score[3]:.4f}, at -3 "
        f"{score[-3]:+.4f}. Its even part is {a:.0f} times a cosine, its odd part {b:.0f} times a sine."
    )
    return Picture(fig, alt, {"score": score, "A": a, "B": b, "even": even, "odd": odd, "distances": smooth})
