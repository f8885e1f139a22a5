"""The models and texts of the benchmark, and the peers' forms of the models.

Models are in $HEED_MODELS, else ~/.cache/heed-models; nothing is fetched here. What is converted for a peer is kept in
$HEED_BENCH_CACHE, else ~/.cache/heed-bench."""

import gzip
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHARED = ROOT.parent / "shared"
DATA = pathlib.Path(os.environ.get("HEED_DATA", SHARED / "data"))
MODELS = pathlib.Path(os.environ.get("HEED_MODELS", pathlib.Path.home() / ".cache/heed-models"))
CACHE = pathlib.Path(os.environ.get("HEED_BENCH_CACHE", pathlib.Path.home() / ".cache/heed-bench"))


class Skipped(Exception):
    """A model, text or peer that is not there; the message is the line to print."""


def model(name: str) -> pathlib.Path:
    folder = MODELS / name
    if not folder.is_dir():
        raise Skipped(f"skipped: {name} is not in {MODELS} (python3 ../shared/models/get.py {name})")
    return folder


def lines_of(path: str) -> list[str]:
    if not (DATA / path).is_file():
        raise Skipped(f"skipped: {path} is not in {DATA} (HEED_DATA names another folder)")
    with gzip.open(DATA / path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def english() -> list[str]:
    """1000 descriptions of pictures."""
    return lines_of("multi30k/test_2016_flickr.en.gz")


def chinese() -> list[str]:
    """Chinese sentences of Tatoeba, evenly from the short to the long ones."""
    pairs = [line.split("\t") for line in lines_of("cmn-eng-tatoeba/cmn.txt.gz") if "\t" in line]
    return [pair[1] for pair in pairs[:: len(pairs) // 500]]


def story() -> str:
    """Consecutive prose, longer than any prompt."""
    return "\n".join(lines_of("botchan/botchan.txt.gz")[200:400])


def made(path: pathlib.Path, *command: str) -> pathlib.Path:
    """`path`, which the command writes if it is not there."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    print(f"making {path}", flush=True)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0 or not path.exists():
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Skipped(f"skipped: {path.name} could not be made: {last}")
    return path


def ctranslate2_model(folder: pathlib.Path) -> pathlib.Path:
    """CTranslate2's form of a folder of Hugging Face."""
    to = CACHE / f"{folder.name}-ctranslate2"
    convert = [sys.executable, "-m", "ctranslate2.converters.transformers"]
    return made(to, *convert, "--model", folder, "--output_dir", to)


def trimmed_model(name: str, tokens: int) -> pathlib.Path:
    """The same translator with the tokens that Multi30k has most often."""
    folder = CACHE / f"{name}-{tokens}"
    texts = [DATA / "multi30k" / f"train.{side}.gz" for side in ("en", "fr")]
    return made(folder, sys.executable, HERE / "trim_vocabulary.py", model(name), tokens, *texts, folder)


def onnx_model(name: str, form: str) -> pathlib.Path:
    """`form` is f32 or int8."""
    path = CACHE / f"{name}-{form}.onnx"
    return made(path, sys.executable, HERE / "export_onnx.py", model(name), form, path)
