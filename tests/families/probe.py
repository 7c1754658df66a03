"""What transformers itself does for a model type: its frequencies, its pairing, and which layers turn.

Nothing here knows `rope_ref`. Each model type is built with its own default configuration. Frequencies and length
factors are the buffers of its rotary module. The pairing is seen by handing the unit vectors to the function that its
attention calls. Which layers turn is seen by running the model on the meta device, which computes shapes alone, and
noting from which layer that function is called.
"""

import importlib
import inspect
import re
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES, model_type_to_module_name

ROTARY = re.compile(r"class (\w*RotaryEmbedding\w*)\(")
APPLY = re.compile(r"^_?(vision_)?apply_\w*(rotary|rope)\w*$")


def modules(model_type):
    """Import the modeling files of a model type that define a rotary class."""
    name = model_type_to_module_name(model_type)
    folder = Path(transformers.__file__).parent / "models" / name
    files = [file for file in sorted(folder.glob("modeling_*.py")) if ROTARY.search(file.read_text(encoding="utf-8"))]
    return [importlib.import_module(f"transformers.models.{name}.{file.stem}") for file in files]


def rotary_classes(model_type):
    """List the rotary classes of a model type that are not of a vision part."""
    found = []
    for module in modules(model_type):
        for name, value in vars(module).items():
            own = inspect.isclass(value) and value.__module__ == module.__name__
            if own and "RotaryEmbedding" in name and "Vision" not in name:
                found.append(value)
    return found


def ladders(rotary):
    """Return the frequencies and the length factor that a rotary module holds, by layer type ("" where it has one)."""
    found = {}
    for name, buffer in rotary.named_buffers():
        if name.endswith("inv_freq") and "original" not in name:
            kind = name[: -len("inv_freq")].rstrip("_")
            scaling = getattr(rotary, f"{kind}_attention_scaling" if kind else "attention_scaling", 1.0)
            found[kind] = (np.array(buffer.double()), float(scaling))
    return found


def meant_for(rotary, config):
    """Tell whether a rotary class says in its signature that it is for this configuration class."""
    notes = [parameter.annotation for parameter in inspect.signature(rotary.__init__).parameters.values()]
    return any(inspect.isclass(note) and isinstance(config, note) for note in notes)


def build_rotary(model_type):
    """Build the rotary module of a model type; None where no class can be built from its default configuration."""
    config = CONFIG_MAPPING[model_type]()
    tries = [(config, "own")]
    if config.get_text_config() is not config:
        tries.append((config.get_text_config(), "text"))
    classes = rotary_classes(model_type)
    for part, which in tries:
        for rotary in sorted(classes, key=lambda rotary: not meant_for(rotary, part)):
            try:
                built = rotary(part).eval()
            except Exception:  # a class of another part
                continue
            if ladders(built):
                return config, part, which, built
    return None


def model_types():
    """List the model types that have a rotary class which their own default configuration, or its text part, builds."""
    found = []
    for name in CONFIG_MAPPING_NAMES:
        if rotary_classes(name) and build_rotary(name) is not None:
            found.append(name)
    return found


class Watch:
    """Note each call of a function that turns: its name, the layer it is called from, and the shapes it is given."""

    def __init__(self, module):
        self.module, self.calls, self.real, self.made = module, [], {}, {}

    def __enter__(self):
        for name, value in list(vars(self.module).items()):
            if inspect.isfunction(value) and APPLY.match(name):
                self.real[name] = value
                setattr(self.module, name, self.watched(name, value))
        return self

    def __exit__(self, *error):
        for name, value in self.real.items():
            setattr(self.module, name, value)

    def remember(self, rotary, args, kwargs, made):
        """Note for which layer type tables were made; they are kept, so that no id is used twice."""
        for table in made if isinstance(made, tuple) else [made]:
            self.made[id(table)] = (str(kwargs.get("layer_type", args[2] if len(args) > 2 else "")), table)

    def watched(self, name, function):
        def call(*args, **kwargs):
            frame = sys._getframe(1)
            while "self" not in frame.f_locals and frame.f_back is not None:
                frame = frame.f_back
            owner = frame.f_locals.get("self")
            tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
            kinds = [self.made[id(value)][0] for value in tensors if id(value) in self.made]
            layer = getattr(owner, "layer_idx", None)
            shapes = [tuple(value.shape) for value in tensors]
            self.calls.append((name, type(owner).__name__, layer, shapes, kinds[0] if kinds else None))
            return function(*args, **kwargs)

        return call


def model_class(config):
    """Find the class of the bare model that a configuration class belongs to."""
    module = importlib.import_module(type(config).__module__.replace(".configuration_", ".modeling_"))
    found = []
    for value in vars(module).values():
        if inspect.isclass(value) and value.__module__ == module.__name__ and hasattr(value, "config_class"):
            if value.config_class is type(config) and not inspect.isabstract(value):
                found.append(value)
    bare = [value for value in found if not re.search("PreTrained|For|Decoder$", value.__name__)]
    return bare or found


def run_on_meta(model_type, config):
    """Run a model of default size on the meta device; return the calls that turned, and the error that ended it."""
    masks = importlib.import_module("transformers.masking_utils")
    real, masks.find_packed_sequence_indices = masks.find_packed_sequence_indices, lambda position_ids: None
    own = dict.fromkeys([*modules(model_type), *modules(config.model_type)])
    watches, error = [Watch(module) for module in own], "no class of a model"
    try:
        for build in model_class(config):
            for watch in watches:
                watch.calls.clear()
            try:
                with torch.device("meta"):
                    model = build._from_config(config, attn_implementation="eager", dtype=torch.bfloat16).eval()
                error = run(model, watches)
            except Exception as found:
                error = f"{type(found).__name__}: {found}"[:200]
            if any(watch.calls for watch in watches):
                break
    finally:
        masks.find_packed_sequence_indices = real
    return [call for watch in watches for call in watch.calls], error


def run(model, watches):
    """Run a model on six tokens under watch; return the error that ended it, or None."""
    tokens = torch.zeros((1, 6), dtype=torch.long, device="meta")
    for watch in watches:
        watch.__enter__()
        for part in model.modules():
            if "RotaryEmbedding" in type(part).__name__:
                part.register_forward_hook(watch.remember, with_kwargs=True)
    try:
        with torch.no_grad():
            model(input_ids=tokens, use_cache=False)
    except Exception as found:
        return f"{type(found).__name__}: {found}"[:200]
    finally:
        for watch in watches:
            watch.__exit__()


def tables(rotary, positions, kind):
    """Run a rotary module on positions; what it returns, or an error."""
    x = torch.zeros((1, positions.shape[-1], 8))
    more = {"layer_type": kind} if kind else {}
    error = None
    for position_ids in (positions, positions.expand(3, 1, -1), positions.expand(4, 1, -1)):
        try:
            return rotary(x, position_ids, **more)
        except Exception as found:
            error = error or found
    raise error


PROBES = set("q k v x xq xk tensor hidden_states query key value".split())


def turned(function, table, width, heads_first):
    """Hand the unit vectors of a head to a function that turns; row i is where it takes unit vector i at position 1."""
    probe = torch.eye(width).reshape(1, width, 1, width).expand(1, width, 2, width).clone()
    probe = probe if heads_first else probe.transpose(1, 2).contiguous()
    table = list(table) if isinstance(table, (tuple, list)) else [table]
    given = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in PROBES:
            given[name] = probe.clone()
        elif parameter.default is inspect.Parameter.empty or name in ("cos", "sin"):
            if not table:
                break
            given[name] = table.pop(0)
    out = function(**given)
    while isinstance(out, (tuple, list)):
        out = out[0]
    out = np.array(out.detach().double())[0]
    return (out if heads_first else out.swapaxes(0, 1))[:, 1, :]


def features(pairing, pairs):
    """Return the features of each pair, as (pairs, 2)."""
    number = np.arange(pairs)
    return np.stack([2 * number, 2 * number + 1] if pairing == "interleaved" else [number, number + pairs], axis=1)


def explain(rows, inv_freq, factor):
    """Name the pairing that a function reads and the one it writes; None where no pairing explains every row."""
    width, pairs = len(rows), len(inv_freq)
    cos, sin = factor * np.cos(inv_freq), factor * np.sin(inv_freq)
    for start in sorted({0, max(0, width - 2 * pairs)}):
        for read in ("half", "interleaved"):
            for write in (read, *{"half", "interleaved"} - {read}):
                want = np.eye(width)
                block = slice(start, start + 2 * pairs)
                want[block, block] = 0
                (a, b), (c, d) = start + features(read, pairs).T, start + features(write, pairs).T
                want[a, c], want[a, d], want[b, c], want[b, d] = cos, sin, -sin, cos
                told = {"read": read, "write": write, "start": start}
                if np.allclose(rows, want, rtol=0, atol=1e-5):
                    return told
                if read == write and np.allclose(rows, want.T, rtol=0, atol=1e-5):
                    return {**told, "backwards": True}
    return None


def candidates(model_type, calls):
    """List the functions that may turn for a rotary class, those seen at work in an attention first, with the width."""
    seen = {}
    for name, owner, _, shapes, _ in calls:
        if "Indexer" not in owner and owner != "Watch":
            seen.setdefault(name, shapes[0][-1] if shapes else None)
    found = []
    for module in modules(model_type):
        for name, value in vars(module).items():
            if inspect.isfunction(value) and APPLY.match(name) and value.__module__ == module.__name__:
                found.append(((name not in seen, "vision" in name, name), value, seen.get(name)))
    return [(value, width) for _, value, width in sorted(found, key=lambda item: item[0])]


def fit_sections(rotary, pairs):
    """Give all pairs of a rotary module to one axis, where its own sections do not fit its own frequencies."""
    sections = getattr(rotary, "mrope_section", 0)
    if sections is None or (isinstance(sections, (list, tuple)) and sum(sections) != pairs):
        rotary.mrope_section = [pairs] if sections is None else [pairs, *[0] * (len(sections) - 1)]
        return True
    return False


def two_axes(rotary, ladder):
    """Run the rotary module of a vision model on two patches; return its tables and the angles of the second patch."""
    if list(inspect.signature(rotary.forward).parameters) == ["pixel_values"]:  # centres at -1/2 and 1/2, in 2 pi
        side = rotary.config.patch_size
        return rotary(torch.zeros(1, 3, 2 * side, side)), np.concatenate([np.pi * ladder, 0 * ladder])
    return rotary(torch.zeros(1, 2, 8), torch.tensor([[0, 0], [1, 1]])), np.concatenate([ladder, ladder])


def vision_pairing(model_type, rotary):
    """Find the pairing of a vision model with two axes, and the frequencies of all its pairs."""
    ladder, factor = ladders(rotary)[""]
    table, angles = two_axes(rotary, ladder)
    told = {"notes": []}
    for function, _ in candidates(model_type, []):
        for heads_first in (True, False):
            try:
                found = explain(turned(function, table, 4 * len(ladder), heads_first), angles, factor)
            except Exception as error:
                told["notes"].append(f"{function.__name__}: {type(error).__name__}: {error}"[:150])
                continue
            if found:
                found |= {"function": function.__name__, "seen": False}
                return {"": found}, {"": (np.concatenate([ladder, ladder]), factor)}
    return {"": told}, {"": (np.concatenate([ladder, ladder]), factor)}


def pairing(model_type, rotary, calls):
    """Find the pairing of a model type: what explains the function its attention calls, for each layer type.

    Frequencies that a module keeps in another order than that of the pairs come back in the order of the pairs.
    """
    found, all_ladders = {}, ladders(rotary)
    for kind, (inv_freq, factor) in all_ladders.items():
        found[kind] = {"notes": []}
        fitted = fit_sections(rotary, len(inv_freq)) and "Interleaved" not in type(rotary).__name__
        try:
            table = tables(rotary, torch.tensor([[0, 1]]), kind)
        except Exception as error:
            found[kind]["notes"].append(f"tables: {type(error).__name__}: {error}"[:150])
            continue
        tries = [
            (function, size, heads_first, order)
            for function, width in candidates(model_type, calls)
            for size in dict.fromkeys([width, 2 * len(inv_freq)])
            for heads_first in (True, False)
            for order in (inv_freq, np.sort(inv_freq)[::-1])
            if size is not None
        ]
        for function, size, heads_first, order in tries:
            try:
                told = explain(turned(function, table, size, heads_first), order, factor)
            except Exception as error:
                found[kind]["notes"].append(f"{function.__name__}: {type(error).__name__}: {error}"[:150])
                continue
            if told:
                seen = function.__name__ in {call[0] for call in calls}
                found[kind] = {**told, "function": function.__name__, "seen": seen}
                all_ladders[kind] = (order, factor)
                found[kind] |= {"sections": "made to fit"} if fitted else {}
                break
    return found, all_ladders
