"""What `diagnose` returns: one explanation or several, with a verdict, readable when printed."""

from dataclasses import dataclass, fields

import numpy as np

__all__ = ["Diagnosis", "Explanation"]

PAIR_WORDS = {"interleaved": "interleaved pairs", "half": "half-split pairs"}


@dataclass(frozen=True, eq=False)
class Explanation:
    """One way in which the output can have come about; computed anew, it gives the output back.

    Parameters
    ----------
    faults : tuple of str
        Names of the faults it takes, many of them keys of ``rope_ref.faults.FAULTS``; empty where nothing is wrong.
        They stay the same from version to version.
    what : str
        The same in words.
    pairing, written : {"interleaved", "half"}
        Pairing in which features are read, and order in which they are written.
    rotary_dim, start : int
        Number of features that are turned, and the first of them.
    base : float or None
        Base of the frequencies; None where they follow no base.
    inv_freq : ndarray of float64, shape (rotary_dim // 2,)
        Frequency of each pair, in radians per token.
    direction : {1, -1}
        1 where a positive frequency turns anticlockwise.
    offset : float
        What is added to every position, in tokens.
    attention_factor : float
        Length of the output over length of the input.
    error : float
        Largest distance from the output, in error bounds of its dtype.
    call : str or None
        Call that gives the output back, with ``import numpy as np``, ``from rope_ref import *`` and `positions`,
        `scaling`, `FAULTS`, `Turn` and `round_to_bits` where it names them; None where there is no short one.
    meant : str or None
        Call that gives what was meant.
    parting : str
        Up to which token the output is right, and what happens from there on; empty where it is wrong from the start,
        or nowhere.
    position_ids : ndarray of float64, shape (tokens,) or (tokens, axes)
        Where the tokens stand.

    Examples
    --------
    >>> from rope_ref.diagnosis import diagnose
    >>> from rope_ref.faults import FAULTS
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
    meant: str | None = None
    parting: str = ""
    position_ids: np.ndarray | None = None

    def to_dict(self):
        """Return the explanation as numbers, texts and lists, as JSON holds them.

        Returns
        -------
        dict
            Each field under its name.
        """
        return {each.name: plain(getattr(self, each.name)) for each in fields(self)}


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
    >>> from rope_ref.diagnosis import diagnose
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

    def to_dict(self):
        """Return the report as numbers, texts and lists, as JSON holds them.

        Returns
        -------
        dict
            Each field under its name, with `right`, `rope` and `faults`; what is not a number is None.
        """
        named = {name: getattr(self, name) for name in ("right", "rope", "faults")}
        named |= {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: plain(value) for name, value in named.items()}

    def __getattr__(self, name):
        """Pass on what the first explanation says: `pairing`, `base`, `offset` and so on."""
        if name in Explanation.__dataclass_fields__ and self.__dict__.get("explanations"):
            return getattr(self.explanations[0], name)
        raise AttributeError(f"Diagnosis has no {name!r}; what an explanation says needs one")

    def __str__(self):
        lines = [self.verdict, f"Sure: {self.sure}"]
        for number, each in enumerate(self.explanations, 1):
            lines += [f"{number}. {' and '.join(each.faults) or 'as meant'}: {each.what}", *facts(each)]
        lines += [self.apart] if self.apart else []
        return "\n".join(lines)


def plain(value):
    """Return a value as JSON holds it."""
    if isinstance(value, Explanation):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def facts(each):
    """Write the numbers of one explanation, a line each."""
    order = "" if each.written == each.pairing else f", written as {PAIR_WORDS[each.written]}"
    shown = f"base {each.base:.10g}" if each.base else np.array2string(each.inv_freq, precision=5, threshold=6)
    rows = {
        "pairs": f"{PAIR_WORDS[each.pairing]}{order}, {each.rotary_dim} features from feature {each.start}",
        "frequencies": shown + (", clockwise" if each.direction < 0 else ""),
        "positions": f"offset {each.offset:g}",
        "length": f"times {each.attention_factor:.10g}",
        "error": f"{each.error:.2g} of the bound",
        "parts": each.parting,
        "call": each.call,
        "meant": each.meant if each.faults and each.meant != each.call else "",
    }
    return [f"   {name:<12}{text}" for name, text in rows.items() if text]
