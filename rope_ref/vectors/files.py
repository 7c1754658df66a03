"""What a file holds, and writing it."""

import io
import json
import tomllib
from pathlib import Path

import numpy as np

from rope_ref.files import write_file
from rope_ref.vectors.cases import CASES

__all__ = ["FIELDS", "SCHEMA", "build", "write_vectors"]

SCHEMA = 1  # goes up when a field changes its name or its meaning, not when fields or cases are added

FIELDS = tomllib.loads(Path(__file__).with_name("fields.toml").read_text(encoding="utf-8"))


def build(name):
    r"""Work out one case.

    Parameters
    ----------
    name : str
        One of `CASES`.

    Returns
    -------
    dict
        What the file holds, as `FIELDS` says, with ``arrays`` a dict of float64 and int64 arrays. Pair i of the token
        at position m turns by :math:`m \theta_i`, :math:`\theta_i` the float64 number in ``inv_freq``; nothing is
        rounded before ``cos``, ``sin`` and ``y`` are. The bounds are those of `rope_ref.apply_rope`, plus half a unit
        of float64 for the rounding of ``y``, written with four digits and rounded up.

    Raises
    ------
    KeyError
        If there is no such case.

    Examples
    --------
    >>> arrays = build("half_one_pair")["arrays"]
    >>> arrays["x"][0, 0, 1], arrays["y"][0, 0, 1].round(4)
    (array([1.34375, 3.65625]), array([-2.3506,  3.1062]))
    """
    from rope_ref.vectors.exact import nearest, xpos_scale  # mpmath is asked for by those who build
    from rope_ref.vectors.turns import angles_and_lengths, pairs_of, simple_numbers, speeds_of, turned

    settings = CASES[name]
    parameters, position_ids, turn = settings["parameters"], settings["position_ids"], settings["turn"]
    speeds, axis, *factors = speeds_of(parameters)
    attention_factor, softmax_factor = nearest(factors).tolist()
    arrays = {"inv_freq": nearest(speeds), "position_ids": position_ids}
    if "xpos" in parameters:
        arrays["scale"] = nearest(xpos_scale(position_ids, parameters["rotary_dim"], **parameters["xpos"]))
    angles, lengths = angles_and_lengths(arrays, axis, attention_factor, turn)
    batch, seq_len = position_ids.shape[:2]
    x = simple_numbers((batch, settings["heads"], seq_len, parameters["head_dim"]))
    pair_in, pair_out = pairs_of(settings["pairing"], parameters)
    return {
        "schema": SCHEMA,
        "name": name,
        "about": settings["about"],
        "pairing": settings["pairing"],
        "turn": turn,
        "parameters": parameters,
        "attention_factor": attention_factor,
        "softmax_factor": softmax_factor,
        "pair_in": pair_in,
        "pair_out": pair_out,
        "axis": axis,
        "arrays": arrays | turned(x, angles, lengths, pair_in, pair_out),
    }


def as_json(value, depth=0):
    """Write JSON with one line for each entry, down to single arrays: the same bytes on every machine."""
    if depth == 2 or not isinstance(value, dict):
        return json.dumps(value)
    space = "\n" + " " * depth
    return (
        "{" + ",".join(f"{space} {json.dumps(key)}: {as_json(v, depth + 1)}" for key, v in value.items()) + space + "}"
    )


def as_npy(array):
    """Write an array in NumPy's format, the last axis running fastest, in the byte order of most machines."""
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array, array.dtype.newbyteorder("<")), allow_pickle=False)
    return buffer.getvalue()


def write_vectors(folder):
    """Write all cases, and at last the list of them, ``index.json``.

    Parameters
    ----------
    folder : str or path
        Where to; it is made if it is missing, and files of these names are replaced.

    Yields
    ------
    Path
        Each JSON file, once it is in place: ``NAME.json``, after its arrays as ``NAME/ARRAY.npy``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     next(write_vectors(folder)).name
    'interleaved.json'
    """
    folder, listed = Path(folder), {}
    for name in CASES:
        content = build(name)
        arrays = content["arrays"]
        for key, array in arrays.items():
            write_file(folder / name / f"{key}.npy", as_npy(array))
        content["arrays"] = {
            key: {"dtype": array.dtype.name, "shape": array.shape, "data": array.ravel().tolist()}
            for key, array in arrays.items()
        }
        write_file(folder / f"{name}.json", (as_json(content) + "\n").encode())
        yield folder / f"{name}.json"
        listed[name] = {
            "about": content["about"],
            "pairing": content["pairing"],
            "turn": content["turn"],
            "scaling": content["parameters"].get("scaling", "plain"),
            "axes": max(content["axis"]) + 1,
            "shape": arrays["x"].shape,
        }
    write_file(folder / "index.json", (as_json({"schema": SCHEMA, "fields": FIELDS, "cases": listed}) + "\n").encode())
    yield folder / "index.json"
