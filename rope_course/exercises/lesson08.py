"""Exercises of notebook 08, Video: three clocks in one head."""

import numpy as np

from rope_course.exercises.checkers import choice, close, formula, function, numbers, true_or_false
from rope_course.exercises.entry import exercise, returns, solution_with, starter_with
from rope_ref.frequencies import inverse_frequencies, wavelengths
from rope_ref.positions import axial_angles, mrope_position_ids, video_grid, video_split

__all__ = ["EXERCISES"]

CLIP = (13, 30, 45)  # frames, rows and columns of patches
SLOWEST = [wavelengths(inverse_frequencies(width))[-1] for width in video_split(64)[:2]]
SQUEEZED = video_grid(1, 45, 30, base_size=(30, 45))[::30, 1]  # the rows of a tall video on the trained grid
FIRST_TEXT = [
    mrope_position_ids([("text", 3), ("video", (6, 2, 2)), ("text", 1)], after_video=rule)[-1, 0]
    for rule in ("largest", "grid")
]


# with_text -------------------------------------------------------------------------------------------------------


def placed(text_tokens, frames, height, width):
    """List the coordinates of text tokens, all zero, and of the video after them."""
    return np.concatenate((np.zeros((text_tokens, 3)), video_grid(frames, height, width)))


def numbered(text_tokens, *clip):
    """Give the text tokens numbers of their own, as a text alone has them."""
    return np.concatenate((np.repeat(np.arange(text_tokens)[:, None], 3, axis=1), video_grid(*clip)))


def in_order(text_tokens, clip, order):
    """List the patches with their axes nested in another order."""
    nested = video_grid(*clip).reshape(*clip, 3).transpose(*order, 3).reshape(-1, 3)
    return np.concatenate((np.zeros((text_tokens, 3)), nested))


WAYS = [
    ("numbered", numbered),
    ("text_last", lambda text, *clip: np.concatenate((video_grid(*clip), np.zeros((text, 3))))),
    ("pushed", lambda text, *clip: placed(text, *clip) + np.r_[np.zeros(text), np.full(np.prod(clip), text)][:, None]),
    ("from_one", lambda text, *clip: placed(text, *clip) + (np.arange(text + np.prod(clip)) >= text)[:, None]),
    ("nested", lambda text, *clip: in_order(text, clip, (0, 2, 1))),
    ("nested", lambda text, *clip: in_order(text, clip, (1, 2, 0))),
    ("nested", lambda text, *clip: in_order(text, clip, (2, 1, 0))),
    ("nested", lambda text, *clip: in_order(text, clip, (1, 0, 2))),
    ("names", lambda text, *clip: placed(text, *clip)[:, ::-1]),
]


def text_probe(student):
    """Say in which other way the student places text and video."""
    cases = [(2, 2, 3, 4), (3, 1, 2, 5)]
    got = [student(*case, shape=(case[0] + int(np.prod(case[1:])), 3)) for case in cases]

    def agrees(way):
        return all(close(found, way(*case)) for found, case in zip(got, cases, strict=True))

    return None if agrees(placed) else next((says for says, way in WAYS if agrees(way)), "neither")


# mend_axes -------------------------------------------------------------------------------------------------------


def axes_probe(student):
    """Say which axis is wrong, by the speeds of patches one step from the start."""
    by_axis = [student(*step, shape=(32,)) for step in np.eye(3)]
    right = [axial_angles(step, video_split(64)) for step in np.eye(3)]
    if all(close(*each) for each in zip(by_axis, right, strict=True)):
        far = (12.0, 29.0, 44.0)
        return None if close(student(*far, shape=(32,)), axial_angles(far, video_split(64))) else "else"
    whole = inverse_frequencies(64)
    time, height, width = (slice(0, 8), slice(8, 20), slice(20, 32))
    speeds = by_axis[0][time], by_axis[1][height], by_axis[2][width]
    if close(by_axis[1][width], right[2][width]) and close(by_axis[2][height], right[1][height]):
        return "changed"
    if np.any(by_axis[0][8:]):
        return "repeated"
    if close(np.concatenate(speeds), whole):
        return "restart"
    if all(close(found, whole[: len(found)]) for found in speeds):
        return "too_slowly"
    fits = [close(found, want[part]) for found, want, part in zip(speeds, right, (time, height, width), strict=True)]
    return {(False, True, True): "time", (True, False, False): "space"}.get(tuple(fits), "else")


EXERCISES = [
    exercise(
        "video_tokens",
        kind="predict",
        checker=numbers(np.prod(CLIP), rtol=0),
        mistakes=[
            ("every_frame", 49 * 30 * 45),
            ("first_frame", 12 * 30 * 45),
            ("one_frame", 30 * 45),
            ("eight_pixels", 13 * 60 * 90),
            ("pixels", 13 * 480 * 720),
            ("with_text", 17776),
        ],
    ),
    exercise(
        "patch_index",
        kind="derive",
        checker=formula(
            lambda t, h, w: (t * 30 + h) * 45 + w, lambda rng: tuple(int(rng.integers(n)) for n in (13, 30, 45))
        ),
        mistakes=[
            ("down_columns", returns("(t * 45 + w) * 30 + h")),
            ("row_length", returns("(t * 45 + h) * 30 + w")),
            ("frames_together", returns("(h * 45 + w) * 13 + t")),
            ("frame_height", returns("(t * 13 + h) * 45 + w")),
            ("from_zero", returns("(t * 30 + h) * 45 + w + 1")),
            ("frame_size", returns("t * 30 + h * 45 + w")),
        ],
    ),
    exercise(
        "pairs_per_axis",
        kind="predict",
        checker=numbers([width // 2 for width in video_split(64)], rtol=0),
        mistakes=[
            ("features", [16, 24, 24]),
            ("whole_model", [384, 576, 576]),
            ("whole_model_features", [768, 1152, 1152]),
            ("time_first", [12, 12, 8]),
        ],
    ),
    exercise(
        "axis_periods",
        kind="predict",
        checker=numbers(SLOWEST),
        mistakes=[
            ("one_ladder", [47117.24, 47117.24]),
            ("fastest", [2 * np.pi, 2 * np.pi]),
            ("radian", [3162.28, 4641.59]),
            ("base", [62831.85, 62831.85]),
            ("swapped", SLOWEST[::-1]),
        ],
    ),
    exercise(
        "straight_or_slanted",
        kind="predict",
        checker=choice("a", "b", "same"),
        mistakes=[("both_lower", "b"), ("in_the_plane", "same")],
    ),
    true_or_false("clip_moves", [True, False, False, True]),
    exercise(
        "squeezed_rows",
        kind="predict",
        checker=numbers(SQUEEZED[[1, 44]]),
        mistakes=[
            ("whole_steps", [1, 44]),
            ("stretched", [1.5, 66]),
            ("one_less", [30 / 44, 30]),
            ("last_row", [29 / 44, 29]),
        ],
    ),
    exercise(
        "text_after_video",
        kind="predict",
        checker=numbers(FIRST_TEXT, rtol=0),
        mistakes=[
            ("swapped", FIRST_TEXT[::-1]),
            ("own_numbers", [27, 27]),
            ("last_positions", [8, 4]),
            ("second_rule", [9, 9]),
            ("first_rule", [5, 5]),
            ("from_three", [6, 2]),
        ],
    ),
    exercise(
        "with_text",
        kind="code",
        checker=function(text_probe),
        mistakes=[
            ("numbered", solution_with(("np.zeros((text_tokens, 3))", "np.arange(text_tokens)[:, None] * np.ones(3)"))),
            ("text_last", solution_with(("(text, video)", "(video, text)"))),
            ("pushed", solution_with(("(text, video)", "(text, text_tokens + video)"))),
            ("from_one", solution_with(("(text, video)", "(text, 1 + video)"))),
            ("names", solution_with(("(text, video)", "(text, video[:, ::-1])"))),
            ("nested", solution_with((".reshape(3, -1)", ".swapaxes(2, 3).reshape(3, -1)"))),
            ("neither", solution_with(("(text, video)", "(text, 2 * video)"))),
        ],
    ),
    exercise(
        "mend_axes",
        kind="repair",
        checker=function(axes_probe),
        mistakes=[
            ("restart", starter_with()),
            ("too_slowly", solution_with(("/ 16", "/ 64"), ("/ 24", "/ 64"))),
            ("time", solution_with(("/ 16", "/ 24"))),
            ("space", solution_with(("/ 24", "/ 16"))),
            ("changed", solution_with(("h * space, w * space", "w * space, h * space"))),
            ("repeated", solution_with(("h * space, w * space", "t * space, t * space"))),
            ("else", solution_with(("10000.0", "500000.0"))),
        ],
    ),
    true_or_false("true_or_false_08", [False, False, True, True, True, False]),
]
