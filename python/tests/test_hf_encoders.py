"""Compares encoders of Hugging Face in heed with live transformers: small random models of every architecture and head
with a tokenizer, and the published ones under $HEED_MODELS (else ~/.cache/heed-models), with 50 lines of $HEED_DATA (else
../shared/data).
"""

import gzip
import os
import pathlib

import numpy as np
import pytest

heed = pytest.importorskip("heed")
torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = pathlib.Path(os.environ.get("HEED_DATA") or ROOT.parent / "shared/data")
MODELS = pathlib.Path(os.environ.get("HEED_MODELS") or pathlib.Path.home() / ".cache/heed-models")
WORDS = "a the dog cat man woman child runs sleeps eats reads sees in on under house garden street and not".split()
TEXTS = ["a dog runs", "the cat sleeps in the house and the man reads", "dog", "", "a woman sees a Zebra in the garden",
         " ".join(WORDS * 4)]  # longer than the models have positions
LABELS = {"id2label": {0: "bad", 1: "fair", 2: "good"}, "label2id": {"bad": 0, "fair": 1, "good": 2}}
SIZES = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 40}
BERT = {**SIZES, "max_position_embeddings": 40}
ROBERTA = {**SIZES, "max_position_embeddings": 42, "type_vocab_size": 1, "layer_norm_eps": 1e-5, "pad_token_id": 1}
DISTIL = {"dim": 24, "n_layers": 3, "n_heads": 4, "hidden_dim": 40, "max_position_embeddings": 40}
FAMILIES = {
    "Bert": BERT,
    "DistilBert": DISTIL,
    "Roberta": ROBERTA,
    "XLMRoberta": ROBERTA,
    "Camembert": ROBERTA,
    "MPNet": {**SIZES, "max_position_embeddings": 42, "layer_norm_eps": 1e-5},
}
ROBERTA_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def make_tokenizer(family, folder):
    """A tokenizer of words with the special tokens of the family, as transformers uses it."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    bert = "Bert" in family
    special = BERT_SPECIAL if bert else ROBERTA_SPECIAL
    unknown, padding, begin, end, mask = [special[i] for i in ((1, 0, 2, 3, 4) if bert else (3, 1, 0, 2, 4))]
    vocabulary = {token: i for i, token in enumerate(special + WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    pair = f"{begin} $A {end} $B:1 {end}:1" if bert else f"{begin} $A {end} {end} $B {end}"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", pair=pair, special_tokens=[(t, vocabulary[t]) for t in (begin, end)]
    )
    names = {"unk_token": unknown, "pad_token": padding, "cls_token": begin, "sep_token": end, "mask_token": mask}
    made = hf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
    made.model_max_length = 40
    made.save_pretrained(folder)
    return made


def make_folder(family, head, folder):
    """A random model with a head, saved with its tokenizer; both as transformers has them."""
    tokenizer = make_tokenizer(family, folder)
    torch.manual_seed(0)
    labels = LABELS if head == "ForSequenceClassification" else {}
    config = getattr(hf, family + "Config")(vocab_size=len(tokenizer) + 3, **FAMILIES[family], **labels)
    model = getattr(hf, family + head)(config)
    with torch.no_grad():  # larger than the usual initial values, so that errors are visible
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    model.save_pretrained(folder)
    return model.eval(), tokenizer


def inputs_of(family, tokenizer, texts, pairs=None):
    encoded = tokenizer(texts, pairs, padding=True, truncation=True, return_tensors="pt", return_token_type_ids=True)
    if family != "Bert":
        encoded.pop("token_type_ids", None)
    return encoded


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pooling", ["mean", "first", "last"])
def test_vectors(family, pooling, tmp_path):
    model, tokenizer = make_folder(family, "Model", tmp_path)
    encoder = heed.load(tmp_path)
    assert type(encoder) is heed.SentenceEncoder and encoder.size == 24
    encoded = inputs_of(family, tokenizer, TEXTS)
    mask = encoded["attention_mask"].unsqueeze(-1)
    with torch.no_grad():
        states = model(**encoded).last_hidden_state
    if pooling == "mean":
        expected = (states * mask).sum(1) / mask.sum(1)
    else:
        at = (mask.sum(1) - 1) * (pooling == "last")
        expected = states.gather(1, at.unsqueeze(-1).expand(-1, 1, states.shape[-1])).squeeze(1)
    found = encoder.encode(TEXTS, pooling=pooling)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected.numpy(), atol=2e-5)
    unit = torch.nn.functional.normalize(expected).numpy()
    np.testing.assert_allclose(encoder.encode(TEXTS, pooling=pooling, normalize=True, batch_tokens=30), unit, atol=1e-5)
    np.testing.assert_allclose(encoder.encode(TEXTS[0], pooling=pooling), expected[0].numpy(), atol=2e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_masked_tokens(family, tmp_path):
    model, tokenizer = make_folder(family, "ForMaskedLM", tmp_path)
    filler = heed.load(tmp_path)
    assert type(filler) is heed.MaskedModel and filler.mask == tokenizer.mask_token
    texts = [f"a {filler.mask} runs", f"the cat {filler.mask} in the {filler.mask}"]
    for text, found in zip(texts, filler.fill_batch(texts, top_k=4)):
        encoded = inputs_of(family, tokenizer, [text])
        with torch.no_grad():
            p = model(**encoded).logits[0].softmax(-1)
        places = (encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0]
        assert len(found) == len(places)
        for tokens, place in zip(found, places):
            best = p[place, : len(tokenizer)].topk(4)
            assert list(tokens) == [tokenizer.convert_ids_to_tokens(i) for i in best.indices.tolist()]
            np.testing.assert_allclose(list(tokens.values()), best.values.numpy(), atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("problem", ["single_label_classification", "multi_label_classification", "regression"])
def test_classes(family, problem, tmp_path):
    model, tokenizer = make_folder(family, "ForSequenceClassification", tmp_path)
    model.config.problem_type = problem
    model.config.save_pretrained(tmp_path)
    classifier = heed.load(tmp_path)
    assert type(classifier) is heed.Classifier and classifier.labels == ["bad", "fair", "good"]
    for texts, pairs in ((TEXTS, None), (TEXTS, TEXTS[::-1])):
        with torch.no_grad():
            logits = model(**inputs_of(family, tokenizer, texts, pairs)).logits
        scores = {"single_label_classification": logits.softmax(-1), "regression": logits}
        expected = scores.get(problem, logits.sigmoid()).numpy()
        found = classifier.classify_batch(texts if pairs is None else list(zip(texts, pairs)))
        rows = [[one[label] for label in classifier.labels] for one in found]
        np.testing.assert_allclose(rows, expected, atol=5e-5)


def published(name):
    if not (MODELS / name).is_dir():
        pytest.skip(f"{name} is not in {MODELS} (python3 ../shared/models/get.py {name})")
    return MODELS / name


def real_lines(name, step=1):
    """50 lines of a file, or none."""
    if not (DATA / name).exists():
        return []
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file][::step][:50]


def check_equal(name, found, expected):
    a, b = found.astype(np.float64), expected.astype(np.float64)
    cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    print(f"{name}: {len(a)} texts, smallest cosine {cosines.min():.9f}, largest difference {abs(a - b).max():.1e}")
    assert cosines.min() >= 0.99999


ENGLISH = ["A man is eating food.", "The girl is carrying a baby.", "", "Zoë's naïve café: 3.14 €!", "word " * 600]
CHINESE = ["今天天气很好。", "我喜欢吃苹果。", "外面阳光明媚，孩子们在公园里玩。", "狗" * 600]


@pytest.mark.parametrize("name", ["all-minilm-l6-v2", "all-mpnet-base-v2"])
def test_published_sentence_encoders(name):
    transformers_of_sentences = pytest.importorskip("sentence_transformers")
    folder = published(name)
    texts = ENGLISH + real_lines("multi30k/test_2016_flickr.en.gz")
    expected = transformers_of_sentences.SentenceTransformer(str(folder), device="cpu").encode(texts)
    check_equal(name, heed.SentenceEncoder(folder).encode(texts), expected)


def test_published_chinese_encoder():
    folder = published("bge-small-zh-v1.5")
    # AutoTokenizer would take the normaliser of BERT instead of the folder's, which keeps capital letters.
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), pad_token="[PAD]")
    model = hf.AutoModel.from_pretrained(folder).eval()
    texts = CHINESE + [line.split("\t")[1] for line in real_lines("cmn-eng-tatoeba/cmn.txt.gz", 500)]
    encoded = tokenizer(texts, padding=True, truncation=True, max_length=512, return_tensors="pt")
    with torch.no_grad():
        expected = torch.nn.functional.normalize(model(**encoded).last_hidden_state[:, 0]).numpy()
    check_equal("bge-small-zh-v1.5", heed.SentenceEncoder(folder).encode(texts, pooling="first", normalize=True), expected)


def test_published_masked_model():
    folder = published("bert-base-uncased")
    tokenizer, model = hf.AutoTokenizer.from_pretrained(folder), hf.AutoModelForMaskedLM.from_pretrained(folder).eval()
    text = "Paris is the [MASK] of France."
    encoded = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        p = model(**encoded).logits[0].softmax(-1)[encoded["input_ids"][0] == tokenizer.mask_token_id][0]
    best = p.topk(5)
    [found] = heed.MaskedModel(folder).fill(text)
    assert list(found)[0] == "capital"
    assert list(found) == tokenizer.convert_ids_to_tokens(best.indices.tolist())
    np.testing.assert_allclose(list(found.values()), best.values.numpy(), atol=1e-5)
