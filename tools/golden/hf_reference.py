#!/usr/bin/env python3
"""Writes what `transformers` computes with real models, for comparisons with heed: NAME.json and NAME.safetensors into the
folder that is given. Nothing of it is committed.

    python3 -m venv build/venv-hf
    build/venv-hf/bin/pip install torch==2.13.0 transformers==5.22.2 sentencepiece sacremoses gguf sentence-transformers
    build/venv-hf/bin/python tools/golden/hf_reference.py build/hf-reference [NAME…]

Models are read from $HEED_MODELS, else ~/.cache/heed-models; absent ones are skipped. Texts are those of ../shared/data
($HEED_DATA). Attention is `eager`, in f32, on one thread; sentences are computed one by one, without padding.
"""

import argparse
import gzip
import json
import os
import pathlib
import sys

import torch
import transformers as hf

import safetensors_file

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = pathlib.Path(os.environ.get("HEED_DATA") or ROOT.parent / "shared/data")
MODELS = pathlib.Path(os.environ.get("HEED_MODELS") or "~/.cache/heed-models").expanduser()
EAGER = {"attn_implementation": "eager", "dtype": torch.float32}
SENTENCES, EMBEDDED, CONTINUED = 200, 50, 32
PROMPTS = [
    "The capital of France is", "Once upon a time, there was a", "def fibonacci(n):\n", "The opposite of hot is",
    "Water boils at a temperature of", "import numpy as np\n\ndef mean(values):\n", "The three primary colors are",
    "To make a cup of tea, first", "2 + 2 =", "The largest planet in the solar system is", "for i in range(10):\n    ",
    "My favorite book is", "In 1969, humans first", "SELECT name FROM", "The quick brown fox",
    "Photosynthesis is the process by which", "Dear Sir or Madam,\n", "#include <stdio.h>\n\nint main() {\n", "Attention is all you", "A, B, C, D,",
]


def lines(name: str, count: int) -> list[str]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for _, line in zip(range(count), file)]


def chinese(count: int) -> list[str]:
    """Sentences of different lengths: the file is sorted by length."""
    return [line.split("\t")[1] for line in lines("cmn-eng-tatoeba/cmn.txt.gz", 500 * count)[250::500]]


def continuation(model, inputs: dict, start: int, beams: int, steps: int) -> dict:
    """The new tokens; the distance of the best from the second (of scores of tokens in greedy search, smallest over all
    steps; of hypotheses in beam search), which tells how much error the ids bear."""
    found = model.generate(**inputs, do_sample=False, num_beams=beams, num_return_sequences=beams, max_new_tokens=steps,
                           return_dict_in_generate=True, output_scores=True)
    ids = found.sequences[0, start:].tolist()
    ends = model.generation_config.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    ids = ids[:next((i + 1 for i, token in enumerate(ids) if token in ends), len(ids))]
    if beams > 1:
        best, second = found.sequences_scores[:2].tolist()
        return {"ids": ids, "score": best, "gap": best - second}
    pairs = [scores[0].topk(2).values for scores in found.scores]
    return {"ids": ids, "gap": min((first - second).item() for first, second in pairs)}


def translation(folder: pathlib.Path):
    """Greedy and beam search of English sentences; encoder output and logits of the first."""
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    model = hf.MarianMTModel.from_pretrained(folder, **EAGER).eval()
    sources, references = (lines(f"multi30k/test_2016_flickr.{language}.gz", SENTENCES) for language in ("en", "fr"))
    sentences, tensors = [], {}
    for number, (source, reference) in enumerate(zip(sources, references)):
        inputs = tokenizer(source, return_tensors="pt")
        entry = {"source": source, "reference": reference, "ids": inputs["input_ids"][0].tolist()}
        for name, beams in (("greedy", 1), ("beam", 5)):
            entry[name] = continuation(model, inputs, 1, beams, 128)
            entry[name]["text"] = tokenizer.decode(entry[name]["ids"], skip_special_tokens=True)
        sentences.append(entry)
        if number == 0:
            decoder = torch.tensor([[model.config.decoder_start_token_id, *entry["greedy"]["ids"][:-1]]])
            result = model(**inputs, decoder_input_ids=decoder)
            tensors = {"in.ids": inputs["input_ids"], "in.decoder_ids": decoder, "out.encoder": result.encoder_last_hidden_state,
                       "out.logits": result.logits}
        print(f"\r{folder.name}: {number + 1} of {SENTENCES}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    settings = model.generation_config.to_diff_dict() | {"greedy": {"num_beams": 1, "max_new_tokens": 128},
                                                         "beam": {"num_beams": 5, "max_new_tokens": 128}}
    return {"settings": settings, "sentences": sentences}, tensors


def embeddings(folder: pathlib.Path):
    """One vector per sentence, of length 1: the mean of the last hidden states, or the first one for BGE."""
    first = folder.name.startswith("bge")
    if (folder / "tokenizer_config.json").exists():
        tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    else:
        tokenizer = hf.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
        tokenizer.backend_tokenizer.no_padding()
        tokenizer.backend_tokenizer.no_truncation()
    model = hf.AutoModel.from_pretrained(folder, **EAGER).eval()
    texts = chinese(EMBEDDED) if first else lines("multi30k/test_2016_flickr.en.gz", EMBEDDED)
    sentences, vectors, tensors = [], [], {}
    for number, text in enumerate(texts):
        ids = torch.tensor([tokenizer(text)["input_ids"]])
        hidden = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        pooled = hidden[0, 0] if first else hidden[0].mean(dim=0)
        vectors.append(torch.nn.functional.normalize(pooled, dim=0))
        sentences.append({"text": text, "ids": ids[0].tolist()})
        if number == 0:
            tensors = {"in.ids": ids, "out.hidden": hidden}
    tensors["out.embeddings"] = torch.stack(vectors)
    content = {"pooling": "first" if first else "mean", "sentences": sentences}
    if (folder / "modules.json").exists():
        theirs = by_sentence_transformers(folder, texts)
        tensors["out.sentence_transformers"] = theirs
        content["difference"] = (theirs - tensors["out.embeddings"]).abs().max().item()
    return content, tensors


def by_sentence_transformers(folder: pathlib.Path, texts: list[str]) -> torch.Tensor:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager"})
    return model.encode(texts, batch_size=1, convert_to_tensor=True, normalize_embeddings=True)


def masked_word(folder: pathlib.Path):
    """The words that BERT puts in place of a mask."""
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    model = hf.BertForMaskedLM.from_pretrained(folder, **EAGER).eval()
    text = "Paris is the [MASK] of France."
    ids = torch.tensor([tokenizer(text)["input_ids"]])
    result = model(input_ids=ids, output_hidden_states=True)
    position = ids[0].tolist().index(tokenizer.mask_token_id)
    best = result.logits[0, position].softmax(0).topk(5)
    words = [{"id": i, "token": tokenizer.convert_ids_to_tokens(i), "probability": p}
             for i, p in zip(best.indices.tolist(), best.values.tolist())]
    tensors = {"in.ids": ids, "out.hidden": result.hidden_states[-1], "out.logits": result.logits[0, position]}
    return {"text": text, "ids": ids[0].tolist(), "position": position, "best": words}, tensors


def continuations(folder: pathlib.Path):
    """Greedy continuations of prompts by a model in a GGUF file, whose weights are widened to f32."""
    file = next(folder.glob("*.gguf")).name
    tokenizer = hf.AutoTokenizer.from_pretrained(folder, gguf_file=file)
    model = hf.AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, **EAGER).eval()
    prompts, tensors = [], {}
    for number, prompt in enumerate(PROMPTS):
        ids = torch.tensor([tokenizer(prompt)["input_ids"]])
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        logits = model(**inputs).logits[0]
        new = continuation(model, inputs, ids.shape[1], 1, CONTINUED)
        prompts.append({"prompt": prompt, "ids": ids[0].tolist(), "new": new["ids"], "gap": new["gap"],
                        "text": tokenizer.decode(new["ids"])})
        if number == 0:
            tensors = {"in.ids": ids, "out.logits": logits}
        print(f"\r{folder.name}: {number + 1} of {len(PROMPTS)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {"file": file, "config": model.config.to_dict(), "generation_config": model.generation_config.to_diff_dict(),
            "prompts": prompts}, tensors


REFERENCES = {
    "opus-mt-en-fr": translation,
    "all-minilm-l6-v2": embeddings,
    "all-mpnet-base-v2": embeddings,
    "bge-small-zh-v1.5": embeddings,
    "bert-base-uncased": masked_word,
    "smollm2-135m-instruct": continuations,
    "qwen2.5-coder-0.5b-instruct": continuations,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="where the results are written")
    parser.add_argument("names", nargs="*", choices=[[], *REFERENCES], help="only these models", metavar="NAME")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    hf.logging.set_verbosity_error()
    hf.utils.logging.disable_progress_bar()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, compute in REFERENCES.items():
        if arguments.names and name not in arguments.names:
            continue
        if not (MODELS / name).is_dir():
            print(f"skipped: {name} is not in {MODELS} (python3 ../shared/models/get.py {name})")
            continue
        content, tensors = compute(MODELS / name)
        versions = {"model": name, "transformers": hf.__version__, "torch": torch.__version__}
        text = json.dumps(versions | content, ensure_ascii=False, indent=1, default=str)
        (arguments.folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        tensors = {k: v.detach().clone() for k, v in tensors.items()}
        (arguments.folder / f"{name}.safetensors").write_bytes(safetensors_file.serialise(tensors, {}))
        print(f"{name}: {arguments.folder / name}.json, .safetensors", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
