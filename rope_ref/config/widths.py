"""How wide a head is, how much of it turns, and which axes its pairs read."""

from rope_ref.checks import check_bool, check_count, check_fraction
from rope_ref.config.entry import agreed
from rope_ref.config.families import LEFT_OUT, NEEDED
from rope_ref.config.layers import layer_width

__all__ = []

# Names of one thing, the one in use today first.
HIDDEN_SIZE = ("hidden_size", "n_embd", "d_model")
HEADS = ("num_attention_heads", "n_head", "n_heads")
HEAD_DIM = ("head_dim", "kv_channels")
SHARE = ("partial_rotary_factor", "rotary_pct", "rope_pct")


def read_head_dim(part, family, layer_type):
    """Return the width of one head."""
    left_out = LEFT_OUT.get(family, {})
    own = layer_width(part, layer_type)
    if own is not None:
        return own
    keys = HEAD_DIM
    if layer_type == "full_attention" and (part.get("global_head_dim") is not None or "global_head_dim" in left_out):
        keys = ("global_head_dim",)
    head_dim = agreed(part.found(*keys, check=check_count))
    if head_dim is None:
        head_dim = left_out.get(keys[0])
    if head_dim is not None:
        return head_dim
    sizes = part.found(*HIDDEN_SIZE, check=check_count), part.found(*HEADS, check=check_count)
    for found, key in zip(sizes, (HIDDEN_SIZE[0], HEADS[0]), strict=True):
        if not found:
            raise ValueError(f"{part.name(key)} must be given where head_dim is not, got none")
    hidden, heads = agreed(sizes[0]), agreed(sizes[1])
    if hidden % heads:
        raise ValueError(f"{sizes[0][0][0]} must be a multiple of {sizes[1][0][0]}, got {hidden} and {heads}")
    return hidden // heads


def read_share(part, rope, family, nested):
    """Return the share of the head that is turned, and where it stands; 1 where nothing is said."""
    found = rope.found(SHARE[0], check=check_fraction)
    if not (nested and found):
        found += part.found(*SHARE, check=check_fraction)
    left_out = LEFT_OUT.get(family, {}).get(SHARE[0])
    if not found and left_out is not None:
        found = [(part.name(SHARE[0]), left_out)]
    return found


def read_widths(part, rope, family, kind, layer_type, nested):
    """Return the rotated width, the width of one head, and the share of the first in the second."""
    apart = agreed(part.found("qk_rope_head_dim", check=check_count))
    if apart is not None:  # the rotated part stands alone, and the share says what it is of the whole
        return apart, apart, 1.0
    head_dim, found = read_head_dim(part, family, layer_type), read_share(part, rope, family, nested)
    share = agreed(found)
    if kind == "proportional":
        return head_dim, head_dim, 1.0 if share is None else share
    widths = [(name, int(head_dim * value)) for name, value in found]
    if family in NEEDED:
        part.need(NEEDED[family], f"for {family}", check_count)
    width = agreed(part.found("rotary_dim", check=check_count) + widths)
    width = head_dim if width is None else width
    if width % 2 or not 0 < width <= head_dim:
        name = next((name for name, _ in widths), part.name("head_dim" if width == head_dim else "rotary_dim"))
        raise ValueError(f"{name} must give an even rotary_dim of at most head_dim, {head_dim}, got {width}")
    return width, head_dim, 1.0


def read_sections(rope, rotary_dim):
    """Return how many pairs read each axis, and whether the axes alternate."""
    sections, name = rope.get("mrope_section"), rope.name("mrope_section")
    if sections is None:
        if "mrope" in (rope.get("rope_type"), rope.get("type")):
            rope.need("mrope_section", "for the type 'mrope'")
        return None, False
    if not isinstance(sections, (list, tuple)):
        raise TypeError(f"{name} must be a list of integers, got {sections!r}")
    sections, pairs = tuple(check_count(section, name) for section in sections), rotary_dim // 2
    if sum(sections) != pairs:
        raise ValueError(f"{name} must sum to the {pairs} pairs of a rotary_dim of {rotary_dim}, got {list(sections)}")
    return sections, agreed(rope.found("mrope_interleaved", "interleaved", check=check_bool)) or False
