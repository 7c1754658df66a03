"""Every number that decides what `diagnose` counts as equal, as near or as enough, each with its reason."""

__all__ = []

# How near numbers must be -------------------------------------------------------------------------------------------
NOISE = 4.0  # half units of the dtype that an angle may be off: two products, their sum, and one to spare
MIXED_NOISE = 10.0  # times that, in laws that divide by what may be small
EVEN = 2.0  # times the noise that an angle may be from where its position and frequency put it: both ends are noisy
ROUGH = 0.03  # relative difference of lengths at which a law is dropped: half precision stays within
ALIKE = 1e-5  # relative difference of lengths that few numbers do not reach by chance
SINGLE = 1e-5  # relative distance of two bases within which float32 may have made one of the other
FIT = 1e-12  # relative error of a fitted number at least, however fine the data: float64 and a sum of many terms
SURE_SHARE = 0.05  # relative error up to which a frequency says anything about its law
LADDER = 8.0  # errors that a frequency may be off a geometric series: many pairs, the largest error counts
MATCH = 6.0  # errors that a frequency may be off the one it is compared with: the same, less the two that were fitted
STANDS = 6.0  # errors that a frequency must be from zero to count as turning
TURNS = 20.0  # errors that a frequency would be from zero, if it were to be missed where it stands
DECIMAL = 3.0  # errors within which a number of fewer digits is taken for a measured one
KNOWN = 4.0  # errors that a fitted number may be off the one that a known fault gives
LENGTH = 3.0  # noises that a length must be from one to count as a factor of its own
SINGLE_STEPS = 4.0  # half units of float32 that an angle computed in single precision is off, relative
PLAIN = 1.1  # times the noise up to which one parameter less explains as much
BOTH = 2.0  # times the noise up to which it may do so all the same: single precision is no noise of one size
DRAWN = 0.1  # chance matches of a token's position up to which it counts as read
SOUND = 0.01  # share of its length that a pair must have in both products to be solved for
UNEVEN = 1.0  # radians by which a pair may leave even turning before it counts as no turning at all
HALVES = 0.05  # share of rounded numbers that may be rounded the other way, being halfway
SAME = 1e-6  # difference of outputs below which two causes are one function: FIT at the farthest probe, and to spare
DIFFER = 1e-5  # difference of outputs that any dtype but the narrow ones shows
FEW = 16  # different numbers below which all of them may be short by chance, and say nothing of a narrower dtype
COPIED = 8.0  # half units by which a feature multiplied by one number may be off

# How far is looked --------------------------------------------------------------------------------------------------
TOKENS, ROWS = 192, 8  # how much of a large input is looked at first: early tokens, spread ones, a few rows
NUMBERS = 2**19  # how many numbers positions are read from: all tokens, fewer rows
CHUNK = 2**18  # how many numbers are compared at a time, to stay in cache
OFFSETS = ((2**12, 1.0), (2**12, 0.5), (2**17, 1.0))  # constants added to positions: how far, in which steps
AROUND = (4, 256)  # tokens around 0 and around the one meant where a token may stand: times the tokens, and more
WRAPS = 2048  # how many turns of the slowest pair are tried for one token
WAYS = 24  # ways to deal out axes that are computed anew: they differ by pairs too slow to tell
PIECES = 16  # runs of positions that still are a pattern
FARTHEST = 2**14  # position up to which a base is looked for: the search takes as many steps
SEARCHED = 24  # tokens that a base is looked for with
RATIOS = (1.01, 1e4)  # how much a scaling may slow a pair
LENGTHS = tuple(2**k for k in range(9, 19))  # lengths that models were trained on
LARGEST_BASE = 1e12  # up to which bases are looked for
COMMON_BASES = (10_000.0, 500_000.0, 1_000_000.0, 100_000.0, 150_000.0, 256.0)  # those of released models
PROBES = (1, 2, 3, 17, 100, 300, 1000, 3000, 10_000, 100_000)  # positions at which explanations are compared
