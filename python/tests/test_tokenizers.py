"""Compares heed.Tokenizer with the package `tokenizers` on many lines: ids and offsets.

Tokenizers are the small ones of tests/golden/tokenizers and the real ones under $HEED_MODELS (else
~/.cache/heed-models); lines are those of ../shared/data ($HEED_DATA), of random characters of Unicode 14, and of hard
cases. HEED_LINES sets how many (default 100,000 for real tokenizers, a tenth of it for small ones).
"""

import gzip
import json
import os
import pathlib
import random
import unicodedata

import pytest

heed = pytest.importorskip("heed")
tokenizers = pytest.importorskip("tokenizers")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = pathlib.Path(os.environ.get("HEED_DATA") or ROOT.parent / "shared/data")
MODELS = pathlib.Path(os.environ.get("HEED_MODELS") or pathlib.Path.home() / ".cache/heed-models")
LINES = int(os.environ.get("HEED_LINES", "100000"))

EMOJI = ["😀", "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "❤️", "🏳️‍🌈", "🧑🏿‍🚀"]
MARKS = ["\u0301", "\u0300", "\u0316", "\u0323", "\u0327", "\u20dd", "\u3099", "\u093c", "\u0e33", "\u05b0"]
CONTROLS = [chr(c) for c in range(32)] + ["\x7f", "\x85", "\u200b", "\u200d", "\u2028", "\ufeff", "\ufffd", "\u00ad"]
SPACES = [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2003", "\u202f"]
MARKERS = ["<s>", "</s>", "<unk>", "[MASK]", "[CLS]", "<mask>", "<|endoftext|>", "▁", "Ġ", "##", "'s", "n't", "1234567"]


def real_lines():
    for folder in ("multi30k", "cmn-eng-tatoeba", "tinyshakespeare"):
        for path in sorted((DATA / folder).glob("*.gz")):
            with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
                yield from (line.rstrip("\n") for line in file)


def made_lines(count, seed):
    draw = random.Random(seed)
    assigned = [chr(c) for c in range(0x21, 0x30000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    words = ["dog", "Straße", "naïve", "狗", "在草地上", "été", "don't", "3.14", "HELLO", "İ", "ﬁ", "½", "가", "ｶﾞ"]
    pools = [assigned, EMOJI + words, MARKS + words, CONTROLS + words, SPACES + words, MARKERS + words, words + SPACES + MARKS]
    for _ in range(count):
        pool = draw.choice(pools)
        parts = draw.choices(pool, k=draw.randrange(24))
        yield draw.choice(["", " "]).join(parts)


def lines(count):
    # A third of the lines is made, the rest spread over the files.
    made = list(made_lines(count // 3, 1))
    real = list(real_lines())
    step = max(1, len(real) // max(1, count - len(made)))
    return made + real[::step][: count - len(made)]


@pytest.fixture(scope="module")
def all_lines():
    return lines(LINES)


def compare(ours, theirs, texts):
    differences = []
    for text in texts:
        ids, offsets = ours.encode_with_offsets(text)
        expected = theirs.encode(text)
        if ids != expected.ids or offsets != expected.offsets:
            differences.append((text, list(zip(ids, offsets)), list(zip(expected.ids, expected.offsets))))
        elif ours.encode(text) != theirs.encode(text, add_special_tokens=False).ids:
            differences.append((text, "without special tokens"))
    assert not differences, f"{len(differences)} of {len(texts)} lines differ, first: {ascii(differences[0])[:1500]}"


def small():
    for path in sorted((ROOT / "tests/golden/tokenizers").glob("*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8"))["tokenizers"]:
            yield pytest.param(json.dumps(entry["tokenizer"], ensure_ascii=False), id=f"{path.stem}-{entry['name']}")


@pytest.mark.parametrize("text", list(small()))
def test_small_tokenizers(text, all_lines, tmp_path):
    (tmp_path / "tokenizer.json").write_text(text, encoding="utf-8")
    compare(heed.Tokenizer(tmp_path), tokenizers.Tokenizer.from_str(text), all_lines[::10])


def published(name):
    if not (MODELS / name).is_dir():
        pytest.skip(f"{name} is not in {MODELS} (python3 ../shared/models/get.py {name})")
    return MODELS / name


@pytest.mark.parametrize("name", ["all-minilm-l6-v2", "all-mpnet-base-v2", "bge-small-zh-v1.5", "bert-base-uncased"])
def test_real_tokenizers(name, all_lines):
    folder = published(name)
    if (folder / "tokenizer.json").exists():
        theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    else:
        hf = pytest.importorskip("transformers")
        theirs = hf.AutoTokenizer.from_pretrained(folder).backend_tokenizer
    theirs.no_truncation()
    theirs.no_padding()
    compare(heed.Tokenizer(folder), theirs, all_lines)


@pytest.mark.parametrize("side", ["source", "target"])
def test_real_sentence_pieces(side, all_lines):
    """The tokenizer of Marian has no offsets. It finds special tokens in texts, which are plain text for heed. Of two ways
    to split a text with the same pieces, such as 7 77 and 77 7, versions of SentencePiece choose different ones.
    """
    hf = pytest.importorskip("transformers")
    folder = published("opus-mt-en-fr")
    theirs = hf.MarianTokenizer.from_pretrained(folder)
    ours = getattr(heed.Translator(folder), f"{side}_tokenizer")
    texts = [text for text in all_lines if not any(token in text for token in theirs.all_special_tokens)]
    assert len(texts) > 0.9 * len(all_lines)
    differences, ties = [], 0
    for text in texts:
        expected = (theirs(text) if side == "source" else theirs(text_target=text)).input_ids[:-1]  # without the end
        if sorted(ours.encode(text)) != sorted(expected):
            differences.append((text, ours.encode(text), expected))
        ties += ours.encode(text) != expected
    print(f"{side}: {ties} of {len(texts)} lines have the same pieces in another order")
    assert ties < 0.005 * len(texts)
    assert not differences, f"{len(differences)} of {len(texts)} lines differ, first: {ascii(differences[0])[:1500]}"


def as_published(name, theirs):
    """What transformers leaves out when it makes a tokenizer from a GGUF file: the parts of the published tokenizer.json
    that "tokenizer.ggml.pre" names.
    """
    if name.startswith("smollm2"):
        theirs.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
            [
                tokenizers.pre_tokenizers.Digits(individual_digits=True),
                tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        )
    else:
        theirs.normalizer = tokenizers.normalizers.NFC()


GGUF = ["smollm2-135m-instruct", "qwen2.5-coder-0.5b-instruct"]


@pytest.mark.parametrize("name", GGUF)
def test_real_gguf_tokenizers(name, all_lines):
    """Equal to the published tokenizer, and to the one that transformers makes wherever that one is the published one."""
    hf = pytest.importorskip("transformers")
    [path] = published(name).glob("*.gguf")
    made = hf.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name).backend_tokenizer
    complete = tokenizers.Tokenizer.from_str(made.to_str())
    as_published(name, complete)
    ours = heed.LanguageModel(path).tokenizer
    compare(ours, complete, all_lines)
    other = [text for text in all_lines if made.encode(text).ids != ours.encode(text)]
    print(f"{name}: {len(other)} of {len(all_lines)} lines have other ids in transformers without these parts")
    if name.startswith("smollm2"):
        assert all(any(c.isnumeric() for c in text) for text in other)
    else:
        assert all(unicodedata.normalize("NFC", text) != text for text in other)


def test_offsets_are_only_for_hugging_face(tmp_path):
    (tmp_path / "words.txt").write_text("a\nb\n", encoding="utf-8")
    with pytest.raises(heed.Error, match="offsets"):
        heed.Tokenizer(tmp_path / "words.txt").encode_with_offsets("a")
