"""The list of small Hugging Face models that hf_models.py makes, one entry per folder under tests/golden/hf.

Sizes are small and odd where the architecture permits it; token ids and options are those of the published models. The
seeds are chosen by `hf_models.py --seeds`: with them generation ends early for one row and not for the other.
"""

from dataclasses import dataclass, field

import transformers as hf

V = 67  # vocabulary
EPS = 0.01  # in norms: far larger than published values, so that a wrong one is visible
LABELS = {"id2label": {0: "negative", 1: "neutral", 2: "positive"}, "label2id": {"negative": 0, "neutral": 1, "positive": 2}}


@dataclass
class Small:
    """One folder: the model, how it is stored, and what its inputs look like."""

    name: str
    kind: type  # class of the model in transformers
    config: hf.PreTrainedConfig
    first: int | None = None  # token before the words of a row, and after them
    last: int | None = None
    length: int = 11  # of the longer row
    seed: int = 0
    generation: dict = field(default_factory=dict)  # fields of generation_config.json
    storage: str = "safetensors"  # or bin, old_names, shards, bf16, f16
    untied: bool = False  # T5 1.1 and mT5 have an output matrix of their own, whatever their config says
    gradients: tuple[str, ...] = ()  # parameters whose gradient is stored
    old: dict = field(default_factory=dict)  # keys that config.json of 4.x has in another form

    @property
    def family(self) -> str:
        if self.config.is_encoder_decoder:
            return "translator"
        return "decoder" if "LM" in self.kind.__name__ and "Masked" not in self.kind.__name__ else "encoder"


def models() -> list[Small]:
    return [*encoder_decoders(), *encoders(), *decoders(), *stored_otherwise()]


def encoder_decoders() -> list[Small]:
    sizes = {"vocab_size": V, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
             "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 20, "max_position_embeddings": 32}
    t5 = {"vocab_size": V, "d_model": 16, "d_kv": 6, "d_ff": 20, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 3,
          "relative_attention_num_buckets": 8, "relative_attention_max_distance": 9, "decoder_start_token_id": 0,
          "layer_norm_epsilon": EPS}
    pad = V - 1
    bad_pad = {"bad_words_ids": [[pad]], "forced_eos_token_id": 0, "num_beams": 4, "max_length": 32}
    tokens = {"bos_token_id": 0, "pad_token_id": pad, "decoder_start_token_id": pad}
    return [
        Small("marian", hf.MarianMTModel, hf.MarianConfig(**sizes, **tokens, activation_function="swish", scale_embedding=True),
              last=0, seed=298, generation=bad_pad | {"renormalize_logits": True}, old={"static_position_embeddings": True}),
        Small("marian_two_vocabularies", hf.MarianMTModel,
              hf.MarianConfig(**sizes | {"decoder_vocab_size": 59, "encoder_layers": 1, "decoder_layers": 1}, bos_token_id=0,
                              activation_function="relu", scale_embedding=True, share_encoder_decoder_embeddings=False,
                              tie_word_embeddings=False, pad_token_id=58, decoder_start_token_id=58),
              last=0, seed=103, generation={"bad_words_ids": [[58]], "forced_eos_token_id": 0, "num_beams": 4, "max_length": 32}),
        Small("t5", hf.T5ForConditionalGeneration, hf.T5Config(**t5), last=1, seed=102,
              gradients=("shared.weight", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
                         "decoder.block.1.layer.1.EncDecAttention.k.weight", "encoder.final_layer_norm.weight")),
        Small("t5_v1_1", hf.T5ForConditionalGeneration,
              hf.T5Config(**t5, feed_forward_proj="gated-gelu", tie_word_embeddings=False), last=1, seed=71, untied=True,
              old={"tie_word_embeddings": False}),
        Small("mt5", hf.MT5ForConditionalGeneration, hf.MT5Config(**t5), last=1, seed=11, untied=True,
              old={"tie_word_embeddings": False, "tokenizer_class": "T5Tokenizer"}),
        Small("bart", hf.BartForConditionalGeneration, hf.BartConfig(**sizes), first=0, last=2, seed=22,
              generation={"forced_bos_token_id": 0, "forced_eos_token_id": 2, "num_beams": 4, "max_length": 32},
              gradients=("model.shared.weight", "model.encoder.layers.0.self_attn.q_proj.weight",
                         "model.decoder.layers.1.encoder_attn.v_proj.bias", "model.decoder.layers.0.fc1.weight",
                         "model.encoder.embed_positions.weight", "model.decoder.layernorm_embedding.weight")),
        Small("mbart", hf.MBartForConditionalGeneration,
              hf.MBartConfig(**sizes, scale_embedding=True, activation_function="gelu", decoder_start_token_id=2), last=2, seed=32,
              generation={"forced_bos_token_id": V - 3, "forced_eos_token_id": 2, "num_beams": 5, "max_length": 32},
              old={"add_final_layer_norm": True, "normalize_before": True, "normalize_embedding": True}),
        Small("m2m_100", hf.M2M100ForConditionalGeneration, hf.M2M100Config(**sizes), first=V - 2, last=2, seed=256,
              generation={"forced_bos_token_id": V - 4, "num_beams": 5, "max_length": 32}),
    ]


def encoders() -> list[Small]:
    sizes = {"vocab_size": V, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    bert = {**sizes, "max_position_embeddings": 16, "layer_norm_eps": EPS}
    distil = {"vocab_size": V, "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24, "max_position_embeddings": 16}
    roberta = {**sizes, "max_position_embeddings": 18, "type_vocab_size": 1, "layer_norm_eps": EPS}
    mpnet = {**sizes, "max_position_embeddings": 26, "layer_norm_eps": EPS, "relative_attention_num_buckets": 32}
    made = []
    for name, config, values, tokens in (("bert", hf.BertConfig, bert, (3, 4)), ("distilbert", hf.DistilBertConfig, distil, (3, 4)),
                                         ("roberta", hf.RobertaConfig, roberta, (0, 2)), ("mpnet", hf.MPNetConfig, mpnet, (0, 2))):
        prefix = config.__name__.removesuffix("Config")
        for suffix, kind, labels in (("", "Model", {}), ("_masked_lm", "ForMaskedLM", {}),
                                     ("_classifier", "ForSequenceClassification", LABELS)):
            made.append(Small(name + suffix, getattr(hf, prefix + kind), config(**values, **labels), *tokens,
                              length=24 if name == "mpnet" else 11))  # 24 reaches the wide buckets of MPNet
    made.append(Small("xlm_roberta", hf.XLMRobertaForMaskedLM, hf.XLMRobertaConfig(**roberta), 0, 2))
    return made


def decoders() -> list[Small]:
    sizes = {"vocab_size": V, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2,
             "num_key_value_heads": 1, "max_position_embeddings": 64, "rms_norm_eps": EPS}
    llama = sizes | {"hidden_size": 24, "intermediate_size": 28, "num_attention_heads": 4, "num_key_value_heads": 2}
    gemma = sizes | {"head_dim": 6, "query_pre_attn_scalar": 8, "sliding_window": 4}
    theta = {"rope_theta": 100.0}
    scaled = {
        "llama_linear": {"rope_type": "linear", "factor": 2.5, **theta},
        "llama_dynamic": {"rope_type": "dynamic", "factor": 2.0, **theta},
        "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                   "original_max_position_embeddings": 32, **theta},
        "llama_yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, **theta},
    }
    seeds = {"llama_linear": 2, "llama_dynamic": 10, "llama3": 11, "llama_yarn": 5}
    longest = {"llama_linear": 64, "llama_dynamic": 8, "llama3": 256, "llama_yarn": 256}
    return [
        Small("gpt2", hf.GPT2LMHeadModel, gpt2(n_layer=2, n_inner=24, layer_norm_epsilon=EPS), seed=17),
        Small("llama", hf.LlamaForCausalLM, hf.LlamaConfig(**llama), first=1, seed=24,
              gradients=("model.embed_tokens.weight", "model.layers.0.self_attn.k_proj.weight",
                         "model.layers.1.mlp.gate_proj.weight", "model.layers.0.input_layernorm.weight", "lm_head.weight")),
        *(Small(name, hf.LlamaForCausalLM,
                hf.LlamaConfig(**sizes | {"max_position_embeddings": longest[name]}, rope_parameters=dict(rope)), first=1,
                seed=seeds[name])
          for name, rope in scaled.items()),
        Small("mistral", hf.MistralForCausalLM,
              hf.MistralConfig(**sizes, sliding_window=5, rope_parameters={"rope_type": "default", "rope_theta": 10000.0}), first=1,
              seed=11),
        Small("qwen2", hf.Qwen2ForCausalLM, qwen2(sizes), seed=7),
        Small("qwen3", hf.Qwen3ForCausalLM,
              hf.Qwen3Config(**sizes, head_dim=6, bos_token_id=1, eos_token_id=2, tie_word_embeddings=True,
                             rope_parameters={"rope_type": "default", "rope_theta": 1000000.0}), seed=1),
        Small("gemma2", hf.Gemma2ForCausalLM,
              hf.Gemma2Config(**gemma | {"num_hidden_layers": 3}, attn_logit_softcapping=2.0, final_logit_softcapping=5.0), first=2,
              seed=0),
        Small("gemma3", hf.Gemma3ForCausalLM, hf.Gemma3TextConfig(**gemma | {"num_hidden_layers": 7, "intermediate_size": 20}),
              first=2, seed=10),
    ]


def gpt2(**sizes) -> hf.GPT2Config:
    return hf.GPT2Config(vocab_size=V, n_positions=24, n_embd=16, n_head=2, bos_token_id=V - 1, eos_token_id=V - 1, **sizes)


def qwen2(sizes: dict) -> hf.Qwen2Config:
    return hf.Qwen2Config(**sizes, bos_token_id=1, eos_token_id=[2, 3], tie_word_embeddings=True,
                          rope_parameters={"rope_type": "default", "rope_theta": 1000000.0})


def stored_otherwise() -> list[Small]:
    """The forms of files and the names of tensors that published folders have."""
    sizes = {"vocab_size": V, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24}
    decoder = {**sizes, "num_key_value_heads": 1, "max_position_embeddings": 64}
    return [
        Small("gpt2_bin", hf.GPT2LMHeadModel, gpt2(n_layer=1), seed=4, storage="bin"),
        Small("bert_old_names", hf.BertForMaskedLM, hf.BertConfig(**sizes, max_position_embeddings=16), 3, 4, storage="old_names"),
        Small("llama_shards", hf.LlamaForCausalLM, hf.LlamaConfig(**decoder, attention_bias=True, mlp_bias=True), first=1, seed=1,
              storage="shards"),
        Small("qwen2_bf16", hf.Qwen2ForCausalLM, qwen2(decoder), seed=2, storage="bf16"),
        Small("bert_f16", hf.BertModel, hf.BertConfig(**sizes, max_position_embeddings=16), 3, 4, storage="f16"),
    ]
