"""Translators of transformers in heed: the same translations, from the same folder.

Small models of every architecture have random weights and are compared with many settings of the search. The real
OPUS-MT model under $HEED_MODELS (else ~/.cache/heed-models) translates HEED_SENTENCES (200) lines of Multi30k
($HEED_DATA, else ../shared/data).
"""

import gzip
import json
import os
import pathlib
import random

import pytest

heed = pytest.importorskip("heed")
torch = pytest.importorskip("torch", reason="PyTorch is not installed: ./run parity installs it")
hf = pytest.importorskip("transformers", reason="transformers is not installed: ./run parity installs it")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = pathlib.Path(os.environ.get("HEED_DATA") or ROOT.parent / "shared/data")
MODELS = pathlib.Path(os.environ.get("HEED_MODELS") or pathlib.Path.home() / ".cache/heed-models")
SENTENCES = int(os.environ.get("HEED_SENTENCES", "200"))

V = 53
SIZES = {
    "vocab_size": V,
    "d_model": 24,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 40,
    "decoder_ffn_dim": 36,
    "max_position_embeddings": 48,
}
T5 = {"vocab_size": V, "d_model": 24, "d_kv": 5, "d_ff": 40, "num_layers": 2, "num_heads": 3, "eos_token_id": 2, "pad_token_id": 1}
ARCHITECTURES = {
    "marian": lambda: hf.MarianMTModel(
        hf.MarianConfig(**SIZES, scale_embedding=True, activation_function="swish", eos_token_id=2, pad_token_id=1,
                        forced_eos_token_id=2, decoder_start_token_id=1)),
    "bart": lambda: hf.BartForConditionalGeneration(hf.BartConfig(**SIZES)),
    "mbart": lambda: hf.MBartForConditionalGeneration(hf.MBartConfig(**SIZES, scale_embedding=True, decoder_start_token_id=2)),
    "m2m_100": lambda: hf.M2M100ForConditionalGeneration(hf.M2M100Config(**SIZES)),
    "t5": lambda: hf.T5ForConditionalGeneration(hf.T5Config(**T5, decoder_start_token_id=1)),
    "mt5": lambda: hf.MT5ForConditionalGeneration(hf.MT5Config(**T5, decoder_start_token_id=1)),
}
SEARCHES = [
    {"num_beams": 1},
    {"num_beams": 4},
    {"num_beams": 3, "early_stopping": True, "length_penalty": 0.4},
    {"num_beams": 3, "early_stopping": "never", "length_penalty": 2.0, "min_length": 5},
    {"num_beams": 5, "no_repeat_ngram_size": 2, "bad_words_ids": [[7], [8, 9]], "renormalize_logits": True},
    {"num_beams": 4, "forced_bos_token_id": 11, "forced_eos_token_id": 2, "max_length": 9},
]


def write_tokenizer(folder: pathlib.Path) -> None:
    """Words w4, w5, … and the special tokens."""
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *(f"w{i}" for i in range(4, V))]
    model = {"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
             "vocab": {token: i for i, token in enumerate(tokens)}}
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": [], "normalizer": None, "post_processor": None, "decoder": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": model}))


def ids_of(translator: heed.Translator, text: str) -> list[int]:
    """What the model reads."""
    ids = [int(word[1:]) for word in text.split()]
    return [*([0] if translator.config["embedding_norm"] and not translator.config["norm_first"] else []), *ids, 2]


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_searches_of_small_models(name: str, tmp_path: pathlib.Path) -> None:
    torch.manual_seed(len(name))
    model = ARCHITECTURES[name]().eval()
    for parameter in model.parameters():
        if parameter.requires_grad and parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.4)
    draw = random.Random(name)
    texts = [" ".join(f"w{draw.randrange(4, V)}" for _ in range(draw.randrange(1, 12))) for _ in range(20)]
    for settings in SEARCHES:
        # heed never chooses padding; models with random weights do.
        usual = {"max_length": 14, "bad_words_ids": None, "forced_bos_token_id": None, "suppress_tokens": [1]}
        model.generation_config.update(**usual | settings)
        folder = tmp_path / str(SEARCHES.index(settings))
        model.save_pretrained(folder)
        write_tokenizer(folder)
        translator = heed.Translator(folder)
        for text, found in zip(texts, translator.translate_batch(texts)):
            ids = torch.tensor([ids_of(translator, text)])
            with torch.no_grad():
                result = model.generate(ids, **settings, output_scores=True, return_dict_in_generate=True)
            theirs = result.sequences[0, 1:].tolist()
            while theirs and theirs[-1] in (1, 2):
                theirs.pop()
            if found[0].ids != theirs:  # two results of nearly the same score
                assert settings["num_beams"] > 1, (settings, text)
                assert found[0].score >= result.sequences_scores[0].item() - 1e-5, (settings, text)
            elif settings["num_beams"] > 1:
                assert found[0].score == pytest.approx(result.sequences_scores[0].item(), abs=1e-4)


def published() -> pathlib.Path:
    folder = MODELS / "opus-mt-en-fr"
    if not folder.exists():
        pytest.skip("opus-mt-en-fr is not in ~/.cache/heed-models (python3 ../shared/models/get.py opus-mt-en-fr)")
    return folder


def test_opus_mt() -> None:
    folder = published()
    source = DATA / "multi30k" / "test_2016_flickr.en.gz"
    if not source.exists():
        pytest.skip(f"{source} is not there")
    with gzip.open(source, "rt", encoding="utf-8") as file:
        sentences = [line.rstrip("\n") for line in file][:SENTENCES]
    translator = heed.Translator(folder)
    tokenizer = hf.MarianTokenizer.from_pretrained(folder)
    model = hf.MarianMTModel.from_pretrained(folder).eval()
    equal = 0
    for sentence, found in zip(sentences, translator.translate_batch(sentences, beam_size=5)):
        batch = tokenizer([sentence], return_tensors="pt")
        with torch.no_grad():
            result = model.generate(**batch, num_beams=5, output_scores=True, return_dict_in_generate=True)
        text = tokenizer.decode(result.sequences[0], skip_special_tokens=True)
        equal += text == found[0].text
        if text != found[0].text:
            assert found[0].score >= result.sequences_scores[0].item() - 1e-4, sentence
    assert equal >= 0.98 * len(sentences)
