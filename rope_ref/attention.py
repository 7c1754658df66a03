"""What attention sees: scores, weights, and the closed form at the end of the hand derivation."""

import numpy as np

from rope_ref.checks import as_array, as_inv_freq, as_real, check_bool
from rope_ref.frequencies import angles_at
from rope_ref.pairing import split_pairs
from rope_ref.shapes import as_float_array, computing_dtype

__all__ = ["attention_scores", "attention_weights", "relative_score"]


def attention_scores(q, k, *, scale=None):
    r"""Take the scaled dot product of every query with every key.

    Parameters
    ----------
    q : array_like of float, shape (..., heads, queries, head_dim) or (queries, head_dim)
        Queries, already turned.
    k : array_like of float, shape (..., kv_heads, keys, head_dim) or (keys, head_dim)
        Keys, already turned. Where kv_heads divides heads, each key head serves heads / kv_heads query heads in a row.
    scale : float, optional
        What the products are multiplied by; :math:`1 / \sqrt{head\_dim}` by default.

    Returns
    -------
    ndarray of float, shape (..., heads, queries, keys)
        Scores before softmax, in the finer dtype of `q` and `k`; float16 and bfloat16 are computed in float32.

    Raises
    ------
    TypeError
        If `q` or `k` is not of a float dtype, or `scale` not a number.
    ValueError
        If head_dim or the other axes differ, or the key heads do not divide the query heads.

    See Also
    --------
    attention_weights : The softmax of the scores.

    Examples
    --------
    >>> attention_scores([[1.0, 2.0, 3.0, 4.0]], [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    array([[0.5, 3.5]])
    """
    q, k = as_float_array(q, "q"), as_float_array(k, "k")
    if q.ndim < 2 or q.ndim != k.ndim or q.shape[-1] != k.shape[-1] or q.shape[:-3] != k.shape[:-3]:
        raise ValueError(
            "q and k must have shapes (..., heads, queries, head_dim) and (..., kv_heads, keys, head_dim) "
            f"that differ only in heads and length, got {q.shape} and {k.shape}"
        )
    if q.shape[-1] == 0:
        raise ValueError("q must have a head_dim of at least 1, got 0")
    scale = q.shape[-1] ** -0.5 if scale is None else as_real(scale, "scale")
    if np.ndim(scale):
        raise ValueError(f"scale must be one number, got shape {scale.shape}")
    work = np.result_type(computing_dtype(q.dtype), computing_dtype(k.dtype))
    if abs(scale) > np.finfo(work).max:
        raise ValueError(f"scale must be a number that {work} can hold, got {scale}")
    dtype = q.dtype if q.dtype == k.dtype else work
    q, k = q.astype(work, copy=False), k.astype(work, copy=False)
    if q.ndim >= 3 and q.shape[-3] != k.shape[-3]:
        heads, kv_heads = q.shape[-3], k.shape[-3]
        if kv_heads == 0 or heads % kv_heads:
            raise ValueError(f"k must have a number of heads that divides the {heads} heads of q, got {kv_heads}")
        k = np.repeat(k, heads // kv_heads, axis=-3)
    return (q @ np.swapaxes(k, -1, -2) * work.type(scale)).astype(dtype, copy=False)


def attention_weights(scores, *, causal=True, bias=None):
    r"""Turn scores into weights that sum to one over the keys a query may see.

    Parameters
    ----------
    scores : array_like of float, shape (..., queries, keys)
        What `attention_scores` returns.
    causal : bool, optional
        Whether a query sees only keys at its own place and before. The last query stands at the last key, so that a
        few new queries may follow many cached keys.
    bias : array_like of float, shape broadcasting to `scores`, optional
        Added to the scores; -inf hides a key.

    Returns
    -------
    ndarray, shape and dtype of `scores`
        Weights. A query that sees no key has weight zero everywhere.

    Raises
    ------
    TypeError
        If `scores` is not of a float dtype, `bias` holds no real numbers, or `causal` is not a bool.
    ValueError
        If there are more queries than keys under a causal mask, `scores` or `bias` holds nan or +inf, or `bias` does
        not broadcast to the shape of `scores`.

    Examples
    --------
    >>> attention_weights([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    array([[0.5       , 0.5       , 0.        ],
           [0.33333333, 0.33333333, 0.33333333]])
    """
    scores = as_float_array(scores, "scores")
    if scores.ndim < 2:
        raise ValueError(f"scores must have shape (..., queries, keys), got {scores.shape}")
    check_bool(causal, "causal")
    queries, keys = scores.shape[-2:]
    work = scores.astype(computing_dtype(scores.dtype) if bias is None else np.float64)
    if bias is not None:
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is refused below
            work += as_bias(bias, scores.shape).astype(np.float64)
    if np.isnan(work).any() or np.isposinf(work).any():
        raise ValueError("scores must be finite or -inf, with bias added too, got nan or inf")
    if causal:
        if queries > keys:
            raise ValueError(f"scores must have at least as many keys as queries when causal, got {queries} x {keys}")
        work[..., ~np.tri(queries, keys, keys - queries, dtype=bool)] = -np.inf
    top = work.max(axis=-1, keepdims=True, initial=np.finfo(work.dtype).min)
    with np.errstate(over="ignore"):  # a key too far below the best to say how far has weight zero
        np.exp(work - top, out=work)
    total = work.sum(axis=-1, keepdims=True)
    np.divide(work, total, out=work, where=total > 0)
    return work.astype(scores.dtype, copy=False)


def as_bias(bias, shape):
    """Return `bias` as a float array that broadcasts to `shape`, or raise."""
    bias = as_array(bias, "bias")
    if bias.dtype.kind not in "iuf" and bias.dtype.name != "bfloat16":
        raise TypeError(f"bias must hold real numbers, got dtype {bias.dtype}")
    try:
        return np.broadcast_to(bias, shape)
    except ValueError:
        raise ValueError(f"bias must broadcast to the shape of scores, {shape}, got {bias.shape}") from None


def relative_score(q, k, distance, inv_freq, *, pairing="interleaved"):
    r"""Score a query and a key by their distance alone: the closed form of the hand derivation.

    Parameters
    ----------
    q, k : array_like of float, shape (..., head_dim)
        One query and one key, or several, not turned.
    distance : array_like of int or float, shape (...)
        Position of the query minus position of the key, in tokens; broadcasts with the leading axes of `q` and `k`.
    inv_freq : array_like of float, shape (head_dim // 2,)
        Radians per token.
    pairing : {"interleaved", "half"}, optional
        Pair i is features (2i, 2i + 1), or (i, i + head_dim // 2).

    Returns
    -------
    ndarray of float64, shape (...), or float64
        :math:`\sum_i (q_1 k_1 + q_2 k_2) \cos(r \theta_i) + (q_1 k_2 - q_2 k_1) \sin(r \theta_i)` at distance r:
        the dot product of `q` turned to position m with `k` turned to m - r, for every m, not scaled.

    Raises
    ------
    TypeError
        If `q` or `k` is not of a float dtype.
    ValueError
        If the shapes do not meet, or a distance, frequency or angle is not finite.

    Examples
    --------
    >>> relative_score([1.0, 2.0], [3.0, 1.0], [3, -3], [np.pi / 6]).round(6)
    array([-5.,  5.])
    """
    q, k = as_float_array(q, "q").astype(np.float64), as_float_array(k, "k").astype(np.float64)
    inv_freq, angles = as_inv_freq(inv_freq), angles_at(distance, inv_freq, "distance")
    if q.ndim == 0 or k.ndim == 0 or not q.shape[-1] == k.shape[-1] == 2 * len(inv_freq):
        raise ValueError(
            f"q and k must have two features for each of the {len(inv_freq)} pairs of inv_freq, "
            f"got {q.shape} and {k.shape}"
        )
    (q1, q2), (k1, k2) = split_pairs(q, pairing), split_pairs(k, pairing)
    try:
        terms = (q1 * k1 + q2 * k2) * np.cos(angles) + (q1 * k2 - q2 * k1) * np.sin(angles)
    except ValueError:
        raise ValueError(
            "distance must broadcast with the leading axes of q and k, "
            f"got shape {angles.shape[:-1]} with {q.shape} and {k.shape}"
        ) from None
    return terms.sum(axis=-1)
