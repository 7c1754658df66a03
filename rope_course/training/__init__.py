r"""One causal attention head, trained with a chosen kind of position, and run past its training length.

To be read in this order: ``tasks.py`` (the numbers that decide, and what is asked), ``head.py`` (the forward pass and
its gradients by hand), ``fitting.py`` (Adam, training, accuracy) and ``grid.py`` (the table of results, in
``results.csv``). Everything is float64 and seeded. Axes in shapes: B sequences, T tokens, Q of them that ask (the
last Q), W the width, V the vocabulary.

A head this small shows what can happen to a model past its training length, not what must happen to a large one.
"""

from rope_course.training.fitting import accuracy, position_scores, train
from rope_course.training.grid import REPAIRS, RESULTS, accuracies, read_results, run_grid
from rope_course.training.head import SCHEMES, Head, forward, loss_and_gradients, new_head
from rope_course.training.tasks import TASKS, Settings, draw

__all__ = [
    "REPAIRS",
    "RESULTS",
    "SCHEMES",
    "TASKS",
    "Head",
    "Settings",
    "accuracies",
    "accuracy",
    "draw",
    "forward",
    "loss_and_gradients",
    "new_head",
    "position_scores",
    "read_results",
    "run_grid",
    "train",
]
