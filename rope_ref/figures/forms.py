"""Figures of notebook 02, one rotation, three forms."""

import itertools

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rope_ref.figures.picture import BLUE, GREY, INK, PALE, VERMILLION, WIDTH, Picture, figure
from rope_ref.frequencies import inverse_frequencies, rotation_angles
from rope_ref.pairing import PAIRINGS, pair_features
from rope_ref.rotation import FORMS, rotate_vector, rotation_matrix

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


@figure(caption="One rotation, two layouts: blocks on the diagonal, or two stripes half a head apart", format="png")
def matrix_layouts(rotary_dim=8, position=3, base=10_000.0):
    """Draw the rotation matrix of one position in both pairings, non-zero entries printed."""
    angles = rotation_angles(position, inverse_frequencies(rotary_dim, base))
    matrices = {pairing: rotation_matrix(angles, pairing=pairing) for pairing in PAIRINGS}
    fig = Figure(figsize=(WIDTH, 4.7), layout="constrained")
    axes = fig.subplots(1, 2, sharey=True)
    for ax, (pairing, matrix) in zip(axes, matrices.items(), strict=True):
        # The range is wider than -1 to 1: the darkest shades would hide the numbers.
        ax.imshow(np.ma.masked_equal(matrix, 0), cmap="RdBu", vmin=-1.6, vmax=1.6)
        for i, j in zip(*np.nonzero(matrix), strict=True):
            ax.text(j, i, entry(matrix[i, j]), ha="center", va="center", fontsize=9.5)
        pair_0 = [feature[0] for feature in pair_features(rotary_dim, pairing)]
        for i, j in itertools.product(pair_0, repeat=2):
            ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=INK, linewidth=2, zorder=3))
        ax.set_title(f'pairing "{pairing}", position {position}', loc="left")
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
    alt = (
        f"The {rotary_dim} by {rotary_dim} rotation matrix at position {position}, twice. Interleaved: blocks of "
        f"two by two along the diagonal. Half: the diagonal and two stripes {rotary_dim // 2} beside it. "
        f"{small[0]} of {small[1]} entries are not zero; for d = 64 it is {large[0]:,} of {large[1]:,}. "
        f"Pair 0 holds the cosine {np.cos(angles[0]):.2f} and the sine {np.sin(angles[0]):.2f}."
    )
    return Picture(fig, alt, {**matrices, "non_zero": small, "non_zero_64": large})


@figure(caption="Any two forms agree to rounding; the other pairing does not")
def forms_agreement(seeds=100, head_dim=64, seq_len=16, base=10_000.0):
    """Draw the largest difference between each two forms over random inputs, and that of the other pairing."""
    angles = rotation_angles(np.arange(seq_len), inverse_frequencies(head_dim, base))
    x = np.stack([np.random.default_rng(seed).standard_normal((seq_len, head_dim)) for seed in range(seeds)])
    turned = {name: form(x, angles) for name, form in FORMS.items()}
    pairs = list(itertools.combinations(turned, 2))
    apart = {names: np.abs(turned[names[0]] - turned[names[1]]).max(axis=(1, 2)) for names in pairs}
    other = np.abs(rotate_vector(x, angles, pairing="half") - turned["vector"]).max(axis=(1, 2))

    fig = Figure(figsize=(WIDTH, 4.4), layout="constrained")
    ax = fig.subplots()
    across = (np.arange(seeds) % 20 - 9.5) / 26
    # Down there only the band is a measurement: the digits differ between processors, and the file should not.
    within = 10.0 ** (-15.7 + 0.35 * (np.arange(seeds) // 20))
    for column, differences in enumerate(apart.values()):
        ax.semilogy(
            column + across, np.where(differences < ROUNDING, within, differences), "o", color=BLUE, markersize=2.5
        )
    ax.semilogy(len(pairs) + across, other, "D", color=VERMILLION, markersize=2.5)
    ax.axhspan(1e-16, ROUNDING, color=PALE, linewidth=0, zorder=0)
    ax.axhline(LIMIT, color=INK, linestyle="--", linewidth=1.2)
    beside = {"textcoords": "offset points", "annotation_clip": False}
    ax.annotate("limit, $10^{-12}$", (-0.5, LIMIT), (4, 3), va="bottom", **beside)
    ax.annotate(
        "rounding: anything below $10^{-14}$, not to scale", (-0.5, ROUNDING), (4, 3), va="bottom", color=GREY, **beside
    )
    ax.annotate(f"{other.min():.1f} to {other.max():.1f}", (len(pairs), other.max()), (0, 6), ha="center", **beside)
    names = [f"{a}\n{b}" for a, b in pairs]
    ax.set_xticks(range(len(pairs) + 1), [*names, "other\npairing"])
    ax.tick_params(axis="x", length=0)
    ax.set(xlabel="the two forms compared", ylabel=f"largest difference in each of {seeds} inputs")
    ax.set(xlim=(-0.5, len(pairs) + 0.5), ylim=(1e-16, 1e3))
    largest = max(differences.max() for differences in apart.values())
    agree = largest < LIMIT
    bound = f"below {ROUNDING:.0e}" if largest < ROUNDING else f"at most {largest:.0e}"
    caption = None if agree else f"Two forms differ by {largest:.0e}"
    alt = (
        f"Largest difference between the results of two forms, for {len(pairs)} pairs of forms and {seeds} random "
        f"inputs, on a logarithmic axis: all {bound}, where the limit is {LIMIT:.0e}. Beside them, the same features "
        f"turned with the other pairing: off by {other.min():.1f} to {other.max():.1f}."
    )
    return Picture(fig, alt, {"apart": apart, "other": other, "largest": largest}, caption)
