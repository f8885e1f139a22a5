"""Models that are trained in a second, on heed's own corpus, and what tests of them share."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

import heed

TRANSLATOR: dict[str, Any] = {
    "vocabulary": {"kind": "characters"},
    "transformer": {
        "embed": 32,
        "heads": 2,
        "hidden": 64,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "norm_first": True,
    },
    "batch_tokens": 1000,
    "after": "60u",
    "valid_freq": "30u",
    "save_freq": "30u",
    "schedule": {"peak": 0.01, "warmup": 20},
}


def translator_config(folder: pathlib.Path, sentences: int = 400) -> dict[str, Any]:
    """The config of a translator, with its corpus written to the folder."""
    prefix = folder / "corpus"
    if not prefix.with_suffix(".en").exists():
        heed.grammar_corpus(sentences, held_out=20, seed=1).write(prefix)
    return {
        **TRANSLATOR,
        "train_sets": [f"{prefix}.en", f"{prefix}.zh"],
        "valid_sets": [f"{prefix}.test.en", f"{prefix}.test.zh"],
    }


def program() -> str:
    """The program heed of the same build."""
    path = pathlib.Path(heed.__file__).parent.parent.parent / "heed"
    if not path.is_file():
        pytest.skip("the program heed is not built beside the package")
    return str(path)


def run_program(*arguments: str, text: str = "") -> str:
    """What the program writes."""
    done = subprocess.run([program(), *arguments], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def press_ctrl_c(script: str, folder: pathlib.Path) -> str:
    """What a script prints that is interrupted half a second after it has printed a line."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-c", script]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return printed
