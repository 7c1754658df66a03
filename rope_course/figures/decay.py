"""Figures of notebook 04, does attention fade with distance?"""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from rope_course.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    SKY,
    VERMILLION,
    WIDTH,
    Picture,
    figure,
    first_where,
    label_end,
    plain,
    spoken,
    thin_out,
    with_looks,
)
from rope_ref.attention import attention_scores, attention_weights, relative_score
from rope_ref.checks import check_count, check_positive
from rope_ref.decay import decay_bound, decay_curve, first_negative
from rope_ref.frequencies import cos_sin, inverse_frequencies, rotation_angles, wavelengths
from rope_ref.pairing import split_pairs
from rope_ref.rotation import apply_rope, rotate_expanded


def random_vectors(*shape, seed=0):
    """Draw vectors whose features are independent, of mean 0 and variance 1."""
    return np.random.default_rng(seed).standard_normal(shape)


@figure(caption="For equal vectors the score falls, but not steadily, and then it goes below zero")
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
            ax.plot(*zero, **mark)
            text = f"d = {d}: below zero at {zeros[d]:,}"
            ax.annotate(text, zero, (-24, -18 - 18 * row), ha="right", va="center", **beside)
    ax.xaxis.set_major_formatter(plain)
    ax.set(xlim=(1, last), xlabel="distance r (tokens)", ylabel="score, in units of the score at r = 0")
    none = f"none up to {last:,}"
    crossed = spoken(zeros.values(), none)
    end = f"is first below zero at {crossed}" if any(zeros.values()) else f"is above zero up to {last:,}"
    caption = f"For equal vectors the score falls, but not steadily, and {end}"
    alt = (
        f"Mean of the cosine of all pairs against distance r from 1 to {last:,}, for d = {spoken(zeros)}. It falls "
        f"from 1 with ripples. First rise after r = "
        f"{spoken(rises.values(), none)}; first below zero at r = {crossed}."
    )
    return Picture(fig, alt, {"distances": r, "curves": curves, "first_negative": zeros, "first_rise": rises}, caption)


@figure(caption="For random q and k the distance changes nothing: mean and spread stay")
def random_pairs_band(rotary_dim=64, distances=(0, 1, 10, 100, 1000, 10_000), base=10_000.0, draws=20_000, seed=3):
    """Draw mean, 10 to 90 % band and spread of the score of independent random q and k at some distances."""
    inv_freq = inverse_frequencies(rotary_dim, base)
    q, k = random_vectors(2, check_count(draws, "draws"), rotary_dim, seed=seed)
    scores = np.stack([relative_score(q, k, r, inv_freq) for r in distances])
    low, high = np.percentile(scores, (10, 90), axis=1)
    mean, spread = scores.mean(axis=1), scores.std(axis=1)
    fig = Figure(figsize=(WIDTH, 4.2), layout="constrained")
    ax = fig.subplots()
    ax.fill_between(distances, low, high, color=SKY, alpha=0.3, linewidth=0)
    for curve, look, name in ((high, "--", "90 %"), (mean, "o-", "mean"), (low, "--", "10 %")):
        ax.plot(distances, curve, look, color=BLUE)
        label_end(ax, distances[-1], curve[-1], name, xytext=(9, 0))
    above = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "ha": "center"}
    for r, width in zip(distances, spread, strict=True):
        ax.annotate(f"sd {width:.1f}", (r, 1), (0, 4), **above)
    ax.set_xscale("symlog", linthresh=1)  # logarithmic from 1 on, with a place for 0
    ax.set_xticks(distances)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(plain)
    reach = 2.1 * np.sqrt(rotary_dim)
    ax.set(xlabel="distance r (tokens)", ylabel="score of q and k", ylim=(-reach, reach))
    fig.supxlabel(f"sd: standard deviation of {draws:,} scores; d = {rotary_dim}", color=GREY, fontsize=10)
    widths = " to ".join(sorted({f"{width:.1f}" for width in (spread.min(), spread.max())}))
    caption = f"For random q and k the distance changes nothing: mean 0 and spread {widths} throughout"
    alt = (
        f"Mean, 10 % and 90 % of the scores of {draws:,} independent random pairs at distances {spoken(distances)}: "
        f"three level lines. The mean is within {np.abs(mean).max():.1f} of 0, the standard deviation is {widths} at "
        f"every distance, and the band reaches from {low.mean():.0f} to {high.mean():.0f}."
    )
    return Picture(fig, alt, {"mean": mean, "spread": spread, "low": low, "high": high}, caption)


@figure(caption="Turn the key, and the score peaks at the distance you choose")
def chosen_peaks(peaks=(0, 37, 500), rotary_dim=64, base=10_000.0, shown=600, last=32_768, seed=0):
    """Draw the score of one query with keys that are the query turned, each to peak at a distance of its own."""
    r = np.arange(check_count(last, "last") + 1)
    inv_freq = inverse_frequencies(rotary_dim, base)
    q = random_vectors(rotary_dim, seed=seed)
    keys = rotate_expanded(np.broadcast_to(q, (len(peaks), rotary_dim)), rotation_angles(peaks, inv_freq))
    curves = np.stack([relative_score(q, key, r, inv_freq) for key in keys]) / (q @ q)
    best = curves.argmax(axis=1)
    fig = Figure(figsize=(WIDTH, 5), layout="constrained")
    axes = np.atleast_1d(fig.subplots(len(peaks), sharex=True, sharey=True))
    looks = ((BLUE, "o"), (GREEN, "s"), (VERMILLION, "^"))
    named = with_looks(peaks, looks, "peaks")
    for ax, curve, top, (peak, (color, marker)) in zip(axes, curves, best, named, strict=True):
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.plot(r[: shown + 1], curve[: shown + 1], color=color, linewidth=1.4)
        ax.axvline(top, color=color, linestyle=":", linewidth=1.4)
        ax.plot(top, curve[top], marker, color=color, markersize=6, clip_on=False)
        side, shift = ("left", 9) if top < 0.7 * shown else ("right", -9)
        ax.annotate(f"highest at {top}", (top, curve[top]), (shift, 0), textcoords="offset points", ha=side)
        ax.set_title(f"key: the query turned by {peak} steps", loc="left")
    axes[len(axes) // 2].set_ylabel("score, in units of q · q")
    axes[-1].set(xlabel="distance r (tokens)", xlim=(0, shown), ylim=(-0.1, 1.15))
    caption = f"Turn the key, and the score peaks at the distance you choose: {spoken(best)}"
    alt = (
        f"Score of one random query with {len(peaks)} keys, each the query turned, against distance r from 0 to "
        f"{shown}, d = {rotary_dim}. Each curve has one narrow peak of height 1. Looked for from 0 to {last:,}, the "
        f"highest scores stand at {spoken(best)}."
    )
    return Picture(fig, alt, {"distances": r, "curves": curves, "best": best}, caption)


@figure(caption="The bound falls at first; the scores lie far below it and show no trend", format="png")
def bound_and_scores(rotary_dim=128, last=256, base=10_000.0, draws=200, drawn=50, seed=0):
    """Draw the factor in the paper's bound, and the scores of random pairs in the same units."""
    r = np.arange(check_count(last, "last") + 1)
    inv_freq = inverse_frequencies(rotary_dim, base)
    bound = decay_bound(r, inv_freq)
    q, k = random_vectors(2, check_count(draws, "draws"), rotary_dim, seed=seed)
    # The paper's h: one complex product for each pair, and a 0 behind the last.
    (q1, q2), (k1, k2) = split_pairs(q), split_pairs(k)
    products = (q1 + 1j * q2) * (k1 - 1j * k2)
    constant = len(inv_freq) * np.abs(np.diff(products, append=0)).max(axis=1)
    scores = np.abs(relative_score(q[:, None], k[:, None], r, inv_freq)) / constant[:, None]
    share, average = float((scores / bound).max()), scores.mean(axis=0)
    fig = Figure(figsize=(WIDTH, 5.4), layout="constrained")
    whole, close = fig.subplots(2, sharex=True, height_ratios=(1.5, 1))
    whole.plot(r, bound, color=BLUE)
    whole.annotate("the bound", (0, bound[0]), (30, -8), textcoords="offset points")
    whole.fill_between(r, scores.max(axis=0), color=VERMILLION, linewidth=0)
    whole.annotate(f"↓ the scores of {draws} random pairs", (0.5 * last, 0), (0, 6), textcoords="offset points")
    close.plot(r, scores[:drawn].T, color=GREY, linewidth=0.7, alpha=0.3)
    close.plot(r, average, "--", color=INK)
    label_end(close, last, average[-1], "mean")
    close.set_title(f"the scores enlarged: {drawn} of the pairs, and the mean of all {draws}", loc="left")
    whole.set(ylabel="mean |Sⱼ|, and\n|score| / constant", ylim=(0, None))
    close.set(
        xlabel="distance r (tokens)", ylabel="|score| / constant", xlim=(0, last), ylim=(0, 1.02 * scores[:drawn].max())
    )
    percent = f"{np.ceil(100 * share):.0f} %"
    caption = f"Up to {last} the bound falls, with ripples; scores stay below {percent} of it and show no trend"
    at = [i for i in (0, 10, 100, 250) if i <= last]
    alt = (
        f"The factor mean |S_j| of the paper's bound against distance r from 0 to {last}, d = {rotary_dim}: it falls "
        f"with ripples, {', '.join(f'{bound[i]:.2f}' for i in at)} at r = {spoken(at)}. The scores of {draws} random "
        f"pairs, divided by the constant of the bound, stay below {percent} of it; their mean is "
        f"level."
    )
    return Picture(fig, alt, {"bound": bound, "scores": scores, "share": share, "average": average}, caption)


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


def last_token_attention(q, keys, base):
    """Turn a query at the last position and keys at all positions; give the weights by distance, nearest first."""
    length, rotary_dim = keys.shape[-2:]
    cos, sin = cos_sin(rotation_angles(np.arange(length), inverse_frequencies(rotary_dim, base)))
    turned = apply_rope(q[:, None], cos[-1:], sin[-1:])
    return attention_weights(attention_scores(turned, apply_rope(keys, cos, sin)))[:, 0, ::-1]


@figure(caption="After softmax one matching key, far away, beats all others")
def softmax_weights(length=512, match=400, rotary_dim=64, base=10_000.0, draws=100, seed=0, size=1.0):
    """Draw what the last token attends to: keys equal to the query, random ones, one that matches; features x size."""
    length = check_count(length, "length")
    if not 0 <= match < length:
        raise ValueError(f"match must be a distance from 0 to {length - 1}, got {match}")
    size = check_positive(size, "size")  # standard deviation of each feature
    q = size * random_vectors(check_count(draws, "draws"), rotary_dim, seed=seed)
    keys = size * random_vectors(draws, length, rotary_dim, seed=seed + 1)
    weights = {
        "equal": last_token_attention(q, np.broadcast_to(q[:, None], keys.shape), base),
        "random": last_token_attention(q, keys, base),
    }
    turn = rotation_angles(np.full(draws, match), inverse_frequencies(rotary_dim, base))
    for name, key in (("copy", q), ("match", rotate_expanded(q, turn))):
        keys[:, length - 1 - match] = key
        weights[name] = last_token_attention(q, keys, base)
    mean = {name: weight.mean(axis=0) for name, weight in weights.items()}
    found = {name: 100 * mean[name][match] for name in ("copy", "match")}
    far = length // 4
    shares = {name: (100 * weight[:8].sum(), 100 * weight[-far:].sum()) for name, weight in mean.items()}
    told = {name: f"nearest 8 get {a:.2g} %, farthest {far} get {b:.2g} %" for name, (a, b) in shares.items()}
    fig = Figure(figsize=(WIDTH, 6), layout="constrained")
    axes = fig.subplots(3, sharex=True, sharey=True)
    rows = (
        ("equal", f"all keys equal the query: {told['equal']}", GREEN),
        ("random", f"random keys: {told['random']} (equal shares: {800 / length:.2g} and 25 %)", BLUE),
        ("match", f"random keys, and one that matches at {match}: it gets {found['match']:.0f} %", VERMILLION),
    )
    for ax, (name, title, color) in zip(axes, rows, strict=True):
        ax.semilogy(weights[name][0], ".", color=GREY, alpha=0.5, markersize=3)
        ax.semilogy(mean[name], color=color, linewidth=1.6)
        ax.axhline(1 / length, color=INK, linestyle="--", linewidth=0.8)
        ax.set_title(title, loc="left")
    axes[-1].plot(match, mean["match"][match], "^", color=VERMILLION, markersize=8)
    axes[1].set_ylabel("attention weight")
    axes[1].yaxis.set_major_formatter("{x:g}")
    axes[-1].set(xlabel="distance r (tokens)", xlim=(-4, length), ylim=(2e-5, 1.9))
    key = f"line: mean of {draws} draws; dots: one draw; dashed: an equal share, 1/{length}; d = {rotary_dim}"
    key += "" if size == 1 else f"; features of standard deviation {size:g}"
    fig.supxlabel(key, color=GREY, fontsize=10)
    caption = f"After softmax one matching key, {match} tokens back, "
    if found["match"] > 50:
        caption += f"beats all {length - 1} others together"
    else:
        caption += f"gets {found['match']:.2g} %, where an equal share is {100 / length:.2g} %"
    alt = (
        f"Attention weights of the last of {length} tokens against distance, logarithmic, in three panels. All keys "
        f"equal to the query: the {told['equal']}. Random keys: the {told['random']}. Random keys but one, turned to "
        f"match at distance {match}: it alone gets {found['match']:.0f} % on average."
    )
    data = {"weights": weights, "mean": mean, "shares": shares, "found": found}
    return Picture(fig, alt, data, caption)


def runs(flags):
    """List the runs of true values, each as its first index and the index after its last."""
    return np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])))).reshape(-1, 2)


@figure(caption="A larger base keeps the curve above zero longer, but not every larger base does")
def base_and_context(lengths=(1024, 2048, 4096, 8192, 16_384), rotary_dim=128, steps=(1420, 2520), per_decade=400):
    """Draw which bases of a grid keep the curve of equal vectors at or above zero within some contexts."""
    exponents = np.arange(*steps) / per_decade
    limit = max(check_count(length, "length") for length in lengths)
    zeros = [first_negative(inverse_frequencies(rotary_dim, base), limit) for base in 10**exponents]
    zeros = np.array([np.inf if zero is None else zero for zero in zeros])
    edges = 10 ** ((np.arange(steps[0], steps[1] + 1) - 0.5) / per_decade)
    fig = Figure(figsize=(WIDTH, 5), layout="constrained")
    ax = fig.subplots()
    firsts, lasts = {}, {}
    for length in lengths:
        passes = zeros >= length
        if passes[0] or not passes[-1]:
            raise ValueError(f"steps must reach from a base that fails at {length} to one that passes, got {steps}")
        firsts[length], lasts[length] = 10 ** exponents[[passes.argmax(), np.flatnonzero(~passes)[-1]]]
        for start, stop in runs(passes):
            ax.fill_between([length / 1.07, length * 1.07], edges[start], edges[stop], color=SKY, linewidth=0)
    above = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "ha": "center", "va": "bottom"}
    left = min(lengths) / 1.5
    rows = ((firsts, BLUE, "o", "● first that passes", 4), (lasts, INK, "v", "▼ last that fails", 20))
    for marks, color, marker, name, height in rows:
        ax.plot(list(marks), list(marks.values()), marker, color=color, markersize=7, markeredgecolor="white")
        ax.annotate(name, (left, 1), (-6, height), **above | {"ha": "right"})
        for length, base in marks.items():
            ax.annotate(f"{float(f'{base:.3g}'):,.0f}", (length, 1), (0, height), **above)
    ends = np.array([min(lengths) / 1.3, max(lengths) * 1.3])
    ax.loglog(ends, 0.0424 * ends**1.628, "--", color=GREY, linewidth=1.4)
    fit = "dashed: published fit\n0.0424 L^1.628 (reported)"
    ax.annotate(fit, (0.99, 0.2), xycoords="axes fraction", ha="right")
    ax.set_xticks(lengths)
    ax.xaxis.set_minor_locator(NullLocator())
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(plain)
    ax.set(xlabel="context length L (tokens)", ylabel="base b", xlim=(left, 1.4 * ends[1]), ylim=(edges[0], edges[-1]))
    key = f"bars: bases that pass (curve at or above zero below L); gaps: bases that fail; d = {rotary_dim}"
    fig.supxlabel(key, color=GREY, fontsize=10)
    shown = lengths[:: max(1, len(lengths) - 1)][:2]
    told = "; ".join(
        f"at L = {n:,} the first passes at {firsts[n]:,.0f}, the last fails at {lasts[n]:,.0f}" for n in shown
    )
    alt = (
        f"For contexts from {min(lengths):,} to {limit:,} tokens, which bases of the grid 10^(k/{per_decade}) keep the "
        f"curve of equal vectors at or above zero, d = {rotary_dim}. Both passing and failing bases stand between two "
        f"marks: {told}. A published fit runs near the first marks."
    )
    return Picture(fig, alt, {"first": firsts, "last": lasts, "first_negative": zeros})
