"""The figures room: one module a notebook, one function a figure, each returning a `Picture`.

To add a figure, write a function under ``@figure(caption=...)`` in the module of its notebook and name it here.
"""

# ruff: isort: skip_file
# In the order of the notebooks: the gallery keeps it.
from rope_ref.figures.picture import FIGURES, Picture, figure
from rope_ref.figures.clock import pair_speeds

__all__ = ["FIGURES", "Picture", "figure", *FIGURES]
