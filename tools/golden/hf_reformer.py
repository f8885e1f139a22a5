#!/usr/bin/env python3
"""Makes tests/golden/hf/reformer/: a small random Reformer of Hugging Face as `transformers` writes it, with its results in
`expected.safetensors`. A Reformer draws random directions for its hashes; the files hold those that the results are of.

    python3 -m venv build/venv-hf && build/venv-hf/bin/pip install torch==2.13.0 transformers==5.22.2
    build/venv-hf/bin/python tools/golden/hf_reformer.py
"""

import json
import pathlib

import torch
import transformers as hf
from safetensors.torch import save_file

OUT = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden" / "hf" / "reformer"
SEED = 5  # of the directions; every layer draws the same
HEADS, FEATURES, ROUNDS, BUCKETS = 2, 6, 2, (2, 4)
LENGTHS = (3, 8, 11, 30)  # shorter than a chunk, two chunks, no multiple of a chunk, several chunks


def config() -> hf.ReformerConfig:
    return hf.ReformerConfig(
        vocab_size=67, hidden_size=16, num_attention_heads=HEADS, attention_head_size=FEATURES, feed_forward_size=24,
        attn_layers=["local", "lsh", "local", "lsh"], lsh_attn_chunk_length=4, local_attn_chunk_length=4, num_buckets=list(BUCKETS),
        num_hashes=ROUNDS, hash_seed=SEED, axial_pos_shape=(4, 8), axial_pos_embds_dim=(6, 10), max_position_embeddings=32,
        is_decoder=True, hidden_act="relu", layer_norm_eps=0.01, hidden_dropout_prob=0.0, lsh_attention_probs_dropout_prob=0.0,
        local_attention_probs_dropout_prob=0.0, tie_word_embeddings=False, use_cache=False)


def main() -> None:
    torch.manual_seed(1)
    model = hf.ReformerModelWithLMHead(config()).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_((torch.randn(parameter.shape) * 0.3 + (1.0 if parameter.dim() == 1 else 0.0)).mul(1024).round() / 1024)
        model.lm_head.bias.zero_()  # transformers 5 stores it and does not add it; 4 did
    OUT.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(OUT)
    # In f32, transformers joins rounds in which a position sees only itself with an error of 0.2 %: their log-sum-exps are
    # about -1e5. In double it does not.
    model.double()
    torch.manual_seed(SEED)
    expected = {"in.directions": torch.randn(HEADS, FEATURES, ROUNDS, sum(BUCKETS) // 2, dtype=torch.float64).flatten(2)}
    for length in LENGTHS:
        ids = torch.randint(6, 60, (2, length), generator=torch.Generator().manual_seed(length))
        with torch.no_grad():
            result = model(ids, output_hidden_states=False)
            states = model.reformer(ids).last_hidden_state
        expected |= {f"in.ids_{length}": ids, f"out.hidden_{length}": states, f"out.logits_{length}": result.logits}
    (OUT / "generation_config.json").unlink(missing_ok=True)
    settings = json.loads((OUT / "config.json").read_text())
    (OUT / "config_4x.json").write_text(json.dumps({k: v for k, v in settings.items() if v is not None}, indent=2) + "\n")
    narrow = {torch.float64: torch.float32, torch.int64: torch.int64}
    save_file({name: tensor.contiguous().to(narrow[tensor.dtype]) for name, tensor in expected.items()}, OUT / "expected.safetensors")


if __name__ == "__main__":
    main()
