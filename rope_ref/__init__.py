r"""A plain NumPy reference for Rotary Position Embedding (RoPE); the lessons built on it are `rope_course`.

The conventions below hold everywhere in the package; notebooks print them as ``rope_ref.CONVENTIONS``.

"""

import importlib

from rope_ref.frequencies import cos_sin, inverse_frequencies, rotation_angles, wavelengths
from rope_ref.pairing import join_pairs, permute_projection, split_pairs, tables, to_half, to_interleaved
from rope_ref.rotation import (
    FORMS,
    apply_rope,
    rotate_by_matrix,
    rotate_complex,
    rotate_expanded,
    rotate_vector,
    rotation_matrix,
)

# Read when they are first asked for, so that `import rope_ref` stays fast: names by module, and modules.
LATER = {
    "attention": "attention_scores attention_weights relative_score".split(),
    "config": "from_config rope_of_layers".split(),
    "decay": ["decay_curve"],
    "diagnosis": "Diagnosis Explanation diagnose".split(),
    "embedding": ["RotaryEmbedding"],
}
MODULES = {*LATER, "absolute", "faults", "positions", "scaling", "vectors", "xpos"}
HOME = {name: module for module, names in LATER.items() for name in names}
MOVED = ("exercises", "figures", "training")  # to the course


def __getattr__(name):
    """Import a name or a module of the package when it is asked for."""
    if name in HOME:
        return getattr(importlib.import_module(f"{__name__}.{HOME[name]}"), name)
    if name in MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in MOVED:
        raise AttributeError(f"{__name__}.{name} is now rope_course.{name}: import it from there")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    """List the names that are read when asked for, too."""
    return sorted({*globals(), *HOME, *MODULES})


__all__ = """
    CONVENTIONS FORMS Diagnosis Explanation RotaryEmbedding apply_rope attention_scores attention_weights cos_sin
    decay_curve diagnose from_config inverse_frequencies join_pairs permute_projection relative_score rope_of_layers
    rotate_by_matrix rotate_complex rotate_expanded rotate_vector rotation_angles rotation_matrix split_pairs tables
    to_half to_interleaved wavelengths
""".split()

CONVENTIONS = """\
Pairs      pair i = 0 ... d/2 - 1; d, the rotated width of a head
Base       b, 10000 by default; model files call it rope_theta
Frequency  theta_i = b ** (-2 i / d), in radians per token
Angle      m * theta_i at position m, in radians
The turn   (a, b) -> (a cos t - b sin t, a sin t + b cos t)
           a positive angle t turns anticlockwise
Score      score(m, n) = (R_m q) . (R_n k) = q . R_(n-m) k
           distance = m - n, query minus key
Pairing    "interleaved", the default: features (2i, 2i + 1)
           "half": features (i, i + d/2)
Axes       position is axis -2, feature is axis -1"""

__doc__ = (__doc__ or "") + CONVENTIONS
