#!/usr/bin/env python3
"""ranks: training on several ranks of MPI; at a random moment one rank is killed or stopped, and the run is started again.

Usage: ranks.py HEED [RUNS] [SEED] [FOLDER]. Promise: every run ends with the bytes of an undisturbed one.
"""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

UPDATES = 40
FLAGS = ("--vocabulary.kind=characters --transformer.embed=16 --transformer.heads=2 --transformer.hidden=32 "
         "--encoder-layers=1 --decoder-layers=1 --transformer.dropout=0.2 --batch-tokens=400 --peak=0.01 --warmup=10 "
         f"--clip-norm=1 --ema=0.9 --cpu-threads=1 --keep-last=2 --after={UPDATES}u --save-freq=3u --valid-freq=20u "
         "--rank-deadline=3").split()
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def start(heed, model, ranks, flags):
    """Starts training, or goes on with it."""
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), heed, "train", "--model", str(model)]
    # --resume begins a new run if there is nothing to resume from.
    return subprocess.Popen([*command, *flags, "--resume"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            env=ENVIRONMENT)


def ranks_of(launcher):
    """The processes that mpirun has started."""
    return [int(pid) for pid in subprocess.run(["ps", "-o", "pid=", "--ppid", str(launcher.pid)], capture_output=True,
                                               text=True, check=False).stdout.split()]


def wait_for(launcher, seconds=300.0):
    """The exit code of a run and what it said; one that does not end is killed."""
    try:
        _, said = launcher.communicate(timeout=seconds)
        return launcher.returncode, said
    except subprocess.TimeoutExpired:
        for pid in [*ranks_of(launcher), launcher.pid]:
            os.kill(pid, signal.SIGKILL)
        return launcher.wait(), "it did not end"


def result(model):
    """The bytes of the last checkpoint."""
    folder = model / f"checkpoint_{UPDATES}"
    names = ("model.safetensors", "parameters.safetensors", "optimizer.safetensors")
    return [(folder / name).read_bytes() for name in names]


def finish(heed, model, ranks, flags):
    """Trains to the end. If this script itself is stopped for a while, mpirun may wait for ever: then once more."""
    for _ in range(3):
        code, said = wait_for(start(heed, model, ranks, flags))
        if code == 0:
            return
    raise AssertionError(said)


def prepare(heed, folder):
    """Makes a small corpus; the flags of a training on it."""
    subprocess.run([heed, "corpus", "grammar", "-n", "300", "--held-out", "20", "--seed", "1", "-o", folder / "g"],
                   check=True, capture_output=True)
    return [*FLAGS, "--train-sets", str(folder / "g.en"), str(folder / "g.zh"), "--valid-sets",
            str(folder / "g.test.en"), str(folder / "g.test.zh")]


def disturbed_run(heed, model, flags, seconds, draw):
    """Disturbs a run once, then lets it go on to its end; what was done, and whether it hit."""
    ranks = draw.randint(1, 4)
    launcher = start(heed, model, ranks, flags)
    moment = time.monotonic() + draw.uniform(0.0, seconds)
    while time.monotonic() < moment and launcher.poll() is None:
        time.sleep(0.02)
    there = ranks_of(launcher)
    number = draw.choice([signal.SIGKILL, signal.SIGSTOP])
    hit = False
    if there and launcher.poll() is None:
        victim = draw.choice(there)
        try:
            os.kill(victim, number)
            hit = True
            if number == signal.SIGSTOP and len(there) == 1:
                os.kill(victim, signal.SIGKILL)  # nobody is left to miss it
        except ProcessLookupError:
            pass
    hit = wait_for(launcher)[0] != 0 and hit
    again = draw.randint(1, 4)
    finish(heed, model, again, flags)
    return f"{number.name} of one of {ranks} ranks, then {again}", hit


def main():
    """Disturbs runs, and compares each with an undisturbed one."""
    heed = sys.argv[1]
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="heed-ranks-", dir=sys.argv[4] if len(sys.argv) > 4 else None) as name:
        folder = pathlib.Path(name)
        flags = prepare(heed, folder)
        begin = time.monotonic()
        finish(heed, folder / "straight", 2, flags)
        seconds = time.monotonic() - begin
        expected = result(folder / "straight")
        hits = same = 0
        for run in range(1, runs + 1):
            model = folder / "disturbed"
            what, hit = disturbed_run(heed, model, flags, seconds, draw)
            hits += hit
            same += result(model) == expected
            if same != run:
                print(f"run {run}, seed {seed}: other bytes after {what}")
                shutil.copytree(model, f"ranks-{seed}-{run}", symlinks=True)
                return 1
            shutil.rmtree(model)
            if run % 10 == 0 or run == runs:
                print(f"{same} of {run} runs with the same bytes, {hits} disturbed before their end, seed {seed}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
