#!/usr/bin/env python3
"""Kills `heed train` again and again: what is on the disk is always whole, and in the end the same bytes and
the same curves.

Usage: kill_test.py HEED [SEED]. Another seed kills at other moments.
"""

import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

KILLS = 8
UPDATES = 60
HEED = sys.argv[1]
FLAGS = ("--vocabulary.kind=characters --transformer.embed=16 --transformer.heads=2 --transformer.hidden=32 "
         "--encoder-layers=1 --decoder-layers=1 --batch-tokens=400 --peak=0.01 --warmup=10 --keep-last=3 "
         f"--after={UPDATES}u --save-freq=3u --valid-freq=10u --disp-freq=1").split()


def run(*arguments):
    """Runs heed to its end, which must be a good one; what it printed."""
    done = subprocess.run([HEED, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"heed {arguments} ended with {done.returncode}:\n{done.stderr}"
    return done.stdout + done.stderr


def start(model, flags):
    """Starts training into a folder, or goes on with it."""
    resume = [] if flags else ["--resume"]
    return subprocess.Popen([HEED, "train", "--model", str(model), *flags, *resume], stderr=subprocess.PIPE, text=True)


def has_checkpoint(model):
    """Whether there is something to go on with."""
    return any(model.glob("checkpoint_*"))


def check_whole(model):
    """Every checkpoint that has its name can be read, and every link leads to one."""
    for folder in model.glob("checkpoint_*"):
        assert folder.is_dir(), f"{folder} leads nowhere"
        config = json.loads((folder / "config.json").read_text())
        assert (folder / config["source_tokenizer"]).stat().st_size > 0
        assert json.loads((folder / "progress.json").read_text())["updates"] > 0
        for name in ("model", "optimizer"):
            run("inspect", folder / f"{name}.safetensors")


def result(model):
    """What training came to."""
    folder = model / f"checkpoint_{UPDATES}"
    assert (model / "checkpoint_last").resolve() == folder.resolve()
    files = {name: (folder / name).read_bytes() for name in ("model.safetensors", "optimizer.safetensors")}
    return files | {name: rows(model / name) for name in ("train.csv", "valid.csv")}


def rows(path):
    """The lines of a curve without the last column, which is time."""
    return [line.rpartition(",")[0] for line in path.read_text().splitlines()]


def wait_for(process, words):
    """Reads what training says until it says these words; False if it ends before."""
    return any(words in line for line in process.stderr)


def train_with_kills(model, flags, seconds):
    """Kills training KILLS times; how many hit before training had ended by itself."""
    hits = 0
    for number in range(KILLS):
        process = start(model, () if has_checkpoint(model) else flags)
        # Some of them while it starts. The others after a certain update, not after a certain time: on a busy
        # machine, training may end before a timer does.
        if number % 4 == 0:
            time.sleep(random.uniform(0, seconds / 10))
        else:
            for _ in range(random.randint(1, 5)):
                wait_for(process, "update ")
            time.sleep(random.uniform(0, seconds / UPDATES))
        process.kill()
        process.stderr.read()
        hits += process.wait() == -signal.SIGKILL
        check_whole(model)
    run("train", "--model", model, "--resume", *(() if has_checkpoint(model) else flags))
    return hits


def train_with_request(model, flags):
    """Asks training to stop, by a signal, and goes on; False if it was too quick to be asked."""
    process = start(model, flags)
    assert wait_for(process, "update 5 ")
    process.terminate()
    said = process.stderr.read()
    assert process.wait() == 0, said
    if "finished" in said:
        return False
    assert "interrupted" in said, said
    check_whole(model)
    assert not (model / f"checkpoint_{UPDATES}").exists(), "it should have stopped before"
    run("train", "--model", model, "--resume")
    return True


def main():
    """Trains in one go, with kills and with a request to stop, and compares."""
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    random.seed(seed)
    with tempfile.TemporaryDirectory(prefix="heed-kill-") as name:
        folder = pathlib.Path(name)
        run("corpus", "grammar", "-n", 300, "--held-out", 20, "--seed", 1, "-o", folder / "g")
        flags = [*FLAGS, "--train-sets", str(folder / "g.en"), str(folder / "g.zh"), "--valid-sets",
                 str(folder / "g.test.en"), str(folder / "g.test.zh")]
        begin = time.monotonic()
        run("train", "--model", folder / "straight", *flags)
        seconds = time.monotonic() - begin
        check_whole(folder / "straight")
        expected = result(folder / "straight")
        assert [row.partition(",")[0] for row in expected["train.csv"][1:]] == [str(i) for i in range(1, UPDATES + 1)]
        hits = train_with_kills(folder / "killed", flags, seconds)
        assert result(folder / "killed") == expected, f"other bytes after {hits} kills, seed {seed}"
        asked = next(f for f in (folder / f"asked_{i}" for i in range(10)) if train_with_request(f, flags))
        assert result(asked) == expected, "other bytes after SIGTERM"
        print(f"{hits} of {KILLS} kills hit training of {seconds:.1f} s, seed {seed}; the same bytes")
        assert hits >= 2, "too few kills hit"


if __name__ == "__main__":
    main()
