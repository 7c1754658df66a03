"""Measure speed as ratios within one run: `make bench`, or `python benchmarks/run.py`.

Each pair of actions is run in turn, A B A B ..., and the median of the ratios A/B is printed, so that a machine whose
speed drifts gives the same numbers. The unit of most rows is one `np.copyto` of the same array: it reads and writes
every number once, and nothing that turns an array can be faster.
"""

import importlib.util
import os
import subprocess
import sys
import time
import tracemalloc

import numpy as np

from rope_ref import RotaryEmbedding, apply_rope, cos_sin, inverse_frequencies, rotation_angles
from rope_ref.positions import axial_angles, video_grid, video_split

PREFILL, DECODE = (1, 32, 2048, 128), (8, 32, 1, 128)
VIDEO, TEXT = (1, 48, 17776, 64), 226  # a layer of CogVideoX: text tokens, then 13 x 30 x 45 patches


def seconds(action, repeats):
    """Time some calls of `action`, in seconds a call."""
    start = time.perf_counter()
    for _ in range(repeats):
        action()
    return (time.perf_counter() - start) / repeats


def ratio(action, unit, *, repeats=1, rounds=31):
    """Return the median of seconds(action) / seconds(unit), measured in turn."""
    action(), unit()
    return float(np.median([seconds(action, repeats) / seconds(unit, repeats) for _ in range(rounds)]))


def table_for(x, first=0):
    """Return float64 cos and sin for the tokens of `x`."""
    return cos_sin(rotation_angles(np.arange(first, first + x.shape[-2]), inverse_frequencies(x.shape[-1])))


def queries(shape, dtype=np.float32):
    """Draw an array of queries and an empty one for the result."""
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    return x, np.empty_like(x)


def report(name, value, limit=None):
    """Print one row."""
    print(f"{name:<70}{value:>8.3g}" + (f"   limit {limit:g}" if limit else ""), flush=True)


def measure_turns():
    """One layer's queries, and one decoded token, in multiples of a copy."""
    for shape, name, repeats, limits in (
        (PREFILL, "prefill", 1, (1.25, 3.0)),
        (DECODE, "one decoded token", 200, (12, 12)),
    ):
        x, out = queries(shape)
        cos, sin = table_for(x)
        for pairing, limit in zip(("interleaved", "half"), limits, strict=True):
            value = ratio(
                lambda x=x, c=cos, s=sin, p=pairing, o=out: apply_rope(x, c, s, pairing=p, out=o),
                lambda x=x, o=out: np.copyto(o, x),
                repeats=repeats,
            )
            report(f"apply_rope, {pairing}, {name} {shape}, in copies", value, limit)


def measure_embedding():
    """The same turns from kept rows: whole sequences, and one token with ids of several shapes."""
    for pairing, limits in (("interleaved", (1.25, 12)), ("half", (3.0, 12))):
        rope = RotaryEmbedding(inverse_frequencies(128), pairing=pairing)
        x, out = queries(PREFILL)
        value = ratio(lambda r=rope, x=x, o=out: r.rotate(x, out=o), lambda x=x, o=out: np.copyto(o, x))
        report(f"RotaryEmbedding.rotate, {pairing}, prefill, in copies", value, limits[0])
        x, out = queries(DECODE)
        for name, ids in (("one id", np.array([700])), ("an id a sequence", np.arange(700, 708)[:, None])):
            value = ratio(
                lambda r=rope, x=x, o=out, ids=ids: r.rotate(x, ids, out=o),
                lambda x=x, o=out: np.copyto(o, x),
                repeats=200,
            )
            report(f"RotaryEmbedding.rotate, {pairing}, one token, {name}, in copies", value, limits[1])


def measure_video():
    """A whole layer of a video model: text tokens at angle zero, patches on three axes."""
    start = time.perf_counter()
    angles = np.zeros((VIDEO[2], VIDEO[3] // 2))
    angles[TEXT:] = axial_angles(video_grid(13, 30, 45), video_split(VIDEO[3]))
    cos, sin = cos_sin(angles)
    print(f"table for {VIDEO[2]:,} tokens: {time.perf_counter() - start:.3f} s")
    x, out = queries(VIDEO)
    for pairing, limit in (("interleaved", 1.25), ("half", 3.0)):
        value = ratio(
            lambda p=pairing: apply_rope(x, cos, sin, pairing=p, out=out), lambda: np.copyto(out, x), rounds=9
        )
        report(f"apply_rope, {pairing}, CogVideoX layer {VIDEO}, in copies", value, limit)
        tracemalloc.start()
        apply_rope(x, cos, sin, pairing=pairing, out=out)
        report(f"apply_rope, {pairing}, CogVideoX layer, extra memory, in MB", tracemalloc.get_traced_memory()[1] / 1e6)
        tracemalloc.stop()


def measure_tables():
    """The table on the way, in copies, and beside the turn."""
    x, out = queries(PREFILL)
    report(
        "rotation_angles, cos_sin and apply_rope, interleaved, in copies",
        ratio(lambda: apply_rope(x, *table_for(x), out=out), lambda: np.copyto(out, x)),
    )


def measure_memory():
    """Memory taken beyond input, output and tables."""
    for pairing in ("interleaved", "half"):
        x, out = queries(PREFILL)
        cos, sin = table_for(x)
        tracemalloc.start()
        apply_rope(x, cos, sin, pairing=pairing, out=out)
        report(f"apply_rope, {pairing}, extra memory, in MB", tracemalloc.get_traced_memory()[1] / 1e6, 2)
        tracemalloc.stop()


def measure_length():
    """Many lengths in copies of the same length: one number where time is linear in the tokens."""
    for pairing in ("interleaved", "half"):
        for length in (1024, 8192, 65536):
            x, out = queries((1, 8, length, 128))
            cos, sin = table_for(x)
            value = ratio(
                lambda x=x, c=cos, s=sin, p=pairing, o=out: apply_rope(x, c, s, pairing=p, out=o),
                lambda x=x, o=out: np.copyto(o, x),
                rounds=15,
            )
            report(f"apply_rope, {pairing}, {x.shape}, in copies", value)


def measure_import():
    """A fresh `import rope_ref` over a fresh `import numpy`, both compiled before."""
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def fresh(module):
        return lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True, env=settings)

    report("import rope_ref, in imports of numpy", ratio(fresh("rope_ref"), fresh("numpy"), rounds=15), 1.1)


def measure_torch():
    """What torch users write: complex, and rotate-half, eager, one thread."""
    import torch

    torch.set_num_threads(1)
    x, out = queries(PREFILL)
    cos, sin = (torch.tensor(np.tile(t, 2), dtype=torch.float32) for t in table_for(x))
    turn = torch.polar(torch.ones(cos[:, :64].shape), torch.atan2(sin[:, :64], cos[:, :64]))
    t = torch.tensor(x)

    def complex_form():
        torch.view_as_real(torch.view_as_complex(t.reshape(*t.shape[:-1], 64, 2)) * turn).flatten(-2)

    def rotate_half():
        t * cos + torch.cat((-t[..., 64:], t[..., :64]), dim=-1) * sin

    for name, action in (("complex", complex_form), ("rotate-half", rotate_half)):
        report(f"torch {torch.__version__}, {name}, in copies", ratio(action, lambda: np.copyto(out, x), rounds=11))


def measure_transformers():
    """The function most models on transformers call, for queries and keys of one layer: half the time each."""
    import torch
    import transformers
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    torch.set_num_threads(1)
    x, out = queries(PREFILL)
    cos, sin = (torch.tensor(np.tile(t, 2), dtype=torch.float32)[None] for t in table_for(x))
    t = torch.tensor(x)
    value = ratio(lambda: apply_rotary_pos_emb(t, t, cos, sin), lambda: np.copyto(out, x), rounds=11)
    report(f"transformers {transformers.__version__}, Llama, one of q and k, in copies", value / 2)


def measure_onnxruntime():
    """The compiled operator on the CPU, one thread."""
    import onnxruntime
    from onnx import TensorProto, helper

    x, out = queries(PREFILL)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    feeds = dict(zip("xcs", (x, *(t[None].astype(np.float32) for t in table_for(x))), strict=True))
    for interleaved in (1, 0):
        node = helper.make_node("RotaryEmbedding", list("xcs"), ["y"], interleaved=interleaved)
        values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, v.shape) for n, v in feeds.items()]
        result = helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)
        graph = helper.make_graph([node], "rope", values, [result])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        value = ratio(lambda s=session: s.run(None, feeds), lambda: np.copyto(out, x), rounds=11)
        name = f"onnxruntime {onnxruntime.__version__}, interleaved={interleaved}, in copies"
        report(name, value)


PEERS = {"torch": measure_torch, "transformers": measure_transformers, "onnxruntime": measure_onnxruntime}


def main():
    """Print every ratio; peers only where they are installed."""
    print(f"NumPy {np.__version__}; medians of ratios measured in turn, one thread")
    measure_turns()
    measure_embedding()
    measure_tables()
    measure_memory()
    measure_length()
    measure_video()
    measure_import()
    for name, measure in PEERS.items():
        if importlib.util.find_spec(name):
            measure()
        else:
            print(f"{name} is not installed here: not measured")


if __name__ == "__main__":
    main()
