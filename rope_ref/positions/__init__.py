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

from rope_ref.positions.axes import axial_angles, axial_pairs, axis_angles
from rope_ref.positions.grid import crop_region, video_grid, video_split
from rope_ref.positions.mrope import mrope_angles, mrope_axes, mrope_position_ids
from rope_ref.positions.tokens import from_attention_mask, packed, sequential
