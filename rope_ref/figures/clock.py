"""Figures of notebook 03, the clock with many hands."""

import numpy as np
from matplotlib.figure import Figure

from rope_ref.figures.picture import BLUE, GREY, VERMILLION, WIDTH, Picture, figure, label_end
from rope_ref.frequencies import inverse_frequencies, wavelengths


@figure(caption="A larger base slows the slow pairs, so more of them never finish a turn")
def pair_speeds(rotary_dim=128, bases=(10_000.0, 500_000.0), lengths=(2048, 4096, 8192, 131_072)):
    """Draw the tokens each pair needs for one turn, for some bases, beside the lengths of some contexts."""
    periods = {base: wavelengths(inverse_frequencies(rotary_dim, base)) for base in bases}
    above = {(base, length): int((tokens > length).sum()) for base, tokens in periods.items() for length in lengths}
    pairs = rotary_dim // 2
    fig = Figure(figsize=(WIDTH, 4.4), layout="constrained")
    ax = fig.subplots()
    looks = [(BLUE, "o"), (VERMILLION, "^"), (GREY, "s")]
    for (base, tokens), (color, marker) in zip(periods.items(), looks, strict=False):
        ax.semilogy(tokens, marker, color=color, markersize=4)
        label_end(ax, pairs - 1, tokens[-1], f"base {base:,.0f}")
    for length in lengths:
        ax.axhline(length, color=GREY, linestyle="--", linewidth=1)
        counts = ", ".join(f"{above[base, length]}" for base in bases)
        ax.annotate(
            f"{length:,} tokens; above it: {counts} pairs", (0, length), xytext=(0, 3), textcoords="offset points"
        )
    ax.set(xlabel="pair index i", ylabel="period (tokens for one turn)", xlim=(-1, pairs))
    told = "; ".join(
        f"with base {base:,.0f}, {above[base, length]} of {pairs} pairs lie above {length:,} tokens"
        for base, length in above
        if above[base, length]
    )
    alt = f"Period of each pair in tokens, on a logarithmic axis, for {len(bases)} bases: straight lines. {told}."
    return Picture(fig, alt, {"periods": periods, "above": above, "pairs": np.arange(pairs)})
