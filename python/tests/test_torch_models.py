"""Models of `transformers` under replace_sdpa: the same numbers, gradients and tokens.

The models are small, with random weights; nothing is downloaded. Eager attention is the model's own
arithmetic, "sdpa" calls the function that heed replaces.
"""

from __future__ import annotations

import threading

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: ./run parity installs it")
transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed: ./run parity installs it"
)

import heed.torch as ht  # noqa: E402
from heed.torch import _attention  # noqa: E402

TOLERANCE = 2e-6

TEXT = {"vocab_size": 97, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
SMALL = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
SEQ2SEQ = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
}
NO_DROPOUT = {"attention_dropout": 0.0, "dropout": 0.0, "activation_dropout": 0.0}


def _gpt2():
    config = transformers.GPT2Config(
        n_embd=32, n_layer=2, n_head=4, n_positions=64,
        attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0, **TEXT,
    )
    return transformers.GPT2LMHeadModel, config, "causal"


def _bert():
    config = transformers.BertConfig(
        max_position_embeddings=64, attention_probs_dropout_prob=0.0, hidden_dropout_prob=0.0,
        **SMALL, **TEXT,
    )
    return transformers.BertModel, config, "text"


def _llama():
    config = transformers.LlamaConfig(
        num_key_value_heads=2, max_position_embeddings=64, **SMALL, **TEXT
    )
    return transformers.LlamaForCausalLM, config, "causal"


def _mistral():
    config = transformers.MistralConfig(
        num_key_value_heads=2, sliding_window=5, max_position_embeddings=64, **SMALL, **TEXT
    )
    return transformers.MistralForCausalLM, config, "causal"


def _qwen2():
    config = transformers.Qwen2Config(
        num_key_value_heads=2, max_position_embeddings=64, **SMALL, **TEXT
    )
    return transformers.Qwen2ForCausalLM, config, "causal"


def _t5():
    config = transformers.T5Config(
        d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, dropout_rate=0.0,
        decoder_start_token_id=0, **TEXT,
    )
    return transformers.T5ForConditionalGeneration, config, "seq2seq"


def _bart():
    config = transformers.BartConfig(
        max_position_embeddings=64, decoder_start_token_id=2, forced_eos_token_id=None,
        **SEQ2SEQ, **NO_DROPOUT, **TEXT,
    )
    return transformers.BartForConditionalGeneration, config, "seq2seq"


def _whisper():
    config = transformers.WhisperConfig(
        num_mel_bins=8, max_source_positions=16, max_target_positions=32, decoder_start_token_id=1,
        suppress_tokens=None, begin_suppress_tokens=None, **SEQ2SEQ, **NO_DROPOUT, **TEXT,
    )
    return transformers.WhisperForConditionalGeneration, config, "audio"


def _vit():
    config = transformers.ViTConfig(
        image_size=16, patch_size=4, attention_probs_dropout_prob=0.0, hidden_dropout_prob=0.0,
        **SMALL,
    )
    return transformers.ViTModel, config, "image"


def _clip():
    config = transformers.CLIPConfig(
        text_config={"max_position_embeddings": 64, **SMALL, **TEXT},
        vision_config={"image_size": 16, "patch_size": 4, **SMALL},
        projection_dim=16,
    )
    return transformers.CLIPModel, config, "both"


def _modernbert():
    config = transformers.ModernBertConfig(
        max_position_embeddings=64, local_attention=6, global_attn_every_n_layers=2,
        attention_dropout=0.0, embedding_dropout=0.0, mlp_dropout=0.0, reference_compile=False,
        cls_token_id=3, sep_token_id=4, **SMALL, **TEXT,
    )
    return transformers.ModernBertModel, config, "text"


MODELS = {
    "GPT-2": _gpt2, "BERT": _bert, "Llama": _llama, "Mistral": _mistral, "Qwen2": _qwen2,
    "T5": _t5, "BART": _bart, "Whisper": _whisper, "ViT": _vit, "CLIP": _clip,
    "ModernBERT": _modernbert,
}  # fmt: skip
GENERATE = ["GPT-2", "Llama", "Mistral", "Qwen2", "T5", "BART", "Whisper"]


def load(name, attention="sdpa"):
    """The same weights for every kind of attention."""
    make, config, kind = MODELS[name]()
    torch.manual_seed(11)
    config._attn_implementation = attention
    for part in ("text_config", "vision_config"):
        if hasattr(config, part):
            getattr(config, part)._attn_implementation = attention
    model = make(config).eval()
    return model, inputs_of(kind)


def inputs_of(kind):
    torch.manual_seed(12)
    ids = torch.randint(5, 97, (3, 11))
    padding = torch.ones(3, 11, dtype=torch.long)
    padding[1, :4] = 0  # on the left, as generate wants it
    text = {"input_ids": ids, "attention_mask": padding}
    image = {"pixel_values": torch.randn(3, 3, 16, 16)}
    return {
        "causal": text,
        "text": text,
        "seq2seq": {**text, "decoder_input_ids": ids[:, :7]},
        "audio": {"input_features": torch.randn(3, 8, 32), "decoder_input_ids": ids[:, :7]},
        "image": image,
        "both": {**text, **image},
    }[kind]


def result_of(model, inputs):
    output = model(**inputs)
    for name in ("logits", "logits_per_text", "last_hidden_state"):
        if getattr(output, name, None) is not None:
            return getattr(output, name)
    raise AssertionError(f"{type(output).__name__} has no known result")


def visible(model, inputs, result):
    """Without the positions of padding, whose values nobody uses."""
    mask = inputs.get("attention_mask")
    if mask is None or "decoder_input_ids" in inputs or result.dim() != 3:
        return result
    return result[mask.bool()]


def gradients_of(model, result):
    model.zero_grad()
    result.square().mean().backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def close(ours, theirs, tolerance=TOLERANCE):
    scale = max(1.0, theirs.abs().max().item())
    assert (ours - theirs).abs().max().item() <= tolerance * scale


@pytest.fixture
def calls(monkeypatch):
    seen = []
    kept = _attention.scaled_dot_product_attention
    monkeypatch.setattr(
        _attention,
        "scaled_dot_product_attention",
        lambda *tensors, **options: seen.append(1) or kept(*tensors, **options),
    )
    return seen


@pytest.mark.parametrize("name", MODELS)
def test_values_and_gradients(name, calls):
    model, inputs = load(name)
    theirs = visible(model, inputs, result_of(model, inputs))
    expected = gradients_of(model, theirs)
    with ht.replace_sdpa():
        ours = visible(model, inputs, result_of(model, inputs))
        found = gradients_of(model, ours)
    if name != "T5" or calls:  # T5 of older versions has eager attention alone
        assert calls
    close(ours.detach(), theirs.detach())
    assert found.keys() == expected.keys()
    for key, gradient in expected.items():
        close(found[key], gradient, 1e-5)  # sums over all positions
    eager, _ = load(name, "eager")
    close(ours.detach(), visible(eager, inputs, result_of(eager, inputs)).detach())


@pytest.mark.parametrize("name", GENERATE)
@pytest.mark.parametrize("beams", [1, 3])
def test_generated_tokens(name, beams):
    model, inputs = load(name)
    inputs = {key: x for key, x in inputs.items() if key != "decoder_input_ids"}
    options = {"max_new_tokens": 12, "num_beams": beams, "do_sample": False}
    theirs = model.generate(**inputs, **options)
    with ht.replace_sdpa():
        assert torch.equal(model.generate(**inputs, **options), theirs)


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("name", ["Llama", "BERT", "T5"])
def test_gradient_checkpointing(name, reentrant):
    model, inputs = load(name)
    model.train()
    expected = gradients_of(model, result_of(model, inputs))
    model.gradient_checkpointing_enable({"use_reentrant": reentrant})
    model.enable_input_require_grads()
    with ht.replace_sdpa():
        found = gradients_of(model, result_of(model, inputs))
    for key, gradient in expected.items():
        close(found[key], gradient, 1e-5)  # sums over all positions


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_inference(mode):
    model, inputs = load("Llama")
    with mode():
        theirs = result_of(model, inputs)
        with ht.replace_sdpa():
            close(result_of(model, inputs), theirs)


def test_threads():
    model, inputs = load("BERT")
    with torch.no_grad():
        theirs = result_of(model, inputs)
    results = [None] * 4

    def work(i):
        with torch.no_grad(), ht.replace_sdpa():
            results[i] = result_of(model, inputs)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for ours in results:
        close(ours, theirs)


class Rows(torch.utils.data.Dataset):
    """Embeds each row of the data with a model, in a worker process."""

    def __init__(self, model, inputs):
        self.model, self.inputs = model, inputs

    def __len__(self):
        return len(self.inputs["input_ids"])

    def __getitem__(self, i):
        with torch.no_grad(), ht.replace_sdpa():
            return result_of(self.model, {key: x[i : i + 1] for key, x in self.inputs.items()})[0]


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_of_a_data_loader(start):
    model, inputs = load("BERT")
    with torch.no_grad(), ht.replace_sdpa():
        theirs = result_of(model, inputs)  # heed's threads run in this process, too
    loader = torch.utils.data.DataLoader(
        Rows(model, inputs), batch_size=3, num_workers=2, multiprocessing_context=start
    )
    (ours,) = loader
    close(ours, theirs)
