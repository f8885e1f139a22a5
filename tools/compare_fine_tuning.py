#!/usr/bin/env python3
"""Fine-tunes published models with heed and with a plain loop of PyTorch over transformers, on the same batches in the same
order, and prints both curves of the loss. The model that heed has trained is exported and loaded in transformers.

    python3 -m venv build/venv-hf && build/venv-hf/bin/pip install torch==2.13.0 transformers==5.22.2 sentencepiece sacremoses
    ./run build heed_cli && build/venv-hf/bin/python tools/compare_fine_tuning.py [classify|translate] [full|lora]

classify: bge-small-zh-v1.5 with a new head learns reviews-zh. translate: opus-mt-en-fr learns the captions of Multi30k.
Models are read from $HEED_MODELS (else ~/.cache/heed-models), texts from $HEED_DATA (else ../shared/data).

Texts of a batch have one length and no other batch has it, so batches do not depend on how heed shuffles, and train.csv
of heed tells their order by their numbers of tokens. Dropout is 0. Rates are those of train.csv. Adapters begin as heed's:
a run with a rate of 0 writes them. Fails if a loss or a score differs by more than the tolerance.
"""

import argparse
import collections
import csv
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import torch
import transformers as hf
from safetensors import safe_open
from torch.nn import functional as F

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEED = ROOT / "build/release/heed"
DATA = pathlib.Path(os.environ.get("HEED_DATA") or ROOT.parent / "shared/data")
MODELS = pathlib.Path(os.environ.get("HEED_MODELS") or "~/.cache/heed-models").expanduser()
RANK, ALPHA = 8, 16
LOSS_TOLERANCE = 1e-3  # of a loss, relative: rounding grows from update to update
SCORE_TOLERANCE = 2e-4  # of the range of the scores


def lines(name: str) -> list[str]:
    with gzip.open(DATA / name, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in file]


def batches_of_one_length(items, length_of, lengths, size):
    """The first `size` items of each length."""
    groups = collections.defaultdict(list)
    for item in items:
        length = length_of(item)
        if length in lengths and len(groups[length]) < size:
            groups[length].append(item)
    return {length: groups[length] for length in lengths if len(groups[length]) == size}


class Classify:
    """Positive and negative reviews."""

    name, size, lengths, epochs = "classify", 16, range(16, 46, 2), 4
    rates = {"full": 5e-5, "lora": 1e-3}
    attention = {"q_proj_": "attention.self.query", "k_proj_": "attention.self.key", "v_proj_": "attention.self.value",
                 "out_proj.": "attention.output.dense"}
    head = ["bert.pooler.dense", "classifier"]

    def __init__(self, folder: pathlib.Path) -> None:
        source = MODELS / "bge-small-zh-v1.5"
        self.folder = folder / "start"
        torch.manual_seed(1)
        model = hf.BertForSequenceClassification.from_pretrained(
            source, num_labels=2, id2label={0: "neg", 1: "pos"}, label2id={"neg": 0, "pos": 1}, hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0)
        model.save_pretrained(self.folder)
        shutil.copy(source / "tokenizer.json", self.folder)
        self.tokenizer = hf.PreTrainedTokenizerFast(tokenizer_file=str(source / "tokenizer.json"), pad_token="[PAD]")
        pairs = [line.split("\t", 1) for line in lines("reviews-zh/train.tsv.gz")]
        length_of = lambda pair: len(self.tokenizer(pair[1])["input_ids"])  # noqa: E731
        self.batches = batches_of_one_length(pairs, length_of, self.lengths, self.size)
        self.valid = [line.split("\t", 1) for line in lines("reviews-zh/valid.tsv.gz") if len(line) < 120][:300]
        for name, rows in (("train", sum(self.batches.values(), [])), ("valid", self.valid)):
            (folder / name).write_text("".join(f"{label}\t{text}\n" for label, text in rows), encoding="utf-8")
        self.files = ["--train-sets", str(folder / "train"), "--valid-sets", str(folder / "valid"), "--metrics", "loss", "accuracy"]

    def load(self, folder):
        return hf.BertForSequenceClassification.from_pretrained(folder, dtype=torch.float32)

    def layer(self, model, parts, kind):
        return model.get_submodule(f"bert.encoder.layer.{parts[2]}.{self.attention[kind]}")

    def inputs(self, rows):
        return self.tokenizer([text for _, text in rows], padding=True, truncation=True, max_length=512, return_tensors="pt")

    def scores(self, model, rows):
        return model(**self.inputs(rows)).logits

    def loss(self, model, rows):
        return F.cross_entropy(self.scores(model, rows), torch.tensor([int(label == "pos") for label, _ in rows]))

    def judge(self, model, trained):
        """Validation in transformers; probabilities of `heed classify`, which have 4 digits, and of the exported model."""
        rows = [self.valid[i:i + 50] for i in range(0, len(self.valid), 50)]
        scores = torch.cat([self.scores(model, part) for part in rows])
        labels = torch.tensor([int(label == "pos") for label, _ in self.valid])
        right = (scores.argmax(1) == labels).float().mean().item()
        result = {"valid loss": F.cross_entropy(scores, labels).item(), "accuracy": right}
        if trained is not None:
            text = "".join(text + "\n" for _, text in self.valid)
            written = [line.split("\t") for line in run(["classify", "--model", str(trained), "--all"], text).splitlines()]
            found = torch.tensor([[float(line[line.index(label) + 1]) for label in ("neg", "pos")] for line in written])
            result["heed - exported"] = (found - scores.softmax(1)).abs().max().item()
        return result


class Translate:
    """English captions into French."""

    name, size, lengths, epochs = "translate", 8, range(10, 22, 1), 3
    rates = {"full": 2e-5, "lora": 1e-3}
    attention = {"q_proj_": "q_proj", "k_proj_": "k_proj", "v_proj_": "v_proj", "out_proj.": "out_proj"}
    head = []

    def __init__(self, folder: pathlib.Path) -> None:
        source = MODELS / "opus-mt-en-fr"
        self.folder = folder / "start"
        shutil.copytree(source, self.folder, ignore=shutil.ignore_patterns("*.bin"))
        config = json.loads((source / "config.json").read_text())
        config |= {"dropout": 0.0, "attention_dropout": 0.0, "activation_dropout": 0.0}
        (self.folder / "config.json").write_text(json.dumps(config))
        self.tokenizer = hf.MarianTokenizer.from_pretrained(source)
        pairs = list(zip(lines("multi30k/train.en.gz"), lines("multi30k/train.fr.gz")))[:6000]
        length_of = lambda pair: len(self.tokenizer(pair[0])["input_ids"])  # noqa: E731
        self.batches = batches_of_one_length(pairs, length_of, self.lengths, self.size)
        self.valid = list(zip(lines("multi30k/val.en.gz"), lines("multi30k/val.fr.gz")))[:40]
        self.files = []
        for flag, rows in (("train", sum(self.batches.values(), [])), ("valid", self.valid)):
            self.files.append(f"--{flag}-sets")
            for side in (0, 1):
                path = folder / f"{flag}.{side}"
                path.write_text("".join(row[side] + "\n" for row in rows), encoding="utf-8")
                self.files.append(str(path))
        # The bias of the output is a constant in transformers.
        self.files += ["--label-smoothing", "0.1", "--freeze", "output.bias"]

    def load(self, folder):
        return hf.MarianMTModel.from_pretrained(folder, dtype=torch.float32)

    def layer(self, model, parts, kind):
        attention = {"self_attn": "self_attn", "multihead_attn": "encoder_attn"}[parts[3]]
        return model.get_submodule(f"model.{parts[0]}.layers.{parts[2]}.{attention}.{self.attention[kind]}")

    def inputs(self, rows):
        return self.tokenizer([a for a, _ in rows], text_target=[b for _, b in rows], padding=True, return_tensors="pt")

    def scores(self, model, rows):
        encoded = self.inputs(rows)
        start, padding = model.config.decoder_start_token_id, model.config.pad_token_id
        labels = encoded.pop("labels")
        before = torch.cat([torch.full_like(labels[:, :1], start), labels[:, :-1]], 1)
        logits = model(**encoded, decoder_input_ids=before).logits
        return logits[labels != padding], labels[labels != padding]

    def loss(self, model, rows):
        scores, labels = self.scores(model, rows)
        return F.cross_entropy(scores, labels, label_smoothing=0.1)

    def judge(self, model, trained):
        """Validation in transformers, and the translations of `heed translate` beside those of the exported model."""
        parts = [self.scores(model, self.valid[i:i + 8]) for i in range(0, len(self.valid), 8)]
        scores, labels = torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])
        result = {"valid loss": F.cross_entropy(scores, labels).item()}
        if trained is not None:
            text = "".join(source + "\n" for source, _ in self.valid)
            found = run(["translate", "--model", str(trained), "--beam-size", "1"], text).splitlines()
            encoded = self.tokenizer([source for source, _ in self.valid], padding=True, return_tensors="pt")
            ids = model.generate(**encoded, num_beams=1, do_sample=False, max_length=128)
            theirs = self.tokenizer.batch_decode(ids, skip_special_tokens=True)
            result["equal translations"] = sum(a == b for a, b in zip(found, theirs)) / len(theirs)
        return result


class Adapted(torch.nn.Module):
    """W x + b + scale up down x."""

    def __init__(self, linear, down, up) -> None:
        super().__init__()
        self.linear, self.down, self.up = linear, torch.nn.Parameter(down), torch.nn.Parameter(up)

    def forward(self, x):
        return self.linear(x) + ALPHA / RANK * F.linear(F.linear(x, self.down), self.up)


def run(arguments, text=""):
    done = subprocess.run([str(HEED), *arguments], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def train_with_heed(task, how, folder, rate, updates):
    """The rows of train.csv and the last validation."""
    flags = ["--lora-rank", str(RANK), "--lora.alpha", str(ALPHA)] if how == "lora" else []
    log = run(["train", "--task", task.name, "--model", str(folder), "--start-from", str(task.folder), *task.files, *flags,
               "--batch-sentences", str(task.size), "--batch-tokens", "100000", "--schedule.kind", "constant", "--warmup", "0",
               "--peak", str(rate), "--after", f"{updates}u", "--valid-freq", f"{updates}u", "--save-freq", f"{updates}u",
               "--explosion", "0", "--log-format", "json"])
    valid = [json.loads(line) for line in log.splitlines() if '"validation"' in line]
    with open(folder / "train.csv", newline="") as file:
        return list(csv.DictReader(file)), valid[-1] if valid else {}


def adapt(task, model, checkpoint):
    """The same adapters as in the checkpoint of heed; of the other parameters only the head of a classifier is trained."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for part in task.head:
        model.get_submodule(part).requires_grad_(True)
    with safe_open(checkpoint / "model.safetensors", "pt") as file:
        for name in file.keys():  # noqa: SIM118
            if not name.endswith("lora_down"):
                continue
            parts = name.removesuffix("lora_down").split(".")  # encoder, layers, 0, self_attn, q_proj_ or out_proj
            kind = parts[4] if parts[4].endswith("_") else parts[4] + "."
            linear = task.layer(model, parts, kind)
            adapted = Adapted(linear, file.get_tensor(name), file.get_tensor(name.replace("lora_down", "lora_up")))
            replace(model, linear, adapted)
    return model


def replace(model, old, new):
    for parent in model.modules():
        for name, child in parent.named_children():
            if child is old and not isinstance(parent, Adapted):
                setattr(parent, name, new)


def train_with_torch(task, model, records):
    by_tokens = {}
    for length, rows in task.batches.items():
        by_tokens[length * task.size] = rows
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(parameters, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    model.train()
    for record in records:
        for group in optimizer.param_groups:
            group["lr"] = float(record["rate"])
        optimizer.zero_grad()
        loss = task.loss(model, by_tokens[int(record["source_tokens"])])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def compare(kind, how, folder):
    folder.mkdir()
    task = kind(folder)
    updates = len(task.batches) * task.epochs
    records, valid = train_with_heed(task, how, folder / "trained", task.rates[how], updates)
    model = task.load(task.folder)
    if how == "lora":
        train_with_heed(task, how, folder / "initial", 0.0, 1)
        model = adapt(task, model, folder / "initial/checkpoint_last")
    theirs, ours = train_with_torch(task, model, records), [float(record["loss"]) for record in records]
    print(f"{kind.name}, {how}: {updates} updates of {task.size} texts, rate {task.rates[how]:g}")
    epoch = len(task.batches)
    for first in range(0, updates, epoch):
        mean = [sum(losses[first:first + epoch]) / epoch for losses in (ours, theirs)]
        print(f"  updates {first + 1:3} to {first + epoch:3}: mean loss {mean[0]:.5f} heed, {mean[1]:.5f} PyTorch")
    difference = max(abs(a - b) / max(b, 1e-2) for a, b in zip(ours, theirs))
    print(f"  largest relative difference of a loss: {difference:.1e}; of the first: {abs(ours[0] - theirs[0]) / theirs[0]:.1e}")
    run(["export", str(folder / "trained"), "-o", str(folder / "exported")])
    exported = task.load(folder / "exported").eval()
    with torch.no_grad():
        judged = {"PyTorch": task.judge(model.eval(), None), "exported": task.judge(exported, folder / "trained")}
        rows = next(iter(task.batches.values()))
        a, b = (task.scores(m, rows) for m in (model, exported))
        a, b = (x if torch.is_tensor(x) else x[0] for x in (a, b))
        apart = ((a - b).abs().max() / (a.max() - a.min())).item()
    print("  heed: " + ", ".join(f"valid {key} {value:.6g}" for key, value in valid["metrics"].items()))
    for name, result in judged.items():
        print(f"  {name}: " + ", ".join(f"{key} {value:.6g}" for key, value in result.items()))
    print(f"  scores of the exported model and of PyTorch's: {apart:.1e} of their range", flush=True)
    own = judged["exported"]
    good = own.get("heed - exported", 0.0) <= SCORE_TOLERANCE and own.get("equal translations", 1.0) >= 0.95
    return good and difference <= LOSS_TOLERANCE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", choices=["classify", "translate"], help="default: both")
    parser.add_argument("how", nargs="?", choices=["full", "lora"], help="default: both")
    arguments = parser.parse_args()
    hf.logging.set_verbosity_error()
    hf.utils.logging.disable_progress_bar()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for kind in (Classify, Translate):
            for how in ("full", "lora"):
                if arguments.task in (None, kind.name) and arguments.how in (None, how):
                    good = compare(kind, how, pathlib.Path(folder) / f"{kind.name}-{how}") and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
