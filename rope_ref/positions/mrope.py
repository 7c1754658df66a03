"""M-RoPE: three axes, time, height and width, that share one row of speeds."""

import numpy as np

from rope_ref.checks import as_inv_freq, as_real, check_choice, check_count, check_integer, check_positive
from rope_ref.positions.axes import axis_angles
from rope_ref.positions.grid import as_sizes, video_grid
from rope_ref.positions.tokens import sequential

__all__ = ["mrope_angles", "mrope_axes", "mrope_position_ids"]


def mrope_axes(sections, *, interleaved=False):
    """Say which of time, height and width turns each pair of a multimodal head.

    Parameters
    ----------
    sections : sequence of int
        Pairs for time, height and width; (16, 24, 24) in Qwen2-VL, (24, 20, 20) in Qwen3-VL.
    interleaved : bool or {"blocks", "interleaved", "alternating"}, optional
        How the pairs are dealt out. By default, False or "blocks", each axis takes a block, as in Qwen2-VL and
        Qwen2.5-VL. True or "interleaved": in turn, as in Qwen3-VL; height takes every third pair from pair 1 on, width
        from pair 2 on, each until its section is used up, and time all the others. "alternating": height and width
        take the first pairs by turns, and time those left, as in ERNIE 4.5 VL; time may have none. Which features form
        a pair is another matter: Qwen's use the pairing "half", ERNIE "interleaved".

    Returns
    -------
    ndarray of int64, shape (sum of sections,)
        0, 1 or 2 for each pair: time, height, width.

    Raises
    ------
    TypeError
        If a section is not an integer.
    ValueError
        If there are not three sections, one is not positive, the order is not one of these, dealing them out in turn
        would not give each axis its section (height and width must not need a pair beyond the last one), or height and
        width that alternate have not as many pairs each.

    Examples
    --------
    >>> mrope_axes((2, 3, 3))
    array([0, 0, 1, 1, 1, 2, 2, 2])
    >>> mrope_axes((4, 2, 2), interleaved=True)
    array([0, 1, 2, 0, 1, 2, 0, 0])
    >>> mrope_axes((2, 3, 3), interleaved="alternating")
    array([1, 2, 1, 2, 1, 2, 0, 0])
    """
    order = as_order(interleaved)
    sections = as_sections(sections, without_time=order == "alternating")
    if order == "blocks":
        return np.repeat(np.arange(3), sections)
    if order == "alternating":
        return np.concatenate([np.tile([1, 2], sections[1]), np.zeros(sections[0], np.int64)])
    axis = np.zeros(sum(sections), np.int64)
    for number in (1, 2):
        axis[number : 3 * sections[number] : 3] = number
    if tuple(np.bincount(axis, minlength=3)) != sections:
        raise ValueError(
            f"sections must leave room to deal the pairs out in turn, got {sections}: "
            f"every third of {len(axis)} pairs would give {tuple(np.bincount(axis, minlength=3).tolist())}"
        )
    return axis


def as_order(interleaved):
    """Return how pairs are dealt out to the axes, by name, or raise."""
    if isinstance(interleaved, (bool, np.bool_)):
        return "interleaved" if interleaved else "blocks"
    return check_choice(interleaved, ("blocks", "interleaved", "alternating"), "interleaved")


def as_sections(sections, without_time=False):
    """Return the pairs of time, height and width as three ints, or raise; time may have none where that is said."""
    if isinstance(sections, str) or not np.iterable(sections):
        raise TypeError(f"sections must be three counts of pairs, got {sections!r}")
    first = check_integer if without_time else check_count
    sections = tuple((check_count if axis else first)(count, "sections") for axis, count in enumerate(sections))
    if len(sections) != 3:
        raise ValueError(f"sections must be three counts of pairs, for time, height and width, got {len(sections)}")
    if without_time and (sections[0] < 0 or sections[1] != sections[2]):
        raise ValueError(f"sections must have as many pairs for height as for width to alternate, got {sections}")
    return sections


def mrope_angles(position_ids, inv_freq, sections, *, interleaved=False):
    r"""Turn the pairs of one ladder by three positions: time, height and width (M-RoPE).

    Parameters
    ----------
    position_ids : array_like of int or float, shape (..., seq_len, 3)
        Positions of each token in time, height and width; for text all three are the same. Qwen's own code has the
        three first, (3, batch, seq_len): move them with ``np.moveaxis(position_ids, 0, -1)``.
    inv_freq : array_like of float, shape (pairs,)
        Radians per position: one ladder over the whole head, which no section starts anew. Scaled frequencies will do.
    sections : sequence of int
        Pairs for time, height and width; they add up to all pairs.
    interleaved : bool or {"blocks", "interleaved", "alternating"}, optional
        How the pairs are dealt out: in three blocks (Qwen2-VL, Qwen2.5-VL), in turn (True, Qwen3-VL) or height and
        width by turns before time (ERNIE 4.5 VL): see `mrope_axes`.

    Returns
    -------
    ndarray of float64, shape (..., seq_len, pairs)
        Angles, in radians. For text they are those of `rope_ref.rotation_angles`.

    Raises
    ------
    TypeError
        If a number is not real, or a section not an integer.
    ValueError
        If the last axis of `position_ids` is not 3, or `sections` is not three counts that add up to the pairs.

    See Also
    --------
    mrope_position_ids : The positions of text, images and videos.

    References
    ----------
    .. [1] P. Wang et al., "Qwen2-VL", arXiv:2409.12191, section 2.1.

    Examples
    --------
    >>> mrope_angles([[1, 2, 3]], [1.0, 0.1, 0.01, 0.001], (1, 2, 1))
    array([[1.   , 0.2  , 0.02 , 0.003]])

    From the order of Qwen's own code, (3, batch, seq_len):

    >>> position_ids = np.array([[[0, 1, 1]], [[0, 1, 1]], [[0, 1, 2]]])
    >>> mrope_angles(np.moveaxis(position_ids, 0, -1), [1.0, 0.1, 0.01, 0.001], (1, 2, 1)).shape
    (1, 3, 4)
    """
    inv_freq, axis = as_inv_freq(inv_freq), mrope_axes(sections, interleaved=interleaved)
    if axis.size != inv_freq.size:
        raise ValueError(f"sections must add up to the {inv_freq.size} pairs of inv_freq, got {axis.size}")
    position_ids = as_real(position_ids, "position_ids")
    if position_ids.shape[-1:] != (3,):
        raise ValueError(
            "position_ids must have shape (..., seq_len, 3) with time, height and width last, "
            f"got {position_ids.shape}; np.moveaxis(position_ids, 0, -1) moves them there from (3, batch, seq_len)"
        )
    return axis_angles(position_ids, inv_freq, axis)


def read_segment(segment, name):
    """Return kind, size and interval of a segment, or raise: a size is one count for text, else three."""
    if not isinstance(segment, (tuple, list)) or not 2 <= len(segment) <= 3:
        raise ValueError(f"{name} must be (kind, size), or (kind, size, interval) for a video, got {segment!r}")
    kind, size, *interval = segment
    check_choice(kind, ("text", "image", "video"), f"the kind of {name}")
    if interval and kind != "video":
        raise ValueError(f"{name} must have no interval, which is for videos, got {segment!r}")
    if kind == "text":
        return kind, (check_count(size, name),), 1.0
    size = as_sizes(size, 3, name)
    if kind == "image" and size[0] != 1:
        raise ValueError(f"{name} must have one frame, as an image has, got {size[0]}")
    step = check_positive(interval[0], f"the interval of {name}") if interval else 1.0
    if size[0] * step > 2**53:
        raise ValueError(f"the interval of {name} must keep positions within 2**53, got {step}")
    return kind, size, step


def mrope_position_ids(segments, *, after_video="largest"):
    r"""Number the tokens of text, images and videos in time, height and width.

    Parameters
    ----------
    segments : sequence of tuples
        What follows what: ``("text", n)`` for n tokens; ``("image", (1, height, width))``;
        ``("video", (frames, height, width))`` or ``("video", (frames, height, width), interval)``. Sizes count tokens,
        so after patches were merged. The interval is the step in time from frame to frame, 1 unless given: Qwen2.5-VL
        has tokens per second times seconds per frame.
    after_video : {"largest", "grid"}, optional
        Where the next segment starts after a video that began at position p. "largest": after its largest position on
        any axis, as the paper [1]_ and transformers 4.49 have it. "grid": at ``p + max(height, width)``, as
        transformers 5.24 has it; where a video lasts longer than that, text gets positions that frames already have.

    Returns
    -------
    ndarray of int64, shape (seq_len, 3)
        Time, height and width of each token. A text token has one number three times, one more than the last. Frame f
        of a video has time ``p + floor(f * interval)``, its rows and columns count from p; an image is one frame, and
        the next segment starts at ``p + max(height, width)``.

    Raises
    ------
    TypeError
        If a size or interval is not a number.
    ValueError
        If there are no segments, a kind is unknown, a size or interval is not positive, an image has several frames,
        or `after_video` is unknown.

    See Also
    --------
    mrope_angles : From these positions to angles.

    Notes
    -----
    The next token generated stands at ``ids.max() + 1`` on all axes; Qwen's code keeps this as its difference from the
    number of tokens. Padding is not numbered: write the ids into zeros, ``padded[mask] = ids``.

    References
    ----------
    .. [1] P. Wang et al., "Qwen2-VL", arXiv:2409.12191, section 2.1.

    Examples
    --------
    >>> mrope_position_ids([("text", 3), ("image", (1, 2, 2)), ("text", 2)]).T
    array([[0, 1, 2, 3, 3, 3, 3, 5, 6],
           [0, 1, 2, 3, 3, 4, 4, 5, 6],
           [0, 1, 2, 3, 4, 3, 4, 5, 6]])

    After a video of 6 frames the two rules differ; the time axis:

    >>> segments = [("text", 3), ("video", (6, 1, 2)), ("text", 2)]
    >>> mrope_position_ids(segments)[:, 0]
    array([ 0,  1,  2,  3,  3,  4,  4,  5,  5,  6,  6,  7,  7,  8,  8,  9, 10])
    >>> mrope_position_ids(segments, after_video="grid")[:, 0]
    array([0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 5, 6])
    """
    check_choice(after_video, ("largest", "grid"), "after_video")
    pieces, start = [], 0
    for number, segment in enumerate(segments):
        kind, size, interval = read_segment(segment, f"segments[{number}]")
        if kind == "text":
            piece = np.repeat(sequential(*size)[:, None], 3, axis=1)
        else:
            piece = video_grid(*size)
            piece[:, 0] = np.floor(piece[:, 0] * interval)
            piece = piece.astype(np.int64)
        pieces.append(start + piece)
        start += max(size[1:]) if kind == "video" and after_video == "grid" else int(piece.max()) + 1
    if not pieces:
        raise ValueError("segments must hold at least one segment, got none")
    return np.concatenate(pieces)
