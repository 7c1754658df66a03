"""Comparison with public implementations, live: `make peers`. Never needed by `make test`, which does not collect it.

They compute angles in float32, so rotated vectors are compared at positions up to 127.
"""

import copy
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from places import DATA

from rope_ref import apply_rope, cos_sin, from_config, inverse_frequencies, rope_of_layers, rotation_angles
from rope_ref.embedding import RotaryEmbedding

CONFIGS = json.loads((DATA / "configs.json").read_text(encoding="utf-8"))["cases"]
HEADS, LENGTH, WIDTH = 4, 128, 64
FLOAT32 = 1e-6  # some roundings in float32: a blended speed is a difference of two


@pytest.fixture(scope="module")
def torch():
    module = pytest.importorskip("torch")
    module.set_num_threads(1)
    return module


@pytest.fixture(scope="module")
def transformers():
    return pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(0).standard_normal((2, HEADS, LENGTH, WIDTH)).astype(np.float32)


@pytest.fixture(scope="module")
def angles():
    return rotation_angles(np.arange(LENGTH), inverse_frequencies(WIDTH))


TYPES = {
    "default": {},
    "linear": {"factor": 4.0},
    "dynamic": {"factor": 2.0},
    "yarn": {"factor": 16.0, "original_max_position_embeddings": 2048},
    "yarn, mscale": {
        "factor": 40.0,
        "original_max_position_embeddings": 4096,
        "mscale": 1.0,
        "mscale_all_dim": 0.707,
        "beta_fast": 16.0,
    },
    "yarn, not truncated": {"factor": 32.0, "original_max_position_embeddings": 4096, "truncate": False},
    "llama3": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
    "longrope": {
        "short_factor": [1.0 + i / 64 for i in range(32)],
        "long_factor": [1.0 + i for i in range(32)],
        "original_max_position_embeddings": 4096,
        "factor": 32.0,
    },
    "proportional": {"partial_rotary_factor": 0.5},
}


@pytest.mark.parametrize("seq_len", [None, 100, 9000, 40000])
@pytest.mark.parametrize("name", TYPES)
def test_every_rope_type_is_that_of_transformers(torch, transformers, name, seq_len):
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    kind = name.partition(",")[0]
    parameters = {"rope_type": kind, "rope_theta": 10000.0} | TYPES[name]
    shape = {"hidden_size": HEADS * WIDTH, "num_attention_heads": HEADS, "max_position_embeddings": 8192}
    config = transformers.LlamaConfig(**shape, rope_parameters=dict(parameters))
    if kind == "default":
        inv_freq, factor = LlamaRotaryEmbedding(config).inv_freq, 1.0
    else:
        inv_freq, factor = ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=seq_len)
    ours = from_config({"model_type": "llama", **shape, "rope_parameters": parameters}, seq_len).scaling
    assert_allclose(ours.inv_freq, inv_freq.numpy(), rtol=FLOAT32, atol=0)
    assert ours.attention_factor == pytest.approx(factor, rel=1e-6)


def their_frequencies(config):
    """Build the rotary embedding that transformers has for a published configuration: {layer type or None: ...}."""
    import importlib
    import inspect

    import transformers

    family = config["model_type"]
    keys = {key: value for key, value in config.items() if key != "model_type"}
    for part in (keys, keys.get("text_config", {})):  # the files name a layer of each type, and these stand for all
        if "layer_types" in part:
            part["num_hidden_layers"] = len(part["layer_types"])
    built = transformers.CONFIG_MAPPING[family](**keys)
    built = getattr(built, "text_config", built)
    name = built.model_type.removesuffix("_text").replace("-", "_")
    code = importlib.import_module(f"transformers.models.{name}.modeling_{name}")
    classes = [c for n, c in inspect.getmembers(code, inspect.isclass) if n.endswith("RotaryEmbedding")]
    classes = [c for c in classes if c.__module__ == code.__name__ and "Vision" not in c.__name__]
    if len(classes) != 1:
        pytest.skip(f"transformers has no single rotary embedding for {family}")
    made = classes[0](built)
    if hasattr(made, "inv_freq"):
        return {None: (made.inv_freq.numpy(), made.attention_scaling)}
    names = [name.removesuffix("_inv_freq") for name in dict(made.named_buffers()) if name.endswith("_inv_freq")]
    return {
        name: (getattr(made, f"{name}_inv_freq").numpy(), getattr(made, f"{name}_attention_scaling"))
        for name in names
        if not name.endswith("_original")
    }


@pytest.mark.parametrize("case", CONFIGS, ids=lambda case: case["name"])
def test_published_configurations_are_read_as_by_transformers(transformers, torch, case):
    if case["config"].get("model_type") not in transformers.CONFIG_MAPPING:
        pytest.skip("not a model of transformers")
    if "seq_len" in case:
        pytest.skip("the speeds depend on the length: compared by type above")
    layers = rope_of_layers(case["config"]) if "layers" in case else []
    for layer_type, (inv_freq, factor) in their_frequencies(copy.deepcopy(case["config"])).items():
        if layer_type is None and None in layers:  # some layers do not turn: all others have what they have
            ours = next(rope for rope in layers if rope is not None).scaling
        else:
            ours = from_config(case["config"], layer_type=layer_type).scaling
        assert_allclose(ours.inv_freq, inv_freq, rtol=FLOAT32, atol=0)
        assert ours.attention_factor == pytest.approx(factor, rel=1e-6)


def test_half_pairing_is_that_of_llama_in_transformers(torch, transformers, x):
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    shape = {"hidden_size": HEADS * WIDTH, "num_attention_heads": HEADS, "max_position_embeddings": 8192}
    theirs = torch.tensor(x)
    cos, sin = LlamaRotaryEmbedding(transformers.LlamaConfig(**shape))(theirs, torch.arange(LENGTH)[None])
    turned, _ = apply_rotary_pos_emb(theirs, theirs, cos, sin)
    ours = RotaryEmbedding(inverse_frequencies(WIDTH), pairing="half").rotate(x)
    assert_allclose(ours, turned.numpy(), rtol=0, atol=3e-5)
    interleaved = RotaryEmbedding(inverse_frequencies(WIDTH)).rotate(x)
    assert np.abs(interleaved - turned.numpy()).max() > 1


def test_interleaved_pairing_is_the_complex_product_in_torch(torch, x, angles):
    turn = torch.polar(torch.ones(angles.shape, dtype=torch.float64), torch.tensor(angles)).to(torch.complex64)
    pairs = torch.view_as_complex(torch.tensor(x).reshape(*x.shape[:-1], WIDTH // 2, 2))
    turned = torch.view_as_real(pairs * turn).flatten(-2)
    assert_allclose(apply_rope(x, *cos_sin(angles)), turned.numpy(), rtol=0, atol=1e-6)


def test_interleaved_pairing_is_that_of_gptj_in_transformers(torch, transformers, x):
    from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb, create_sinusoidal_positions

    sin, cos = create_sinusoidal_positions(LENGTH, WIDTH).chunk(2, dim=-1)
    swapped = torch.tensor(np.swapaxes(x, 1, 2).copy())  # (batch, seq_len, heads, head_dim)
    turned = apply_rotary_pos_emb(swapped, sin[None], cos[None]).numpy()
    ours = RotaryEmbedding(inverse_frequencies(WIDTH)).rotate(x)
    assert_allclose(ours, np.swapaxes(turned, 1, 2), rtol=0, atol=3e-5)


@pytest.mark.parametrize("pairing", ["interleaved", "half"])
def test_onnxruntime_runs_the_operator_as_apply_rope_does(x, angles, pairing):
    onnxruntime = pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    cos, sin = cos_sin(angles, dtype=np.float32)
    feeds = {"x": x, "cos": np.stack([cos, cos]), "sin": np.stack([sin, sin])}
    node = helper.make_node("RotaryEmbedding", list(feeds), ["y"], interleaved=int(pairing == "interleaved"))
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in feeds.items()]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)
    graph = helper.make_graph([node], "rope", values, [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    assert_allclose(apply_rope(x, cos, sin, pairing=pairing), session.run(None, feeds)[0], rtol=0, atol=1e-6)
