"""What the code of transformers fixes for a model_type, so that the file need not say it."""

__all__ = []

# Which features pair.
PAIRINGS = {
    "half": """
        apertus dbrx exaone4 falcon falcon_h1 gemma gemma2 gemma3_text gemma3n_text gemma4_text
        gemma4_unified_text glm4_moe gpt_neox gpt_oss granite granitemoe hunyuan_v1_dense hunyuan_v1_moe lfm2
        llama minicpm3 minimax minimax_m2 ministral ministral3 mistral mixtral mllama_text_model modernbert
        nemotron olmo olmo2 olmo3 olmoe persimmon phi phi3 phimoe qwen2 qwen2_5_omni_text qwen2_5_vl
        qwen2_5_vl_text qwen2_moe qwen2_vl qwen2_vl_text qwen3 qwen3_5_moe_text qwen3_5_text qwen3_moe
        qwen3_next qwen3_omni_moe_text qwen3_vl_moe_text qwen3_vl_text seed_oss smollm3 stablelm starcoder2
    """,
    "interleaved": """
        chatglm codegen cohere cohere2 deepseek_v2 deepseek_v3 deepseek_v32 ernie4_5 ernie4_5_moe glm glm4 glm4_moe_lite
        glm4v_text glm_moe_dsa gptj helium kimi_k2 llama4_text longcat_flash mistral4 roformer
    """,
}
PAIRING_OF = {name: pairing for pairing, names in PAIRINGS.items() for name in names.split()}
# Then, values of keys that published files of a model_type leave out.
LEFT_OUT = {
    "chatglm": {"rope_theta": 10000.0, "partial_rotary_factor": 0.5},
    "codegen": {"rope_theta": 10000.0},
    "ernie4_5": {"head_dim": 128},
    "falcon": {"rope_theta": 10000.0},
    "gemma": {"head_dim": 256},
    "gemma2": {"head_dim": 256},
    "gemma3_text": {"rope_theta": 1000000.0, "rope_local_base_freq": 10000.0, "head_dim": 256},
    "gemma3n_text": {"rope_theta": 1000000.0, "rope_local_base_freq": 10000.0, "head_dim": 256},
    "gemma4_text": {"head_dim": 256, "global_head_dim": 512},
    "gemma4_unified_text": {"head_dim": 256, "global_head_dim": 512},
    "glm": {"head_dim": 128, "partial_rotary_factor": 0.5},
    "glm4": {"head_dim": 128, "partial_rotary_factor": 0.5},
    "glm4_moe": {"partial_rotary_factor": 0.5},
    "gpt_neox": {"partial_rotary_factor": 0.25},
    "gpt_oss": {"head_dim": 64},
    "gptj": {"rope_theta": 10000.0},
    "helium": {"head_dim": 128},
    "llama": {"rope_theta": 10000.0},
    "llama4_text": {"head_dim": 128},
    "minimax_m2": {"head_dim": 128},
    "ministral3": {"head_dim": 128},
    "nemotron": {"partial_rotary_factor": 0.5},
    "persimmon": {"partial_rotary_factor": 0.5},
    "phi": {"partial_rotary_factor": 0.5},
    "qwen3": {"head_dim": 128},
    "qwen3_5_moe_text": {"head_dim": 256, "partial_rotary_factor": 0.25},
    "qwen3_5_text": {"head_dim": 256, "partial_rotary_factor": 0.25},
    "qwen3_next": {"head_dim": 256, "partial_rotary_factor": 0.25},
    "qwen3_vl_text": {"head_dim": 128},
    "roformer": {"rope_theta": 10000.0},
    "seed_oss": {"head_dim": 128},
    "stablelm": {"partial_rotary_factor": 0.25},
}
# Families that need a key whose absence would mean something else.
NEEDED = {"gptj": "rotary_dim", "codegen": "rotary_dim"}
