"""One causal attention head: the forward pass, and the way back by hand.

Axes in shapes: B sequences, T tokens, Q of them that ask (the last Q), W the width, V the vocabulary.
"""

from typing import NamedTuple

import numpy as np

from rope_course.training.tasks import UNASKED, check_settings
from rope_ref.absolute import alibi_bias, learned, sinusoidal
from rope_ref.attention import attention_scores, attention_weights
from rope_ref.checks import as_inv_freq, check_choice, check_count, check_rng, check_width
from rope_ref.frequencies import cos_sin, inverse_frequencies, rotation_angles
from rope_ref.rotation import apply_rope

__all__ = ["Head", "forward", "loss_and_gradients", "new_head"]

SCHEMES = ("none", "learned", "sinusoidal", "alibi", "rope")
ALIBI_HEADS = 8  # our one head has the slope of the first of eight, 1/2


class Head(NamedTuple):
    """The numbers of one attention head, and where its positions enter.

    Parameters
    ----------
    scheme : {"none", "learned", "sinusoidal", "alibi", "rope"}
        Position is left out, or is a learned row or a row of sines added to each token, or a number taken off each
        score, or a turn of queries and keys.
    weights : dict of ndarray of float64
        "embedding" of shape (V, W); "query", "key" and "value" (W, W); "output" (W, V); and for "learned" a table
        "position", with a row for each position up to the longest test.

    Examples
    --------
    >>> head = new_head("rope", np.random.default_rng(0))
    >>> [(name, values.shape) for name, values in head.weights.items()][:2]
    [('embedding', (16, 32)), ('query', (32, 32))]
    """

    scheme: str
    weights: dict


def new_head(scheme, rng, settings=None):
    """Draw a head that has learned nothing.

    Parameters
    ----------
    scheme : {"none", "learned", "sinusoidal", "alibi", "rope"}
        Where positions enter.
    rng : numpy.random.Generator
        Where the numbers come from. One seed gives all schemes the same numbers.
    settings : Settings, optional
        Sizes; those of the table of results by default.

    Returns
    -------
    Head
        Embeddings are standard normal numbers; the matrices are divided by the square root of the width. The learned
        table reaches to the longest test length: rows past the training length are never trained.

    Raises
    ------
    TypeError, ValueError
        If `scheme` is unknown, a size is wrong, or the width is odd for a scheme that needs pairs of features.

    Examples
    --------
    >>> new_head("learned", np.random.default_rng(0)).weights["position"].shape
    (512, 32)
    """
    settings, rng = check_settings(settings), check_rng(rng)
    check_choice(scheme, SCHEMES, "scheme")
    vocabulary, width = settings.vocabulary, settings.width
    if scheme in ("sinusoidal", "rope"):
        check_width(width, f"width for the scheme {scheme}")
    weights = {"embedding": rng.standard_normal((vocabulary, width))}
    for name in ("query", "key", "value"):
        weights[name] = rng.standard_normal((width, width)) / np.sqrt(width)
    weights["output"] = rng.standard_normal((width, vocabulary)) / np.sqrt(width)
    if scheme == "learned":
        weights["position"] = learned(settings.length * max(settings.times), width, rng)
    return Head(scheme, weights)


class Trace(NamedTuple):
    """What the forward pass computed on its way, for the way back."""

    one_hot: np.ndarray  # (B, T, V)
    x: np.ndarray  # (B, T, W), tokens with what is added to them
    q: np.ndarray  # (B, Q, W), turned
    k: np.ndarray  # (B, T, W), turned
    v: np.ndarray  # (B, T, W)
    attention: np.ndarray  # (B, Q, T), weights
    mixed: np.ndarray  # (B, Q, W)


def add_positions(head, x):
    """Add to each token the row of its position, where the scheme has rows."""
    seq_len, width = x.shape[-2:]
    if head.scheme == "learned":
        table = head.weights["position"]
        if seq_len > len(table):
            raise ValueError(f"tokens must be at most as many as the rows of the table, {len(table)}, got {seq_len}")
        return x + table[:seq_len]
    if head.scheme == "sinusoidal":
        return x + sinusoidal(np.arange(seq_len), width)
    return x


def turns(head, seq_len, inv_freq=None):
    """Take cos and sin of every position for a RoPE head, at its own speeds or at those given; None for the others."""
    if head.scheme != "rope":
        if inv_freq is not None:
            raise ValueError(f"inv_freq must be None for the scheme {head.scheme}, which turns nothing")
        return None
    width = head.weights["query"].shape[-1]
    inv_freq = inverse_frequencies(width) if inv_freq is None else as_inv_freq(inv_freq)
    if 2 * len(inv_freq) != width:
        raise ValueError(f"inv_freq must have {width // 2} pairs, half the width of the head, got {len(inv_freq)}")
    return cos_sin(rotation_angles(np.arange(seq_len), inv_freq))


def look(head, x, queries, inv_freq=None):
    """Score the last tokens, as queries, against all tokens, as keys; return the turned queries and keys too."""
    seq_len = x.shape[-2]
    q, k = x[..., seq_len - queries :, :] @ head.weights["query"], x @ head.weights["key"]
    turn = turns(head, seq_len, inv_freq)
    if turn is not None:
        cos, sin = turn
        q, k = apply_rope(q, cos[seq_len - queries :], sin[seq_len - queries :]), apply_rope(k, cos, sin)
    scores = attention_scores(q, k)
    if head.scheme == "alibi":
        scores += alibi_bias(ALIBI_HEADS, queries, seq_len)[0]
    return scores, q, k


def as_tokens(tokens, vocabulary):
    """Return `tokens` as an integer array of shape (B, T), or raise: -1 would quietly be the last token."""
    tokens = np.asarray(tokens)
    if tokens.dtype.kind not in "iu":
        raise TypeError(f"tokens must be integers, got dtype {tokens.dtype}")
    if tokens.ndim != 2 or not tokens.size:
        raise ValueError(f"tokens must have shape (sequences, seq_len), got {tokens.shape}")
    if tokens.min() < 0 or tokens.max() >= vocabulary:
        raise ValueError(f"tokens must lie in 0 ... {vocabulary - 1}, got {tokens.min()} ... {tokens.max()}")
    return tokens


def forward(head, tokens, *, queries=None, inv_freq=None):
    """Answer at every token: look up, look back, mix, and rate the answers.

    Parameters
    ----------
    head : Head
        What `new_head` or `train` returned.
    tokens : array_like of int, shape (sequences, seq_len)
        Tokens from 0.
    queries : int, optional
        Answer only at the last so many tokens; at all by default.
    inv_freq : array_like of float, shape (width // 2,), optional
        For "rope": other speeds than the head was trained with, radians per token, such as those of `scaling.ntk`.

    Returns
    -------
    logits : ndarray of float64, shape (sequences, queries, vocabulary)
        A number for each possible answer; the largest is the answer.
    trace : Trace
        The steps in between, for `loss_and_gradients`.

    Raises
    ------
    TypeError
        If `tokens` are not integers or `inv_freq` not real numbers.
    ValueError
        If a token is not in the vocabulary, there are more tokens than rows of a learned table, `queries` does not lie
        in 1 ... seq_len, or `inv_freq` is of another width or given to a head that turns nothing.

    Examples
    --------
    >>> logits, trace = forward(new_head("rope", np.random.default_rng(0)), [[3, 1, 4, 1, 5]])
    >>> logits.shape, trace.attention[0].sum(axis=-1)
    ((1, 5, 16), array([1., 1., 1., 1., 1.]))
    """
    weights = head.weights
    vocabulary = len(weights["embedding"])
    tokens = as_tokens(tokens, vocabulary)
    seq_len = tokens.shape[-1]
    queries = seq_len if queries is None else check_count(queries, "queries")
    if queries > seq_len:
        raise ValueError(f"queries must be at most seq_len, got {queries} and {seq_len}")

    one_hot = np.eye(vocabulary)[tokens]
    x = add_positions(head, one_hot @ weights["embedding"])  # looks up one row for each token
    scores, q, k = look(head, x, queries, inv_freq)
    attention = attention_weights(scores)  # causal: no token sees a later one
    v = x @ weights["value"]
    mixed = attention @ v
    return mixed @ weights["output"], Trace(one_hot, x, q, k, v, attention, mixed)


def cross_entropy(logits, targets):
    """Average minus the log of the probability of the right answer; return its gradient by `logits` too."""
    asked = targets != UNASKED
    if not asked.any():
        raise ValueError("targets must ask something, got a batch of -1 alone")
    rated = logits[asked]  # (answers, V)
    rated = rated - rated.max(axis=-1, keepdims=True)
    log_p = rated - np.log(np.exp(rated).sum(axis=-1, keepdims=True))
    right = np.arange(len(log_p)), targets[asked]
    d_rated = np.exp(log_p)
    d_rated[right] -= 1  # softmax and log together: what was said minus what was right
    d_logits = np.zeros_like(logits)
    d_logits[asked] = d_rated / len(log_p)
    return -log_p[right].mean(), d_logits


def gather(inputs, d_outputs):
    """Sum the gradient of the matrix in ``outputs = inputs @ matrix`` over all sequences and tokens."""
    # One small product a sequence: too small to be split between threads, so their number changes no bit of a training.
    return (np.swapaxes(inputs, -1, -2) @ d_outputs).sum(axis=0)


def loss_and_gradients(head, tokens, targets):
    r"""Compute the loss and how it changes with every number of the head.

    Parameters
    ----------
    head : Head
        What `new_head` returned.
    tokens : array_like of int, shape (sequences, seq_len)
        Tokens from 0.
    targets : array_like of int, shape (sequences, seq_len)
        The right answer at each token; -1 where nothing is asked.

    Returns
    -------
    loss : float
        Cross-entropy, averaged over the tokens that are asked, in nats.
    gradients : dict of ndarray of float64
        The derivative of the loss by each weight: the names and shapes of ``head.weights``.

    Raises
    ------
    TypeError, ValueError
        If `tokens` are wrong as in `forward`, or `targets` not of their shape, not in the vocabulary, or all -1.

    Notes
    -----
    Each line of the forward pass has one here, from the last to the first. Where ``y = x @ w``, the gradients are
    ``dx = dy @ w.T`` and ``dw = x.T @ dy``. Where a query was turned, ``q = R u``, the gradient is
    :math:`du = R^T dq`, and the transpose of a rotation is the rotation by the opposite angle.

    Examples
    --------
    >>> from rope_course.training import draw
    >>> rng = np.random.default_rng(0)
    >>> loss, gradients = loss_and_gradients(new_head("rope", rng), *draw("copy-1", 4, 8, rng))
    >>> gradients["query"].shape
    (32, 32)
    """
    logits, trace = forward(head, tokens)
    weights, (one_hot, x, q, k, v, attention, mixed) = head.weights, trace
    loss, d_logits = cross_entropy(logits, as_targets(targets, logits.shape))
    d_mixed = d_logits @ weights["output"].T
    d_attention = d_mixed @ np.swapaxes(v, -1, -2)
    d_v = np.swapaxes(attention, -1, -2) @ d_mixed

    # Softmax: a weight that grows takes from the others. A hidden key has weight 0 and so gradient 0.
    d_scores = attention * (d_attention - (attention * d_attention).sum(axis=-1, keepdims=True))
    d_scores /= np.sqrt(q.shape[-1])  # attention_scores divides by it; what ALiBi adds is fixed
    d_q, d_k = d_scores @ k, np.swapaxes(d_scores, -1, -2) @ q
    turn = turns(head, x.shape[-2])
    if turn is not None:
        cos, sin = turn
        d_q, d_k = apply_rope(d_q, cos, -sin), apply_rope(d_k, cos, -sin)  # back by the opposite angle

    gradients = {"output": gather(mixed, d_logits)}
    gradients |= {"query": gather(x, d_q), "key": gather(x, d_k), "value": gather(x, d_v)}
    d_x = d_q @ weights["query"].T + d_k @ weights["key"].T + d_v @ weights["value"].T
    gradients["embedding"] = gather(one_hot, d_x)
    if head.scheme == "learned":
        gradients["position"] = np.zeros_like(weights["position"])
        gradients["position"][: x.shape[-2]] = d_x.sum(axis=0)
    return float(loss), gradients


def as_targets(targets, shape):
    """Return `targets` as integers of the tokens' shape, or raise: each is in the vocabulary, or -1."""
    targets = np.asarray(targets)
    if targets.dtype.kind not in "iu":
        raise TypeError(f"targets must be integers, got dtype {targets.dtype}")
    if targets.shape != shape[:-1]:
        raise ValueError(f"targets must have the shape of tokens, {shape[:-1]}, got {targets.shape}")
    if targets.min() < UNASKED or targets.max() >= shape[-1]:
        raise ValueError(f"targets must be -1 or lie in 0 ... {shape[-1] - 1}, got {targets.min()} ... {targets.max()}")
    return targets
