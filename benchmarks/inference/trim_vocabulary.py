"""Writes a translator of Hugging Face (Marian) with fewer tokens: those that two texts have most often. The layers stay,
so OPUS-MT with 8,000 tokens is a Transformer-base that still translates such texts.

    python trim_vocabulary.py FOLDER TOKENS SOURCE.gz TARGET.gz OUT
"""

import collections
import gzip
import json
import pathlib
import shutil
import sys

import sentencepiece
import torch
from safetensors.torch import load_file, save_file

SPECIAL = ["</s>", "<unk>"]
COPIED = ["source.spm", "target.spm", "tokenizer_config.json"]


def pieces_of(model: pathlib.Path, text: str) -> collections.Counter:
    processor = sentencepiece.SentencePieceProcessor(str(model))
    with gzip.open(text, "rt", encoding="utf-8") as lines:
        return collections.Counter(piece for line in lines for piece in processor.encode(line.strip(), out_type=str))


def chosen(folder: pathlib.Path, tokens: int, source: str, target: str) -> dict[str, int]:
    """The old number of each token, in the order of the new ones; the last one is for padding, as before."""
    numbers = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    counts = pieces_of(folder / "source.spm", source) + pieces_of(folder / "target.spm", target)
    known = [piece for piece, _ in counts.most_common() if piece in numbers and piece not in SPECIAL]
    words = [*SPECIAL, *known[: tokens - len(SPECIAL) - 1], "<pad>"]
    return {word: numbers[word] for word in words}


def renumbered(value, old: dict[int, int]):
    """A config whose numbers of tokens are the new ones."""
    if isinstance(value, dict):
        ids = {key for key in value if key.endswith("token_id") or key == "bad_words_ids"}
        return {key: renumbered(part, old) if key in ids else part for key, part in value.items()}
    if isinstance(value, list):
        return [renumbered(part, old) for part in value]
    return old.get(value, value)


def main() -> None:
    folder, tokens, source, target, out = sys.argv[1:]
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    kept = chosen(folder, int(tokens), source, target)
    new = {number: place for place, number in enumerate(kept.values())}
    part = out.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    weights = load_file(folder / "model.safetensors")
    rows = torch.tensor(list(kept.values()))
    weights["model.shared.weight"] = weights["model.shared.weight"][rows].contiguous()
    weights["final_logits_bias"] = weights["final_logits_bias"][:, rows].contiguous()
    save_file(weights, part / "model.safetensors", {"format": "pt"})
    vocabulary = {word: place for place, word in enumerate(kept)}
    (part / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
    for name in ("config.json", "generation_config.json"):
        config = renumbered(json.loads((folder / name).read_text(encoding="utf-8")), new)
        config |= {key: len(kept) for key in ("vocab_size", "decoder_vocab_size") if key in config}
        (part / name).write_text(json.dumps(config, indent=1), encoding="utf-8")
    for name in COPIED:
        shutil.copy(folder / name, part / name)
    part.rename(out)


main()
