"""Coordinates of the patches of an image or a video."""

import numpy as np

from rope_ref.checks import as_real, check_choice, check_count

__all__ = ["crop_region", "video_grid", "video_split"]


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
