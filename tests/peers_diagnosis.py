"""Public implementations run with wrong settings, each named by `diagnose`: `make peers`. `make test` leaves it out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rope_ref import scaling
from rope_ref.diagnosis import diagnose

HEADS, LENGTH, WIDTH = 4, 64, 64
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}


@pytest.fixture(scope="module")
def torch():
    module = pytest.importorskip("torch")
    module.set_num_threads(1)
    return module


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(0).standard_normal((2, HEADS, LENGTH, WIDTH)).astype(np.float32)


def llama(torch, x, ids, base=10000.0, dtype=None, table=None, **parameters):
    """Turn x as the Llama of transformers does, with its module in a dtype, or its tables."""
    transformers = pytest.importorskip("transformers")
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    shape = {"hidden_size": HEADS * WIDTH, "num_attention_heads": HEADS, "max_position_embeddings": 8192}
    named = {"rope_type": "default", "rope_theta": base} | parameters
    module = LlamaRotaryEmbedding(transformers.LlamaConfig(**shape, rope_parameters=named))
    if dtype is not None:
        module = module.to(dtype)  # as model.to(dtype) does with every buffer
        module.inv_freq = module.inv_freq.to(dtype).float()
    theirs = torch.tensor(x)
    cos, sin = module(theirs, torch.tensor(np.atleast_2d(ids)))
    if table is not None:
        cos, sin = cos.to(table).float(), sin.to(table).float()
    return apply_rotary_pos_emb(theirs, theirs, cos, sin)[0].numpy()


def gptj(torch, x, ids):
    """Turn x as GPT-J in transformers does: interleaved pairs."""
    pytest.importorskip("transformers")
    from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb, create_sinusoidal_positions

    sin, cos = create_sinusoidal_positions(8192, x.shape[-1])[ids].chunk(2, dim=-1)
    turned = apply_rotary_pos_emb(torch.tensor(np.swapaxes(x, 1, 2).copy()), sin[None], cos[None])
    return np.swapaxes(turned.numpy(), 1, 2)


def operator(x, ids, table=None, width=WIDTH, interleaved=0):
    """Turn x as the operator of onnxruntime does, with float32 tables made in float64."""
    onnxruntime = pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    angles = np.multiply.outer(ids, 10000.0 ** (-np.arange(0, width, 2) / width))
    cos, sin = (np.stack(2 * [made(angles).astype(np.float32)]) for made in (np.cos, np.sin))
    feeds = {"x": x, "cos": cos, "sin": sin}
    partial = {"rotary_embedding_dim": 0 if width == WIDTH else width}
    node = helper.make_node("RotaryEmbedding", list(feeds), ["y"], interleaved=interleaved, **partial)
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in feeds.items()]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)
    graph = helper.make_graph([node], "rope", values, [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[0]


def named(x, y, ids, fault, **meant):
    """Whether an explanation holds a fault, and beside it only what is no fault here."""
    found = diagnose(x, y, ids, **({"base": 10000.0, "rotary_dim": WIDTH} | meant))
    beside = {"other pairing", "float32 angles"}
    assert any({*each.faults} - beside == ({fault} if fault else set()) for each in found.explanations), found.verdict
    return found


IDS = np.arange(LENGTH)


def test_pairing_of_each_program_is_seen(torch, x):
    assert named(x, llama(torch, x, IDS), IDS, None).pairing == "half"
    assert named(x, gptj(torch, x, IDS), IDS, None).pairing == "interleaved"
    assert named(x, operator(x, IDS), IDS, None).pairing == "half"
    assert named(x, operator(x, IDS, interleaved=1), IDS, None).pairing == "interleaved"


def test_base_of_another_model_is_named(torch, x):
    assert named(x, llama(torch, x, IDS, base=500000.0), IDS, "wrong base").base == pytest.approx(500000.0, rel=1e-4)


@pytest.mark.parametrize("program", ["torch", "onnxruntime"])
def test_offset_of_a_cache_is_named(torch, x, program):
    late = IDS + 1
    y = llama(torch, x, late) if program == "torch" else operator(x, late)
    assert named(x, y, IDS, "positions from one").offset == 1


def test_partial_width_is_named(x):
    assert named(x, operator(x, IDS, width=32), IDS, "wrong width").rotary_dim == 32


def test_scaling_left_off_is_named(torch, x):
    meant = scaling.llama3(WIDTH, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_length=64)
    y = llama(torch, x, IDS, rope_type="llama3", **LLAMA3)
    named(x, y, IDS, None, scaling=meant)
    named(x, llama(torch, x, IDS), IDS, "scaling left off", scaling=meant)


def test_tables_in_bfloat16_are_named(torch, x):
    named(x, llama(torch, x, IDS, table=torch.bfloat16), IDS, "bfloat16 tables")


def test_frequencies_in_bfloat16_are_named(torch, x):
    far = IDS + 3000
    named(x, llama(torch, x, far, dtype=torch.bfloat16), far, "frequencies rounded to bfloat16")


def test_cache_that_grew_in_low_precision_is_named(torch, x):
    far, cut = IDS + 2000, 40
    own = (10000.0 ** (-torch.arange(0, WIDTH, 2) / WIDTH)).to(torch.bfloat16)
    angles = torch.outer(torch.tensor(far[cut:]).to(torch.bfloat16), own)  # arange in the dtype of the model
    cos, sin = (torch.cat(2 * [table(angles.float())], dim=-1) for table in (torch.cos, torch.sin))
    late = torch.tensor(x[..., cut:, :])
    turned = late * cos + torch.cat((-late[..., WIDTH // 2 :], late[..., : WIDTH // 2]), dim=-1) * sin
    y = np.concatenate((operator(x, far)[..., :cut, :], turned.numpy()), axis=-2)
    found = named(x, y, far, "bfloat16 positions, frequencies and angles")
    assert f"right up to token {cut - 1}" in found.parting


@pytest.mark.parametrize("program", ["torch", "onnxruntime"])
def test_restart_is_named(torch, x, program):
    packed = np.concatenate((np.arange(40), np.arange(24)))
    y = llama(torch, x, packed) if program == "torch" else operator(x, packed)
    found = named(x, y, IDS, "positions restart")
    assert_array_equal(found.position_ids, packed)
