r"""Frequencies for contexts longer than the one trained on: pure functions of explicit numbers.

Every function lists the speeds of one rotated width and returns a `Scaling`; none of them keeps a state, so a length
that matters is an argument. Where public implementations disagree the docstring says which definition is followed.
`from_config` picks the function and its numbers from a model's config.json.

A method is one file: its formula, and a record that says by which type a config.json asks for it, how its keys are
read, what `diagnose` tries and which test vectors there are. A new file is found by itself.

In formulas b is the base, d the rotary width, :math:`\theta_i = b^{-2i/d}` the speed of pair i without scaling, s the
factor by which the context grows, and L the original length, in tokens, that the model was trained on.
"""

import importlib
import pkgutil

FILES = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
METHODS = {method.make.__name__: method for file in FILES for method in getattr(file, "METHODS", ())}
OFFERED = {name: getattr(file, name) for file in FILES for name in file.__all__}
globals().update(OFFERED)  # `scaling.yarn` is the function, also where its file has the same name

FROM_CONFIG = ("RopeConfig", "from_config")  # of the room that stands on this one
__all__ = sorted([*OFFERED, *FROM_CONFIG])


def __getattr__(name):
    """Read the room of configurations when it is asked for."""
    if name in FROM_CONFIG:
        return getattr(importlib.import_module("rope_ref.config"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
