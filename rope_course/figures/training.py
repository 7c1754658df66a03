"""Figures of notebook 06, train one and see: does it extrapolate?"""

import itertools

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

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
    number,
    plain,
)
from rope_course.training import (
    REPAIRS,
    RESULTS,
    SCHEMES,
    TASKS,
    Settings,
    accuracies,
    position_scores,
    read_results,
    train,
)
from rope_ref.attention import relative_score
from rope_ref.checks import check_count
from rope_ref.frequencies import inverse_frequencies, wavelengths

ASKED = {
    "copy-1": "copy the token 1 back",
    "copy-3": "copy the token 3 back",
    "recent": "recent: which special one came last?",
    "special": "special: which special one was there?",
}
# Name, colour, dash and marker of each line; where two lines lie on each other, the later is drawn on top.
LOOKS = {
    "none": ("no position", GREY, (0, (1, 1.2)), "x"),
    "learned": ("learned", ORANGE, (0, (6, 2)), "s"),
    "sinusoidal": ("sinusoidal", VERMILLION, (0, (3, 1.2)), "v"),
    "alibi": ("ALiBi", GREEN, "-.", "^"),
    "rope": ("RoPE", BLUE, "-", "o"),
}
REPAIR_LOOKS = {
    "none": ("as trained", GREY, (0, (1, 1.2)), "o"),
    "pi": ("PI", ORANGE, "-", "s"),
    "by-parts-32": ("by-parts, 32", VERMILLION, (0, (3, 1.2)), "v"),
    "ntk": ("NTK", GREEN, (0, (6, 2)), "^"),
    "by-parts": ("by-parts, 4", BLUE, "-.", "D"),
}
LEADER = {"arrowstyle": "-", "color": GREY, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 3, "relpos": (0, 0.5)}
LABEL = 0.085  # share of the height of a panel that a line of text takes


def spread(values, gap, low=-0.02, high=1.04):
    """Move values from `low` to `high` apart until all are `gap` apart, each by little: labels beside their lines."""
    values = np.array(values, float)
    order = np.argsort(values, kind="stable")
    for _ in range(200):
        for lower, upper in itertools.pairwise(order):
            overlap = max(0.0, gap - (values[upper] - values[lower]))
            values[[lower, upper]] += (-overlap / 2, overlap / 2)
        values = values.clip(low, high)
    return values


def draw_panel(ax, lengths, shares, looks):
    """Draw one line for each scheme or repair, the mean over seeds, in a band from the lowest to the highest."""
    for name, (_, color, dash, marker) in looks.items():
        low, high = shares[name].min(axis=0), shares[name].max(axis=0)
        ax.fill_between(lengths, low, high, color=color, alpha=0.22, linewidth=0)
        ax.plot(lengths, shares[name].mean(axis=0), color=color, linestyle=dash, marker=marker, markersize=6)
    ends = [shares[name][:, -1].mean() for name in looks]
    for (text, *_), end, place in zip(looks.values(), ends, spread(ends, LABEL), strict=True):
        beside = {"va": "center", "ha": "left", "annotation_clip": False, "arrowprops": LEADER}
        ax.annotate(text, (lengths[-1], end), (lengths[-1] * 1.35, place), **beside)


def draw_panels(settings, shares, looks):
    """Draw one panel for each task: shares of right answers against the length of the test."""
    lengths = settings.length * np.array(settings.times)
    fig = Figure(figsize=(WIDTH, 6), layout="constrained")
    axes = fig.subplots(2, 2, sharex=True, sharey=True)
    for ax, (task, each) in zip(axes.flat, shares.items(), strict=True):
        guess = settings.vocabulary if task.startswith("copy") else settings.vocabulary // 2
        ax.axhline(1 / guess, color=GREY, linewidth=0.8)
        draw_panel(ax, lengths, each, looks)
        ax.set_title(ASKED[task], loc="left")
    axes[0, 0].set(xscale="log", ylim=(-0.04, 1.06), yticks=(0, 0.25, 0.5, 0.75, 1))
    axes[0, 0].xaxis.set_major_locator(FixedLocator(lengths))
    axes[0, 0].xaxis.set_minor_locator(NullLocator())
    axes[0, 0].xaxis.set_major_formatter(plain)
    for ax in axes[:, 0]:
        ax.set_ylabel("share of right answers")
    for ax in axes[1]:
        ax.set_xlabel(f"tokens (trained on {settings.length})")
    seeds = len(settings.seeds)
    key = f"lines: mean of {seeds} trained heads; bands: lowest to highest of them; thin line: guessing"
    fig.supxlabel(key, color=GREY, fontsize=10)
    return fig


def told(shares, column):
    """Write the lowest and the highest of some shares, over seeds."""
    low, high = shares[:, column].min(), shares[:, column].max()
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"


def winners(shares):
    """Name what has the highest mean at the longest length, for each task."""
    return {task: max(each, key=lambda name: each[name][:, -1].mean()) for task, each in shares.items()}


def message(shares, looks, else_says):
    """Choose the title: one line that is best everywhere is worth saying."""
    best = set(winners(shares).values())
    return else_says if len(best) > 1 else f"At the longest length {looks[best.pop()][0]} is best in every task"


@figure(caption="Which scheme survives past the training length depends on the task")
def accuracy_by_length(path=RESULTS):
    """Draw the share of right answers of every scheme on every task, up to the longest test."""
    settings, results = read_results(path)
    shares = {task: {scheme: accuracies(results, scheme, task) for scheme in SCHEMES} for task in TASKS}
    fig = draw_panels(settings, shares, LOOKS)
    lengths = [settings.length * times for times in settings.times]
    second = min(1, len(lengths) - 1)
    near = {scheme: told(each, second) for scheme, each in shares["copy-3"].items()}
    far = {scheme: told(each, -1) for scheme, each in shares["special"].items()}
    alt = (
        f"Share of right answers of five schemes at {lengths[0]} to {lengths[-1]} tokens, a panel for each of four "
        f"tasks. 3 back, {lengths[second]} tokens: RoPE {near['rope']}, sinusoidal {near['sinusoidal']}, learned "
        f"{near['learned']}. One special symbol, {lengths[-1]} tokens: learned {far['learned']}, RoPE {far['rope']}, "
        f"ALiBi {far['alibi']}."
    )
    caption = message(shares, LOOKS, accuracy_by_length.caption)
    return Picture(fig, alt, {"lengths": lengths, "shares": shares, "best": winners(shares)}, caption)


def kernel(head, last, trained):
    """Score each distance by position alone, by all hands and by those that finish no turn in training."""
    inv_freq = inverse_frequencies(head.weights["query"].shape[-1])
    fast = int((wavelengths(inv_freq) <= trained).sum())
    mean = head.weights["embedding"].mean(axis=0)
    q, k = mean @ head.weights["query"], mean @ head.weights["key"]
    all_hands = position_scores(head, last + 1)
    fast_hands = relative_score(q[: 2 * fast], k[: 2 * fast], np.arange(last + 1), inv_freq[:fast])
    return all_hands, all_hands - fast_hands / np.sqrt(len(q))


def draw_kernel(ax, all_hands, slow_hands, trained):
    """Draw the scores against distance, with the highest in training and the highest after it; return their places."""
    low, high = min(all_hands.min(), slow_hands.min()), all_hands.max()
    room, last = 0.16 * (high - low), len(all_hands) - 1
    ax.set(xlim=(0, last), ylim=(low - room, high + 1.6 * room), ylabel="score by position alone")
    ax.axvspan(0, trained - 1, color=PALE, linewidth=0, zorder=0)
    ax.annotate("trained", (trained / 2, low - room), (0, 3), textcoords="offset points", ha="center", color=GREY)
    ax.plot(all_hands, color=BLUE, linewidth=1.3)
    ax.plot(slow_hands, color=VERMILLION, linestyle="--", linewidth=1.8)
    best, rival = int(all_hands[:trained].argmax()), trained + int(all_hands[trained:].argmax())
    for place, marker in ((best, "o"), (rival, "D")):
        ax.plot(place, all_hands[place], marker, color=INK, markersize=6, clip_on=False)
        text = f"{all_hands[place]:.1f} at {place} back".replace("-", "−")
        near = {"textcoords": "offset points", "ha": "left" if place == best else "center", "va": "bottom"}
        ax.annotate(text, (place, all_hands[place]), (6 if place == best else 0, 5), **near)
    ends = (all_hands[-1], slow_hands[-1])
    for text, end, place in zip(("all hands", "slow hands"), ends, spread(ends, room, low, high), strict=True):
        beside = {"va": "center", "annotation_clip": False, "arrowprops": LEADER}
        ax.annotate(text, (last, end), (1.03 * last, place), **beside)
    return best, rival


def comes_back(scores, best, rival):
    """Tell whether the score past training comes back to nine tenths of its height in training."""
    low = scores[:rival].min()
    return scores[rival] - low >= 0.9 * (scores[best] - low)


@figure(caption="Past the trained distances the score rises again, where training never looked")
def learned_kernel(heads=None, last=256, trained=32):
    """Draw what trained RoPE heads score each distance by position alone, inside and past the trained distances."""
    last, trained = check_count(last, "last"), check_count(trained, "trained")
    if last < trained:
        raise ValueError(f"last must be at least trained, got {last} and {trained}")
    if heads is None:
        heads = {task: train("rope", task, settings=Settings(steps=200)) for task in ("copy-3", "recent")}
    if any(head.scheme != "rope" for head in heads.values()):
        raise ValueError(f"heads must all have the scheme rope, got {', '.join(h.scheme for h in heads.values())}")
    found = {task: kernel(head, last, trained) for task, head in heads.items()}
    fig = Figure(figsize=(WIDTH, 2.6 * len(heads) + 1), layout="constrained")
    axes = fig.subplots(len(heads), sharex=True, squeeze=False)[:, 0]
    peaks = {}
    for ax, (task, curves) in zip(axes, found.items(), strict=True):
        peaks[task] = draw_kernel(ax, *curves, trained)
        ax.set_title(ASKED.get(task, task), loc="left")
    axes[-1].set_xlabel("distance: how many tokens back the key stands")
    key = f"slow hands: those that finish no turn in the {trained} tokens of training"
    fig.supxlabel(key, color=GREY, fontsize=10)
    rises = {task: comes_back(found[task][0], *peaks[task]) for task in found}
    caption = None if all(rises.values()) else "Past the trained distances the score is whatever the hands give"
    said = [
        f"{ASKED.get(task, task)}: {number(scores[best])} at distance {best}, past the trained distances "
        f"{number(scores[rival])}, at {rival}"
        for (task, (best, rival)), (scores, _) in zip(peaks.items(), found.values(), strict=True)
    ]
    alt = (
        f"Score of a trained head by position alone, at distances 0 to {last}; it was trained on distances below "
        f"{trained}. Highest: {'; '.join(said)}."
    )
    return Picture(fig, alt, {"curves": found, "peaks": peaks}, caption)


@figure(caption="Which change of speeds helps a trained RoPE head depends on the task")
def repaired_at_run_time(path=RESULTS):
    """Draw the share of right answers of trained RoPE heads that are run at other speeds."""
    settings, results = read_results(path)
    shares = {task: {repair: accuracies(results, "rope", task, repair) for repair in REPAIRS} for task in TASKS}
    fig = draw_panels(settings, shares, REPAIR_LOOKS)
    lengths = [settings.length * times for times in settings.times]
    third = min(2, len(lengths) - 1)
    copy, recent = ({name: told(each, third) for name, each in shares[task].items()} for task in ("copy-3", "recent"))
    alt = (
        f"Share of right answers of RoPE heads with four changes of speed and none, at {lengths[0]} to {lengths[-1]} "
        f"tokens, by task. 3 back, {lengths[third]} tokens: none {copy['none']}, PI {copy['pi']}, NTK {copy['ntk']}, "
        f"by-parts of 4 turns {copy['by-parts']}, of 32 turns {copy['by-parts-32']}. Recent: none {recent['none']}, "
        f"PI {recent['pi']}."
    )
    caption = message(shares, REPAIR_LOOKS, repaired_at_run_time.caption)
    return Picture(fig, alt, {"lengths": lengths, "shares": shares, "best": winners(shares)}, caption)
