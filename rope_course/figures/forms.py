"""Figures of notebook 02, one rotation, three forms."""

import itertools

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Circle, Rectangle

from rope_course.figures.picture import BLUE, GREEN, GREY, INK, PALE, VERMILLION, WIDTH, Picture, figure
from rope_ref.frequencies import inverse_frequencies, rotation_angles
from rope_ref.pairing import PAIRINGS, pair_features, split_pairs, to_half
from rope_ref.rotation import FORMS, rotate_complex, rotate_vector, rotation_matrix

LIMIT = 1e-12  # what the tests allow
ROUNDING = 1e-14  # differences of float64 forms lie below it; their digits there differ between processors


def entry(value):
    """Write an entry of the matrix in few characters."""
    text = f"{value:.3f}" if abs(value) < 0.005 else f"{value:.2f}"
    return text.replace("1.00", "1.0").replace("0.", ".", 1).replace("-", "−")


def count_non_zero(rotary_dim, position, base):
    """Count the entries of the rotation matrix that are not zero; with how many there are in all."""
    matrix = rotation_matrix(rotation_angles(position, inverse_frequencies(rotary_dim, base)))
    return np.count_nonzero(matrix), matrix.size


PLACES = {  # of the entries that are not zero: in the title, and in words
    "interleaved": ("blocks on the diagonal", "blocks of two by two along the diagonal"),
    "half": ("two stripes half a head apart", "the diagonal and two stripes half a head beside it"),
}


@figure(caption="One rotation, two layouts: blocks on the diagonal, or two stripes half a head apart", format="png")
def matrix_layouts(rotary_dim=8, position=3, base=10_000.0, pairing=None):
    """Draw the rotation matrix of one position in one pairing, or in both, non-zero entries printed."""
    pairings = PAIRINGS if pairing is None else (pairing,)
    angles = rotation_angles(position, inverse_frequencies(rotary_dim, base))
    matrices = {name: rotation_matrix(angles, pairing=name) for name in pairings}
    fig = Figure(figsize=(WIDTH, 4.7), layout="constrained")
    axes = np.atleast_1d(fig.subplots(1, len(matrices), sharey=True))
    for ax, (name, matrix) in zip(axes, matrices.items(), strict=True):
        # The range is wider than -1 to 1: the darkest shades would hide the numbers.
        ax.imshow(np.ma.masked_equal(matrix, 0), cmap="RdBu", vmin=-2, vmax=2)
        for i, j in zip(*np.nonzero(matrix), strict=True):
            ax.text(j, i, entry(matrix[i, j]), ha="center", va="center", fontsize=9.5)
        pair_0 = [feature[0] for feature in pair_features(rotary_dim, name)]
        for i, j in itertools.product(pair_0, repeat=2):
            ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=INK, linewidth=2, zorder=3))
        ax.set_title(f'pairing "{name}", position {position}', loc="left")
        ax.set(xticks=range(rotary_dim), yticks=range(rotary_dim), xlabel="feature read")
        ax.set_xticks(np.arange(rotary_dim + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(rotary_dim + 1) - 0.5, minor=True)
        ax.grid(which="minor", color=PALE, linewidth=0.8)
        ax.tick_params(which="both", length=0)
        ax.spines[:].set_visible(False)
    axes[0].set_ylabel("feature written")
    fig.supxlabel(
        "blue: positive, red: negative, white: zero; framed: the four entries of pair 0", color=GREY, fontsize=10
    )
    small, large = count_non_zero(rotary_dim, position, base), count_non_zero(64, position, base)
    described = " ".join(f"Pairing {name}: {PLACES[name][1]}." for name in pairings)
    alt = (
        f"The {rotary_dim} by {rotary_dim} rotation matrix at position {position}. {described} "
        f"{small[0]} of {small[1]} entries are not zero; for d = 64 it is {large[0]:,} of {large[1]:,}. "
        f"Pair 0 holds the cosine {np.cos(angles[0]):.2f} and the sine {np.sin(angles[0]):.2f}."
    )
    caption = pairing and f"The matrix of a turn: {PLACES[pairing][0]}, zeros elsewhere"
    return Picture(fig, alt, {**matrices, "non_zero": small, "non_zero_64": large}, caption)


@figure(caption="Any two forms agree to rounding; the other pairing does not")
def forms_agreement(seeds=100, head_dim=64, seq_len=16, base=10_000.0):
    """Draw the largest difference between each two forms over random inputs, and that of the other pairing."""
    angles = rotation_angles(np.arange(seq_len), inverse_frequencies(head_dim, base))
    x = np.stack([np.random.default_rng(seed).standard_normal((seq_len, head_dim)) for seed in range(seeds)])
    turned = {name: form(x, angles) for name, form in FORMS.items()}
    pairs = list(itertools.combinations(turned, 2))
    apart = {names: np.abs(turned[names[0]] - turned[names[1]]).max(axis=(1, 2)) for names in pairs}
    largest = max(differences.max() for differences in apart.values())
    other = np.abs(rotate_vector(x, angles, pairing="half") - turned["vector"]).max(axis=(1, 2))

    fig = Figure(figsize=(WIDTH, 4.4), layout="constrained")
    ax = fig.subplots()
    across = (np.arange(seeds) % 20 - 9.5) / 26
    beside = {"textcoords": "offset points", "annotation_clip": False}
    for column, differences in enumerate(apart.values()):
        # Below the bound only the bound is drawn: the digits there differ between processors, and 0 has no place.
        larger = differences >= ROUNDING
        if larger.any():
            ax.semilogy(column + across[larger], differences[larger], "o", color=BLUE, markersize=2.5)
        if not larger.all():
            ax.semilogy((column - 0.36, column + 0.36), (ROUNDING, ROUNDING), color=BLUE, linewidth=3)
    ax.semilogy(len(pairs) + across, other, "D", color=VERMILLION, markersize=2.5)
    ax.axhline(LIMIT, color=INK, linestyle="--", linewidth=1.2)
    ax.annotate("limit, $10^{-12}$", (-0.5, LIMIT), (4, 3), va="bottom", **beside)
    flat = "flat mark: below $10^{-14}$" + (", in all inputs" if largest < ROUNDING else "")
    ax.annotate(flat, (-0.5, ROUNDING), (4, -6), va="top", **beside)
    ax.annotate(f"{other.min():.1f} to {other.max():.1f}", (len(pairs), other.max()), (0, 6), ha="center", **beside)
    names = [f"{a}\n{b}" for a, b in pairs]
    ax.set_xticks(range(len(pairs) + 1), [*names, "other\npairing"])
    ax.tick_params(axis="x", length=0)
    ax.set(xlabel="the two forms compared", ylabel=f"largest difference in each of {seeds} inputs")
    ax.set(xlim=(-0.5, len(pairs) + 0.5), ylim=(1e-16, 1e3))
    agree = largest < LIMIT
    bound = f"below {ROUNDING:.0e}" if largest < ROUNDING else f"at most {largest:.0e}"
    caption = None if agree else f"Two forms differ by {largest:.0e}"
    alt = (
        f"Largest difference between the results of two forms, for {len(pairs)} pairs of forms and {seeds} random "
        f"inputs, on a logarithmic axis: all {bound}, where the limit is {LIMIT:.0e}. Beside them, the same features "
        f"turned with the other pairing: off by {other.min():.1f} to {other.max():.1f}."
    )
    return Picture(fig, alt, {"apart": apart, "other": other, "largest": largest}, caption)


LANDS = {"first": "#B9DBF0", "second": "#F7D9A8"}  # pale blue and pale orange: which feature a product goes to


def draw_product(ax, z, turn):
    """Draw a complex number, a number of length 1, and their product as arrows in the plane."""
    product = z * turn
    ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=GREY, linestyle=":", linewidth=1.2))
    start, swept = np.degrees(np.angle(z)), np.degrees(np.angle(turn)) % 360
    ax.add_patch(Arc((0, 0), 1, 1, theta1=0, theta2=swept, color=GREEN, linewidth=2))
    ax.add_patch(Arc((0, 0), 1.6 * abs(z), 1.6 * abs(z), theta1=start, theta2=start + swept, color=GREEN, linewidth=2))
    looks = (
        (z, VERMILLION, "--", "$z$"),
        (turn, GREEN, "-", r"$e^{\mathrm{i}\varphi}$"),
        (product, BLUE, "-", r"$z\,e^{\mathrm{i}\varphi}$"),
    )
    for value, color, dash, name in looks:
        arrow = {"arrowstyle": "-|>", "color": color, "linewidth": 2.2, "linestyle": dash, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (value.real, value.imag), (0, 0), arrowprops=arrow)
        beyond = value * (1 + 0.3 / abs(value))
        ax.text(beyond.real, beyond.imag, name, color=color, ha="center", va="center", fontsize=12)
    for radius, middle in ((0.68, swept / 5), (0.8 * abs(z) + 0.2, start + swept / 2)):
        place = radius * np.exp(1j * np.radians(middle))
        ax.text(place.real, place.imag, r"$\varphi$", color=GREEN, ha="center", va="center", fontsize=12)
    low = np.min([(0, 0), *((v.real, v.imag) for v in (z, turn, product))], axis=0) - 0.6
    high = np.max([(0, 0), *((v.real, v.imag) for v in (z, turn, product))], axis=0) + 0.6
    ax.axhline(0, color=GREY, linewidth=0.8)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    ax.locator_params(steps=(1, 10), integer=True)
    ax.set(xlabel="real part: first feature", ylabel="imaginary part: second feature")


def draw_four_products(ax, pair, angle):
    """Draw the table of the four real products of one complex one, shaded by the feature they are added to."""
    (a, b), cos, sin = pair, np.cos(angle), np.sin(angle)
    cells = {
        (0, 0): ("first", "a cos φ", a * cos),
        (1, 0): ("second", "i a sin φ", a * sin),
        (0, 1): ("second", "i b cos φ", b * cos),
        (1, 1): ("first", "i² b sin φ", -b * sin),
    }
    for (column, row), (lands, product, value) in cells.items():
        ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=LANDS[lands], edgecolor="white", linewidth=3))
        ax.text(column, row - 0.16, product, ha="center", va="center")
        ax.text(column, row + 0.16, f"{lands}: {signed(value)}", ha="center", va="center")
    ax.set(xlim=(-0.5, 1.5), ylim=(1.5, -0.5), xlabel="parts of $e^{\\mathrm{i}\\varphi}$", ylabel="parts of $z$")
    ax.set_xticks((0, 1), ("cos φ", "i sin φ"))
    ax.set_yticks((0, 1), ("a", "i b"))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def signed(value):
    """Write a number with two decimals and a true minus sign."""
    return f"{value:.2f}".replace("-", "−")


@figure(caption="One complex product is four real ones, two for each feature")
def one_complex_pair(pair=(2.0, 1.0), angle=1.0):
    """Draw one pair as a complex number, turned, and the four real products where they land."""
    z, turn = complex(*pair), np.exp(1j * angle)
    turned = rotate_complex([pair], [[angle]])[0]
    fig = Figure(figsize=(WIDTH, 3.9), layout="constrained")
    left, right = fig.subplots(1, 2, width_ratios=(1.25, 1))
    draw_product(left, z, turn)
    draw_four_products(right, pair, angle)
    left.set_title(f"a = {pair[0]:g}, b = {pair[1]:g}, φ = {angle:g} radian", loc="left")
    right.set_title("shade: the feature it is added to", loc="left")
    (a, b), cos, sin = pair, np.cos(angle), np.sin(angle)
    sums = f"first: a cos φ − b sin φ = {signed(turned[0])}      second: a sin φ + b cos φ = {signed(turned[1])}"
    fig.supxlabel(sums, color=INK, fontsize=10)
    alt = (
        f"Left, the plane with z = {pair[0]:g} + {pair[1]:g}i, a number of length 1 at the angle {angle:g}, and their "
        f"product {turned[0]:.2f} + {turned[1]:.2f}i: as long as z, further round by {angle:g} radian. Right, the four "
        f"real products: {a * cos:.2f} and {-b * sin:.2f} land in the first feature, {a * sin:.2f} and {b * cos:.2f} "
        "in the second."
    )
    data = {"turned": turned, "products": np.array([[a * cos, a * sin], [b * cos, -b * sin]])}
    return Picture(fig, alt, data)


@figure(caption="From interleaved to half-split: first features to the first half, second ones to the second")
def reordering_map(rotary_dim=8):
    """Draw where each feature of a head goes when interleaved order becomes half-split order."""
    order = to_half(np.arange(rotary_dim))  # the old place of what stands at each new place
    first, _ = split_pairs(np.arange(rotary_dim))
    fig = Figure(figsize=(WIDTH, 0.45 * rotary_dim + 1.2), layout="constrained")
    ax = fig.subplots()
    for new, old in enumerate(order):
        is_first = old in first
        color, dash = (BLUE, "-") if is_first else (VERMILLION, "--")
        ax.plot((0.34, 1.66), (old, new), dash, color=color, linewidth=1.8, zorder=1)
        for column, place in ((0, old), (2, new)):
            shade = LANDS["first" if is_first else "second"]
            ax.add_patch(Rectangle((column - 0.34, place - 0.4), 0.68, 0.8, facecolor=shade, edgecolor=color))
            text = f"{'first' if is_first else 'second'} of pair {old // 2}"
            ax.text(column, place, text, ha="center", va="center")
    ax.set(xlim=(-0.45, 2.45), ylim=(rotary_dim - 0.5, -0.5), ylabel="place in the head", yticks=range(rotary_dim))
    ax.set_xticks((0, 2), ("interleaved: (2i, 2i + 1)", f"half: (i, i + {rotary_dim // 2})"))
    ax.set_xlabel("pairing, and where pair i stands in it")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    alt = (
        f"Two columns of {rotary_dim} cells, joined by lines. Left the interleaved order: both features of pair 0, of "
        f"pair 1, and so on. Right the half-split order: the first features of all pairs, then the second ones. "
        f"Read from the top, it takes the old places {', '.join(map(str, order))}."
    )
    return Picture(fig, alt, {"order": order})
