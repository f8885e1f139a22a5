"""Compares language models that heed reads from Hugging Face folders and GGUF files with transformers.

Small models of every architecture are made at random, saved by transformers, and continued greedily by both. Published
GGUF files under $HEED_MODELS (else ~/.cache/heed-models) are compared token by token, their tokenizers line by line.
"""

from __future__ import annotations

import os
import pathlib
import random
from typing import Any

import pytest

from small_models import run_program

heed = pytest.importorskip("heed")
torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

MODELS = pathlib.Path(os.environ.get("HEED_MODELS") or pathlib.Path.home() / ".cache/heed-models")
LETTERS = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ.,"
TOKENS = ["<s>", "</s>", *LETTERS]
NEW = 24
SIZES: dict[str, Any] = {
    "vocab_size": len(TOKENS) + 3,  # a model may have more rows than there are tokens
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 0,
}
ROPE = {"rope_type": "default", "rope_theta": 100.0}
ARCHITECTURES = {
    "llama": lambda: hf.LlamaConfig(**SIZES, rope_parameters=dict(ROPE)),
    "llama3": lambda: hf.LlamaConfig(
        **SIZES,
        rope_parameters={
            "rope_type": "llama3",
            "rope_theta": 100.0,
            "factor": 4.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 16,
        },
    ),
    "llama with biases": lambda: hf.LlamaConfig(**SIZES, attention_bias=True, mlp_bias=True),
    "mistral": lambda: hf.MistralConfig(**SIZES, sliding_window=7),
    "qwen2": lambda: hf.Qwen2Config(**SIZES),
    "qwen2 with windows": lambda: hf.Qwen2Config(
        **SIZES, use_sliding_window=True, sliding_window=5, max_window_layers=1
    ),
    "qwen3": lambda: hf.Qwen3Config(**SIZES, head_dim=10),
    "gemma2": lambda: hf.Gemma2Config(
        **SIZES, head_dim=10, query_pre_attn_scalar=7, sliding_window=5, attn_logit_softcapping=3.0
    ),
    "gemma3": lambda: hf.Gemma3TextConfig(
        **{**SIZES, "num_hidden_layers": 7}, head_dim=10, query_pre_attn_scalar=7, sliding_window=5
    ),
    "gpt2": lambda: hf.GPT2Config(
        vocab_size=SIZES["vocab_size"],
        n_embd=24,
        n_layer=2,
        n_head=3,
        n_positions=64,
        bos_token_id=0,
        eos_token_id=1,
    ),
}


def save_tokenizer(folder: pathlib.Path) -> None:
    """Every letter is a token."""
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab={token: i for i, token in enumerate(TOKENS)}, merges=[])
    )
    made.decoder = tokenizers.decoders.Fuse()
    made.add_special_tokens(TOKENS[:2])
    made.save(str(folder / "tokenizer.json"))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_small_models_continue_as_in_transformers(name: str, tmp_path: pathlib.Path) -> None:
    torch.manual_seed(sum(map(ord, name)))
    model = hf.AutoModelForCausalLM.from_config(ARCHITECTURES[name](), attn_implementation="eager")
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    model.eval().save_pretrained(tmp_path)
    save_tokenizer(tmp_path)
    language_model = heed.LanguageModel(tmp_path)
    draw = random.Random(1)
    for _ in range(5):
        prompt = "".join(draw.choices(LETTERS, k=draw.randrange(1, 20)))
        ids = torch.tensor([[TOKENS.index(letter) for letter in prompt]])
        with torch.no_grad():
            found = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=NEW,
                                   suppress_tokens=[0, *range(len(TOKENS), SIZES["vocab_size"])])  # fmt: skip
        new = found[0, ids.shape[1] :].tolist()
        expected = "".join(TOKENS[token] for token in new if token != 1)
        assert language_model.generate(prompt, method="beam", beam_size=1, max_length=NEW) == expected


# ---- published GGUF files ------------------------------------------------------------------------

PUBLISHED = {
    "smollm2-135m-instruct": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "qwen2.5-coder-0.5b-instruct": "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
}
PROMPTS = ["The capital of France is", "def fibonacci(n):", "Once upon a time", "水是", "1, 2, 3, 5, 8,"]


def published(name: str) -> pathlib.Path:
    path = MODELS / name / PUBLISHED[name]
    if not path.exists():
        pytest.skip(f"{name} is not in {MODELS} (python3 ../shared/models/get.py {name})")
    return path


def tokenizer_of(name: str, path: pathlib.Path) -> Any:
    """The tokenizer that transformers makes from the file, with the parts of the published one that it leaves out."""
    made = hf.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    if name.startswith("smollm2"):
        made.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
            [
                tokenizers.pre_tokenizers.Digits(individual_digits=True),
                tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        )
    else:
        made.backend_tokenizer.normalizer = tokenizers.normalizers.NFC()
    return made


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_tokenizers_give_the_same_ids(name: str) -> None:
    from test_tokenizers import lines

    path = published(name)
    expected = tokenizer_of(name, path)
    tokenizer = heed.LanguageModel(path).tokenizer
    for line in lines(2000):
        ids = expected(line, add_special_tokens=False).input_ids
        assert list(tokenizer.encode(line)) == ids, line
        assert tokenizer.decode(ids) == expected.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models_continue_as_in_transformers(name: str, tmp_path: pathlib.Path) -> None:
    path = published(name)
    tokenizer = tokenizer_of(name, path)
    model = hf.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).eval()
    run_program("convert", str(path), "-o", str(tmp_path / "f32"))  # else blocks, and x in 8 bits
    language_model = heed.LanguageModel(tmp_path / "f32")
    for prompt in PROMPTS:
        ids = tokenizer(prompt, return_tensors="pt").input_ids
        with torch.no_grad():
            found = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=NEW,
                                   repetition_penalty=1.0, pad_token_id=0)  # fmt: skip
        expected = tokenizer.decode(found[0, ids.shape[1] :], skip_special_tokens=True)
        assert language_model.generate(prompt, method="beam", beam_size=1, max_length=NEW) == expected
