"""Figures of notebook 04, does attention fade with distance?"""

import numpy as np
from matplotlib.figure import Figure

from rope_ref.decay import decay_curve, first_negative
from rope_ref.figures.picture import (
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
    first_where,
    plain,
    spoken,
    thin_out,
    with_looks,
)
from rope_ref.frequencies import inverse_frequencies, wavelengths
from rope_ref.pairing import check_count


@figure(caption="For equal vectors the score falls, but not steadily, and then it crosses zero")
def equal_vectors_curve(rotary_dims=(64, 128), base=10_000.0, last=32_768):
    """Draw the score of equal query and key against their distance, for one to three widths."""
    r = np.arange(1, check_count(last, "last") + 1)
    fig = Figure(figsize=(WIDTH, 4.4), layout="constrained")
    ax = fig.subplots()
    ax.axhline(0, color=INK, linewidth=0.8)
    curves, zeros, rises = {}, {}, {}
    looks = ((ORANGE, "s"), (BLUE, "o"), (INK, "^"))  # light, dark, black: told apart in grey too
    for row, (d, (color, marker)) in enumerate(with_looks(rotary_dims, looks, "rotary_dims")):
        inv_freq = inverse_frequencies(d, base)
        curve = decay_curve(r, inv_freq)
        curves[d], zeros[d] = curve, first_negative(inv_freq, last)
        rises[d] = first_where(np.diff(curve, prepend=1.0) > 0)
        ax.semilogx(*thin_out(r, curve, 330), color=color, linewidth=1.6)
        mark = {"marker": marker, "color": color, "markersize": 8, "markeredgecolor": "white", "zorder": 4}
        beside = {"textcoords": "offset points", "arrowprops": {"arrowstyle": "-", "color": GREY, "shrinkB": 5}}
        if rises[d]:
            rise = (rises[d], curve[rises[d] - 1])
            ax.plot(*rise, **mark)
            ax.annotate(f"d = {d}: first rise after {rises[d]}", rise, (14, 18), va="center", **beside)
        if zeros[d]:
            zero = (zeros[d], curve[zeros[d] - 1])
            ax.axvspan(zeros[d], last, color=PALE, alpha=0.6, linewidth=0, zorder=0)
            ax.plot(*zero, **mark)
            text = f"d = {d}: below zero at {zeros[d]:,}"
            ax.annotate(text, zero, (-24, -18 - 18 * row), ha="right", va="center", **beside)
    ax.xaxis.set_major_formatter(plain)
    ax.set(xlim=(1, last), xlabel="distance r (tokens)", ylabel="score, in units of the score at r = 0")
    none = f"none up to {last:,}"
    crossed = spoken(zeros.values(), none)
    end = f"crosses zero at {crossed}" if any(zeros.values()) else f"is above zero up to {last:,}"
    caption = f"For equal vectors the score falls, but not steadily, and {end}"
    alt = (
        f"Mean of the cosine of all pairs against distance r from 1 to {last:,}, for d = {spoken(zeros)}. It falls "
        f"from 1 with ripples, shaded from where it is below zero. First rise after r = "
        f"{spoken(rises.values(), none)}; first below zero at r = {crossed}."
    )
    return Picture(fig, alt, {"distances": r, "curves": curves, "first_negative": zeros, "first_rise": rises}, caption)


@figure(caption="Fast hands tell near distances apart, slow hands far ones")
def which_hands_speak(rotary_dim=128, base=10_000.0, last=32_768):
    """Draw the mean cosine of the fast, the middle and the slow third of the pairs against distance."""
    r = np.arange(1, check_count(last, "last") + 1)
    thirds = np.array_split(inverse_frequencies(rotary_dim, base), 3)
    curves = [decay_curve(r, third) for third in thirds]
    if last < 1000:
        raise ValueError(f"last must be at least 1000, where the thirds have parted, got {last}")
    none = f"past {last:,}"
    halves = [first_where(np.append(1.0, curve) < 0.5) for curve in curves]
    fig = Figure(figsize=(WIDTH, 5), layout="constrained")
    axes = fig.subplots(3, sharex=True, sharey=True)
    looks = (("fast", BLUE, "o"), ("middle", GREEN, "s"), ("slow", VERMILLION, "^"))
    for ax, curve, third, half, (name, color, marker) in zip(axes, curves, thirds, halves, looks, strict=True):
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.semilogx(*thin_out(r, curve, 330), color=color, linewidth=1.6)
        if half:
            ax.plot(half, curve[half - 1], marker, color=color, markersize=8, markeredgecolor="white")
            ax.annotate(f"below one half at {half:,}", (half, curve[half - 1]), (9, 6), textcoords="offset points")
        quickest, slowest = wavelengths(third)[[0, -1]]
        title = f"{name} third, {len(third)} pairs: one turn in {quickest:,.0f} to {slowest:,.0f} tokens"
        ax.set_title(title, loc="left")
    axes[1].set_ylabel("mean of cos(r θᵢ) over the third")
    axes[-1].xaxis.set_major_formatter(plain)
    axes[-1].set(xlabel="distance r (tokens)", xlim=(1, last), ylim=(-0.7, 1.1))
    caption = f"Each third of the hands fades on its own scale: below one half at {spoken(halves, none)} tokens"
    far = {name: float(np.abs(curve[99:1000]).max()) for curve, (name, *_) in zip(curves, looks, strict=True)}
    alt = (
        f"Mean cosine of the fast, the middle and the slow third of {rotary_dim // 2} pairs against distance r, from 1 "
        f"to {last:,}. They are first below one half at {spoken(halves, none)} tokens. From 100 to 1,000 "
        f"tokens the fast third swings about zero by at most {far['fast']:.2f}; at 1,000 the slow third is still "
        f"{curves[2][999]:.2f}."
    )
    return Picture(fig, alt, {"distances": r, "curves": curves, "below_half": halves, "far": far}, caption)
