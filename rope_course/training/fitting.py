"""Training: Adam, and the share of right answers of what it made."""

import numpy as np

from rope_course.training.head import add_positions, forward, look, loss_and_gradients, new_head
from rope_course.training.tasks import TASKS, UNASKED, check_at_least_two, check_seed, check_settings, draw
from rope_ref.checks import check_choice, check_count

__all__ = ["accuracy", "position_scores", "train"]


class Adam:
    """Move weights against their gradients, each at a pace of its own (D. Kingma and J. Ba, arXiv:1412.6980)."""

    def __init__(self, weights, learning_rate):
        self.weights, self.learning_rate, self.steps = weights, learning_rate, 0
        self.mean = {name: np.zeros_like(values) for name, values in weights.items()}
        self.square = {name: np.zeros_like(values) for name, values in weights.items()}

    def step(self, gradients, keep_mean=0.9, keep_square=0.999):
        """Change the weights in place."""
        self.steps += 1
        for name, gradient in gradients.items():
            mean, square = self.mean[name], self.square[name]
            mean += (1 - keep_mean) * (gradient - mean)
            square += (1 - keep_square) * (gradient**2 - square)
            true_mean = mean / (1 - keep_mean**self.steps)  # both averages start at 0, too low
            true_square = square / (1 - keep_square**self.steps)
            self.weights[name] -= self.learning_rate * true_mean / (np.sqrt(true_square) + 1e-8)


def stream(seed, *purpose):
    """Open the stream of random numbers of a seed: (0) for weights, (1) for training, (2, seq_len) for tests."""
    return np.random.default_rng([check_seed(seed), *purpose])


def keep_freed_memory():
    """Let malloc keep what it frees: a step allocates the same arrays again and again, and runs twice as fast.

    The C library of Linux does so once a larger block was freed. Elsewhere nothing changes.
    """
    np.empty(2**21)


def train(scheme, task, seed=0, settings=None):
    """Train one head on one task, at one length.

    Parameters
    ----------
    scheme : {"none", "learned", "sinusoidal", "alibi", "rope"}
        Where positions enter.
    task : {"copy-1", "copy-3", "recent", "special"}
        What is asked; see `draw`.
    seed : int, optional
        From 0. Heads of one seed begin with the same numbers and see the same sequences, whatever their scheme.
    settings : Settings, optional
        Those of the table of results by default: 1,500 steps, about three seconds.

    Returns
    -------
    Head
        The trained head.

    Raises
    ------
    TypeError, ValueError
        If `scheme` or `task` is unknown, `seed` is no integer from 0, or a setting is wrong.

    Examples
    --------
    >>> from rope_course.training import Settings
    >>> head = train("rope", "copy-1", settings=Settings(steps=200))
    >>> accuracy(head, "copy-1", 32) > 0.9
    True
    """
    settings = check_settings(settings)
    check_choice(task, TASKS, "task")
    head = new_head(scheme, stream(seed, 0), settings)
    adam, rng = Adam(head.weights, settings.learning_rate), stream(seed, 1)
    keep_freed_memory()
    for _ in range(settings.steps):
        batch = draw(task, settings.batch, settings.length, rng, vocabulary=settings.vocabulary)
        _, gradients = loss_and_gradients(head, *batch)
        adam.step(gradients)
    return head


def accuracy(head, task, seq_len, *, seed=0, sequences=256, inv_freq=None):
    """Measure the share of right answers over the last quarter of new sequences.

    Parameters
    ----------
    head : Head
        What `train` returned.
    task : {"copy-1", "copy-3", "recent", "special"}
        What is asked; see `draw`.
    seq_len : int
        Tokens in a sequence, at least 2.
    seed : int, optional
        Which test sequences: the same for all heads, and for all speeds.
    sequences : int, optional
        How many of them.
    inv_freq : array_like of float, shape (width // 2,), optional
        For "rope": other speeds than the head was trained with, radians per token.

    Returns
    -------
    float
        From 0 to 1, over the tokens that are asked. Guessing gives 1/16 in the copies, 1/8 in the others. Positions
        before the last quarter are left out: most of them the head knows from training, and they would hide what
        happens on new ones.

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong as in `draw` or `forward`, or there are so few sequences that nothing is asked.

    Examples
    --------
    >>> from rope_course.training import new_head
    >>> 0 < accuracy(new_head("rope", np.random.default_rng(0)), "copy-1", 64) < 0.2
    True
    """
    vocabulary, sequences = len(head.weights["embedding"]), check_count(sequences, "sequences")
    tokens, targets = draw(task, sequences, seq_len, stream(seed, 2, seq_len), vocabulary=vocabulary)
    queries = -(-seq_len // 4)
    targets = targets[:, -queries:]
    if (targets == UNASKED).all():
        raise ValueError(f"sequences must be so many that something is asked, got {sequences}")
    answers = np.empty_like(targets)
    rows = max(1, 2**18 // (queries * seq_len))  # sequences at a time: 2 MB of scores
    for start in range(0, sequences, rows):
        logits, _ = forward(head, tokens[start : start + rows], queries=queries, inv_freq=inv_freq)
        answers[start : start + rows] = logits.argmax(axis=-1)
    return float((answers == targets)[targets != UNASKED].mean())


def position_scores(head, seq_len, *, inv_freq=None):
    """Score the last position against each distance, averaged over all tokens that could stand there.

    Parameters
    ----------
    head : Head
        What `train` returned.
    seq_len : int
        Number of positions, at least 2; the query stands at the last.
    inv_freq : array_like of float, shape (width // 2,), optional
        For "rope": other speeds than the head was trained with, radians per token.

    Returns
    -------
    ndarray of float64, shape (seq_len,)
        Mean score at distance 0, 1, ..., seq_len - 1 over all pairs of tokens: what position alone says. It is the
        score of the mean embedding with itself, since scores are linear in the query and in the key.

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong as in `forward`.

    Examples
    --------
    >>> from rope_course.training import new_head
    >>> scores = position_scores(new_head("alibi", np.random.default_rng(0)), 4)
    >>> (scores[1:] - scores[:-1]).round(6)
    array([-0.5, -0.5, -0.5])
    """
    mean = head.weights["embedding"].mean(axis=0)
    x = add_positions(head, np.tile(mean, (check_at_least_two(seq_len), 1)))
    scores, _, _ = look(head, x, 1, inv_freq)
    return scores[0, ::-1]
