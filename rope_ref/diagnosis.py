r"""Which convention, base, offset or known fault explains somebody's output.

The hands are read off the data. A law says how the cosine and the sine of a pair's angle enter two output features:
the rotation itself, or one of its known mix-ups. Every law is linear in the two, so they are solved for, for each pair
at each token; a law fits where cos² + sin² comes out the same everywhere. The angles then tell the speeds, the
direction and the offset, the speeds tell the base. Nothing is reported unless, computed anew, it gives the output back
within an error bound.
"""

import itertools
import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from rope_ref.faults import FAULTS, round_to_bits
from rope_ref.frequencies import as_real, check_positive, inverse_frequencies
from rope_ref.pairing import check_rotary_dim, join_pairs, split_pairs
from rope_ref.rotation import as_float_array
from rope_ref.scaling import llama3, ntk_base, yarn

__all__ = ["Diagnosis", "Explanation", "diagnose"]

PAIRINGS = ("interleaved", "half")
OTHER = {"interleaved": "half", "half": "interleaved"}
UNIT = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}  # half a unit, relative
SMALLEST = {"float16": 2.0**-25, "bfloat16": 2.0**-134}  # half a unit of the smallest numbers
BITS = {"float16": 11, "bfloat16": 8}
COMMON_BASES = (10_000.0, 500_000.0, 1_000_000.0, 100_000.0, 150_000.0, 256.0)
ORIGINAL_LENGTHS = tuple(2**k for k in range(9, 19))
OFFSETS = ((2**12, 1.0), (2**12, 0.5), (2**17, 1.0))  # how far offsets are looked for, and in which steps
TOKENS, ROWS = 192, 8  # how much of a large input the hands are read from; all of it is checked
SEARCHED = 24  # tokens that a base is looked for with
CHUNK = 2**18  # numbers compared at a time
ROUGH = 0.03  # how far lengths may differ before a law is dropped: half precision stays within
ALIKE = 1e-5  # how far few lengths may differ by chance
SINGLE = 1e-5  # how near a base may lie to another if the frequencies of that one are rounded to float32
FIT = 1e-12  # relative error of fitted numbers at least, however fine the data
PROBES = (1, 2, 3, 17, 100, 300, 1000, 3000, 10_000, 100_000)


@dataclass(frozen=True, eq=False)
class Explanation:
    """One way in which the output can have come about; computed anew, it gives the output back.

    Parameters
    ----------
    faults : tuple of str
        Names of the faults it takes, many of them keys of ``rope_ref.faults.FAULTS``; empty where nothing is wrong.
    what : str
        The same in words.
    pairing, written : {"interleaved", "half"}
        Pairing in which features are read, and order in which they are written.
    rotary_dim, start : int
        Number of features that are turned, and the first of them.
    base : float or None
        Base of the frequencies; None where they follow no base.
    inv_freq : ndarray of float64, shape (rotary_dim // 2,)
        Speed of each pair, in radians per token.
    direction : {1, -1}
        1 where a positive speed turns anticlockwise.
    offset : float
        What is added to every position, in tokens.
    attention_factor : float
        Length of the output over length of the input.
    error : float
        Largest distance from the output, in error bounds of its dtype.
    call : str or None
        Call that gives the output back, with ``import numpy as np``, ``from rope_ref import *`` and `scaling`, `FAULTS`
        and `round_to_bits` where it names them; None where there is no short one.

    Examples
    --------
    >>> x = np.random.default_rng(0).standard_normal((16, 8))
    >>> first = diagnose(x, FAULTS["cos and sin swapped"].rotate(x, np.arange(16))).explanations[0]
    >>> first.faults, first.base
    (('cos and sin swapped',), 10000.0)
    """

    faults: tuple
    what: str
    pairing: str
    written: str
    rotary_dim: int
    start: int
    base: float | None
    inv_freq: np.ndarray
    direction: int
    offset: float
    attention_factor: float
    error: float
    call: str | None


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What `diagnose` found; printed, it is a report.

    What the first explanation says, such as `base` or `offset`, can be read from the report itself too.

    Parameters
    ----------
    verdict : str
        The finding in one line: "right", "RoPE, but ...", "not RoPE ..." or what else there is to say.
    explanations : tuple of Explanation
        All that give the output back, the simplest first; none where it is not RoPE.
    sure : str
        How far the finding can be relied on.
    apart : str
        What would tell the explanations apart; empty where there is at most one.
    error : float
        Largest distance between the output and the first explanation, in error bounds of its dtype; nan where there is
        no explanation.
    dtype : str
        The dtype whose bound was used.

    Examples
    --------
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> found = diagnose(x, x)
    >>> found.rope, found.right
    (False, False)
    """

    verdict: str
    explanations: tuple
    sure: str
    apart: str
    error: float
    dtype: str

    @property
    def right(self):
        """Whether the output is right as far as the input can show."""
        return self.verdict.startswith("right")

    @property
    def rope(self):
        """Whether the output is a rotation of the input, right or wrong."""
        return self.verdict.startswith(("right", "RoPE"))

    @property
    def faults(self):
        """Names of the faults in all explanations: each may be there, none is proved while another is in the list."""
        return tuple(dict.fromkeys(name for each in self.explanations for name in each.faults))

    def __getattr__(self, name):
        """Pass on what the first explanation says: `pairing`, `base`, `offset` and so on."""
        if name in Explanation.__dataclass_fields__ and self.__dict__.get("explanations"):
            return getattr(self.explanations[0], name)
        raise AttributeError(f"Diagnosis has no {name!r}; what an explanation says needs one")

    def __str__(self):
        lines = [self.verdict, f"Sure: {self.sure}"]
        for number, each in enumerate(self.explanations, 1):
            lines += [f"{number}. {' and '.join(each.faults) or 'as meant'}: {each.what}", *hands(each)]
            lines += [f"   call        {each.call}"] if each.call else []
        lines += [self.apart] if self.apart else []
        return "\n".join(lines)


# Laws: how the cosine and the sine of a pair enter the output -------------------------------------------------------

Law = namedtuple("Law", "name read write grid forward linear")
Law.__doc__ = """A way of making y from x, cos and sin.

`forward` takes (x, cos, sin). `linear` takes (x, y, cos, sin), is linear in cos and sin, and gives `y` back for the
right ones. Pair i of `grid` are the two output features that cos and sin of pair i enter.
"""


def as_linear(forward):
    """Make `linear` of a law whose output is linear in cos and sin already."""
    return lambda x, y, cos, sin: forward(x, cos, sin)


def rotation(read, write):
    """Turn pairs of the pairing `read` and write them in the order of the pairing `write`."""

    def forward(x, cos, sin):
        first, second = split_pairs(x, read)
        return join_pairs(first * cos - second * sin, first * sin + second * cos, write)

    return Law("rotation", read, write, write, forward, as_linear(forward))


def lost_minus(pairing):
    """Lose the minus sign of the first feature."""

    def forward(x, cos, sin):
        first, second = split_pairs(x, pairing)
        return join_pairs(first * cos + second * sin, first * sin + second * cos, pairing)

    return Law("lost minus", pairing, pairing, pairing, forward, as_linear(forward))


def in_place(pairing):
    """Compute the second feature from the first one's new value."""

    def forward(x, cos, sin):
        first, second = split_pairs(x, pairing)
        first = first * cos - second * sin
        return join_pairs(first, first * sin + second * cos, pairing)

    def linear(x, y, cos, sin):
        first, second = split_pairs(x, pairing)
        return join_pairs(first * cos - second * sin, split_pairs(y, pairing)[0] * sin + second * cos, pairing)

    return Law("in place overwrite", pairing, pairing, pairing, forward, linear)


def mixed(table):
    """Lay out the table for one pairing and take the quarter turn of the other."""
    quarter = OTHER[table]

    def forward(x, cos, sin):
        first, second = split_pairs(x, quarter)
        return x * join_pairs(cos, cos, table) + join_pairs(-second, first, quarter) * join_pairs(sin, sin, table)

    return Law("table and quarter turn of two pairings", quarter, table, table, forward, as_linear(forward))


def added(layout, cosine_first):
    """Add a vector of cosines and sines."""

    def forward(x, cos, sin):
        return x + (join_pairs(cos, sin, layout) if cosine_first else join_pairs(sin, cos, layout))

    return Law("added instead of rotated", layout, layout, layout, forward, as_linear(forward))


ROTATIONS = [rotation(read, write) for write in PAIRINGS for read in (write, OTHER[write])]
MIX_UPS = [make(pairing) for make in (lost_minus, in_place, mixed) for pairing in PAIRINGS]
ADDITIONS = [added(layout, cosine_first) for layout in PAIRINGS for cosine_first in (False, True)]


# What is looked at ---------------------------------------------------------------------------------------------------

View = namedtuple("View", "x y positions dtype recast given axis fault base rotary_dim any_width", defaults=(False,))
View.__doc__ = """Input and output as float64 of shape (rows, tokens, head_dim), and the position of each token.

`dtype` names the coarser of the two dtypes, `recast` tells that they differ, `given` that the caller named the
positions, `axis` along which axis they run, `fault` what is wrong if this view explains the output; `base` and
`rotary_dim` are what was meant. `any_width` says that slow pairs may have turned too little to be seen.
"""


def as_view(x, y, ids, axis, fault, **rest):
    """Put the axis of positions next to the last, all others in front, and ids of a batch in one row."""
    x, y = (np.moveaxis(each, axis, -2) for each in (x, y))
    if ids.ndim == 2:  # (batch, seq_len): batch and tokens become one axis of positions
        x, y = (np.moveaxis(each, 0, -3).reshape(*each.shape[1:-2], -1, each.shape[-1]) for each in (x, y))
    x, y = (each.reshape(-1, *each.shape[-2:]) for each in (x, y))
    return View(x, y, ids.ravel(), axis=axis, fault=fault, **rest)


def as_ids(position_ids, x):
    """Return positions as float64 of shape (seq_len,) or (batch, seq_len), or raise."""
    if position_ids is None:
        return np.arange(float(x.shape[-2]))
    ids = as_real(position_ids, "position_ids")
    if ids.ndim == 0:
        return np.full(x.shape[-2], float(ids))
    if ids.ndim == 2 and ids.shape[0] == 1:
        ids = ids[0]
    if ids.shape != x.shape[-2:-1] and (x.ndim < 3 or ids.shape != (x.shape[0], x.shape[-2])):
        raise ValueError(
            f"position_ids must have shape (), (seq_len,) or (batch, seq_len) to meet x, got {ids.shape} for {x.shape}"
        )
    return ids


def views(x, y, position_ids, base, rotary_dim):
    """List the ways to lay positions on the tokens, the right one first."""
    coarse = max(x.dtype.name, y.dtype.name, key=UNIT.get)
    rest = dict(dtype=coarse, recast=x.dtype != y.dtype, given=position_ids is not None, base=base)
    rest["rotary_dim"] = rotary_dim
    ids = as_ids(position_ids, x)
    x, y = x.astype(np.float64), y.astype(np.float64)
    found = [as_view(x, y, ids, -2, None, **rest)]
    index = np.arange(float(x.shape[-2]))
    if (ids != index).any():
        found.append(as_view(x, y, index, -2, "positions counted anew from 0", **rest))
    if (ids != ids.flat[0]).any():
        found.append(as_view(x, y, np.zeros(x.shape[-2]), -2, "positions ignored", **rest))
    if ids.ndim == 2 and (ids != ids[0]).any():
        found.append(as_view(x, y, ids[0], -2, "positions of the first sequence for all", **rest))
    if x.ndim >= 3 and x.shape[-3] > 1:
        heads = np.arange(float(x.shape[-3]))
        found.append(as_view(x, y, heads, -3, "positions along the head axis", **rest))
    found.append(found[0]._replace(any_width=True))
    return found


def blocks(view):
    """List (start, width) of the features that may be turned: those that changed, and wider ones that hold them."""
    head_dim = view.x.shape[-1]
    changed = np.flatnonzero((np.abs(view.y - view.x) > tail_bound(view, view.x)).any(axis=(0, 1)))
    first, last = int(changed[0]) // 2 * 2, int(changed[-1]) + 1
    last += (last - first) % 2
    likely = [(0, view.rotary_dim or 0), (0, head_dim), (0, last), (first, last - first)]
    if view.any_width:
        likely = [(0, width) for width in range(last, head_dim)]
    return [
        (start, width)
        for start, width in dict.fromkeys(likely)
        if width > 0 and width % 2 == 0 and start <= first and last <= start + width <= head_dim
    ]


def few(view):
    """Take a part of a large view, early, late and spread tokens of some rows, to read the hands from."""
    tokens = view.x.shape[1]
    if tokens > TOKENS:
        spread = np.linspace(0, tokens - 1, TOKENS // 2).astype(int)
        some = np.unique(np.concatenate((np.arange(TOKENS // 2), spread)))
        view = view._replace(x=view.x[:, some], y=view.y[:, some], positions=view.positions[some])
    return view._replace(x=view.x[:ROWS], y=view.y[:ROWS])


# Models, and whether they give the output back -----------------------------------------------------------------------

Model = namedtuple("Model", "law start width factor sign swapped inv_freq offset precision")
Model.__doc__ = (
    """All that it takes to compute an output: `swapped` exchanges cos and sin, `precision` names what is rounded."""
)


def model_tables(model, positions):
    """Return cos, sin and angles of a model as float64, and how far its angles may be off by its precision."""
    dtype, _, stage = (model.precision or "").partition(" ")
    narrow = (lambda values: round_to_bits(values, BITS[dtype])) if dtype in BITS else (lambda values: values)
    places, speeds = positions + model.offset, model.sign * model.inv_freq
    if "positions" in stage:
        places = narrow(places)
    if "frequencies" in stage:
        speeds = narrow(speeds)
    angles = np.multiply.outer(places, speeds)
    if "angles" in stage:
        angles = narrow(angles)
    cos, sin = np.cos(angles), np.sin(angles)
    if stage == "tables":
        cos, sin = (
            each.astype(np.float32).astype(np.float64) if dtype == "float32" else narrow(each) for each in (cos, sin)
        )
    if model.swapped:
        cos, sin = sin, cos
    # Frequency and product are each rounded, and the power may be off by one unit more.
    slack = np.minimum(0.2, 3 * UNIT["float32"] * np.abs(angles)) if model.precision == "float32 angles" else 0.0
    return model.factor * cos, model.factor * sin, angles, slack


def half_unit(values, dtype):
    """Half the distance between neighbours of a coarse dtype, where `values` lie; zero for the others."""
    if dtype not in BITS:
        return 0.0
    exponents = np.frexp(values)[1]
    return np.maximum(np.ldexp(UNIT[dtype], exponents - 1), SMALLEST[dtype])


def tail_bound(view, x):
    """How far a feature that is only copied may differ: where the dtypes differ it was rounded."""
    return 2 * UNIT[view.dtype] * np.abs(x) + SMALLEST.get(view.dtype, 0.0) if view.recast else 0.0


def allowed(model, view, x, y, want, angles, slack):
    """Bound the error of each turned feature as `apply_rope` does, wider where the precision of the model is less."""
    law, none, one = model.law, np.zeros(angles.shape), np.ones(angles.shape)
    still = law.linear(x, y, none, none)
    lengths = np.hypot(law.linear(x, y, one, none) - still, law.linear(x, y, none, one) - still) * model.factor
    size = lengths + np.abs(still)
    angles, slack = (join_pairs(each, each, law.grid) for each in (np.abs(angles), slack + none))
    if view.dtype == "float64":  # twice: what is compared with is computed in float64 too
        bound = 2 * size * (5 + angles) * UNIT["float64"]
    else:
        bound = 3.4 * size * UNIT["float32"]
        bound = bound + half_unit(np.abs(want) + bound, view.dtype)
    if (model.precision or "").startswith("computed in"):
        bound = 4 * size * UNIT[view.dtype]
    return bound * (2 if law.name == "in place overwrite" else 1) + size * slack


def predict(model, x, positions):
    """Compute the output of a model in float64: its turned features."""
    cos, sin, *_ = model_tables(model, positions)
    return model.law.forward(x, cos, sin)


def errors(model, view):
    """Yield how far a model is from the output, in error bounds, some rows at a time; inf where bounds are zero.

    Features that are not turned did not change, or `blocks` would have taken them in.
    """
    turned = slice(model.start, model.start + model.width)
    *_, angles, slack = model_tables(model, view.positions)
    some = max(1, CHUNK // view.x[0].size)
    for row in range(0, len(view.x), some):
        x, y = view.x[row : row + some], view.y[row : row + some]
        ratio, x, y = np.zeros(x.shape), x[..., turned], y[..., turned]
        want = predict(model, x, view.positions)
        off, bound = np.abs(y - want), allowed(model, view, x, y, want, angles, slack)
        ratio[..., turned] = np.divide(off, bound, out=np.where(off > 0, math.inf, 0.0), where=bound > 0)
        yield ratio


def largest_error(model, view, limit):
    """Measure how far a model is from the output, in error bounds; stop early where it is beyond `limit`."""
    worst = 0.0
    for ratio in errors(model, view):
        worst = max(worst, float(ratio.max()))
        if worst > limit:
            break
    return worst


# Reading the hands off the data ---------------------------------------------------------------------------------------

Reading = namedtuple("Reading", "law start width factor hands sound positions noise spread")
Reading.__doc__ = """What a law makes of the data: `hands`, complex, (tokens, pairs), of length one where `sound`.

`noise` is how far their angles may be off, in radians, `spread` how far their lengths differ.
"""


def read(law, view, start, width):
    """Solve a law for cos and sin of every pair at every token; None where they do not lie on a circle."""
    x, y = (each[..., start : start + width] for each in (view.x, view.y))
    none, one = np.zeros(width // 2) + 0 * view.positions[:, None], np.ones((len(view.positions), width // 2))
    still = law.linear(x, y, none, none)
    by_cos, by_sin, rest = law.linear(x, y, one, none) - still, law.linear(x, y, none, one) - still, y - still

    def dot(a, b):
        return sum(part.sum(axis=0) for part in split_pairs(a * b, law.grid))

    cc, ss, cs, rc, rs, rr = (
        dot(*both)
        for both in ((by_cos, by_cos), (by_sin, by_sin), (by_cos, by_sin), (rest, by_cos), (rest, by_sin), (rest, rest))
    )
    strength, area = (cc + ss) / 2, cc * ss - cs**2
    sound = area > 0.01 * strength**2
    area, strength = np.where(sound, area, 1.0), np.where(sound, strength, 1.0)
    hands = (rc * ss - rs * cs) / area + 1j * (rs * cc - rc * cs) / area
    if not sound.any():
        return None
    factor = float(np.median(np.abs(hands[sound])))
    if factor == 0:
        return None
    misfit = rr - (hands.conj() * (rc + 1j * rs)).real
    off = np.abs(np.abs(hands) / factor - 1) + np.sqrt(np.maximum(misfit / strength, 0)) / factor
    if off[sound].max() > ROUGH:
        return None
    weight = np.where(sound, strength, 0.0)
    factor = float((np.abs(hands) * weight).sum() / weight.sum())
    noise = 4 * UNIT[view.dtype] * (1 if law.name == "rotation" else 10)
    hands = np.where(sound, hands / np.where(sound, np.abs(hands), 1.0), 0.0)
    return Reading(law, start, width, factor, hands, sound, view.positions, noise, float(off[sound].max()))


Speeds = namedtuple("Speeds", "speed error noise")
Speeds.__doc__ = (
    """Radians per token of each pair, how far off they may be, and how far the hands are from even turning."""
)


def read_speeds(reading):
    """Measure how fast each pair turns, from neighbouring tokens first and then from those farther apart."""
    order = np.argsort(reading.positions, kind="stable")
    places, hands, sound = reading.positions[order], reading.hands[order], reading.sound[order]
    gaps = np.diff(places)
    if not (gaps > 0).any():
        return None
    gap = gaps[gaps > 0].min()
    near = np.flatnonzero(gaps == gap)
    speed = np.angle((hands[near + 1] * hands[near].conj()).sum(axis=0)) / gap
    reach, centre = gap, places[near[0]]
    while True:
        some = np.abs(places - centre) <= reach
        speed = speed + slope(places[some], hands[some], sound[some], speed)
        if some.all():
            break
        reach *= 4
    turns = hands * np.exp(-1j * np.multiply.outer(places, speed))
    off = np.abs(np.angle(turns * turns.sum(axis=0).conj()))
    noise = np.sqrt((off**2 * sound).sum() / sound.sum())
    spread = np.sqrt((sound * (places[:, None] - places.mean()) ** 2).sum(axis=0))
    error = np.minimum(max(noise, reading.noise / 10) / np.maximum(spread, 1e-30), 1e9)
    return Speeds(speed, error, float(off.max()))


def slope(places, hands, sound, speed):
    """Fit what is left of the speed of each pair when `speed` is taken away."""
    turns = hands * np.exp(-1j * np.multiply.outer(places, speed))
    angles = np.angle(turns * turns.sum(axis=0).conj())
    count = np.maximum(sound.sum(axis=0), 1)
    places = places[:, None] - (places[:, None] * sound).sum(axis=0) / count
    spread = (sound * places**2).sum(axis=0)
    return np.divide((sound * places * angles).sum(axis=0), spread, out=np.zeros(len(spread)), where=spread > 0)


def wrap(angles):
    """Bring angles to between -pi and pi."""
    return angles - 2 * np.pi * np.rint(angles / (2 * np.pi))


def find_offsets(reading, speeds, swapped, at=None, slack=0.0):
    """List the constants that may have been added to the positions, the smallest first.

    `speeds` carry their sign. `slack` is how far each of them may be off; the hands are compared at the position `at`.
    """
    at = float(np.mean(reading.positions)) if at is None else at
    angles = np.multiply.outer(reading.positions - at, speeds)
    turns = reading.hands * np.exp(-1j * (angles + swapped * np.pi / 2))
    middle = np.angle(turns.sum(axis=0))
    # Angles in single precision may be meant: then they are off by so much at least.
    single = 4 * UNIT["float32"] * np.abs(np.multiply.outer(reading.positions, speeds))
    off = np.abs(np.angle(turns * np.exp(-1j * middle)))
    if (off > 2 * reading.noise + 2 * single + slack * np.abs(reading.positions - at)[:, None] + 1e-12)[
        reading.sound
    ].any():
        return []
    order, farthest = np.argsort(-np.abs(speeds)), np.abs(reading.positions).max()
    order = order[reading.sound.any(axis=0)[order]]
    several = (reading.positions != reading.positions[0]).any()
    for reach, step in OFFSETS if several else OFFSETS[:1]:
        offsets = np.arange(-reach, reach + step, step)
        for pair in order:
            places, loose = at + offsets, slack if np.ndim(slack) == 0 else slack[pair]
            tolerance = reading.noise + loose * np.abs(places)
            tolerance += 8 * UNIT["float32"] * np.abs(speeds[pair]) * (farthest + np.abs(offsets))
            offsets = offsets[np.abs(wrap(speeds[pair] * places - middle[pair])) <= tolerance]
            if not offsets.size:
                break
        if offsets.size:
            return [float(offset) for offset in offsets[np.argsort(np.abs(offsets), kind="stable")][:4]]
    return []


# Which frequencies may be meant -------------------------------------------------------------------------------------

Candidate = namedtuple("Candidate", "faults base inv_freq text precision", defaults=(None,))
Candidate.__doc__ = """Frequencies to try: what is wrong with them, their base, values, and the call that makes them.

`precision` names what must have been rounded.
"""


def ladder_text(width, base):
    """Write the call that makes ordinary frequencies."""
    return f"inverse_frequencies({width}, {base!r})"


def variants(width, base, head_dim):
    """List what known faults make of the frequencies of a base; the right ones first."""
    own, text = inverse_frequencies(width, base), ladder_text(width, base)
    shift = float(base) ** (-2 / width)
    yield Candidate((), base, own, text)
    yield Candidate(("exponent too small",), base, own**0.5, f"{text} ** 0.5")
    yield Candidate(("exponent too large",), base, own**2, f"{text} ** 2")
    yield Candidate(("index from one",), base, own * shift, f"{text} * {base!r} ** (-2 / {width})")
    yield Candidate(("exponent (2i - 1) / d",), base, own * shift**-0.5, f"{text} * {base!r} ** (1 / {width})")
    yield Candidate(("applied twice",), base, 2 * own, f"2 * {text}")
    yield Candidate(("reversed frequencies",), base, own[::-1], f"{text}[::-1]")
    if head_dim > width and head_dim % 2 == 0:
        whole = inverse_frequencies(head_dim, base)[: width // 2]
        name = "width of the head in the exponent"
        yield Candidate((name,), base, whole, f"inverse_frequencies({head_dim}, {base!r})[: {width // 2}]")


def same_function(candidate, base):
    """Yield a candidate, and the other fault that makes the same frequencies."""
    yield candidate
    fault, width, speeds = candidate.faults[:1], 2 * len(candidate.inv_freq), candidate.inv_freq
    if len(candidate.faults) != 1 or base is None:
        return
    if fault[0] in ("exponent too small", "exponent too large", "width of the head in the exponent") and width > 2:
        base = shortest(float(speeds[0] / speeds[1]) ** (width / 2), FIT)
        yield Candidate(("wrong base",), base, speeds, ladder_text(width, base))
    if fault[0] in ("index from one", "exponent (2i - 1) / d", "applied twice"):
        divisor = shortest(float(1 / speeds[0]), FIT)
        name = "linear scaling" if divisor > 1 else "turned too fast"
        yield Candidate((name,), candidate.base, speeds, f"{ladder_text(width, candidate.base)} / {divisor!r}")


def shortest(value, error):
    """Return the decimal of fewest digits within three times the relative `error` of a positive value."""
    for digits in range(1, 17):
        rounded = float(f"{value:.{digits}g}")
        if abs(math.log(rounded / value)) <= 3 * error:
            return rounded
    return value


Ladder = namedtuple("Ladder", "first base first_error base_error noise", defaults=(0.0,))
Ladder.__doc__ = (
    """Frequencies ``first * base ** (-2 i / d)``, the relative errors of both, and what is left of the angles."""
)


def first_ladder(speeds, usable):
    """Read a ladder off the measured speeds; None where they do not fall, or rise, by one ratio from pair to pair."""
    index = np.arange(len(speeds.speed))
    share = speeds.error / np.maximum(np.abs(speeds.speed), 1e-100)
    firm = usable & (share < 0.05)
    if firm.sum() < 2 or len(set(np.sign(speeds.speed[firm]))) != 1:
        return None
    logs, weight = np.log(np.abs(speeds.speed[firm])), 1 / share[firm] ** 2
    design = np.stack((np.ones(firm.sum()), -index[firm] / len(index)), axis=-1)
    normal = design.T @ (weight[:, None] * design)
    first, base = np.linalg.solve(normal, design.T @ (weight * logs))
    if (np.abs(logs - design @ (first, base)) > 8 * share[firm] + 1e-9).any() or abs(base) > 200 or abs(first) > 200:
        return None
    errors = np.sqrt(np.diag(np.linalg.inv(normal)))
    return Ladder(math.exp(first), math.exp(base), *errors)


def refine(ladder, reading, sign, swapped, offset, free_first):
    """Fit a ladder to all hands at once, its first speed too or only its base."""
    share = np.arange(reading.hands.shape[1]) / reading.hands.shape[1]
    logs, places = np.array([math.log(ladder.first), math.log(ladder.base)]), reading.positions + offset
    for _ in range(6):
        angles = sign * np.multiply.outer(places, np.exp(logs[0] - share * logs[1]))
        off = np.angle(reading.hands * np.exp(-1j * (angles + swapped * np.pi / 2)))
        columns = [angles, -angles * share] if free_first else [-angles * share]
        design = np.stack([column[reading.sound] for column in columns], axis=-1)
        normal = design.T @ design
        if not np.linalg.det(normal / max(normal.max(), 1e-300)) > 1e-14:
            return ladder
        step = np.linalg.solve(normal, design.T @ off[reading.sound])
        logs[0 if free_first else 1 :] += np.clip(step, -0.5, 0.5)
    noise = max(float(np.sqrt(np.mean(off[reading.sound] ** 2))), reading.noise / 20)
    errors = noise * np.sqrt(np.diag(np.linalg.inv(normal)))
    first_error = float(errors[0]) if free_first else 0.0
    return Ladder(math.exp(logs[0]), math.exp(logs[1]), first_error, float(errors[-1]), noise)


def flipped(reading):
    """The same reading with its pairs counted from the other end."""
    return reading._replace(hands=reading.hands[:, ::-1], sound=reading.sound[:, ::-1])


def ladders(reading, speeds):
    """Fit ladders to a reading: yield (ladder, rising, sign, swapped, offset) for each that fits."""
    usable = reading.sound.any(axis=0)
    ladder = first_ladder(speeds, usable)
    if ladder is None:
        return
    sign = float(np.sign(speeds.speed[np.argmax(np.abs(speeds.speed) * usable)]))
    rising = ladder.base < 1
    if rising:
        reading, speeds = flipped(reading), speeds._replace(speed=speeds.speed[::-1], error=speeds.error[::-1])
        ladder = first_ladder(speeds, usable[::-1])
        if ladder is None:
            return
    share = np.arange(len(usable)) / len(usable)
    signed = sign * ladder.first * ladder.base**-share
    error = np.minimum(speeds.error, np.abs(signed) * np.hypot(ladder.first_error, share * ladder.base_error) + 1e-15)
    swaps = (0,) if reading.law.name == "added instead of rotated" else (0, 1)
    for swapped in swaps:
        offsets = find_offsets(reading, signed, swapped, slack=6 * error)
        for offset in offsets:
            free = refine(ladder, reading, sign, swapped, offset, True)
            fixed = refine(free._replace(first=1.0), reading, sign, swapped, offset, False)
            # A first speed of its own must explain more, and more than rounding does.
            plain = fixed.noise <= max(1.1 * free.noise, reading.noise / 2)
            yield (fixed if plain else free), rising, sign, swapped, offset
        if offsets:
            return


def named_ladders(ladder, rising, width, base):
    """Name a fitted ladder: yield candidates for what may have been meant, with and without a base given."""
    if base is None:  # next to a common base that one is taken as meant: rounded frequencies look so
        near = (b for b in COMMON_BASES if abs(math.log(ladder.base / b)) <= SINGLE)
        base = next((b for b in near if abs(math.log(ladder.base / b)) > 3 * max(ladder.base_error, FIT)), None)
    ladder = ladder._replace(**{name: max(getattr(ladder, name), FIT) for name in ("first_error", "base_error")})
    fitted = shortest(ladder.base, ladder.base_error)
    faults = ("reversed frequencies",) if rising else ()
    for value in dict.fromkeys((fitted, ladder.base)):
        if ladder.first == 1.0:
            yield from plain_ladder(value, ladder.base_error, faults, width, base)
        else:
            yield from scaled_ladder(ladder, value, faults, width, base)


def finished(faults, found, first, text, width, rising, divisor=None):
    """Make the candidate of a ladder, turned round where it rises."""
    own = inverse_frequencies(width, found) * first
    text = text or ladder_text(width, found)
    text = f"{text} / {divisor!r}" if divisor else text
    return Candidate(faults, found, own[::-1] if rising else own, f"({text})[::-1]" if rising else text)


def plain_ladder(found, error, faults, width, base):
    """Name a ladder that starts at one radian a token."""
    rising = bool(faults)
    if base is None:
        yield finished(faults, found, 1.0, None, width, rising)
        for common, (name, power) in itertools.product(COMMON_BASES[:3], POWERS.items()):
            if abs(math.log(found / common**power)) <= 3 * error:
                text = f"{ladder_text(width, common)} ** {power:g}"
                yield finished((*faults, name), found, 1.0, text, width, rising)._replace(base=common)
        return
    off = math.log(found / base)
    if abs(off) <= 3 * error:
        yield finished(faults, found, 1.0, None, width, rising)
        return
    if abs(off) <= SINGLE:
        single = finished((*faults, "float32 angles"), base, 1.0, None, width, rising)
        yield single._replace(precision="float32 angles")
    share = (width - 2) / width
    factor = shortest(math.exp(off * share), error * share) if width > 2 else 1.0
    if factor > 1 and len(f"{factor:g}") <= 4:
        found = ntk_base(width, base, factor=factor)
        text = f"inverse_frequencies({width}, scaling.ntk_base({width}, {base!r}, factor={factor!r}))"
        yield finished((*faults, "NTK scaling"), found, 1.0, text, width, rising)._replace(base=base)
    yield finished((*faults, "wrong base"), found, 1.0, None, width, rising)


POWERS = {"exponent too small": 0.5, "exponent too large": 2.0}


def scaled_ladder(ladder, found, faults, width, base):
    """Name a ladder that starts at another speed than one radian a token."""
    rising, first, error = bool(faults), ladder.first, ladder.first_error
    wrong = () if base is None or abs(math.log(found / base)) <= 3 * ladder.base_error else ("wrong base",)
    known = {
        "applied twice": 2.0,
        "index from one": found ** (-2 / width),
        "exponent (2i - 1) / d": found ** (1 / width),
    }
    known = {name: value for name, value in known.items() if abs(math.log(value / first)) <= 4 * error}
    for name, value in known.items():
        yield finished((*faults, name, *wrong), found, value, None, width, rising, 1 / value)
    divisors = [1 / value for value in known.values()] or dict.fromkeys((shortest(1 / first, error), 1 / first))
    for divisor in divisors:
        name = "linear scaling" if divisor > 1 else "turned too fast"
        yield finished((*faults, name, *wrong), found, 1 / divisor, None, width, rising, divisor)


def blended(reading, speeds, base):
    """Yield frequencies that follow no ladder and are near the measured ones: YaRN, Llama 3, pairs that stand still."""
    width, usable = 2 * len(speeds.speed), reading.sound.any(axis=0)
    speed, share = np.abs(speeds.speed), speeds.error / np.maximum(np.abs(speeds.speed), 1e-100)
    if base is None:
        if width == 2 or share[1] > 0.05:
            return
        base = shortest(float(speed[1]) ** (-width / 2), max(FIT, width / 2 * float(share[1])))
    if base <= 1:
        return
    own = inverse_frequencies(width, base)
    turning = speed > 6 * speeds.error
    if (own > 20 * speeds.error)[~turning].any() and turning.any():
        text = f"np.where({turning.tolist()}, {ladder_text(width, base)}, 0.0)"
        if (turning[:-1] >= turning[1:]).all():
            text = f"{ladder_text(width, base)} * (np.arange({width // 2}) < {turning.sum()})"
        yield Candidate(("pairs that stand still",), base, own * turning, text)
    ratio = np.where(usable & (share < 0.05), own / np.maximum(speed, 1e-100), 0.0)
    slowest = int(np.argmax(ratio))
    if not 1.01 < ratio[slowest] < 1e4:
        return
    same = np.abs(ratio - ratio[slowest]) <= 6 * (share + share[slowest]) * ratio
    weight = same / np.maximum(share, FIT) ** 2
    factor = shortest(float((ratio * weight).sum() / weight.sum()), float(weight.sum() ** -0.5))
    for length, (name, make, extra) in itertools.product(ORIGINAL_LENGTHS, BLENDS):
        scaled = make(width, base, factor=factor, original_length=length, **extra)
        if (np.abs(scaled.inv_freq - speed) <= 6 * speeds.error + FIT)[usable].all():
            inner = "".join(f", {key}={value!r}" for key, value in extra.items())
            text = f"{name}({width}, {base!r}, factor={factor!r}, original_length={length}{inner}).inv_freq"
            fault = "Llama 3 scaling"
            if make is yarn:
                fits = abs(reading.factor - scaled.attention_factor) <= 4 * reading.noise
                fault = "YaRN scaling" if fits else "NTK-by-parts scaling"
            yield Candidate((fault,), base, scaled.inv_freq, text)


BLENDS = (
    ("scaling.llama3", llama3, {}),
    ("scaling.yarn", yarn, {}),
    ("scaling.yarn", yarn, {"truncate": False}),
    ("scaling.yarn", yarn, {"ramp": "rotations"}),
)


# Attempts, from the simplest on --------------------------------------------------------------------------------------

Attempt = namedtuple("Attempt", "candidate model faults")
Attempt.__doc__ = """A model to check, the candidate for its frequencies, and what else is wrong with it."""


def model_of(reading, candidate, sign, swapped, offset, precision=None):
    """Put a reading and frequencies together."""
    coarse = UNIT.get((precision or "").partition(" ")[0], 0.0)
    near = shortest(reading.factor, max(coarse, reading.noise / 3 / math.sqrt(reading.sound.sum())))
    return Model(
        reading.law,
        reading.start,
        reading.width,
        near if abs(near - 1) > 3 * reading.noise else 1.0,
        sign,
        bool(swapped),
        np.ascontiguousarray(candidate.inv_freq),
        offset,
        precision or candidate.precision,
    )


def with_candidates(reading, candidates):
    """Try frequencies in both directions, with cos and sin exchanged too, and find the offsets at which they fit."""
    swaps = (0,) if reading.law.name == "added instead of rotated" else (0, 1)
    for candidate in candidates:
        for swapped, sign in itertools.product(swaps, (1, -1)):
            signed = np.asarray(candidate.inv_freq) * (-sign if swapped else sign)
            for offset in find_offsets(reading, signed, swapped, at=0.0):
                yield Attempt(candidate, model_of(reading, candidate, sign, swapped, offset), ())


def with_ladders(reading, speeds, base):
    """Fit frequencies where none are given, or those given do not fit."""
    for ladder, rising, sign, swapped, offset in ladders(reading, speeds):
        sign = int(-sign if swapped else sign)
        for candidate in named_ladders(ladder, rising, reading.width, base):
            yield Attempt(candidate, model_of(reading, candidate, sign, swapped, offset), ())


def simple_attempts(view, reading, speeds):
    """Try the base that was meant with all its faults, and whatever ladder the speeds form."""
    if view.fault == "positions ignored":
        right = next(variants(reading.width, view.base or COMMON_BASES[0], 0))
        yield from (each for each in with_candidates(reading, [right]) if each.model[4:6] == (1, False))
        return
    if view.base is not None:
        yield from with_candidates(reading, variants(reading.width, view.base, view.x.shape[-1]))
    elif reading.width == 2:
        yield from with_candidates(reading, [Candidate((), None, np.ones(1), "inverse_frequencies(2)")])
    elif not readable(speeds):
        yield from with_candidates(reading, common_candidates(reading.width))
    if readable(speeds):
        yield from with_ladders(reading, speeds, view.base)


def common_candidates(width):
    """Yield the frequencies of the bases that models have."""
    return (next(variants(width, base, 0)) for base in COMMON_BASES)


def searched_attempts(view, reading, speeds):
    """Look for a base where positions are too far apart to read speeds from."""
    near = np.argsort(np.abs(reading.positions), kind="stable")[:SEARCHED]
    places = reading.positions[near]
    if reading.width == 2 or view.fault == "positions ignored" or np.ptp(places) == 0:
        return
    share = 2 * np.arange(reading.width // 2) / reading.width
    # Where log(base) grows by a small part of itself, no angle p * base**-share changes by more than p / e that part.
    logs = np.geomspace(0.5, math.log(1e12), int(np.abs(places).max()) + 50)
    for sign in (1, -1):
        fit = [
            (reading.hands[near] * np.exp(-1j * sign * np.multiply.outer(places, np.exp(-share * log)))).real.sum()
            for log in logs
        ]
        ladder = Ladder(1.0, math.exp(logs[int(np.argmax(fit))]), 0.0, 1.0)
        ladder = refine(
            ladder,
            reading._replace(positions=places, hands=reading.hands[near], sound=reading.sound[near]),
            sign,
            0,
            0.0,
            False,
        )
        ladder = refine(ladder, reading, sign, 0, 0.0, False)
        for candidate in named_ladders(ladder, False, reading.width, view.base):
            yield Attempt(candidate, model_of(reading, candidate, sign, 0, 0.0), ())


def blended_attempts(view, reading, speeds):
    """Try frequencies scaled for a longer context."""
    if readable(speeds):
        yield from with_candidates(reading, blended(reading, speeds, view.base))


def narrow_attempts(view, reading, speeds):
    """Try positions, angles and tables held in half precision."""
    stages = ("positions", "angles", "positions, frequencies and angles", "tables")
    names = [f"{dtype} {stage}" for dtype in BITS for stage in stages] + ["float32 tables"]
    for base in [view.base] if view.base else COMMON_BASES:
        candidate = next(variants(reading.width, base, 0))
        for name, sign in itertools.product(names, (1, -1)):
            yield Attempt(candidate, model_of(reading, candidate, sign, 0, 0.0, name), (name,))


def coarse_attempts(view, reading, speeds):
    """Allow angles in single precision, or arithmetic in half precision, where frequencies are as they were meant."""
    for attempt in every_coarse_attempt(view, reading, speeds):
        if not attempt.candidate.faults:
            yield attempt


def every_coarse_attempt(view, reading, speeds):
    """Allow angles in single precision, or arithmetic in half precision."""
    names = ["float32 angles"] + ([f"computed in {view.dtype}"] if view.dtype in BITS else [])
    if readable(speeds):
        reading = reading._replace(noise=max(reading.noise, speeds.noise))
    attempts = [*simple_attempts(view, reading, speeds), *blended_attempts(view, reading, speeds)]
    if view.base is None:
        attempts += with_candidates(reading, common_candidates(reading.width))
    for name, attempt in itertools.product(names, attempts):
        if attempt.model.precision is None:
            yield attempt._replace(model=attempt.model._replace(precision=name), faults=(*attempt.faults, name))


def own_speeds(view, reading, speeds):
    """Take the measured speeds themselves."""
    if not readable(speeds):
        return
    candidate = Candidate(("frequencies of no known law",), None, np.abs(speeds.speed), None)
    signed = set(np.sign(speeds.speed[np.abs(speeds.speed) > 3 * speeds.error]))
    for sign in (1, -1):
        if signed <= {sign}:
            for offset in find_offsets(reading, speeds.speed, 0, slack=6 * speeds.error)[:1]:
                yield Attempt(candidate, model_of(reading, candidate, sign, 0, offset), ())


KINDS = (
    simple_attempts,
    blended_attempts,
    narrow_attempts,
    searched_attempts,
    coarse_attempts,
    every_coarse_attempt,
    own_speeds,
)


def readable(speeds):
    """Tell whether the speeds could be read: neighbouring tokens near enough, and turning evenly."""
    return speeds is not None and speeds.noise < 1.0


def checked(view, attempts, limit):
    """Keep the attempts that give the output back, on a part of it first."""
    part, kept = few(view), []
    for attempt in attempts:
        if largest_error(attempt.model, part, limit) <= limit:
            error = largest_error(attempt.model, view, limit)
            if error <= limit:
                kept.append((attempt, error))
    return kept


def explain(view, readings):
    """Find what gives the output back under any reading: the first kind of attempt that does, all of that kind."""
    found = [(reading, read_speeds(reading)) for reading in readings]
    for kind in KINDS:
        kept = [one for reading, speeds in found for one in checked(view, kind(view, reading, speeds), 1.0)]
        if kept:
            return kept
    return []


# Words ---------------------------------------------------------------------------------------------------------------

WORDS = {
    "output in the other order": "half-split pairs are read, but written side by side.",
    "positions off by a constant": "Every position is off by the same number of tokens.",
    "positions ignored": "All tokens stand at one position.",
    "positions counted anew from 0": "The token's index is taken for its position.",
    "positions of the first sequence for all": "The whole batch takes the positions of its first sequence.",
    "exponent (2i - 1) / d": "Exponent (2i - 1)/d instead of 2i/d.",
    "width of the head in the exponent": "The exponent divides by the width of the head, as proportional RoPE does.",
    "pairs that stand still": "Some pairs of the rotated width do not turn, as in a proportional width.",
    "NTK scaling": "The base is raised for a longer context (NTK-aware scaling).",
    "linear scaling": "All frequencies are divided by one number, as linear scaling does.",
    "turned too fast": "All frequencies are multiplied by one number.",
    "YaRN scaling": "The slow pairs are slowed for a longer context (YaRN).",
    "NTK-by-parts scaling": "The slow pairs are slowed for a longer context (YaRN without its length factor).",
    "Llama 3 scaling": "The slow pairs are slowed for a longer context (Llama 3).",
    "frequencies of no known law": "The pairs turn evenly, at speeds of no law known here.",
    "block at an offset": "The features that are turned do not start at the first one.",
    "wrong width": "Other features are turned than `rotary_dim` says.",
}
PAIR_WORDS = {"interleaved": "interleaved pairs", "half": "half-split pairs"}


def in_words(name):
    """Describe a fault in one sentence."""
    if name in FAULTS:
        return FAULTS[name].what
    if name == "float32 angles":
        return "Angles are held in single precision."
    return WORDS.get(name) or f"{name[0].upper()}{name[1:]}: rounded too early."


def law_faults(law):
    """List what a law may mean: each entry the faults that it takes."""
    if law.name == "rotation":
        if law.read != law.write:
            return [("concatenated output",) if law.read == "interleaved" else ("output in the other order",)]
        return [()] if law.read == "interleaved" else [(), ("other pairing",)]
    if law.forward in MIXED:
        table, quarter = "table of the other pairing", "quarter turn of the other pairing"
        return [(table,), (quarter,)] if law.grid == "half" else [(quarter,), (table,)]
    return [(law.name,)]


MIXED = [law.forward for law in MIX_UPS if law.read != law.write]


def offset_faults(view, attempt):
    """List what the offset of an attempt may mean."""
    offset = attempt.model.offset
    if offset == 0 or view.fault == "positions ignored":
        return [()]
    if offset == 1:
        return [("positions from one",)] if view.given else [(), ("positions from one",)]
    return [("positions off by a constant",)] if view.given else [()]


def all_faults(view, attempt):
    """List every way to understand an attempt, as the faults it takes."""
    model = attempt.model
    turned = () if view.rotary_dim in (None, model.width) else ("wrong width",)
    turned += ("block at an offset",) if view.rotary_dim and model.start else ()
    fixed = (*(("cos and sin swapped",) if model.swapped else ()), *(("opposite direction",) if model.sign < 0 else ()))
    fixed += (*attempt.candidate.faults, *attempt.faults, *turned, *((view.fault,) if view.fault else ()))
    for law, offset in itertools.product(law_faults(model.law), offset_faults(view, attempt)):
        yield (*law, *offset, *fixed)


def places_text(view, attempt):
    """Write the positions of an attempt."""
    count = view.x.shape[1]
    if view.fault == "positions ignored":
        return f"np.full({count}, {attempt.model.offset!r})"
    text = "position_ids" if view.given and view.fault is None else f"np.arange({count})"
    if view.fault == "positions of the first sequence for all":
        text = "position_ids[0]"
    return f"{text} + {attempt.model.offset:g}" if attempt.model.offset else text


def tables_text(view, attempt):
    """Write the call that makes the cosines and sines of an attempt; None where its frequencies have no short name."""
    model, text, places = attempt.model, attempt.candidate.text, places_text(view, attempt)
    if text is None:
        return None
    if model.sign < 0:
        text = f"-({text})"
    dtype, _, stage = (model.precision or "").partition(" ")
    bits = BITS.get(dtype) if dtype != "computed" else None
    if bits and "positions" in stage:
        places = f"round_to_bits({places}, {bits})"
    if bits and "frequencies" in stage:
        text = f"round_to_bits({text}, {bits})"
    angles = f"rotation_angles({places}, {text})"
    if bits and "angles" in stage:
        angles = f"round_to_bits({angles}, {bits})"
    if model.precision == "float32 angles":
        angles = f"np.float32({angles})"
    tables = f"cos_sin({angles}" + (f", attention_factor={model.factor!r})" if model.factor != 1 else ")")
    if bits and stage == "tables":
        tables = f"[round_to_bits(table, {bits}) for table in {tables}]"
    return f"{tables}[::-1]" if model.swapped else tables


def call_text(view, attempt):
    """Write the call that gives the output back; None where there is no short one."""
    model, law, tables = attempt.model, attempt.model.law, tables_text(view, attempt)
    if tables is None:
        return None
    whole = model.start == 0 and model.width == view.x.shape[-1]
    x = "x" if view.axis == -2 else f"np.swapaxes(x, -2, {view.axis})"
    if law.name == "rotation":
        part = x if model.start == 0 else f"{x}[..., {model.start}:{model.start + model.width}]"
        text = f"apply_rope({part}, *{tables}" + (', pairing="half")' if law.read == "half" else ")")
        if law.read != law.write:
            text = f"to_{law.write}({text}, {model.width})"
        if model.start:
            text = (
                f"np.concatenate(({x}[..., :{model.start}], {text}, {x}[..., {model.start + model.width}:]), axis=-1)"
            )
    elif law.name == "added instead of rotated" and whole:
        back = "" if law.forward in COSINE_FIRST else "[::-1]"
        text = f'{x} + join_pairs(*{tables}{back}, "{law.grid}")'
    elif (
        whole
        and not attempt.candidate.faults
        and model[4:6] == (1, False)
        and model.factor == 1
        and not model.precision
    ):
        name = law.name if law.forward not in MIXED else law_faults(law)[0][0]
        given = f"{places_text(view, attempt)}, base={attempt.candidate.base!r}"
        text = f'FAULTS["{name}"].rotate({x}, {given})'
        if law.read == law.write == "half":
            text = f'to_half(FAULTS["{name}"].rotate(to_interleaved({x}), {given}))'
    else:
        return None
    return text if view.axis == -2 else f"np.swapaxes({text}, -2, {view.axis})"


COSINE_FIRST = [law.forward for law in ADDITIONS[1::2]]


def explanations(view, kept):
    """Make explanations of the attempts kept, those with the fewest faults first, each kind once."""
    made = {}
    same = [
        (one._replace(candidate=each), error) for one, error in kept for each in same_function(one.candidate, view.base)
    ]
    for attempt, error in same:
        model = attempt.model
        for faults in all_faults(view, attempt):
            key = (faults, model.law.forward, model.start, model.width, model.offset, model.sign)
            if key in made:
                continue
            law = model.law
            words = " ".join(in_words(name) for name in faults) or f"RoPE in {PAIR_WORDS[law.read]}, nothing wrong."
            made[key] = (
                Explanation(
                    faults=faults,
                    what=words,
                    pairing=law.read,
                    written=law.write if law.forward not in MIXED else law.read,
                    rotary_dim=model.width,
                    start=model.start,
                    base=attempt.candidate.base,
                    inv_freq=model.inv_freq,
                    direction=int(model.sign),
                    offset=model.offset,
                    attention_factor=model.factor,
                    error=error,
                    call=call_text(view, attempt),
                ),
                model,
            )
    return sorted(made.values(), key=lambda each: (len(each[0].faults), abs(each[0].offset)))


def hands(each):
    """Write what one explanation says of the hands, a line each."""
    order = "" if each.written == each.pairing else f", written as {PAIR_WORDS[each.written]}"
    speeds = (
        f"base {each.base:.10g}" if each.base else "speeds " + np.array2string(each.inv_freq, precision=5, threshold=6)
    )
    rows = {
        "pairs": f"{PAIR_WORDS[each.pairing]}{order}, {each.rotary_dim} features from feature {each.start}",
        "speeds": speeds + (", clockwise" if each.direction < 0 else ""),
        "positions": f"offset {each.offset:g}",
        "length": f"times {each.attention_factor:.10g}",
        "error": f"{each.error:.2g} of the bound",
    }
    return [f"   {name:<12}{text}" for name, text in rows.items()]


def tell_apart(pairs, head_dim):
    """Say which position would tell explanations apart, computing all of them there."""
    if len(pairs) < 2:
        return ""
    x = np.random.default_rng(0).standard_normal((1, head_dim))
    outputs = []
    for place in PROBES:
        row = []
        for _, model in pairs:
            y, turned = x.copy(), slice(model.start, model.start + model.width)
            y[:, turned] = predict(model, x[:, turned], np.array([float(place)]))
            row.append(y[0])
        outputs.append(row)
    gaps = np.array([[[np.abs(a - b).max() for a in row] for b in row] for row in outputs])
    if gaps.max() < 1e-9:
        return SAME
    differ = gaps > 1e-5
    if not differ.any():
        return f"No position up to {PROBES[-1]:,} tells these apart by more than 1e-5."
    best = int(np.argmax(differ.sum(axis=(1, 2))))
    rest = (
        ""
        if differ[best].sum() == len(pairs) * (len(pairs) - 1)
        else " Not all of them: some are all but one function."
    )
    return f"A token at position {PROBES[best]} would tell them apart.{rest}"


SAME = "No input tells these apart: they are one and the same function. What was meant decides."


# The finding ---------------------------------------------------------------------------------------------------------


def nothing_turned(view, case):
    """Report an output that is the input."""
    dtype, places = view.dtype, view.positions
    if not places.any():
        sure = "position 0 turns nothing, whatever base and pairing are: give later positions"
        return Diagnosis("right: at position 0 nothing turns", (), sure, "", 0.0, dtype)
    names = ["positions ignored"] + (["positions along the head axis"] if case.ndim < 3 or case.shape[-3] == 1 else [])
    made = []
    for name in names:
        what = "All tokens stand at position 0, or nothing was called." if name == names[0] else FAULTS[name].what
        width = view.rotary_dim or view.x.shape[-1] // 2 * 2
        own = inverse_frequencies(width, view.base or COMMON_BASES[0])
        made.append(
            Explanation((name,), what, PAIRINGS[0], PAIRINGS[0], width, 0, view.base, own, 1, 0.0, 1.0, 0.0, "x.copy()")
        )
    apart = "An input with several heads would tell them apart." if len(made) > 1 else ""
    sure = "the output is the input; what was meant to turn it cannot be seen"
    return Diagnosis("nothing is turned: the output is the input", tuple(made), sure, apart, 0.0, dtype)


def only_reordered(view):
    """Tell whether every feature of the output is a feature of the input, in another order."""
    columns = {view.x[..., j].tobytes(): j for j in range(view.x.shape[-1])}
    found = [columns.get(view.y[..., j].tobytes()) for j in range(view.x.shape[-1])]
    return len(columns) == len(found) and None not in found


def mostly_right(view):
    """Report an output that is right in most places, and the first place where it is not; None if it is not."""
    best = 0.5, None, None
    bases = [view.base] if view.base else COMMON_BASES
    for law, base, (start, width) in itertools.product(ROTATIONS[::2], bases, blocks(view)):
        own = inverse_frequencies(width, base)
        model = Model(law, start, width, 1.0, 1, False, own, 0.0, None)
        wrong = np.concatenate([ratio > 1 for ratio in errors(model, view)])
        if 1 - wrong.mean() > best[0]:
            best = 1 - wrong.mean(), wrong, f"{PAIR_WORDS[law.read]}, base {base:.10g}"
    _, wrong, what = best
    if what is None:
        return None
    row, token, feature = (int(place) for place in np.argwhere(wrong)[0])
    rows = f"row {row}, " if len(wrong) > 1 else ""
    verdict = f"RoPE, but not everywhere: all but {wrong.sum():,} of {wrong.size:,} features are right in {what}"
    sure = f"the first that is not is {rows}token {token}, feature {feature}"
    return Diagnosis(verdict, (), sure, "", math.nan, view.dtype)


def without_explanation(view, readings):
    """Report an output that nothing gives back."""
    partly = mostly_right(view)
    if partly is not None:
        return partly
    firm = [each for each in readings if each.sound.sum() > 11 or each.spread < max(4 * each.noise, ALIKE)]
    if firm:
        pairs = " or ".join(dict.fromkeys(PAIR_WORDS[each.law.read] for each in firm))
        verdict = f"RoPE, but unexplained: {pairs} keep their length, and their angles follow no law known here"
        sure = "the lengths fit a rotation; no frequencies, offset or known fault give the output back"
        if view.base is None:
            sure += "; say with `base` what was meant"
        return Diagnosis(verdict, (), sure, "", math.nan, view.dtype)
    if view.x.shape[1] * view.x.shape[2] == 2:
        sure = "one pair at one position: a length and an angle fit any output"
        return Diagnosis("too little to tell", (), sure, "", math.nan, view.dtype)
    added = ""
    if len(view.x) > 1:
        change = view.y - view.x
        size = np.abs(view.x).max() + np.abs(change).max()
        if np.abs(change - change[0]).max() <= 4 * UNIT[view.dtype] * size:
            added = ": the same vector is added in every row, one that depends on the position alone"
    sure = "no way of pairing features keeps their lengths, and no known mix-up fits"
    return Diagnosis(f"not RoPE{added}", (), sure, "", math.nan, view.dtype)


def finding(view, pairs):
    """Report what was found."""
    first = pairs[0][0]
    if first.faults:
        return faulty(view, pairs)
    meant, hidden = pairs, []
    if view.base is not None:
        meant = [pair for pair in pairs if pair[0].faults in ((), ("other pairing",), ("positions from one",))]
        hidden = [
            " and ".join(each.faults)
            for each, _ in pairs
            if each.faults and abs(math.log((each.base or 1.0) / (first.base or 1.0))) > SINGLE
        ]
    verdict = f"right: RoPE in {PAIR_WORDS[first.pairing]}"
    if first.base and view.base is None:
        verdict += f", base {first.base:.10g}"
    if first.offset:
        verdict += f", positions from {view.positions[0] + first.offset:g}"
    if first.attention_factor != 1:
        verdict += f", lengths times {first.attention_factor:.10g}"
    verdict += f"; largest error {first.error:.2g} of the bound for {view.dtype}"
    sure = f"certain up to position {np.abs(view.positions + first.offset).max():g}"
    if len(meant) > 1:
        sure += ", if this is what was meant"
    if hidden:
        sure += f"; this input cannot show {', '.join(hidden)}"
    report = tuple(pair[0] for pair in meant)
    return Diagnosis(verdict, report, sure, tell_apart(meant, view.x.shape[-1]), first.error, view.dtype)


def faulty(view, pairs):
    """Report an output that every explanation finds something wrong with."""
    first, apart = pairs[0][0], tell_apart(pairs, view.x.shape[-1])
    causes = "; or ".join(dict.fromkeys(" and ".join(pair[0].faults) for pair in pairs))
    added = "added instead of rotated" in first.faults
    if len(pairs) == 1:
        sure = "certain; some models mean it so" if first.faults in MEANT_SOMEWHERE else "certain"
    elif apart.startswith("No "):
        sure = "the function is certain, its cause is open"
    else:
        sure = "open: each of these gives the output back"
    if any(name in LOOSE or name.startswith("computed in") for name in first.faults):
        sure = f"likely: within what such a computation may be off by{'; ' + sure if len(pairs) > 1 else ''}"
    verdict = f"not RoPE: {causes}" if added else f"RoPE, but {causes}"
    return Diagnosis(verdict, tuple(pair[0] for pair in pairs), sure, apart, first.error, view.dtype)


# DeepSeek-V3 writes the first features first, nanochat turns clockwise.
MEANT_SOMEWHERE = (("concatenated output",), ("opposite direction",))
LOOSE = ("float32 angles", "frequencies of no known law")


def too_little(reading):
    """Tell whether a reading is of one pair at one position, where a length and an angle fit any output."""
    return reading.sound.sum() == 1 and abs(reading.factor - 1) > reading.noise


def check_pair(x, y):
    """Return input and output as float arrays of one shape, or raise."""
    x, y = as_float_array(x), as_float_array(y, "y")
    if x.shape != y.shape or x.ndim < 2 or x.size == 0 or x.shape[-1] < 2:
        raise ValueError(
            "x and y must have one shape (..., seq_len, head_dim), not empty and with a pair of features at least, "
            f"got {x.shape} and {y.shape}"
        )
    for name, each in (("x", x), ("y", y)):
        if not np.isfinite(each.astype(np.float64)).all():
            raise ValueError(f"{name} must be finite, got nan or inf")
    return x, y


def diagnose(x, y, position_ids=None, *, base=None, rotary_dim=None):
    r"""Say which convention, base, offset or known fault turns `x` into `y`.

    Parameters
    ----------
    x : array_like of float, shape (..., seq_len, head_dim)
        Queries or keys before the turn, best drawn at random.
    y : array_like of float, shape of `x`
        What somebody's RoPE made of them.
    position_ids : array_like of int or float, shape (), (seq_len,) or (batch, seq_len), optional
        Positions that were meant, in tokens. Without them the tokens count from 0, or from an offset that is found.
    base : float, optional
        Base that was meant; another one is then a fault.
    rotary_dim : int, optional
        Width that was meant to turn, even; another one is then a fault.

    Returns
    -------
    Diagnosis
        A report, readable when printed. Each of its explanations, computed anew, is within the error bound of
        `apply_rope` for the coarser dtype of `x` and `y`, or says what it was rounded to. All that remain are listed.

    Raises
    ------
    TypeError
        If `x` or `y` is not of a float dtype, `position_ids` holds no real numbers, `base` is not a number or
        `rotary_dim` not an integer.
    ValueError
        If `x` and `y` differ in shape, are empty or not finite, `position_ids` do not meet them, or `base` or
        `rotary_dim` is out of range.

    See Also
    --------
    apply_rope : The rotation that `y` is held against.

    Notes
    -----
    Offsets are looked for among whole numbers up to 131,072 and halves up to 4,096. Speeds are read from neighbouring
    positions, 1 to 3 apart; where all are farther apart, only a base is looked for, at the positions given.
    Several rows, drawn at random, are best: one row with few tokens leaves more open.

    Examples
    --------
    >>> x = np.random.default_rng(0).standard_normal((16, 8))
    >>> y = FAULTS["positions from one"].rotate(x, np.arange(16))
    >>> found = diagnose(x, y, np.arange(16), base=10000.0)
    >>> print(found.verdict)
    RoPE, but positions from one
    >>> print(found.explanations[0].call)
    apply_rope(x, *cos_sin(rotation_angles(position_ids + 1, inverse_frequencies(8, 10000.0))))
    """
    x, y = check_pair(x, y)
    base = None if base is None else check_positive(base, "base")
    rotary_dim = None if rotary_dim is None else check_rotary_dim(rotary_dim, x.shape[-1])
    choices = views(x, y, position_ids, base, rotary_dim)
    right = choices[0]
    if not (np.abs(right.y - right.x) > tail_bound(right, right.x)).any():
        return nothing_turned(right, x)
    times = float((right.x * right.y).sum() / np.maximum((right.x**2).sum(), 1e-300))
    if (np.abs(right.y - times * right.x) <= 8 * UNIT[right.dtype] * np.abs(right.y)).all():
        sure = "no pair is turned"
        verdict = f"nothing is turned: the output is {times:.6g} times the input"
        return Diagnosis(verdict, (), sure, "", math.nan, right.dtype)
    if only_reordered(right):
        sure = "every feature of the output is one of the input"
        return Diagnosis("not RoPE: features are only reordered", (), sure, "", math.nan, right.dtype)
    readings = []
    for view, laws in itertools.product(choices, (ROTATIONS, MIX_UPS + ADDITIONS)):
        if view.any_width and laws is not ROTATIONS:
            continue
        part = few(view)
        tries = itertools.product(laws, blocks(view))
        found = [
            read(law, part, *block) for law, block in tries if block[1] > 2 or law.read == law.write == PAIRINGS[0]
        ]
        found = [each for each in found if each is not None and not too_little(each)]
        kept = explain(view, found)
        if kept:
            return finding(view, explanations(view, kept))
        readings += found if laws is ROTATIONS and view is right else []
    return without_explanation(right, readings)
