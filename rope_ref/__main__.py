"""The command line, `python -m rope_ref` and `rope-ref`: one function a command."""

import json
import sys
from pathlib import Path

from rope_ref.commands import Commands, Refused, argument

COMMANDS = Commands("rope-ref", "A NumPy reference for Rotary Position Embedding.")
command, main = COMMANDS.command, COMMANDS.main


def read_json(path):
    """Read a JSON file, or raise one line that says what is wrong with it."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise Refused(f"{path} is not JSON: {error}") from None


@command(
    argument("config", type=Path, metavar="CONFIG.JSON", help="a model's config.json"),
    argument("--layer-type", metavar="NAME", help="which layers, where these have a RoPE each"),
    argument("--seq-len", type=int, metavar="N", help="present length in tokens, where the speeds depend on it"),
    argument("--trained", type=int, metavar="N", help="length trained on; by default as the config says"),
    argument("--json", action="store_true", help="print JSON"),
)
def frequencies(options):
    """Show how fast each pair of a model turns, what it saw in training, and what the scaling changed."""
    import numpy as np

    from rope_ref.config.table import frequency_table, group_lines, layer_groups

    config = read_json(options.config)
    try:
        groups = {} if options.layer_type else layer_groups(config, options.seq_len)
        if len(groups) > 1:  # a table of pairs would be that of some layers alone: --layer-type asks for it
            print(json.dumps({"layers": groups}, indent=1) if options.json else "\n".join(group_lines(groups)))
            return 0
        facts, columns, source = frequency_table(config, options.seq_len, options.layer_type, options.trained)
    except (TypeError, ValueError) as error:
        raise Refused(f"{options.config}: {error}") from None
    if options.json:  # JSON has no infinity: the wavelength of a pair that does not turn is null
        rows = {
            name: [value if np.isfinite(value) else None for value in each.tolist()] for name, each in columns.items()
        }
        print(json.dumps(facts | rows, indent=1))
        return 0
    print("\n".join(group_lines(groups) + [f"{name:<17} {value}" for name, value in facts.items()]), f"({source})")
    print("\npair    radians/token    tokens/turn   seen in training   speed, of plain RoPE")
    for i, (speed, turn, seen, ratio) in enumerate(zip(*columns.values(), strict=True)):
        print(f"{i:4}    {speed:13.6e}   {turn:12,.1f}   {seen:15.1%}    {ratio:12.4f}")
    return 0


def read_array(path):
    """Read an array from a .npy file, never a pickle, or raise one line that says what is wrong with it."""
    import numpy as np

    try:
        with path.open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, MemoryError) as error:  # a broken header can ask for more memory than there is
        raise Refused(f"{path} must be a .npy file of numbers: {' '.join(str(error).split())}") from None


@command(
    argument("x", type=Path, metavar="X.NPY", help="queries or keys before the turn, (..., seq_len, head_dim)"),
    argument("y", type=Path, metavar="Y.NPY", help="what a RoPE made of them"),
    argument("--positions", type=Path, metavar="P.NPY", help="positions that were meant, in tokens"),
    argument("--base", type=float, metavar="B", help="base that was meant"),
    argument("--rotary-dim", type=int, metavar="R", help="width that was meant to turn"),
)
def diagnose(options):
    """Say which convention, base, offset or known fault turns one array into another."""
    from rope_ref.diagnosis import diagnose

    position_ids = None if options.positions is None else read_array(options.positions)
    x, y = read_array(options.x), read_array(options.y)
    try:
        print(diagnose(x, y, position_ids, base=options.base, rotary_dim=options.rotary_dim))
    except (TypeError, ValueError) as error:
        raise Refused(error) from None
    return 0


@command(argument("--out", type=Path, required=True, metavar="DIR", help="folder to write to"))
def vectors(options):
    """Write inputs and exact outputs, as JSON and .npy, for the tests of other programs."""
    from rope_ref.vectors import write_vectors

    try:
        for path in write_vectors(options.out):
            print(path, flush=True)
    except ModuleNotFoundError as error:  # mpmath
        raise Refused(error) from None
    return 0


if __name__ == "__main__":
    sys.exit(main())
