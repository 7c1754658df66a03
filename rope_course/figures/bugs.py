"""Planted faults and real defects beside the checks that should find them."""

import itertools
import textwrap

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rope_course.exercises import EXERCISES
from rope_course.exercises.entry import run
from rope_course.figures.picture import BLUE, GREY, INK, PALE, WIDTH, Picture, figure, wrapped
from rope_ref.faults import CHECKS, FAULTS, caught_by
from rope_ref.faults.defects import DEFECTS, INVARIANTS, finds_defect, knows_rows

USUAL = ("length kept", "distance alone")  # the two that most tutorials write
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def smallest_set(found):
    """Choose as few columns as find every row together, the first such choice; `found` is bool, (faults, checks)."""
    columns = range(found.shape[1])
    sizes = range(1, found.shape[1] + 1)
    choices = itertools.chain.from_iterable(itertools.combinations(columns, size) for size in sizes)
    return next((chosen for chosen in choices if found[:, chosen].any(axis=1).all()), ())


def message(found, chosen):
    """Say in one line how many of the checks it takes."""
    if not chosen:
        return f"Every check misses {(~found.any(axis=1)).sum()} of the {len(found)} faults"
    if len(chosen) == 1:
        return "One check finds every fault"
    return f"No single check finds every fault; {COUNTS[len(chosen)]} together do"


def tick_table(ax, columns, found, chosen):
    """Tick what is found, name the columns above the table, and frame those chosen; `found` is (rows, columns)."""
    for row, column in np.argwhere(found):
        ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=PALE, edgecolor="white"))
        ax.text(column, row, "✓", color=BLUE, ha="center", va="center", fontsize=11, fontweight="bold")
    for column in chosen:
        ax.add_patch(
            Rectangle((column - 0.5, -0.5), 1, len(found), fill=False, edgecolor=INK, linewidth=1.8, clip_on=False)
        )
    for column, check in enumerate(columns):
        name = textwrap.fill(check, 8, break_long_words=False)
        ax.annotate(name, (column, -0.5), (0, 4), textcoords="offset points", ha="center", va="bottom", fontsize=9.5)
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(found) - 0.5, -0.5))
    ax.set_xticks(range(len(columns)), found.sum(axis=0))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


@figure(caption="No single check finds every fault")
def faults_and_checks():
    """Draw a tick where a check finds a planted fault, and frame the smallest set of checks that finds all."""
    checks = list(CHECKS)
    caught = {name: set(caught_by(fault.rotate)) for name, fault in FAULTS.items()}
    unseen = [name for name in caught if not caught[name] & set(USUAL)]
    faults = sorted(caught, key=lambda name: (name in unseen, -len(caught[name])))
    found = np.array([[check in caught[name] for check in checks] for name in faults])
    chosen = smallest_set(found)

    fig = Figure(figsize=(WIDTH, 0.27 * len(faults) + 1.7), layout="constrained")
    fig.get_layout_engine().set(w_pad=0.1)  # the layout leaves the label on the left no room of its own
    ax = fig.subplots()
    tick_table(ax, checks, found, chosen)
    ax.axhline(len(faults) - len(unseen) - 0.5, color=GREY, linestyle="--", linewidth=1.2)
    ax.set_yticks(range(len(faults)), [wrapped(name, 26) for name in faults], fontsize=9.5)
    ax.set(xlabel=f"faults found, of {len(faults)}", ylabel="planted fault")
    key = "framed: together they find all; below the dashed line: missed by the first two checks"
    fig.supxlabel(key, color=GREY, fontsize=10)
    most = int(found.sum(axis=0).argmax())
    named = " and ".join(f'"{checks[column]}"' for column in chosen) or "none"
    alt = (
        f"A table of {len(faults)} planted faults and {len(checks)} checks, with a tick where the check finds the "
        f'fault. The two usual checks, "{USUAL[0]}" and "{USUAL[1]}", miss {len(unseen)} faults. The best one, '
        f'"{checks[most]}", finds {found[:, most].sum()}. The fewest that find all: {named}.'
    )
    data = {"faults": faults, "checks": checks, "found": found, "unseen": unseen, "chosen": chosen}
    return Picture(fig, alt, data, message(found, chosen))


ROWS = "known rows"


@figure(caption="No single test finds all eight defects; relative and known rows together do")
def defects_and_invariants():
    """Draw a tick where an invariant finds a defect of notebook 09, and one more column for rows of right numbers."""
    functions = {name: run(EXERCISES[name].starter, name) for name in DEFECTS}
    columns = [*INVARIANTS, ROWS]
    found = np.array(
        [
            [*(name in finds_defect(function) for name in INVARIANTS), not knows_rows(function)]
            for function in functions.values()
        ]
    )
    chosen, missed = smallest_set(found), int((~found[:, :-1].any(axis=1)).sum())

    fig = Figure(figsize=(WIDTH, 4.4), layout="constrained")
    fig.get_layout_engine().set(w_pad=0.1)
    ax = fig.subplots()
    tick_table(ax, columns, found, chosen)
    labels = [f"{number}  {DEFECTS[name].label}" for number, name in enumerate(functions, 1)]
    ax.set_yticks(range(len(labels)), labels, fontsize=9.5)
    ax.set(xlabel=f"defects found, of {len(functions)}", ylabel="defect")
    key = "framed: together they find all; the last column is no invariant, but rows of right numbers"
    fig.supxlabel(key, color=GREY, fontsize=10)
    counts = ", ".join(f"{name} {count}" for name, count in zip(columns, found.sum(axis=0), strict=True))
    alt = (
        f"A table of {len(functions)} real defects, five invariants and a column of known rows, with a tick where the "
        f"defect is found. Found: {counts}. No invariant finds {missed} of the defects. The fewest columns that find "
        f"all: {' and '.join(columns[column] for column in chosen) or 'none'}."
    )
    return Picture(fig, alt, {"defects": list(functions), "columns": columns, "found": found, "chosen": chosen})
