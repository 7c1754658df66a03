"""Exercises of notebook 08, Video: three clocks in one head."""

import numpy as np

from rope_course.exercises.checkers import choice, close, formula, function, numbers, true_or_false
from rope_course.exercises.entry import edit, exercise
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


NUMBERED = "Your text tokens have positions. In this model they must not turn, so all three coordinates are zero."
TEXT_LAST = "Your text stands after the video. Here it stands first."
PUSHED = (
    "Your video starts after the text. The first patch stands at frame 0, row 0, column 0, whatever comes before it."
)
FROM_ONE = "You count from 1. The first patch stands at frame 0, row 0, column 0."
NESTED = "All patches are there, but in another order: row by row, so that the column changes from each to the next."
NAMES = "The three coordinates have changed places: frame, row, column is the order."
NEITHER = "Not yet. For one text token and a video of 1 x 2 x 2 write down the five rows, then print yours."

WAYS = [
    (NUMBERED, numbered),
    (TEXT_LAST, lambda text, *clip: np.concatenate((video_grid(*clip), np.zeros((text, 3))))),
    (PUSHED, lambda text, *clip: placed(text, *clip) + np.r_[np.zeros(text), np.full(np.prod(clip), text)][:, None]),
    (FROM_ONE, lambda text, *clip: placed(text, *clip) + (np.arange(text + np.prod(clip)) >= text)[:, None]),
    (NESTED, lambda text, *clip: in_order(text, clip, (0, 2, 1))),
    (NESTED, lambda text, *clip: in_order(text, clip, (1, 2, 0))),
    (NESTED, lambda text, *clip: in_order(text, clip, (2, 1, 0))),
    (NESTED, lambda text, *clip: in_order(text, clip, (1, 0, 2))),
    (NAMES, lambda text, *clip: placed(text, *clip)[:, ::-1]),
]


def text_probe(student):
    """Say in which other way the student places text and video."""
    cases = [(2, 2, 3, 4), (3, 1, 2, 5)]
    got = [student(*case, shape=(case[0] + int(np.prod(case[1:])), 3)) for case in cases]

    def agrees(way):
        return all(close(found, way(*case)) for found, case in zip(got, cases, strict=True))

    return None if agrees(placed) else next((says for says, way in WAYS if agrees(way)), NEITHER)


WITH_TEXT = """
def with_text(text_tokens, frames, height, width):
    video = np.indices((frames, height, width)).reshape(3, -1).T
    text = np.zeros((text_tokens, 3))
    return np.concatenate((text, video))
"""


# mend_axes -------------------------------------------------------------------------------------------------------

ONE_LADDER = """
def mend_axes(t, h, w):
    speeds = 10000.0 ** (-np.arange(0, 64, 2) / 64)
    return np.concatenate((t * speeds[:8], h * speeds[8:20], w * speeds[20:]))
"""
MENDED = """
def mend_axes(t, h, w):
    time = 10000.0 ** (-np.arange(0, 16, 2) / 16)
    space = 10000.0 ** (-np.arange(0, 24, 2) / 24)
    return np.concatenate((t * time, h * space, w * space))
"""

RESTART = "Height goes on where time stops. Each axis has a clock of its own: the first pair of each turns by 1 radian."
TOO_SLOWLY = "Each axis starts at 1, but its speeds fall too slowly. Which width belongs into the exponent?"
TIME = "Height and width are right. Which width has the time axis?"
SPACE = "Time is right. Which width have height and width?"
CHANGED = "Height and width have changed places: pairs 8 to 19 read the row."
REPEATED = "Height and width must read the row and the column. Yours read the frame."
ELSE = "Not yet. Print the angles of patch (1, 1, 1): they must be three falling ladders of 8, 12 and 12 speeds."


def axes_probe(student):
    """Say which axis is wrong, by the speeds of patches one step from the start."""
    by_axis = [student(*step, shape=(32,)) for step in np.eye(3)]
    right = [axial_angles(step, video_split(64)) for step in np.eye(3)]
    if all(close(*each) for each in zip(by_axis, right, strict=True)):
        far = (12.0, 29.0, 44.0)
        return None if close(student(*far, shape=(32,)), axial_angles(far, video_split(64))) else ELSE
    whole = inverse_frequencies(64)
    time, height, width = (slice(0, 8), slice(8, 20), slice(20, 32))
    speeds = by_axis[0][time], by_axis[1][height], by_axis[2][width]
    if close(by_axis[1][width], right[2][width]) and close(by_axis[2][height], right[1][height]):
        return CHANGED
    if np.any(by_axis[0][8:]):
        return REPEATED
    if close(np.concatenate(speeds), whole):
        return RESTART
    if all(close(found, whole[: len(found)]) for found in speeds):
        return TOO_SLOWLY
    fits = [close(found, want[part]) for found, want, part in zip(speeds, right, (time, height, width), strict=True)]
    return {(False, True, True): TIME, (True, False, False): SPACE}.get(tuple(fits), ELSE)


EXERCISES = [
    exercise(
        name="video_tokens",
        kind="predict",
        question="""
            CogVideoX reads a clip of 49 frames, each of 480 × 720 pixels. Its encoder keeps the first frame apart and
            makes one latent frame of every 4 that follow. One patch stands for an area of 16 × 16 pixels of the clip,
            and each patch is a token. How many video tokens are there?
            """,
        hint="How many latent frames are there? Then count the rows and the columns of patches in one of them.",
        checker=numbers(np.prod(CLIP), rtol=0),
        solution="answer = (1 + 48 // 4) * (480 // 16) * (720 // 16)",
        mistakes=[
            (49 * 30 * 45, "You count every frame of the clip. After the first one, four frames become one."),
            (12 * 30 * 45, "The first frame stays apart: it is a latent frame too."),
            (30 * 45, "That is one latent frame."),
            (13 * 60 * 90, "A patch stands for 16 x 16 pixels, not for 8 x 8."),
            (13 * 480 * 720, "Those are pixels. For how many pixels does a patch stand?"),
            (17776, "That counts the text tokens as well."),
        ],
        advice="Work out three numbers: latent frames, rows of patches, columns of patches.",
        why="13 latent frames of 30 × 45 patches.",
    ),
    exercise(
        name="patch_index",
        kind="derive",
        question="""
            The tokens stand frame by frame, in a frame row by row, in a row column by column. A frame has 30 rows and
            45 columns, and all counting starts at 0. Write the number of the token at frame t, row h, column w.
            """,
        hint="How many tokens stand before frame t? How many stand in this frame before row h?",
        starter="""
            def patch_index(t, h, w):
                return ...
            """,
        checker=formula(
            lambda t, h, w: (t * 30 + h) * 45 + w, lambda rng: tuple(int(rng.integers(n)) for n in (13, 30, 45))
        ),
        solution="""
            def patch_index(t, h, w):
                return (t * 30 + h) * 45 + w
            """,
        mistakes=[
            ("def patch_index(t, h, w): return (t * 45 + w) * 30 + h", "That runs down each column first."),
            ("def patch_index(t, h, w): return (t * 45 + h) * 30 + w", "How many tokens does one row hold?"),
            ("def patch_index(t, h, w): return (h * 45 + w) * 13 + t", "That lists all frames of one patch together."),
            ("def patch_index(t, h, w): return (t * 13 + h) * 45 + w", "How many rows does one frame hold?"),
            ("def patch_index(t, h, w): return (t * 30 + h) * 45 + w + 1", "Counting starts at 0."),
            ("def patch_index(t, h, w): return t * 30 + h * 45 + w", "One frame holds more than 30 tokens."),
        ],
        advice="Try (0, 0, 44), (0, 1, 0) and (1, 0, 0): they must give 44, 45 and 1,350.",
        why="The last token, (12, 29, 44), has the number 17,549.",
    ),
    exercise(
        name="pairs_per_axis",
        kind="predict",
        question="""
            A head of CogVideoX has 64 features. A quarter of them reads time, three eighths read height and three
            eighths read width. How many *pairs* does each axis get? Give three numbers.
            """,
        hint="Count the features of each axis first. Two features make a pair.",
        starter="answer = [..., ..., ...]  # time, height, width",
        checker=numbers([width // 2 for width in video_split(64)], rtol=0),
        solution="answer = [64 // 4 // 2, 64 * 3 // 8 // 2, 64 * 3 // 8 // 2]",
        mistakes=[
            ([16, 24, 24], "Those are features. How many pairs are they?"),
            ([384, 576, 576], "You cut the whole model. The cut is made in each head."),
            ([768, 1152, 1152], "You cut the whole model, and those are features."),
            ([12, 12, 8], "Time comes first."),
        ],
        advice="The three numbers must add up to all the pairs of a head of 64.",
        why="8 + 12 + 12 = 32 pairs.",
    ),
    exercise(
        name="axis_periods",
        kind="predict",
        question="""
            Each axis has speeds from 1 down, as a head of its own width would: 16 for time, 24 for height, base 10,000.
            In how many frames does the slowest time hand make one full turn, and in how many rows the slowest height
            hand? Give two numbers.
            """,
        hint="Put the width of the axis, not of the head, into `wavelengths(inverse_frequencies(...))`.",
        starter="answer = [..., ...]  # frames, rows",
        checker=numbers(SLOWEST),
        solution="answer = [wavelengths(inverse_frequencies(width))[-1] for width in (16, 24)]",
        mistakes=[
            ([47117.24, 47117.24], "That is one ladder for the whole head of 64. Each axis has its own."),
            ([2 * np.pi, 2 * np.pi], "Those are the fastest hands."),
            ([3162.28, 4641.59], "That is one radian. How many radians make a turn?"),
            ([62831.85, 62831.85], "The slowest speed is not quite 1/10,000. Look at the last exponent."),
            (SLOWEST[::-1], "The axis with more pairs reaches the slower speed."),
        ],
        advice="Print `inverse_frequencies(16)`, and divide a full turn by its last entry.",
        why="A clip has 13 latent frames: this hand will turn by 0.004 radians in it.",
    ),
    exercise(
        name="straight_or_slanted",
        kind="predict",
        question="""
            A query and all keys are vectors of ones. Key A stands 10 columns to the right of the query, in the same row
            and frame. Key B stands 7 columns to the right and 7 rows down, in the same frame: about as far. Which key
            scores higher: `"a"`, `"b"`, or are they the `"same"` to the first decimal?
            """,
        hint="The score is a sum of parts from time, height and width. Which parts are at their highest?",
        starter="answer = ...  # one word, in quotes",
        checker=choice("a", "b", "same"),
        solution="""
            width = 2 * np.cos(np.outer([0, 7, 10], inverse_frequencies(24))).sum(axis=1)
            a, b = width[2] + width[0], width[1] + width[1]
            answer = "a" if a > b else "b"
            """,
        mistakes=[
            ("b", "At B both the height part and the width part have come down. Work out both sums."),
            ("same", "That would be so if one clock read the distance in the plane. Each pair reads one axis only."),
        ],
        advice="",
        why="A keeps the full part of height. Scores: 53.9 at A and 50.1 at B, of 64 at the query itself.",
    ),
    true_or_false(
        name="clip_moves",
        question="The whole clip moves: each patch is placed 5 frames, 10 rows and 20 columns further on. The text in "
        "front of it stays, and no q or k changes before the turn. Which sentences are true?",
        sentences=[
            (
                "The score of two patches of the video stays the same.",
                True,
                "What happens to the difference of their coordinates?",
            ),
            (
                "The turned query of each patch stays the same.",
                False,
                "Its coordinates have changed, and so have its angles.",
            ),
            (
                "The score of a text query with a video key stays the same.",
                False,
                "One of the two turns further now, and the other does not turn at all.",
            ),
            ("The score of two text tokens stays the same.", True, "Does either of them turn?"),
        ],
        hint="A score depends on the difference of the two angles in each pair. Text tokens have angle zero.",
        why="The figure below measures all but the second.",
    ),
    exercise(
        name="squeezed_rows",
        kind="predict",
        question="""
            A model was trained on 30 × 45 patches. A tall video of 45 × 30 patches is squeezed into that grid: its 45
            rows share the trained rows, so row k stands at 0 + (30 − 0) · k/45. Where do row 1 and row 44, the last
            one, stand?
            """,
        hint="Put k = 1 and k = 44 into the formula.",
        starter="answer = [..., ...]  # row 1, row 44",
        checker=numbers(SQUEEZED[[1, 44]]),
        solution="answer = [30 * k / 45 for k in (1, 44)]",
        mistakes=[
            ([1, 44], "Those are whole steps. The rows stand closer here."),
            ([1.5, 66], "You stretched the rows. They must be squeezed."),
            ([30 / 44, 30], "You divided by one less than the number of rows."),
            ([29 / 44, 29], "Your last row stands on the last trained row. Take the formula as it is."),
        ],
        advice="Neighbouring rows stand less than one step apart.",
        why="Two thirds of a step from row to row, and no row at 30 or beyond. The last trained row stands at 29.",
    ),
    exercise(
        name="text_after_video",
        kind="predict",
        question="""
            Three text tokens have the positions 0, 1 and 2. Then comes a video of 6 frames of 2 × 2 tokens: it begins
            at position 3 on all three axes. At which position does the next text token stand if it follows the largest
            position of the video on any axis, and if it follows the larger of height and width only? Give two numbers.
            """,
        hint="List the time, row and column positions that the video takes, all counted from 3.",
        starter="answer = [..., ...]  # after the largest, after the grid",
        checker=numbers(FIRST_TEXT, rtol=0),
        solution="answer = [3 + max(6, 2, 2), 3 + max(2, 2)]",
        mistakes=[
            (FIRST_TEXT[::-1], "The two rules have changed places."),
            ([27, 27], "A patch does not take a number of its own: patches share rows, columns and frames."),
            ([8, 4], "Those are the last positions of the video. Text stands one further."),
            ([9, 9], "By the second rule the number of frames does not count."),
            ([5, 5], "By the first rule the number of frames counts too."),
            ([6, 2], "The video begins at position 3, not 0."),
        ],
        advice="Which is the largest number on each of the three axes of the video?",
        why="By the second rule text takes positions that some frames already have.",
    ),
    exercise(
        name="with_text",
        kind="code",
        question="""
            Write the coordinates of a whole input: first `text_tokens` text tokens, which must not turn, then the
            video. Return an array with one row a token and three columns: frame, row and column of the patch.
            """,
        hint="Rows of zeros for the text. For the video, `np.indices` gives the three coordinates of every patch.",
        starter="""
            def with_text(text_tokens, frames, height, width):
                return ...
            """,
        checker=function(text_probe),
        solution=WITH_TEXT,
        mistakes=[
            (edit(WITH_TEXT, ("np.zeros((text_tokens, 3))", "np.arange(text_tokens)[:, None] * np.ones(3)")), NUMBERED),
            (edit(WITH_TEXT, ("(text, video)", "(video, text)")), TEXT_LAST),
            (edit(WITH_TEXT, ("(text, video)", "(text, text_tokens + video)")), PUSHED),
            (edit(WITH_TEXT, ("(text, video)", "(text, 1 + video)")), FROM_ONE),
            (edit(WITH_TEXT, ("(text, video)", "(text, video[:, ::-1])")), NAMES),
            (edit(WITH_TEXT, (".reshape(3, -1)", ".swapaxes(2, 3).reshape(3, -1)")), NESTED),
            (edit(WITH_TEXT, ("(text, video)", "(text, 2 * video)")), NEITHER),
        ],
        advice="",
        why="For 226 text tokens and 13 × 30 × 45 patches that is 17,776 rows, the input of CogVideoX.",
    ),
    exercise(
        name="mend_axes",
        kind="repair",
        question="""
            This function should return the 32 angles of patch (t, h, w) in a head of CogVideoX. It cuts one ladder of
            speeds for 64 features into three pieces, so that height and width never get a fast hand. Repair it.
            """,
        hint="Give time the speeds of a head of 16, and height and width those of a head of 24.",
        starter=ONE_LADDER,
        checker=function(axes_probe),
        solution=MENDED,
        mistakes=[
            (ONE_LADDER, RESTART),
            (edit(MENDED, ("/ 16", "/ 64"), ("/ 24", "/ 64")), TOO_SLOWLY),
            (edit(MENDED, ("/ 16", "/ 24")), TIME),
            (edit(MENDED, ("/ 24", "/ 16")), SPACE),
            (edit(MENDED, ("h * space, w * space", "w * space, h * space")), CHANGED),
            (edit(MENDED, ("h * space, w * space", "t * space, t * space")), REPEATED),
            (edit(MENDED, ("10000.0", "500000.0")), ELSE),
        ],
        advice="",
        why="Angle 0 of each axis is the coordinate itself: speed 1.",
    ),
    true_or_false(
        name="true_or_false_08",
        question="Which of these sentences about CogVideoX with RoPE are true?",
        sentences=[
            (
                "Its time axis has 384 hands with 384 speeds.",
                False,
                "How many features of one head read time, and do heads have different speeds?",
            ),
            (
                "A model whose text stands first without a turn sees no difference when the whole clip is moved.",
                False,
                "Look at the bars of a text query and a video key.",
            ),
            (
                "A token that must not turn gets zeros for its coordinates.",
                True,
                "Which angles follow from coordinates of zero?",
            ),
            (
                "Once the angles are there, turning a query of the video is the same as turning a query of a text.",
                True,
                "Does `apply_rope` ask where the angles come from?",
            ),
            (
                "For a video of twice as many rows and columns, linspace puts neighbouring rows half a step apart.",
                True,
                "Two rows share what one row had.",
            ),
            (
                "Slice keeps every coordinate within those of the training, whatever the size of the video.",
                False,
                "Where does row 44 stand, if the training had 30 rows?",
            ),
        ],
        hint="Each sentence is settled by a figure or a printed number on this page.",
        why="One head, three clocks, and an ordinary turn.",
    ),
]
