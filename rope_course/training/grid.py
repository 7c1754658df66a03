"""The table of results: every scheme on every task with every seed, tested past the training length."""

import json
from pathlib import Path

import numpy as np

from rope_course.training.fitting import accuracy, train
from rope_course.training.head import SCHEMES
from rope_course.training.tasks import TASKS, Settings, check_settings
from rope_ref import scaling
from rope_ref.checks import check_choice
from rope_ref.files import write_file
from rope_ref.frequencies import inverse_frequencies

__all__ = ["accuracies", "read_results", "run_grid"]

RESULTS = Path(__file__).with_name("results.csv")
KEYS = ("scheme", "repair", "task", "seed")


def by_parts(width, length, factor, beta_fast):
    """List the speeds of NTK-by-parts, blended by the rotations that a pair makes in the training length."""
    options = {"original_length": length, "beta_fast": beta_fast, "ramp": "rotations"}
    return scaling.ntk_by_parts(width, factor=factor, **options).inv_freq


# Speeds at run time for a trained RoPE head, from its width, its training length and how many times longer it is run.
# In 32 tokens the fastest pair makes 5 rotations: the usual limit of by-parts, 32, keeps no pair as it is; 4 does.
REPAIRS = {
    "none": lambda width, length, factor: inverse_frequencies(width),
    "pi": lambda width, length, factor: scaling.linear(width, factor=factor).inv_freq,
    "ntk": lambda width, length, factor: scaling.ntk(width, factor=factor).inv_freq,
    "by-parts": lambda width, length, factor: by_parts(width, length, factor, 4.0),
    "by-parts-32": lambda width, length, factor: by_parts(width, length, factor, 32.0),
}


def models(settings):
    """List the models of the table, in its order: (scheme, task, seed)."""
    return [(scheme, task, seed) for task in TASKS for scheme in SCHEMES for seed in settings.seeds]


def rows_of(scheme, task, seed):
    """List the keys of the rows that one model fills: a RoPE head has one for each repair."""
    return [(scheme, repair, task, seed) for repair in (REPAIRS if scheme == "rope" else ("none",))]


def measure(scheme, task, seed, settings):
    """Train one head and test it at all lengths; return its rows of accuracies by their keys."""
    head = train(scheme, task, seed, settings)
    keys = rows_of(scheme, task, seed)
    return {key: tuple(share_at(times, head, key, settings) for times in settings.times) for key in keys}


def share_at(times, head, key, settings):
    """Test a head, repaired as its key says, on sequences so many times longer than those it was trained on."""
    scheme, repair, task, seed = key
    speeds = REPAIRS[repair](settings.width, settings.length, times) if scheme == "rope" else None
    options = {"seed": seed, "sequences": settings.sequences, "inv_freq": speeds}
    return accuracy(head, task, times * settings.length, **options)


def run_grid(path, settings=None, report=print):
    """Train and test every scheme on every task with every seed, and keep the table in a file.

    Parameters
    ----------
    path : str or path-like
        The file; its folder is made where it is missing. If the file is there already, with the same settings, only
        the models it lacks are trained: an interrupted run is taken up again by the same call.
    settings : Settings, optional
        Those of the table that comes with the package by default: 60 models, about five minutes.
    report : callable, optional
        Called with one line of text after each model.

    Returns
    -------
    dict
        What `read_results` returns as `results`.

    Raises
    ------
    ValueError
        If the file holds results of other settings, or something else.
    OSError
        If the file cannot be read or written.

    Notes
    -----
    After each model the whole table is written beside the file and moved into its place, always in one order.

    On one machine a second run gives the same table, with one thread or two. Other processors round sums in another
    order: with the kernels of other x86 processors "copy-1", "copy-3" and "special" gave the same four digits, but on
    "recent", where late steps amplify a rounding, a row moved by up to 0.23 and a mean over seeds by up to 0.07.

    Examples
    --------
    >>> import tempfile
    >>> small = Settings(steps=1, length=8, times=(1, 2), seeds=(0,), sequences=40)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run_grid(folder + "/results.csv", small, report=lambda line: None)
    >>> len(results), len(results["rope", "ntk", "recent", 0])
    (36, 2)
    """
    settings, path = check_settings(settings), Path(path)
    results = {}
    if path.exists():
        kept, results = read_results(path)
        check_same(kept, settings, path)
    write_results(path, settings, results)  # a place that cannot be written to is noticed before any training
    every = models(settings)
    for number, model in enumerate(every, 1):
        keys = rows_of(*model)
        if not all(key in results for key in keys):
            results |= measure(*model, settings)
            write_results(path, settings, results)
            shares = " ".join(f"{share:.2f}" for share in results[keys[0]])
            report(f"{number} of {len(every)}: {' '.join(map(str, model))}: {shares}")
    return read_results(path)[1]


def check_same(kept, settings, path):
    """Raise unless a file of results has the settings asked for; name those that differ."""
    fields = zip(Settings._fields, settings, kept, strict=True)
    differ = [f"{name} {theirs} instead of {ours}" for name, ours, theirs in fields if ours != theirs]
    if differ:
        raise ValueError(f"{path} must hold results of the settings asked for, got {', '.join(differ)}")


def head_of(settings):
    """Write the two lines above the rows: the settings, and the names of the columns."""
    lengths = [str(times * settings.length) for times in settings.times]
    return ["# " + json.dumps(settings._asdict()), ",".join([*KEYS, *lengths])]


def write_results(path, settings, results):
    """Write the table beside `path`, then move it into place: there is always a whole table, the old or the new."""
    lines = head_of(settings)
    for key in (key for model in models(settings) for key in rows_of(*model)):
        if key in results:
            lines.append(",".join([*map(str, key), *(f"{share:.4f}" for share in results[key])]))
    write_file(path, ("\n".join(lines) + "\n").encode())


def read_results(path=RESULTS):
    """Read a table of results.

    Parameters
    ----------
    path : str or path-like, optional
        The file; the table that comes with the package by default.

    Returns
    -------
    settings : Settings
        The settings it was made with.
    results : dict
        Accuracies at each tested length, a tuple of float, by (scheme, repair, task, seed). The repair is "none", and
        for "rope" each other name in `REPAIRS` too.

    Raises
    ------
    ValueError
        If the file is not such a table.
    OSError
        If it cannot be read.

    See Also
    --------
    accuracies : The lines of one scheme on one task.

    Examples
    --------
    >>> settings, results = read_results()
    >>> settings.length, len(results["rope", "none", "copy-3", 0])
    (32, 5)
    """
    lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    try:
        settings = check_settings(Settings(**json.loads(lines[0].removeprefix("#"))))
        if lines[:2] != head_of(settings):
            raise ValueError
        results = dict(read_row(line, settings) for line in lines[2:])
    except (ValueError, TypeError, IndexError):
        raise ValueError(f"{path} must be a table of training results, got something else") from None
    return settings, results


def read_row(line, settings):
    """Read one row: its key, and its accuracies; raise if it is none."""
    scheme, repair, task, seed, *shares = line.split(",")
    key, shares = (scheme, repair, task, int(seed)), tuple(map(float, shares))
    if key not in rows_of(scheme, task, int(seed)) or scheme not in SCHEMES or task not in TASKS:
        raise ValueError
    if len(shares) != len(settings.times) or not all(0 <= share <= 1 for share in shares):
        raise ValueError
    return key, shares


def accuracies(results, scheme, task, repair="none"):
    """Pick the accuracies of one scheme on one task out of a table.

    Parameters
    ----------
    results : dict
        What `read_results` returned.
    scheme : {"none", "learned", "sinusoidal", "alibi", "rope"}
        Where positions enter.
    task : {"copy-1", "copy-3", "recent", "special"}
        What is asked.
    repair : {"none", "pi", "ntk", "by-parts", "by-parts-32"}, optional
        Speeds at run time, for "rope".

    Returns
    -------
    ndarray of float64, shape (seeds, lengths)
        Accuracies from 0 to 1, a row for each seed.

    Raises
    ------
    ValueError
        If a name is unknown, or the table has no such rows.

    Examples
    --------
    >>> _, results = read_results()
    >>> accuracies(results, "rope", "copy-3").shape
    (3, 5)
    """
    check_choice(scheme, SCHEMES, "scheme")
    check_choice(task, TASKS, "task")
    check_choice(repair, REPAIRS, "repair")
    rows = [shares for key, shares in results.items() if key[:3] == (scheme, repair, task)]
    if not rows:
        raise ValueError(f"results must hold rows of {scheme} with repair {repair} on {task}, got none")
    return np.array(rows)
