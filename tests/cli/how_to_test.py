#!/usr/bin/env python3
"""Runs the shell commands of the how-to pages, some pages of models and the README, with small files and short trainings.

Usage: how_to_test.py HEED ROOT. Pages that build on each other run in one folder, in order; a Chinese page must have
the commands of the English one.
"""

import gzip
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import zlib

HEED, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
CHAINS = [["train", "resume", "average"], ["translate"], ["generate"], ["score"], ["see"], ["embed"],
          ["hub"], ["fine-tune"], ["recognise"], ["serve"], ["cluster"], ["large-corpora"], ["models/pointer_network"],
          ["models/pointer_generator"], ["models/turing_machine"], ["models/reader"], ["models/memory_network"],
          ["models/self_attentive"], ["models/recurrent_attention"], ["models/captioner"], ["README"]]
# Models from a hub that pages name, where they are on this machine. A block that names an absent one is skipped.
MODELS = pathlib.Path(os.environ.get("HEED_MODELS") or pathlib.Path.home() / ".cache" / "heed-models")
HUB = ["opus-mt-en-fr", "all-minilm-l6-v2", "all-mpnet-base-v2", "bert-base-uncased", "bge-small-zh-v1.5",
       "smollm2-135m-instruct", "qwen2.5-coder-0.5b-instruct", "nllb-200-distilled-600M"]
# Its commands install the package, as python/tests/wheel_check.py does; python/tests/test_documents.py runs the rest.
ELSEWHERE = {"python"}
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)

# What ./run is in a test: the program, with trainings of five updates. What the tests would do is left out.
RUN = r"""#!/bin/sh
verb=$1; shift
case $verb in
  demo) exec "$HEED" demo --updates=2 --held-out=12 --sentences=3000 ;;
  test) exit 0 ;;
  heed) ;;
  *) echo "the test's ./run does not know $verb" >&2; exit 2 ;;
esac
exec "$HEED" "$@"
"""
VOCABULARY = re.compile(r"^\[vocabulary\][^\[]*^size =", re.MULTILINE)  # of a config
SHORT = "--after=5u --valid-freq=5u --save-freq=1u"
SMALL = ("--vocabulary.size=500 --transformer.embed=16 --transformer.heads=2 --transformer.hidden=16 "
         "--encoder-layers=1 --decoder-layers=1")
SMALL_LANGUAGE = ("--vocabulary.size=500 --language-model.embed=16 --language-model.heads=2 "
                  "--language-model.hidden=16 --layers=1")


def page(name):
    """The file of a page, and that of its Chinese twin."""
    folder = ROOT if name == "README" else ROOT / "docs" / ("" if "/" in name else "how-to")
    return folder / f"{name}.md", folder / f"{name}.zh-CN.md"


def commands(path):
    """The shell blocks of a page."""
    return BLOCK.findall(path.read_text(encoding="utf-8"))


def without_comments(blocks):
    """Comments are in the page's language."""
    return [re.sub(r"\s+# .*$", "", block, flags=re.MULTILINE) for block in blocks]


def shortened(block):
    """The block with trainings of five updates, and small ones where nothing says how large."""
    block = re.sub(r" --(?:after|valid-freq|save-freq)=\S+", "", block)
    block = block.replace("checkpoint_594", "checkpoint_4").replace("checkpoint_600", "checkpoint_5")
    calls = block.replace("\\\n", " ").splitlines()
    for i, call in enumerate(calls):
        if "heed train" in call and "--resume" not in call:
            has_sizes = "--vocabulary" in call or " -c " in call or "--start-from" in call
            small = SMALL_LANGUAGE if "--task=language" in call else SMALL
            sizes = "" if has_sizes else small
            config = re.search(r" -c (configs/\S+)", call)
            if config and "--vocabulary" not in call and VOCABULARY.search((ROOT / config[1]).read_text(encoding="utf-8")):
                sizes = "--vocabulary.size=500"
            calls[i] = f"{call} {SHORT} {sizes}"
    return "\n".join(calls)


def png(side):
    """A grey picture as a PNG file."""
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    rows = b"".join(b"\0" + bytes(7 * (x + y) % 256 for x in range(side)) for y in range(side))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def furnish_pictures(folder):
    """Small sets in the forms of CIFAR-10 and MNIST, and two pictures."""
    def pixels(i, count):
        return bytes((i * 31 + j * (i % 10 + 1)) % 256 for j in range(count))

    count = 20
    for name in ("train.bin", "test.bin"):
        (folder / name).write_bytes(b"".join(bytes([i % 10]) + pixels(i, 3072) for i in range(count)))
    for name in ("train", "t10k"):
        pictures = struct.pack(">IIII", 0x803, count, 28, 28) + b"".join(pixels(i, 784) for i in range(count))
        labels = struct.pack(">II", 0x801, count) + bytes(i % 10 for i in range(count))
        (folder / f"{name}-images-idx3-ubyte.gz").write_bytes(gzip.compress(pictures))
        (folder / f"{name}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))
    for name in ("dog.png", "boat.png"):
        (folder / name).write_bytes(png(40))


def furnish(folder):
    """The files that pages take for granted: a small corpus under all the names, a model, the configs."""
    (folder / "run").write_text(RUN)
    (folder / "run").chmod(0o755)
    (folder / "configs").symlink_to(ROOT / "configs")
    heed(folder, "corpus grammar -n 300 --held-out 30 --seed 2 -o corpus")
    sides = {"en": "en", "de": "zh"}
    for name, part in (("train", "corpus"), ("valid", "corpus.test"), ("test", "corpus.test"), ("input", "corpus.test")):
        for side, of in sides.items():
            text = (folder / f"{part}.{of}").read_bytes()
            (folder / f"{name}.{side}").write_bytes(text)
            (folder / f"{name}.{side}.gz").write_bytes(gzip.compress(text))
    for name in ("reference", "output", "baseline", "new"):
        shutil.copy(folder / "corpus.test.en", folder / f"{name}.de")
    (folder / "input.txt").write_bytes((folder / "train.en").read_bytes() * 5)
    heed(folder, f"train --model model --train-sets train.en train.de {SHORT} {SMALL}")
    (folder / "DIR").symlink_to("model")
    for name in HUB:
        if (MODELS / name).is_dir():
            (folder / name).symlink_to(MODELS / name)
    furnish_pictures(folder)
    (folder / "labelled").write_text("glad\tA lovely day.\nsad\tIt rains again.\nglad\tWhat a joy!\nsad\tNo.\n" * 8)
    shutil.copy(folder / "labelled", folder / "labelled.valid")
    for name, part in (("train", "corpus"), ("valid", "corpus.test")):
        texts = (folder / f"{part}.zh").read_text(encoding="utf-8").splitlines()
        rows = "".join(f"{'neg' if len(text) % 2 else 'pos'}\t{text}\n" for text in texts)
        (folder / f"{name}.tsv.gz").write_bytes(gzip.compress(rows.encode()))
    shutil.copy(folder / "corpus.test.zh", folder / "texts")


def heed(folder, arguments):
    """Runs the program."""
    sh(folder, f'"$HEED" {arguments}')


def sh(folder, text):
    """Runs commands until one fails, which fails the test."""
    done = subprocess.run(["sh", "-ec", text], cwd=folder, env={"HEED": HEED, "PATH": "/usr/bin:/bin"},
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{text}\nended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def absent_model(block):
    """The first model from a hub that a block names and that is not here, or None."""
    return next((name for name in HUB if name in block and not (MODELS / name).is_dir()), None)


def free_port():
    """A port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_page(folder, name):
    """Runs the blocks of a page."""
    english, chinese = page(name)
    blocks = commands(english)
    assert without_comments(blocks) == without_comments(commands(chinese)), f"{chinese} differs"
    for block in blocks:
        absent = absent_model(block)
        if absent:
            print(f"skipped: {absent} is not in {MODELS} (python3 ../shared/models/get.py {absent})")
            continue
        if "curl " in block and shutil.which("curl") is None:
            print("skipped: curl is not installed")
            continue
        sh(folder, shortened(block).replace("8080", str(free_port())))
    print(f"{name}: {len(blocks)} blocks")


def main():
    pages = {name for chain in CHAINS for name in chain if "/" not in name} - {"README"}
    there = {path.name.split(".")[0] for path in (ROOT / "docs" / "how-to").glob("*.md")} - ELSEWHERE
    assert pages == there, f"pages that no chain has, or that are gone: {pages ^ there}"
    with tempfile.TemporaryDirectory() as temporary:
        furnished = pathlib.Path(temporary) / "furnished"
        furnished.mkdir()
        furnish(furnished)
        for chain in CHAINS:
            folder = pathlib.Path(temporary) / chain[0]
            shutil.copytree(furnished, folder, symlinks=True)
            for name in chain:
                run_page(folder, name)


main()
