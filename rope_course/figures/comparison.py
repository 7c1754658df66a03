"""Figures of notebook 05, why rotate? Against adding."""

import itertools

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

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
    label_end,
)
from rope_ref.absolute import learned, sinusoidal
from rope_ref.attention import attention_scores, attention_weights, relative_score
from rope_ref.checks import check_count
from rope_ref.frequencies import inverse_frequencies, rotation_angles
from rope_ref.rotation import rotate_expanded

ROUNDING = 1e-12  # changes of a score that are rounding alone lie below it; their digits differ between processors
TERMS = ("content ·\ncontent", "content ·\nposition", "position ·\ncontent", "position ·\nposition")


def two_tokens(width, seed):
    """Draw two tokens and the projections to queries and to keys; a projected token is about as long as before."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, width))
    w_q, w_k = rng.standard_normal((2, width, width)) / np.sqrt(width)
    return x, y, w_q, w_k


def turned(vector, position_ids, inv_freq):
    """Turn one vector to several positions."""
    rows = np.broadcast_to(vector, (len(position_ids), len(vector)))
    return rotate_expanded(rows, rotation_angles(position_ids, inv_freq))


def dots(q, k):
    """Take the dot product of each query with the key of the same row."""
    return (q * k).sum(axis=-1)


def shifted_scores(places, last, width, seed):
    """Score two tokens at all positions from `places` to `last` tokens further on, in four ways."""
    m, n = (place + np.arange(last + 1) for place in places)
    x, y, w_q, w_k = two_tokens(width, seed)
    rows = learned(last + max(places) + 1, width, np.random.default_rng(seed + 1))
    at_m, at_n = sinusoidal(m, width), sinusoidal(n, width)
    inv_freq = inverse_frequencies(width)
    return {
        "sinusoid added": dots((x + at_m) @ w_q, (y + at_n) @ w_k),
        "learned row added": dots((x + rows[m]) @ w_q, (y + rows[n]) @ w_k),
        "sinusoids alone,\nno words": dots(at_m, at_n),
        "RoPE": dots(turned(x @ w_q, m, inv_freq), turned(y @ w_k, n, inv_freq)),
    }


@figure(caption="Move both tokens on: added positions change the score, turned queries and keys do not")
def shift_test(places=(5, 3), last=200, width=64, seed=1):
    """Draw how much the score of two tokens changes when both move on, for four ways to give them a position."""
    scores = shifted_scores(places, check_count(last, "last"), width, seed)
    offsets = np.arange(1, last + 1)
    changes = {name: np.abs(score[1:] - score[0]) for name, score in scores.items()}
    fig = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    ax = fig.subplots()
    looks = ((VERMILLION, "--", 1.2e-16), (GREEN, ":", 1.2e-16), (ORANGE, "-.", 8e-14), (BLUE, "-", 8e-16))
    for (name, change), (color, dash, place) in zip(changes.items(), looks, strict=True):
        # In the band only the band is a measurement: the digits differ between processors, and the file should not.
        shown = np.where(change < ROUNDING, place, change)
        ax.semilogy(offsets, shown, dash, color=color, linewidth=1.6)
        label_end(ax, last, np.exp(np.log(shown[-last // 4 :]).mean()), name)
    ax.axhspan(1e-16, ROUNDING, color=PALE, linewidth=0, zorder=0)
    band = "rounding: anything below $10^{-12}$, not to scale"
    ax.annotate(band, (1, ROUNDING), (4, 3), textcoords="offset points", va="bottom", color=GREY)
    ax.set(xlim=(1, last), ylim=(1e-16, 1e3), xlabel="offset added to both positions (tokens)")
    ax.set_ylabel(f"change of the score since ({places[0]}, {places[1]})")
    key = f"score: dot product, not scaled; d = {width}; learned rows: as first drawn, numbers of about 0.02"
    fig.supxlabel(key, color=GREY, fontsize=10)
    largest = {name: float(change.max()) for name, change in changes.items()}
    told = {name: f"below {ROUNDING:.0e}" if top < ROUNDING else f"up to {top:.2g}" for name, top in largest.items()}
    caption = None if largest["RoPE"] < ROUNDING else f"So far out, the RoPE score changes by {told['RoPE']}"
    alt = (
        f"Change of one score when both tokens move on from positions {places[0]} and {places[1]} by 1 to {last}, "
        f"on a logarithmic axis. {'; '.join(f'{name}: {text}' for name, text in told.items())}."
    ).replace("\n", " ")
    return Picture(fig, alt, {"offsets": offsets, "scores": scores, "changes": changes, "largest": largest}, caption)


def four_terms(x, y, at_m, at_n, w_q, w_k):
    """Multiply out the score of two tokens with a position added to each: content and position, query first."""
    queries, keys = np.stack((x, at_m)) @ w_q, np.stack((y, at_n)) @ w_k
    return (queries @ keys.T).ravel()


def draw_terms(ax, terms, top):
    """Draw each term, and their sum, as one bar for each of two places, with what becomes of it above."""
    looks = ((-0.2, {"facecolor": PALE, "edgecolor": GREY}), (0.2, {"facecolor": SKY, "hatch": "////"}))
    values = np.column_stack((terms, terms.sum(axis=1)))
    for (side, look), row in zip(looks, values, strict=True):
        for column, value in enumerate(row):
            ax.bar(column + side, value, 0.36, linewidth=1, **{"edgecolor": INK} | look)
            beyond = {"textcoords": "offset points", "ha": "center", "va": "bottom" if value > 0 else "top"}
            ax.annotate(f"{value:.1f}".replace("-", "−"), (column + side, value), (0, 3 if value > 0 else -3), **beyond)
    for column, (before, after) in enumerate(values.T):
        same = abs(after - before) < ROUNDING
        ax.text(column, top, "unchanged" if same else "changed", ha="center", color=INK if same else VERMILLION)
    ax.axhline(0, color=INK, linewidth=1)
    ax.axvline(3.5, color=GREY, linewidth=0.8, linestyle=":")
    return values


@figure(caption="Of the four terms of adding, projections leave only content with content as it was")
def score_terms(places=((5, 3), (105, 103)), width=64, seed=1):
    """Draw the four terms of a score with added sinusoids, at two places, without and with projections."""
    x, y, w_q, w_k = two_tokens(width, seed)
    projections = {"without projections": (np.eye(width),) * 2, "with projections": (w_q, w_k)}
    found = {
        name: np.array([four_terms(x, y, *sinusoidal(place, width), *pair) for place in places])
        for name, pair in projections.items()
    }
    fig = Figure(figsize=(WIDTH, 6.8), layout="constrained")
    axes = fig.subplots(2, sharex=True, sharey=True)
    everything = np.concatenate([np.append(terms, terms.sum(axis=1)) for terms in found.values()])
    step = 0.12 * np.ptp(everything)
    top = everything.max() + 1.4 * step
    for ax, (name, terms) in zip(axes, found.items(), strict=True):
        draw_terms(ax, terms, top)
        ax.set_title(name, loc="left")
        ax.set(ylim=(everything.min() - step, top + step), ylabel="part of the score")
        ax.tick_params(axis="x", length=0)
    axes[1].set_xticks(range(5), [*TERMS, "sum:\nthe score"])
    (m, n), (far_m, far_n) = places
    axes[1].set_xlabel(f"left bar: positions ({m}, {n}); hatched bar: positions ({far_m}, {far_n})")
    # A sinusoidal row is the row of position 0, turned the other way: its score is RoPE's.
    start = sinusoidal(0, width)
    rope = float(relative_score(start, start, m - n, inverse_frequencies(width)))
    alone, mixed = (terms[:, 3] for terms in found.values())
    told = f"position · position: {alone[0]:.4f} at both places\nRoPE, 1 in each pair, distance {m - n}: {rope:.4f}"
    axes[0].plot((-0.5, 2.6), (rope, rope), "--", color=BLUE, linewidth=1.4)
    axes[0].annotate(told, (-0.45, rope), (0, -5), textcoords="offset points", va="top")
    alt = (
        f"Bars of the four terms and their sum at ({m}, {n}) and ({far_m}, {far_n}). Content with content stays. "
        f"Without projections position with position stays too, at {alone[0]:.4f}, the RoPE score of a 1 in each pair "
        f"at this distance, {rope:.4f}. With projections it changes from {mixed[0]:.2f} to "
        f"{mixed[1]:.2f}. The mixed terms change in both."
    )
    return Picture(fig, alt, {"terms": found, "rope": rope})


def attention_by_word(words, sentence, scheme, width, seed):
    """Take the attention weights of a sentence, rows and columns in the order of `words`, wherever they stand."""
    rng = np.random.default_rng(seed)
    tokens = dict(zip(words, rng.standard_normal((len(words), width)), strict=True))
    w_q, w_k = rng.standard_normal((2, width, width)) / np.sqrt(width)
    x = np.stack([tokens[word] for word in sentence])
    places = np.arange(len(sentence))
    if scheme == "sinusoid added":
        x = x + sinusoidal(places, width)
    q, k = x @ w_q, x @ w_k
    if scheme == "RoPE":
        angles = rotation_angles(places, inverse_frequencies(width))
        q, k = rotate_expanded(q, angles), rotate_expanded(k, angles)
    weights = attention_weights(attention_scores(q, k), causal=scheme == "causal mask alone")
    order = [sentence.index(word) for word in words]
    return weights[np.ix_(order, order)]


@figure(caption="Without positions or a mask, attention is blind to the order of the words", format="png")
def order_swap(words=("dog", "bites", "man"), width=64, seed=8):
    """Draw the attention between the words of a sentence and of the same words in reverse order, in four ways."""
    words = tuple(words)
    sentences = (words, words[::-1])
    schemes = ("no position", "causal mask alone", "sinusoid added", "RoPE")
    grids = {name: [attention_by_word(words, each, name, width, seed) for each in sentences] for name in schemes}
    apart = {name: float(np.abs(second - first).max()) for name, (first, second) in grids.items()}
    fig = Figure(figsize=(WIDTH, 5.2), layout="constrained")
    axes = fig.subplots(2, len(schemes), sharex=True, sharey=True)
    for column, (name, pair) in enumerate(grids.items()):
        for ax, grid in zip(axes[:, column], pair, strict=True):
            image = ax.imshow(np.ma.masked_equal(grid, 0), cmap="cividis", vmin=0, vmax=1)
            for (i, j), weight in np.ndenumerate(grid):
                if weight:
                    ax.text(j, i, f"{weight:.2f}", ha="center", va="center", color="white" if weight < 0.5 else INK)
            ax.set_xticks(range(len(words)), words)
            ax.set_yticks(range(len(words)), words)
            ax.tick_params(length=0)
        told = "no difference" if apart[name] < ROUNDING else f"differ by {apart[name]:.2f}"
        axes[0, column].set_title(f"{name}\n{told}", loc="left")
    for ax, sentence in zip(axes[:, 0], sentences, strict=True):
        ax.set_ylabel(f"{' '.join(sentence)}\nword that asks")
    for ax in axes[1]:
        ax.set_xlabel("word seen")
    fig.colorbar(
        image, ax=axes, label="attention weight; white: hidden by the mask", shrink=0.6, location="bottom", aspect=40
    )
    alt = (
        f"Attention weights of the sentences {' '.join(sentences[0])} and {' '.join(sentences[1])}, rows and columns "
        f"in the same order of words. Largest difference between the two: "
        f"{'; '.join(f'{name} {value:.2f}' for name, value in apart.items())}."
    )
    return Picture(fig, alt, {"grids": grids, "apart": apart})


COLUMNS = {"stream": 0.0, "queries": 2.2, "keys": 3.9, "values": 5.6}
LOOKS = {
    "plain": {"facecolor": "white", "edgecolor": GREY, "linewidth": 1.2},
    "turn": {"facecolor": "#B9DBF0", "edgecolor": BLUE, "linewidth": 2.4},
    "add": {"facecolor": "white", "edgecolor": VERMILLION, "linewidth": 2.0, "linestyle": "--"},
    "cache": {"facecolor": PALE, "edgecolor": GREY, "linewidth": 1.2},
}


def draw_box(ax, columns, y, text, look="plain", half=0.72):
    """Draw a box over one column or several, with its text."""
    left, right = COLUMNS[columns[0]] - half, COLUMNS[columns[-1]] + half
    box = FancyBboxPatch((left, y - 0.3), right - left, 0.6, boxstyle="round,pad=0,rounding_size=0.1", **LOOKS[look])
    ax.add_patch(box)
    ax.text((left + right) / 2, y, text, ha="center", va="center", weight="bold" if look == "turn" else "normal")


def draw_arrow(ax, start, end, **kwargs):
    """Draw an arrow between two points."""
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.3, "shrinkA": 0, "shrinkB": 0} | kwargs
    ax.annotate("", end, start, arrowprops=arrow)


# Every step of a layer from below: the columns it spans, its height, what it does, how it looks.
STEPS = (
    (("queries", "values"), 2.1, "norm", "plain"),
    (("queries",), 3.2, "$W_q$", "plain"),
    (("keys",), 3.2, "$W_k$", "plain"),
    (("values",), 3.2, "$W_v$", "plain"),
    (("queries",), 4.3, "RoPE: turn", "turn"),
    (("keys",), 4.3, "RoPE: turn", "turn"),
    (("keys",), 5.4, "key cache", "cache"),
    (("values",), 5.4, "value cache", "cache"),
    (("queries", "keys"), 6.5, "scores q · k, mask, softmax", "plain"),
    (("queries", "values"), 7.6, "weighted sum of values, then $W_o$", "plain"),
)


# The heights at which each column of a layer passes through a box.
STOPS = {"queries": (2.1, 3.2, 4.3, 6.5, 7.6), "keys": (2.1, 3.2, 4.3, 5.4, 6.5), "values": (2.1, 3.2, 5.4, 7.6)}


def draw_flow(ax):
    """Draw the arrows: up each column, from the stream of tokens into the layer, and back on to it."""
    for name, stops in STOPS.items():
        for low, high in itertools.pairwise(stops):
            draw_arrow(ax, (COLUMNS[name], low + 0.3), (COLUMNS[name], high - 0.3))
    draw_arrow(ax, (0, -0.1), (0, 0.45))
    draw_arrow(ax, (0, 1.05), (0, 8.37))
    draw_arrow(ax, (0, 2.1), (COLUMNS["queries"] - 0.72, 2.1))
    ax.plot((COLUMNS["keys"],) * 2, (7.9, 8.55), color=INK, linewidth=1.3)
    draw_arrow(ax, (COLUMNS["keys"], 8.55), (0.15, 8.55))
    draw_arrow(ax, (0, 8.73), (0, 9.75))
    ax.text(0, 8.55, "+", ha="center", va="center", bbox={"boxstyle": "circle,pad=0.2", "fc": "white", "ec": INK})


@figure(caption="RoPE sits in every layer, after the projections, on queries and keys alone")
def where_rope_sits():
    """Draw one attention layer with the places where positions enter: added below it, or turned inside."""
    fig = Figure(figsize=(WIDTH, 8.4), layout="constrained")
    ax = fig.subplots()
    ax.add_patch(Rectangle((-0.72, 1.5), 7.4, 7.6, facecolor="#F5F5F5", edgecolor=GREY, linewidth=1, zorder=0))
    draw_box(ax, ("stream",), -0.4, "tokens")
    draw_box(ax, ("stream",), 0.75, "add $p_m$", "add")
    for step in STEPS:
        draw_box(ax, *step)
    draw_box(ax, ("stream", "values"), 10.05, "the next layer: new q, new k, turned again", "turn")
    draw_flow(ax)
    ax.text(COLUMNS["values"] + 0.12, 4.3, "not\nturned", va="center")
    ax.text(6.55, 9.0, "attention of one layer", ha="right", va="top", color=GREY)
    added = "Adding: once, below all layers, onto the whole token\n(dashed: a model with RoPE has no such box)"
    ax.text(0.95, 0.75, added, va="center")
    ax.set_xticks(list(COLUMNS.values()), ["tokens", *list(COLUMNS)[1:]])
    ax.set(xlim=(-0.85, 6.8), ylim=(-0.9, 10.5), yticks=[], xlabel="what flows", ylabel="steps, from below upwards")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    projections = sum(text.startswith("$W") for _, _, text, _ in STEPS)
    turns = [columns[0] for columns, _, _, look in STEPS if look == "turn"]
    alt = (
        f"A layer, read upwards: tokens, a norm, {projections} projections to queries, keys and values. Then "
        f"{len(turns)} boxes, RoPE: turn, on {' and on '.join(turns)}; values are not turned. Keys are cached turned. "
        "Then scores, softmax and the sum of values, added to the tokens, which never turn. The next layer turns its "
        "own new queries and keys. Adding, a dashed box, stands 1 time, below all layers."
    )
    return Picture(fig, alt, {"turns": turns, "steps": STEPS})
