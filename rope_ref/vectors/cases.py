"""The cases: what each is for, its positions and its parameters. Those of a scaling method stand in its file."""

from fractions import Fraction

import numpy as np

from rope_ref.scaling import METHODS

__all__ = ["CASES"]


def case(
    about,
    position_ids=(range(6),),
    *,
    heads=1,
    pairing="interleaved",
    turn="forward",
    head_dim=8,
    rotary_dim=None,
    base=10000.0,
    scaling="plain",
    options=None,
    **more,
):
    """Describe a case; `more` goes into its parameters."""
    parameters = {"head_dim": head_dim, "rotary_dim": rotary_dim or head_dim}
    parameters |= {"base": base, "scaling": scaling, "options": options or {}} | more
    return {
        "about": about,
        "position_ids": np.array(position_ids),
        "heads": heads,
        "pairing": pairing,
        "turn": turn,
        "parameters": parameters,
    }


def scaled(about, scaling, options, settings=None):
    """Describe a case of scaled speeds: one head, positions near and far."""
    about, position_ids = f"Scaled speeds. {about}", [[37, 4095, 131072]]
    settings = {"pairing": "half", "width": 32} | (settings or {})
    width = settings.pop("width")
    return case(about, position_ids, head_dim=width, scaling=scaling, options=options, **settings)


def axial(about, position_ids, rotary_dims, bases, *, pairing="interleaved", alternating=False):
    """Describe a case of several axes, a ladder of speeds each."""
    described = case(f"Several axes. {about}", [position_ids], pairing=pairing, head_dim=sum(rotary_dims))
    ladders = {"rotary_dims": rotary_dims, "bases": bases, "alternating": alternating}
    widths = {key: described["parameters"][key] for key in ("head_dim", "rotary_dim")}
    return described | {"parameters": widths | ladders}


def mrope(about, position_ids, sections, segments, *, interleaved=False, **more):
    """Describe a case of M-RoPE: three axes that share one ladder."""
    more |= {"sections": sections, "interleaved_sections": interleaved, "segments": segments}
    return case(f"M-RoPE. {about}", [position_ids], pairing="half", head_dim=2 * sum(sections), **more)


PARTS = {"factor": 8.0, "original_length": 2048}
XPOS = {"position_ids": [[0, 1, 100, 1023]], "heads": 1}
# Frame, row and column: a text token before a video, and three of its 13 x 30 x 45 patches.
VIDEO = [[0, 0, 0], [0, 0, 44], [7, 14, 23], [12, 29, 44]]
# Patches (0, 0, 0), (3, 8, 5) and (12, 29, 39) of 13 x 30 x 40, put on columns 2 to 42 of a grid of 30 x 45.
COLUMNS = [float(2 + (Fraction(42 * 39, 40) - 2) * Fraction(column, 39)) for column in (0, 5, 39)]
CROPPED = [[0, 0, COLUMNS[0]], [3, 8, COLUMNS[1]], [12, 29, COLUMNS[2]]]
IMAGE = [[row, column] for row in range(2) for column in range(3)]
TEXT_IMAGE_TEXT = [["text", 2], ["image", [1, 2, 2]], ["text", 2]]
IMAGE_IDS = [[0] * 3, [1] * 3, [2, 2, 2], [2, 2, 3], [2, 3, 2], [2, 3, 3], [4] * 3, [5] * 3]
TEXT_VIDEO_TEXT = [["text", 1], ["video", [3, 1, 2], 2], ["text", 1]]
VIDEO_IDS = [[0] * 3, [1, 1, 1], [1, 1, 2], [3, 1, 1], [3, 1, 2], [5, 1, 1], [5, 1, 2]]

CASES = {
    "interleaved": case("Pairs (2i, 2i + 1) over the whole head, as in the paper.", heads=2),
    "half": case(
        "Pairs (i, i + d/2) over the whole head, as in GPT-NeoX and transformers' Llama.", heads=2, pairing="half"
    ),
    "interleaved_partial": case("The first 6 of 10 features turn.", head_dim=10, rotary_dim=6),
    "half_partial": case(
        "The first 6 of 10 features turn, pairs (i, i + 3).", head_dim=10, rotary_dim=6, pairing="half"
    ),
    "interleaved_block": case("Features 2 to 5 of 8 turn.", rotary_dim=4, first_feature=2),
    "half_one_pair": case("A head of one pair.", head_dim=2, pairing="half"),
    "half_wide": case("A head of 128, base 500000.", [[1000, 8191]], pairing="half", head_dim=128, base=500000.0),
    "interleaved_in_half_out": case(
        "Pairs read as (2i, 2i + 1), written as (i, i + d/2), as in transformers' DeepSeek-V3.",
        pairing="interleaved in, half out",
    ),
    "long_positions": case(
        "Positions that bfloat16 and float16 merge, and 1,000,000.",
        [[255, 257, 2049, 4097, 65537, 1_000_000]],
        heads=2,
        head_dim=16,
    ),
    "half_very_long_positions": case(
        "Positions up to 2**26; float32 merges 2**24 + 1 with its neighbour.",
        [[1_048_575, 2**24 - 1, 2**24 + 1, 2**26 - 1, 2**26]],
        pairing="half",
        head_dim=16,
    ),
    "pi_positions": case("Positions next to multiples of pi / 2.", [[11, 22, 355, 710, 103993, 312689]]),
    "half_negative_positions": case("Negative positions.", [[-1, -2, -710, -4097, -1_000_000]], pairing="half"),
    "half_left_padding": case(
        "The first row is padded at its left; padding has position 0.",
        [[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]],
        pairing="half",
        attention_mask=[[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]],
    ),
    "half_right_padding": case(
        "The first row is padded at its right; padding has position 0.",
        [[0, 1, 2, 0, 0], [0, 1, 2, 3, 4]],
        pairing="half",
        attention_mask=[[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]],
    ),
    "half_packed": case(
        "Three documents in one row.", [[0, 1, 2, 0, 0, 1, 2]], pairing="half", document_lengths=[3, 1, 3]
    ),
    "interleaved_offsets": case(
        "Each sequence starts elsewhere; batch, heads and seq_len are all 3.",
        [[0, 1, 2], [7, 8, 9], [1000, 1001, 1002]],
        heads=3,
        head_dim=6,
    ),
    "half_decode": case("One new token for each of two sequences.", [[250], [7]], heads=2, pairing="half"),
    **{
        name: scaled(about, method.make.__name__, *settings)
        for method in METHODS.values()
        for name, (about, *settings) in (method.vectors or {}).items()
    },
    "half_inverse": case("Undoes a turn by the opposite angle.", heads=2, pairing="half", turn="inverse"),
    "yarn_inverse": scaled("Undoes YaRN: the opposite angle, and 1 / a.", "yarn", PARTS, {"turn": "inverse"}),
    "yarn_gradient": scaled("Gradient of YaRN: the opposite angle, and a.", "yarn", PARTS, {"turn": "gradient"}),
    "xpos_query": case("A query of xPos.", **XPOS, xpos={"role": "query", "scale_base": 512, "center": 0}),
    "xpos_key": case("A key of xPos.", **XPOS, xpos={"role": "key", "scale_base": 512, "center": 0}),
    "xpos_half": case(
        "A key of xPos in half-split pairs, not scaled at position 512.",
        **XPOS,
        pairing="half",
        xpos={"role": "key", "scale_base": 512, "center": 512},
    ),
    "cogvideox": axial("CogVideoX: a text token and three patches.", VIDEO, [16, 24, 24], [10000.0] * 3),
    "cogvideox_cropped": axial(
        "CogVideoX at another size: 30 x 40 patches in the middle of 30 x 45.", CROPPED, [16, 24, 24], [10000.0] * 3
    ),
    "three_bases": axial(
        "A base for each axis, pairs over the whole head, as in Cosmos.",
        [[0, 0, 0], [1, 2, 3], [7, 5, 6]],
        [8, 6, 6],
        [20000.0, 10000.0, 40000.0],
        pairing="half",
    ),
    "vision_half": axial("The vision tower of Qwen2-VL.", IMAGE, [8, 8], [10000.0] * 2, pairing="half"),
    "vision_half_by_axis": axial(
        "The vision tower of Gemma 4: pairs inside the features of each axis.",
        IMAGE,
        [8, 8],
        [100.0] * 2,
        pairing="half by axis",
    ),
    "vision_alternating": axial("Lumina: rows and columns in turn.", IMAGE, [8, 8], [10000.0] * 2, alternating=True),
    "mrope": mrope(
        "Qwen2-VL: three blocks of pairs. Text, an image, text.", IMAGE_IDS, [2, 3, 3], TEXT_IMAGE_TEXT, base=1e6
    ),
    "mrope_video": mrope(
        "A video, two positions a frame; text goes on after its largest position.",
        [*VIDEO_IDS, [6] * 3],
        [2, 3, 3],
        TEXT_VIDEO_TEXT,
        base=1e6,
        after_video="largest",
    ),
    "mrope_interleaved": mrope(
        "Qwen3-VL: pairs in turn. After the video text goes on after its rows and columns.",
        [*VIDEO_IDS, [3] * 3],
        [4, 2, 2],
        TEXT_VIDEO_TEXT,
        interleaved=True,
        base=5e6,
        after_video="grid",
    ),
    "mrope_yarn": mrope("Scaled speeds.", IMAGE_IDS, [2, 3, 3], TEXT_IMAGE_TEXT, scaling="yarn", options=PARTS),
}
