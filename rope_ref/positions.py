"""Which position, or which coordinates, each token has.

A token of a text has one position. A patch of an image or a video has one coordinate an axis, and each pair of the head
reads one axis: `axis_angles` is all of it, and the rest says which pair reads which axis at which speed.

A token that must not turn, a text token before a video or a class token, gets a row of zeros for coordinates: its
angles are zero, and the rotation leaves it as it is.

What public models do, as calls. ``grid`` is ``video_grid(frames, height, width)``, ``image`` the same for one frame
without its first column, d the width of the head; "by axis" means that the features of each axis are turned on their
own, as `axial_angles` shows. ::

    model            pairing       angles
    CogVideoX        interleaved   axial_angles(video_grid(frames, height, width, base_size=base), video_split(d))
    CogVideoX 1.5    interleaved   axial_angles(video_grid(frames, height, width, mode="slice"), video_split(d))
    Wan              interleaved   axial_angles(grid, video_split(d, "wan"))
    HunyuanVideo     interleaved   axial_angles(grid, dims, base=256.0)
    Cosmos           half          axial_angles(grid, dims, bases)
    Allegro          half by axis  axial_angles(grid / scales, (d // 3, d // 3, d // 3))
    Flux             interleaved   axial_angles(ids, dims)
    HunyuanDiT       interleaved   axial_angles(image[:, ::-1], (d // 2, d // 2))
    Lumina           interleaved   axial_angles(image, (d // 2, d // 2), alternating=True)
    Qwen2-VL vision  half          axial_angles(image, (d // 2, d // 2))
    Gemma 4 vision   half by axis  axial_angles(image, (d // 2, d // 2), base=100.0)
    Llama 4 vision   interleaved   axial_angles(np.vstack((image[:, ::-1] + 1, [0, 0])), (d // 2, d // 2))
    Pixtral vision   half          axis_angles(image, np.r_[inv_freq[0::2], inv_freq[1::2]], np.repeat([0, 1], d // 4))
    Qwen2-VL text    half          mrope_angles(position_ids, inv_freq, sections)
    Qwen3-VL text    half          mrope_angles(position_ids, inv_freq, sections, interleaved=True)

HunyuanVideo and Flux have heads of 128 and dims (16, 56, 56). Cosmos has dims ``video_split(d, "wan")`` and for an axis
of n features with scale s the base ``10000 * s ** (n / (n - 2))``. Allegro divides each axis by its own scale.
HunyuanDiT, through a swap of names in its code, and Llama 4 read the column first; Llama 4 counts from 1 and has its
class token last. The ids of Flux are (0, row, column), and (0, 0, 0) for text. Pixtral deals out one ladder,
``inv_freq = inverse_frequencies(d)``, every second speed to each axis. Rows of coordinates stand in the order of the
tokens: the tower of Qwen2-VL takes its patches square by square, 2 x 2 at a time.
"""

import numpy as np

from rope_ref.checks import (
    as_array,
    as_inv_freq,
    as_real,
    as_whole,
    check_choice,
    check_count,
    check_positive,
    check_width,
)
from rope_ref.frequencies import inverse_frequencies

__all__ = [
    "axial_angles",
    "axial_pairs",
    "axis_angles",
    "crop_region",
    "from_attention_mask",
    "mrope_angles",
    "mrope_axes",
    "mrope_position_ids",
    "packed",
    "sequential",
    "video_grid",
    "video_split",
]


def as_patches(value, name):
    """Return a count of patches as an int, or raise; a float that is whole, such as 480 / 16, is a count."""
    if isinstance(value, (float, np.floating)):
        if not float(value).is_integer():
            raise ValueError(
                f"{name} must be a whole number of patches, got {value} (a patch of CogVideoX covers 16 x 16 pixels)"
            )
        value = int(value)
    return check_count(value, name)


def as_sizes(values, count, name):
    """Return `count` sizes as a tuple of ints, or raise."""
    try:
        values = tuple(values)
    except TypeError:
        raise TypeError(f"{name} must be {count} counts, got {values!r}") from None
    if len(values) != count:
        raise ValueError(f"{name} must be {count} counts, got {len(values)}: {values}")
    return tuple(as_patches(value, name) for value in values)


def sequential(seq_len, offset=0):
    """Number the tokens of a sequence one after the other.

    Parameters
    ----------
    seq_len : int
        Number of tokens.
    offset : int or array_like of int, shape (...), optional
        Position of the first token: in a decoding step the number of tokens before it, also of those no longer kept.
        An array gives each sequence of a batch its own.

    Returns
    -------
    ndarray of int64, shape (..., seq_len)
        Positions offset, offset + 1, ..., in tokens; never in a narrower integer, which could wrap.

    Raises
    ------
    TypeError
        If `seq_len` or `offset` is not of integers.
    ValueError
        If `seq_len` is not positive.

    Examples
    --------
    >>> sequential(3, offset=5)
    array([5, 6, 7])
    >>> sequential(1, offset=[250, 7])
    array([[250],
           [  7]])
    """
    return as_whole(offset, "offset")[..., None] + np.arange(check_count(seq_len, "seq_len"))


def from_attention_mask(mask):
    """Number the real tokens of padded sequences from 0, whichever side the padding is on.

    Parameters
    ----------
    mask : array_like of int or bool, shape (..., seq_len)
        1 or True for a real token, 0 or False for padding.

    Returns
    -------
    ndarray of int64, shape (..., seq_len)
        How many real tokens of its sequence stand before each real token; 0 for padding.

    Raises
    ------
    TypeError
        If `mask` holds neither integers nor booleans.
    ValueError
        If `mask` has no axis or holds anything but 0 and 1.

    Examples
    --------
    >>> from_attention_mask([[0, 0, 1, 1, 1], [1, 1, 1, 0, 0]])
    array([[0, 0, 0, 1, 2],
           [0, 1, 2, 0, 0]])
    """
    mask = as_array(mask, "mask")
    if mask.dtype.kind not in "iub":
        raise TypeError(f"mask must hold 0 and 1 or booleans, got dtype {mask.dtype}")
    if mask.ndim == 0:
        raise ValueError("mask must have at least one axis, the tokens, got a scalar")
    real = mask.astype(bool)
    if (mask != real).any():
        raise ValueError(f"mask must hold only 0 and 1, got {mask[mask != real].flat[0]}")
    return np.where(real, np.cumsum(real, axis=-1, dtype=np.int64) - 1, 0)


def packed(lengths):
    """Number the tokens of several documents in one row, each document from 0.

    Parameters
    ----------
    lengths : array_like of int, shape (documents,)
        Tokens in each document, at least one.

    Returns
    -------
    ndarray of int64, shape (sum of lengths,)
        Positions, in tokens. A document starts wherever the position is 0, also after a document of one token.

    Raises
    ------
    TypeError
        If `lengths` does not hold integers.
    ValueError
        If `lengths` is empty, not one-dimensional, or holds a length that is not positive.

    Examples
    --------
    >>> packed([3, 1, 1, 2])
    array([0, 1, 2, 0, 0, 0, 1])
    >>> np.flatnonzero(packed([3, 1, 1, 2]) == 0)
    array([0, 3, 4, 5])
    """
    lengths = as_whole(lengths, "lengths")
    if lengths.ndim != 1 or not lengths.size:
        raise ValueError(f"lengths must have shape (documents,) with at least one, got {lengths.shape}")
    if lengths.min() <= 0:
        raise ValueError(f"lengths must be positive, got {lengths.min()}")
    starts = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) - np.repeat(starts, lengths)


def axis_angles(coordinates, inv_freq, axis):
    r"""Turn each pair by the coordinate of its own axis.

    Parameters
    ----------
    coordinates : array_like of int or float, shape (..., seq_len, axes)
        Where each token stands on each axis, in patches, frames or tokens; zeros for a token that must not turn.
    inv_freq : array_like of float, shape (pairs,)
        Radians per patch, frame or token.
    axis : array_like of int, shape (pairs,)
        Which axis turns pair i, from 0.

    Returns
    -------
    ndarray of float64, shape (..., seq_len, pairs)
        Angles :math:`c_{axis[i]} \theta_i`, in radians, rounded once.

    Raises
    ------
    TypeError
        If `coordinates` or `inv_freq` does not hold real numbers, or `axis` does not hold integers.
    ValueError
        If `axis` does not name one axis of `coordinates` for each pair, or a number is not finite.

    See Also
    --------
    axial_angles : Each axis with a block of pairs and a ladder of speeds of its own.
    mrope_angles : Three axes that share one ladder.

    Examples
    --------
    One ladder, shared out between row 1 and column 2 in blocks, then in turn:

    >>> axis_angles([1, 2], [1.0, 0.1, 0.01, 0.001], [0, 0, 1, 1])
    array([1.   , 0.1  , 0.02 , 0.002])
    >>> axis_angles([1, 2], [1.0, 0.1, 0.01, 0.001], [0, 1, 0, 1])
    array([1.   , 0.2  , 0.01 , 0.002])
    """
    coordinates, inv_freq = as_real(coordinates, "coordinates"), as_inv_freq(inv_freq)
    if coordinates.ndim == 0:
        raise ValueError("coordinates must have shape (..., seq_len, axes), got a scalar")
    axes, axis = coordinates.shape[-1], as_whole(axis, "axis")
    if axis.shape != inv_freq.shape:
        raise ValueError(f"axis must name one axis for each of the {inv_freq.size} pairs, got shape {axis.shape}")
    if axis.min() < 0 or axis.max() >= axes:
        worst = axis.min() if axis.min() < 0 else axis.max()
        raise ValueError(f"axis must be from 0 to {axes - 1} for the {axes} axes of coordinates, got {worst}")
    angles = np.take(coordinates, axis, axis=-1)
    with np.errstate(over="ignore"):
        angles *= inv_freq
    if not np.isfinite(angles).all():
        raise ValueError("coordinates times inv_freq must be angles that float64 can hold, got one beyond")
    return angles


def axial_pairs(rotary_dims, base=10000.0, *, alternating=False):
    r"""Say which axis each pair reads, and how fast it turns, where each axis has a ladder of its own.

    Parameters
    ----------
    rotary_dims : sequence of int
        Features of each axis, each even.
    base : float or sequence of float, optional
        Base of the ladders: one for all axes, or one an axis.
    alternating : bool, optional
        Deal the pairs out in turn, (0, 1, 0, 1, ...), instead of one block an axis, (0, 0, ..., 1, 1, ...). An axis
        whose pairs are used up is passed over.

    Returns
    -------
    inv_freq : ndarray of float64, shape (pairs,)
        Radians per patch: :math:`b^{-2i/n}` for pair i of an axis with n features. Each axis starts at 1.
    axis : ndarray of int64, shape (pairs,)
        The axis of each pair, from 0.

    Raises
    ------
    TypeError
        If a width is not an integer, or a base not a number.
    ValueError
        If a width is odd or not positive, a base is not positive and finite, or there is not one base an axis.

    See Also
    --------
    axial_angles : The angles these pairs turn by.

    Examples
    --------
    >>> inv_freq, axis = axial_pairs((4, 4, 2))
    >>> inv_freq, axis
    (array([1.  , 0.01, 1.  , 0.01, 1.  ]), array([0, 0, 1, 1, 2]))
    >>> axial_pairs((4, 4, 2), alternating=True)[1]
    array([0, 1, 2, 0, 1])
    """
    if isinstance(rotary_dims, str) or not np.iterable(rotary_dims):
        raise TypeError(f"rotary_dims must be one width an axis, got {rotary_dims!r}")
    widths = [check_width(width, "rotary_dims") for width in rotary_dims]
    if not widths:
        raise ValueError("rotary_dims must name the width of at least one axis, got none")
    bases = [base] * len(widths) if np.ndim(base) == 0 else list(base)
    if len(bases) != len(widths):
        raise ValueError(f"base must be one number, or one for each of the {len(widths)} axes, got {len(bases)}")
    ladders = [inverse_frequencies(width, check_positive(b, "base")) for width, b in zip(widths, bases, strict=True)]
    inv_freq = np.concatenate(ladders)
    axis = np.repeat(np.arange(len(widths)), [len(ladder) for ladder in ladders])
    if alternating:
        step = np.concatenate([np.arange(len(ladder)) for ladder in ladders])
        turn = np.argsort(step, kind="stable")  # all first pairs, then all second pairs, ...
        inv_freq, axis = inv_freq[turn], axis[turn]
    return inv_freq, axis


def axial_angles(coordinates, rotary_dims, base=10000.0, *, alternating=False):
    r"""Give each axis its own pairs and its own ladder of speeds.

    Parameters
    ----------
    coordinates : array_like of int or float, shape (..., seq_len, axes)
        Where each token stands on each axis, in patches or frames; zeros for a token that must not turn.
    rotary_dims : sequence of int, one an axis
        Features of each axis, each even; they add up to the rotated width of the head.
    base : float or sequence of float, optional
        Base of the ladders: one for all axes, or one an axis.
    alternating : bool, optional
        Deal the pairs out in turn instead of one block an axis.

    Returns
    -------
    ndarray of float64, shape (..., seq_len, pairs)
        Angles, in radians: :math:`c \, b^{-2i/n}` for pair i of an axis with n features and coordinate c.

    Raises
    ------
    TypeError
        If a number is not real, or a width not an integer.
    ValueError
        If the widths or bases are not one for each axis of `coordinates`, or a width is odd or not positive.

    See Also
    --------
    axial_pairs : The axis and the speed of each pair.
    video_grid : Coordinates of a video.

    Notes
    -----
    The pairing is chosen when turning. Some heads are turned axis by axis, "half" inside the features of each: a view
    of one axis is turned by the pairs of that axis. For two axes with d/2 features each (Gemma 4 vision)::

        out = np.empty_like(x)
        for axis in range(2):
            part, pairs = slice(axis * d // 2, (axis + 1) * d // 2), slice(axis * d // 4, (axis + 1) * d // 4)
            apply_rope(x[..., part], cos[..., pairs], sin[..., pairs], pairing="half", out=out[..., part])

    Examples
    --------
    A vision tower, two axes with one ladder each, at row 1 and column 2; then the pairs dealt out in turn:

    >>> axial_angles([[1, 2]], (4, 4))
    array([[1.  , 0.01, 2.  , 0.02]])
    >>> axial_angles([[1, 2]], (4, 4), alternating=True)
    array([[1.  , 2.  , 0.01, 0.02]])

    Two text tokens, which do not turn, before a video:

    >>> grid = video_grid(13, 30, 45)
    >>> axial_angles(np.concatenate((np.zeros((2, 3)), grid)), video_split(64)).shape
    (17552, 32)
    """
    coordinates = as_real(coordinates, "coordinates")
    inv_freq, axis = axial_pairs(rotary_dims, base, alternating=alternating)
    axes = axis.max() + 1
    if coordinates.shape[-1:] != (axes,):
        raise ValueError(
            f"rotary_dims must hold one width for each axis of coordinates, got {axes} widths for coordinates of shape "
            f"{coordinates.shape}"
        )
    return axis_angles(coordinates, inv_freq, axis)


def video_split(head_dim, rule="cogvideox"):
    """Share the features of a head out between time, height and width.

    Parameters
    ----------
    head_dim : int
        Width of one head.
    rule : {"cogvideox", "wan"}, optional
        "cogvideox": a quarter for time, three eighths each for height and width [1]_. "wan": height and width get
        ``2 * (head_dim // 6)`` each, time the rest.

    Returns
    -------
    tuple of int
        Features for time, height and width, each even; they add up to `head_dim`.

    Raises
    ------
    TypeError
        If `head_dim` is not an integer.
    ValueError
        If the blocks would be odd or empty or not add up: "cogvideox" needs a multiple of 16, "wan" an even number from
        6 on. Or if `rule` is unknown.

    References
    ----------
    .. [1] Z. Yang et al., "CogVideoX", arXiv:2408.06072, section 2.2.

    Examples
    --------
    >>> video_split(64)
    (16, 24, 24)
    >>> video_split(64, "wan")
    (24, 20, 20)
    """
    head_dim = check_count(head_dim, "head_dim")
    if rule == "cogvideox":
        time, space, need = head_dim // 4, head_dim // 8 * 3, "a multiple of 16"
    elif rule == "wan":
        time, space, need = head_dim - 4 * (head_dim // 6), 2 * (head_dim // 6), "even and at least 6"
    else:
        raise ValueError(f"rule must be 'cogvideox' or 'wan', got {rule!r}")
    if time % 2 or space % 2 or not space or time + 2 * space != head_dim:
        raise ValueError(
            f"head_dim must be {need}, so that blocks are even and add up, got {head_dim}: {time} + {space} + {space}"
        )
    return time, space, space


def crop_region(height, width, base_size):
    """Fit a grid of patches into the middle of a base grid, as large as it goes with its sides in proportion.

    Parameters
    ----------
    height, width : int
        The grid, in patches.
    base_size : tuple of int
        Height and width of the grid the model was trained on, in patches; (30, 45) for CogVideoX.

    Returns
    -------
    (top, left), (bottom, right) : tuple of int
        The region of the base grid, in patches; bottom and right are excluded.

    Raises
    ------
    TypeError
        If a size is not a number.
    ValueError
        If a size is not a positive whole number, or the region would have no row or no column.

    Notes
    -----
    The steps are those of the released code: halves are rounded to the even neighbour. The shorter side is rounded
    after a division in float64, which can come out just below a half.

    Examples
    --------
    >>> crop_region(30, 40, base_size=(30, 45))
    ((0, 2), (30, 42))
    """
    height, width = as_patches(height, "height"), as_patches(width, "width")
    rows, columns = as_sizes(base_size, 2, "base_size")
    if height / width > rows / columns:
        kept = rows, round(rows / height * width)
    else:
        kept = round(columns / width * height), columns
    if 0 in kept:
        raise ValueError(
            f"height and width must leave at least one row and one column of base_size {rows} x {columns}, "
            f"got {height} x {width}"
        )
    top, left = round((rows - kept[0]) / 2), round((columns - kept[1]) / 2)
    return (top, left), (top + kept[0], left + kept[1])


def as_crop(crop):
    """Return a region as two rows of float64, its start and its stop on both axes, or raise."""
    corners = as_real(crop, "crop")
    if corners.shape != (2, 2) or (corners[0] >= corners[1]).any():
        raise ValueError(f"crop must be ((top, left), (bottom, right)) with at least one row and column, got {crop}")
    return corners


def spread(start, stop, count, mode):
    """Place `count` coordinates in a region from `start` to `stop`."""
    if mode == "even":
        return start + (stop - start) * np.arange(count) / count
    return np.linspace(start, stop * (count - 1) / count, count)


def video_grid(frames, height, width, *, base_size=None, crop=None, mode="linspace"):
    r"""List the coordinates of all patches of a video: frame by frame, row by row.

    Parameters
    ----------
    frames, height, width : int
        Counts of patches, after the frames were compressed and cut into patches: 13, 30, 45 for 49 frames of
        480 x 720 in CogVideoX. A float that is a whole number, such as 480 / 16, will do; 1.5 will not. One frame is an
        image.
    base_size : tuple of int, optional
        Height and width of the grid the model was trained on: the video is squeezed or stretched on to the part of it
        that `crop_region` gives. In mode "slice" it is the size of the table, which the video must not exceed. None:
        whole numbers from 0.
    crop : tuple of two tuples, optional
        ((top, left), (bottom, right)) on the base grid, used as given instead of the one worked out from `base_size`.
    mode : {"linspace", "even", "slice"}, optional
        How row k of n is placed between top and bottom, and column k likewise. "linspace", CogVideoX in current code:
        :math:`top + (bottom \frac{n-1}{n} - top) \frac{k}{n-1}`. "even", the same in diffusers 0.30.3:
        :math:`top + (bottom - top) \frac{k}{n}`; the two agree where the crop starts at 0. "slice", CogVideoX 1.5:
        k itself. Frames always count from 0.

    Returns
    -------
    ndarray of float64, shape (frames * height * width, 3)
        Frame, row and column of each patch, in patches. Patch (t, h, w) is row ``(t * height + h) * width + w``.

    Raises
    ------
    TypeError
        If a count is not a number.
    ValueError
        If a count is not a positive whole number, `crop` is empty or given in mode "slice", the video exceeds
        `base_size` in mode "slice", or `mode` is unknown.

    See Also
    --------
    axial_angles : From coordinates to angles.

    Examples
    --------
    >>> video_grid(1, 2, 3)[:, 1:]
    array([[0., 0.],
           [0., 1.],
           [0., 2.],
           [1., 0.],
           [1., 1.],
           [1., 2.]])

    A video twice as fine as the grid of the training stands on half steps:

    >>> video_grid(1, 4, 2, base_size=(2, 1))[::2, 1]
    array([0. , 0.5, 1. , 1.5])
    """
    frames, height, width = as_patches(frames, "frames"), as_patches(height, "height"), as_patches(width, "width")
    check_choice(mode, ("linspace", "even", "slice"), "mode")
    region = ((0, 0), (height, width))
    if crop is not None:
        if mode == "slice":
            raise ValueError(f"crop must be None in mode 'slice', which always counts from 0, got {crop}")
        region = as_crop(crop)
    elif base_size is not None and mode == "slice":
        rows, columns = as_sizes(base_size, 2, "base_size")
        if height > rows or width > columns:
            raise ValueError(
                f"height and width must be at most {rows} and {columns}, the base_size, got {height} and {width}"
            )
    elif base_size is not None:
        region = crop_region(height, width, base_size)
    (top, left), (bottom, right) = region
    grid = np.empty((frames, height, width, 3))
    grid[..., 0] = np.arange(frames)[:, None, None]
    grid[..., 1] = spread(top, bottom, height, mode)[:, None]
    grid[..., 2] = spread(left, right, width, mode)
    return grid.reshape(-1, 3)


def mrope_axes(sections, *, interleaved=False):
    """Say which of time, height and width turns each pair of a multimodal head.

    Parameters
    ----------
    sections : sequence of int
        Pairs for time, height and width; (16, 24, 24) in Qwen2-VL, (24, 20, 20) in Qwen3-VL.
    interleaved : bool, optional
        Deal the pairs out in turn, as Qwen3-VL does: height takes every third pair from pair 1 on, width from pair 2
        on, each until its section is used up, and time all the others. By default each takes a block, as Qwen2-VL and
        Qwen2.5-VL do. Which features form a pair is another matter: all of them use the pairing "half".

    Returns
    -------
    ndarray of int64, shape (sum of sections,)
        0, 1 or 2 for each pair: time, height, width.

    Raises
    ------
    TypeError
        If a section is not an integer.
    ValueError
        If there are not three sections, one is not positive, or dealing them out in turn would not give each axis its
        section: height and width must not need a pair beyond the last one.

    Examples
    --------
    >>> mrope_axes((2, 3, 3))
    array([0, 0, 1, 1, 1, 2, 2, 2])
    >>> mrope_axes((4, 2, 2), interleaved=True)
    array([0, 1, 2, 0, 1, 2, 0, 0])
    """
    sections = as_sections(sections)
    if not interleaved:
        return np.repeat(np.arange(3), sections)
    axis = np.zeros(sum(sections), np.int64)
    for number in (1, 2):
        axis[number : 3 * sections[number] : 3] = number
    if tuple(np.bincount(axis, minlength=3)) != sections:
        raise ValueError(
            f"sections must leave room to deal the pairs out in turn, got {sections}: "
            f"every third of {len(axis)} pairs would give {tuple(np.bincount(axis, minlength=3).tolist())}"
        )
    return axis


def as_sections(sections):
    """Return the pairs of time, height and width as three ints, or raise."""
    if isinstance(sections, str) or not np.iterable(sections):
        raise TypeError(f"sections must be three counts of pairs, got {sections!r}")
    sections = tuple(check_count(count, "sections") for count in sections)
    if len(sections) != 3:
        raise ValueError(f"sections must be three counts of pairs, for time, height and width, got {len(sections)}")
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
    interleaved : bool, optional
        Deal the pairs out in turn (Qwen3-VL) instead of in three blocks (Qwen2-VL, Qwen2.5-VL): see `mrope_axes`.

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
