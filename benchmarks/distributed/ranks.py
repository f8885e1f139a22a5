#!/usr/bin/env python3
"""Time of an update on ranks and on threads, on one machine with two cores.

Usage: ranks.py HEED DATA [--models tiny,base,language] [--rounds N] [--overhead]. DATA has the folders
multi30k-bpe-wu2021 and tinyshakespeare. Each way to train runs in turn, in each round from the first update; the table has
the least median of the seconds between two updates. All ways but the first have 8 shards and so the same bits. With
--overhead, the table has the CPU time of an update with and without MPI instead: what two runs of different length differ
by, mpirun included. Nothing else should run.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MPIRUN = ["mpirun", "--bind-to", "none", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "-n"]
PROCESS, RANK = "1 process, 1 thread", "1 rank, 1 thread"
WAYS = {
    "1 process, 2 threads, whole batches": ([], 2, 1),
    "1 process, 2 threads": ([], 2, 8),
    "1 rank, 2 threads": ([*MPIRUN, "1"], 2, 8),
    "2 ranks, 1 thread each": ([*MPIRUN, "2"], 1, 8),
    PROCESS: ([], 1, 8),
    RANK: ([*MPIRUN, "1"], 1, 8),
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


class Trainer:
    """Runs one way to train a model."""

    def __init__(self, given, model):
        self.heed, self.model = given.heed.resolve(), model
        self.flags, self.updates = MODELS[model]
        self.sets = corpora(model, given.data.resolve())

    def command(self, way, updates, folder):
        """The words of a run."""
        launcher, threads, shards = WAYS[way]
        return [*launcher, self.heed, "train", *self.flags, *self.sets, "--model", f"{folder}/m", f"--cpu-threads={threads}",
                f"--shards={shards}", f"--after={updates}u", "--valid-freq=9Ku", "--save-freq=9Ku", "--log-format=json",
                "--disp-freq=1"]

    def seconds(self, way):
        """The median of the seconds between two updates."""
        with tempfile.TemporaryDirectory(prefix="heed-ranks-") as folder:
            return median_seconds(self.command(way, self.updates, folder), self.updates)

    def cpu_seconds(self, way):
        """The CPU time of an update."""
        spent = []
        for updates in (self.updates // 4, self.updates // 4 + self.updates):
            with tempfile.TemporaryDirectory(prefix="heed-ranks-") as folder:
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run([str(word) for word in self.command(way, updates, folder)], cwd=ROOT, check=True,
                               capture_output=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                spent.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
        return (spent[1] - spent[0]) / self.updates


def median_seconds(words, updates):
    """The same of a command, without the first updates."""
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


def report(title, found):
    """Prints a table."""
    print(f"\n| {title} | rounds |\n|---|---|---|")
    for way, seconds in found.items():
        print(f"| {way} | {min(seconds):.4f} | {', '.join(f'{s:.4f}' for s in seconds)} |", flush=True)


def main():
    """Prints a table for each model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("heed", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--models", default="tiny,base,language")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--overhead", action="store_true")
    given = parser.parse_args()
    for model in given.models.split(","):
        trainer = Trainer(given, model)
        found = {way: [] for way in ((PROCESS, RANK) if given.overhead else WAYS)}
        for _ in range(given.rounds):
            for way, times in found.items():
                times.append(trainer.cpu_seconds(way) if given.overhead else trainer.seconds(way))
        if given.overhead:
            report(f"{model} | CPU seconds of an update", found)
            print(f"\nOverhead: {100 * (statistics.median(found[RANK]) / statistics.median(found[PROCESS]) - 1):.1f} %, "
                  "of the medians", flush=True)
        else:
            report(f"{model} | seconds of an update", found)


if __name__ == "__main__":
    main()
