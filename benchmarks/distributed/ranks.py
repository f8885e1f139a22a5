#!/usr/bin/env python3
"""Time of an update on ranks and on threads, on one machine with two cores.

Usage: ranks.py HEED DATA [--models tiny,base,language] [--rounds N]. DATA has the folders multi30k-bpe-wu2021 and
tinyshakespeare. Each way to train runs in turn, in each round from the first update; the table has the least median of the
seconds between two updates. All ways but the first have 8 shards and so the same bits. Nothing else should run.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MPIRUN = ["mpirun", "--bind-to", "none", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "-n"]
WAYS = {
    "1 process, 2 threads, whole batches": ([], 2, 1),
    "1 process, 2 threads": ([], 2, 8),
    "1 rank, 2 threads": ([*MPIRUN, "1"], 2, 8),
    "2 ranks, 1 thread each": ([*MPIRUN, "2"], 1, 8),
    "1 process, 1 thread": ([], 1, 8),
    "1 rank, 1 thread": ([*MPIRUN, "1"], 1, 8),
}
BASE = ["--embed=512", "--hidden=2048", "--heads=8", "--encoder-layers=6", "--decoder-layers=6", "--batch-tokens=4096"]
# Flags and the number of updates.
MODELS = {"tiny": (["-c", "configs/multi30k-tiny.toml"], 14),
          "base": (["-c", "configs/multi30k-tiny.toml", *BASE], 4),
          "language": (["-c", "configs/shakespeare-characters.toml"], 120)}


def corpora(model, data):
    """The flags for the files of a model."""
    if model == "language":
        return ["--train-sets", data / "tinyshakespeare" / "input.txt.gz"]
    return ["--train-sets", *(data / "multi30k-bpe-wu2021" / f"train.{side}.gz" for side in ("en", "de"))]


def measure(words, updates):
    """The median of the seconds between two updates, without the first ones."""
    times = []
    with subprocess.Popen([str(word) for word in words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as run:
        for line in run.stdout:
            if line.startswith("{") and json.loads(line).get("event") == "update":
                times.append(time.perf_counter())
        said = run.stderr.read()
    assert run.returncode == 0 and len(times) == updates, said[-2000:]
    skipped = max(1, updates // 5)
    return statistics.median(b - a for a, b in zip(times[skipped - 1:], times[skipped:]))


def main():
    """Prints a table for each model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("heed", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--models", default="tiny,base,language")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    heed, data = given.heed.resolve(), given.data.resolve()
    for model in given.models.split(","):
        flags, updates = MODELS[model]
        found = {way: [] for way in WAYS}
        for _ in range(given.rounds):
            for way, (launcher, threads, shards) in WAYS.items():
                with tempfile.TemporaryDirectory(prefix="heed-ranks-") as folder:
                    words = [*launcher, heed, "train", *flags, *corpora(model, data), "--model", f"{folder}/m",
                             f"--cpu-threads={threads}", f"--shards={shards}", f"--after={updates}u", "--valid-freq=9Ku",
                             "--save-freq=9Ku", "--log-format=json", "--disp-freq=1"]
                    found[way].append(measure(words, updates))
        print(f"\n| {model} | seconds of an update | rounds |\n|---|---|---|")
        for way, seconds in found.items():
            print(f"| {way} | {min(seconds):.4f} | {', '.join(f'{s:.4f}' for s in seconds)} |", flush=True)


if __name__ == "__main__":
    main()
