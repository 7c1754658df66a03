"""How wide a head is, how much of it turns, which features pair, and which axis turns each pair."""

from rope_ref.checks import check_bool, check_count, check_fraction, check_integer, check_weight
from rope_ref.config.entry import agreed
from rope_ref.config.layers import named

__all__ = []

# Names of one thing, the one in use today first.
HIDDEN_SIZE = ("hidden_size", "n_embd", "d_model")
HEADS = ("num_attention_heads", "n_head", "n_heads")
HEAD_DIM = ("head_dim", "kv_channels")
SHARE = ("partial_rotary_factor", "rotary_pct", "rope_pct")
ORDERS = {"blocks": False, "interleaved": True, "alternating": "alternating"}


def of_kind(value, label):
    """Return what a row gives to one layer type, where it gives one to each; else what it gives to all."""
    return value.get(label) if isinstance(value, dict) else value


def layer_head_dim(part, layer):
    """List the head_dim that a table of single layers gives to one, as (name, value): it may stand under 5 or "05"."""
    table = part.part("per_layer_config")
    rows = {str(key).lstrip("0"): key for key in table.mapping}
    if not rows or layer.number is None:
        return []
    key = rows.get(str(layer.number).lstrip("0"))
    return [] if key is None else table.part(key).found("head_dim", check=check_count)


def head_dim_keys(part, row, label):
    """Return the names under which a file may give the width of one head."""
    ignored, own = row.get("ignored", []), row.get("head_dim")
    whole = part.get("global_head_dim") is not None or isinstance(own, dict)
    if label == "full_attention" and whole:
        return ("global_head_dim",)
    return [key for key in HEAD_DIM if key not in ignored]


def read_head_dim(part, row, layer, label):
    """Return the width of one head."""
    own = agreed(layer_head_dim(part, layer))
    given = agreed(part.found(*head_dim_keys(part, row, label), check=check_count) + named(part, row, "head_dim"))
    head_dim = own or given or of_kind(row.get("head_dim"), label)
    if head_dim is not None:
        return head_dim
    sizes = part.found(*HIDDEN_SIZE, check=check_count), part.found(*HEADS, check=check_count)
    sizes = sizes[0], sizes[1] + named(part, row, "num_attention_heads")
    for found, key in zip(sizes, (HIDDEN_SIZE[0], HEADS[0]), strict=True):
        if not found:
            raise ValueError(f"{part.name(key)} must be given where head_dim is not, got none")
    hidden, heads = agreed(sizes[0]) * (2 if row.get("double") else 1), agreed(sizes[1])
    if hidden % heads and not row.get("odd"):
        raise ValueError(f"{sizes[0][0][0]} must be a multiple of {sizes[1][0][0]}, got {hidden} and {heads}")
    return hidden // heads


def read_share(part, rope, row, layer, label, nested):
    """Return the share of the head that is turned, and where it stands; none where nothing is said."""
    found = rope.found(SHARE[0], check=check_fraction)
    of_all = part.found(*SHARE, check=check_fraction)
    if layer.share is not None:
        return [layer.share]
    if not (nested and found):
        found += of_all
    left_out = None if nested and isinstance(row.get("share"), dict) else of_kind(row.get("share"), label)
    for holder in (rope, part):
        if left_out is not None and not found and SHARE[0] in holder.mapping:
            raise ValueError(f"{holder.name(SHARE[0])} must be a number or left out for {row['family']}, got None")
    return found or ([] if left_out is None else [(part.name(SHARE[0]), left_out)])


def apart_width(part, row):
    """Return the width of the part of a head that is kept apart and turned; None where there is none."""
    value = part.get("qk_rope_head_dim")
    if row.get("apart") and part.get("use_mla") is not False:
        part.need("qk_rope_head_dim", f"for {row['family']}", check_count)
    if part.get("use_mla") is False and value:
        raise ValueError(f"{part.name('qk_rope_head_dim')} must be 0 or left out where use_mla is false, got {value!r}")
    if value is None or (check_integer(value, part.name("qk_rope_head_dim")) == 0 and part.get("use_mla") is False):
        return None
    return check_count(value, part.name("qk_rope_head_dim"))


def read_widths(part, rope, row, kind, layer, label, nested):
    """Return the rotated width, the width of one head, and the share of the first in the second if it is a whole."""
    apart, found = apart_width(part, row), read_share(part, rope, row, layer, label, nested)
    if apart is not None:  # the rotated part stands alone, and the share says what it is of the whole
        whole = part.found("head_dim", check=check_count) if row.get("apart") else []
        fitting = int(whole[0][1] * (agreed(found) or 1)) == apart if whole else bool(row) or fits(part, found, apart)
        if not fitting:
            name, value = (whole or found)[0]
            raise ValueError(f"{name} must give the width of qk_rope_head_dim, {apart}, got {value}")
        return check_pairs(apart, apart, part.name("qk_rope_head_dim")), apart, 1.0
    head_dim, share = read_head_dim(part, row, layer, label), agreed(found)
    if kind == "proportional":
        return check_pairs(head_dim, head_dim, part.name("head_dim")), head_dim, 1.0 if share is None else share
    widths = [(name, int(head_dim * value)) for name, value in found]
    for key in row.get("needs", []):
        part.need(key, f"for {row['family']}", check_count)
    given = [] if "rotary_dim" in row.get("ignored", []) else part.found("rotary_dim", check=check_count)
    width = agreed(given + widths)
    if row:
        refuse_ignored(row, label, given, widths, head_dim)
    name = next((name for name, _ in [*widths, *given]), part.name("head_dim"))
    if row.get("odd") and kind == "default" and width and width % 2:  # a last pair, and the exponent over the odd width
        return check_pairs(width + 1, head_dim, name), head_dim, 1 + 1 / width
    return check_pairs(head_dim if width is None else width, head_dim, name), head_dim, 1.0


def refuse_ignored(row, label, given, widths, head_dim):
    """Raise if a file gives a width or a share that the code of a family passes over, and that is not its own."""
    shares = row.get("partial") or (of_kind(row.get("share"), label) and not row.get("whole"))
    turned = widths[0][1] if widths and shares else head_dim
    narrow = row.get("narrow") or "rotary_dim" in row.get("needs", ())
    for name, value in [*([] if narrow else given), *([] if shares else widths)]:
        if value != turned:
            whole = "whole heads" if turned == head_dim else f"a width of {turned}"
            raise ValueError(f"{name} must be left out for {row['family']}, whose code turns {whole}, got {value}")


def fits(part, found, apart):
    """Tell whether a share, if any, is that of the part that turns in a head with a part that does not."""
    still = agreed(part.found("qk_nope_head_dim", check=check_weight)) or 0
    share = agreed(found)
    return share is None or share == 1 or share * (apart + still) == apart


def check_pairs(width, head_dim, name):
    """Return the rotated width, or raise: it must be even and within the head."""
    if width % 2 or not 0 < width <= head_dim:
        raise ValueError(f"{name} must give an even rotary_dim of at most head_dim, {head_dim}, got {width}")
    return width


def read_order(rope, row):
    """Return how the axes of M-RoPE are dealt out: the order of the family, with which the file must agree."""
    given = agreed(rope.found("mrope_interleaved", "interleaved", check=check_bool))
    order = ORDERS[row["order"]] if "order" in row else bool(given)
    if given is not None and given != bool(order) and order != "alternating":
        name = rope.name("mrope_interleaved" if rope.get("mrope_interleaved") is not None else "interleaved")
        raise ValueError(f"{name} must be {str(order).lower()} for {row['family']}, got {str(given).lower()}")
    return order


def left_out_sections(rope, row, pairs):
    """Return the sections that a family's code has where the file gives none; None where there are none."""
    own = row.get("sections")
    if own == "halves":
        return (0, pairs // 2, pairs // 2)
    if own is None:
        return None
    if row["order"] == "interleaved":  # height and width take every third pair, time all that is left
        taken = [len(range(axis, min(3 * own[axis], pairs), 3)) for axis in (1, 2)]
        return (pairs - sum(taken), *taken)
    if sum(own) != pairs:
        name = rope.name("mrope_section")
        raise ValueError(f"{name} must be given: {own}, which {row['family']} has without it, is not of {pairs} pairs")
    return tuple(own)


def read_sections(part, rope, row, rotary_dim):
    """Return how many pairs read each axis (time, height, width), and how they are dealt out."""
    pairs, order = rotary_dim // 2, read_order(rope, row)
    lists = [(rope.name(key), rope.list(key)) for key in ("mrope_section", "xdrope_section")]
    found = [(name, sections) for name, sections in lists if sections is not None]
    sections, name = agreed(found), found[0][0] if found else None
    if sections is None:
        if "mrope" in (rope.get("rope_type"), rope.get("type")):
            rope.need("mrope_section", "for the type 'mrope'")
        sections = left_out_sections(rope, row, pairs)
        return sections, order if sections else False
    sections = tuple(check_count(section, name) for section in sections)
    if sum(sections) != pairs:
        raise ValueError(f"{name} must sum to the {pairs} pairs of a rotary_dim of {rotary_dim}, got {list(sections)}")
    if order == "alternating":  # such files give height, width, time, and the last once more
        agreed([(name, sections[-1]), *part.found("freq_allocation", check=check_count)])
        sections = sections[2:] + sections[:2]
    return sections, order


def read_pairing(part, row):
    """Return which features form a pair; None where the family is not known."""
    given = part.found("rope_interleave", check=check_bool)
    if part.get("use_mla") is False:
        return None  # another attention than the family's own, whose pairing is not known here
    if not given:
        return row.get("pairing")
    return "interleaved" if agreed(given) else "half"
