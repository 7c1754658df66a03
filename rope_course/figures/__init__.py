"""The figures room: one module a notebook, one function a figure, each returning a `Picture`.

To add a figure, write a function under ``@figure(caption=...)`` in the module of its notebook and import it here.
"""

# ruff: isort: skip_file
from rope_course.figures.picture import FIGURES, Picture, figure

# In the order of the notebooks: the gallery keeps it.
from rope_course.figures.derivation import two_arrows, score_grid, left_and_right
from rope_course.figures.forms import matrix_layouts, forms_agreement, one_complex_pair, reordering_map
from rope_course.figures.bugs import faults_and_checks, defects_and_invariants
from rope_course.figures.clock import clock_wall, pair_speeds, odometer, position_returns, model_clocks
from rope_course.figures.decay import equal_vectors_curve, random_pairs_band, chosen_peaks, bound_and_scores
from rope_course.figures.decay import which_hands_speak, softmax_weights, base_and_context
from rope_course.figures.comparison import order_swap, score_terms, shift_test, where_rope_sits
from rope_course.figures.training import accuracy_by_length, learned_kernel, repaired_at_run_time
from rope_course.figures.scaling import arc_covered, speed_ratios, angle_map, neighbours_and_reach, temperature
from rope_course.figures.scaling import xpos_scores, reported_losses, model_scalings
from rope_course.figures.video import head_map, two_clocks, patch_maps, clip_shift, grid_rescale

# Pages with sliders: no files, so not in the gallery.
from rope_course.figures.interactive import interactive_clock, interactive_patches

__all__ = ["FIGURES", "Picture", "figure", *FIGURES, "interactive_clock", "interactive_patches"]
