"""The cases: what each is for, its positions and its parameters, from `cases.toml` and from the scaling methods."""

import tomllib
from pathlib import Path

import numpy as np

from rope_ref.scaling import METHODS

__all__ = ["CASES"]


def case(
    about,
    position_ids=(range(6),),
    heads=1,
    pairing="interleaved",
    turn="forward",
    head_dim=8,
    rotary_dim=None,
    **more,
):
    """Describe a case; `more` goes into its parameters, beside the base and the scaling of one ladder."""
    ladder = {} if "rotary_dims" in more else {"base": 10000.0, "scaling": "plain", "options": {}}
    return {
        "about": about,
        "position_ids": np.array(position_ids),
        "heads": heads,
        "pairing": pairing,
        "turn": turn,
        "parameters": {"head_dim": head_dim, "rotary_dim": rotary_dim or head_dim} | ladder | more,
    }


def scaled(scaling, about, options, settings=None):
    """Describe a case of a scaling method: one head, positions near and far."""
    settings = {"pairing": "half", "head_dim": 32} | (settings or {})
    return case(f"Scaled speeds. {about}", [[37, 4095, 131072]], scaling=scaling, options=options, **settings)


def collect():
    """Gather the cases of the file and of all scaling methods, by name."""
    described = tomllib.loads(Path(__file__).with_name("cases.toml").read_text(encoding="utf-8"))
    cases = {name: case(**each) for name, each in described.items()}
    for method in METHODS.values():
        for name, each in (method.vectors or {}).items():
            cases[name] = scaled(method.make.__name__, *each)
    return cases


CASES = collect()
