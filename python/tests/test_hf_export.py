"""Loads the folders that `heed export` writes in transformers: no tensor is missing or left over, and the scores are those
of the folder that heed has read.

Models are the small random ones of tests/golden/hf, exported directly and by way of a folder of heed's own, and published
ones under $HEED_MODELS (else ~/.cache/heed-models).
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
from typing import Any

import pytest
from small_models import run_program

heed = pytest.importorskip("heed")
torch = pytest.importorskip("torch", reason="PyTorch is not installed: ./run parity installs it")
tokenizers = pytest.importorskip("tokenizers")
hf = pytest.importorskip("transformers", reason="transformers is not installed: ./run parity installs it")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests/golden/hf"
MODELS = pathlib.Path(os.environ.get("HEED_MODELS") or pathlib.Path.home() / ".cache/heed-models")
TOLERANCE = 2e-4  # of the range of the scores
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]", "<mask>"]


def write_tokenizer(folder: pathlib.Path, size: int) -> None:
    """The small folders have none: heed asks for one, the scores do not depend on it."""
    tokens = [*SPECIAL, *(f"w{i}" for i in range(len(SPECIAL), size))]
    model = {"type": "WordLevel", "unk_token": "<unk>", "vocab": {token: i for i, token in enumerate(tokens)}}
    parts = {"added_tokens": [], "normalizer": None, "post_processor": None, "decoder": None}
    content = {"version": "1.0", **parts, "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": model}
    (folder / "tokenizer.json").write_text(json.dumps(content))


def load(folder: pathlib.Path, kind: str, complete: bool = False, **options: Any) -> Any:
    model, found = getattr(hf, kind).from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32, output_loading_info=True, **options
    )
    if complete:
        # The pooler of transformers is no part of a sentence encoder.
        missing = [key for key in found["missing_keys"] if not key.startswith("pooler.")]
        assert not missing and not found["unexpected_keys"] and not found["mismatched_keys"], found
    return model.eval()


def scores(model: Any, length: int) -> Any:
    """The scores of random ids, or the last states of an encoder without a head."""
    torch.manual_seed(7)
    size = min(model.config.vocab_size, getattr(model.config, "decoder_vocab_size", None) or 10**9)
    ids = torch.randint(6, size, (2, length))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.randint(6, size, (2, length - 2))
    with torch.no_grad():
        result = model(**inputs)
    return result.logits if "logits" in result else result.last_hidden_state


def compare(before: Any, after: Any, length: int) -> float:
    expected, found = scores(before, length), scores(after, length)
    assert expected.shape == found.shape
    difference = ((expected - found).abs().max() / (expected.max() - expected.min())).item()
    assert difference <= TOLERANCE, difference
    return difference


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.iterdir()))
def test_small_models(name: str, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "hub"
    shutil.copytree(GOLDEN / name, folder)
    config = json.loads((folder / "config.json").read_text())
    write_tokenizer(folder, min(config["vocab_size"], config.get("decoder_vocab_size") or config["vocab_size"]))
    kind = config["architectures"][0]
    before = load(folder, kind)
    run_program("export", str(folder), "-o", str(tmp_path / "exported"))
    compare(before, load(tmp_path / "exported", kind, complete=True), 9)
    run_program("convert", str(folder), "-o", str(tmp_path / "own"))
    run_program("export", str(tmp_path / "own"), "-o", str(tmp_path / "back"))
    compare(before, load(tmp_path / "back", kind, complete=True), 9)


PUBLISHED = {
    "opus-mt-en-fr": "AutoModelForSeq2SeqLM",
    "all-minilm-l6-v2": "AutoModel",
    "all-mpnet-base-v2": "AutoModel",
    "bge-small-zh-v1.5": "AutoModel",
    "bert-base-uncased": "AutoModelForMaskedLM",
    "smollm2-135m-instruct": "AutoModelForCausalLM",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models(name: str, tmp_path: pathlib.Path) -> None:
    folder = MODELS / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not in {MODELS} (python3 ../shared/models/get.py {name})")
    files = sorted(folder.glob("*.gguf"))
    options = {"gguf_file": files[0].name} if files else {}
    before = load(folder, PUBLISHED[name], **options)
    run_program("export", str(files[0] if files else folder), "-o", str(tmp_path / "exported"))
    difference = compare(before, load(tmp_path / "exported", PUBLISHED[name], complete=True), 40)
    print(f"{name}: scores differ by {difference:.1e} of their range")
    exported = tmp_path / "exported"
    if (exported / "tokenizer.json").exists():  # one that heed has made, or a copy
        made = tokenizers.Tokenizer.from_file(str(exported / "tokenizer.json"))
        made.no_padding()
        made.no_truncation()
        text = "The cat sat on the <|im_start|> mat: 3.14 of it!\n"
        assert made.encode(text, add_special_tokens=False).ids == heed.Tokenizer(exported).encode(text)
    assert hf.AutoTokenizer.from_pretrained(exported)("The cat sat.").input_ids
