#!/usr/bin/env python3
"""Packs a corpus and trains on it: resumed runs and several ranks leave the same bytes, and what is refused.

Usage: packed_test.py HEED. Ranks are compared if heed was built with MPI and mpirun is there.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HEED = pathlib.Path(sys.argv[1]).resolve()
UPDATES = 12
SMALL = ("--transformer.embed=16 --transformer.heads=2 --transformer.hidden=32 --encoder-layers=1 --decoder-layers=1 "
         "--transformer.dropout=0.2 --tied=two --batch-tokens=9000 --shuffle-window=1000 --peak=0.01 --warmup=5 "
         "--save-freq=1u --early-stopping=0 --shards=8 --cpu-threads=1").split()
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def heed(*arguments, ranks=0, code=0):
    """Runs heed, which must end with that code; what it printed."""
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks else []
    done = subprocess.run([*launcher, str(HEED), *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=ENVIRONMENT)
    said = done.stdout + done.stderr
    assert done.returncode == code, f"heed {arguments} ended with {done.returncode}:\n{said}"
    return said


def result(model):
    """The files of the last checkpoint whose bytes count."""
    folder = model / f"checkpoint_{UPDATES}"
    return [(folder / name).read_bytes() for name in ("model.safetensors", "optimizer.safetensors")]


def check_training(folder):
    """A run over several epochs and windows; the same in parts, and on ranks."""
    flags = ["--train-sets", folder / "packed", "--valid-sets", folder / "g.test.en", folder / "g.test.zh", *SMALL]
    said = heed("train", "--model", folder / "straight", *flags, f"--after={UPDATES}u")
    assert "3000 packed pairs, shuffled in 3 windows" in said, said
    progress = (folder / "straight" / f"checkpoint_{UPDATES}" / "progress.json").read_text()
    assert '"epoch": 0' not in progress, "more than an epoch"
    expected = result(folder / "straight")
    for updates in (1, 5, 8):
        heed("train", "--model", folder / "parts", *flags, f"--after={updates}u", "--resume")
    heed("train", "--model", folder / "parts", "--resume", f"--after={UPDATES}u")
    assert result(folder / "parts") == expected, "other bytes after resuming"
    said = heed("train", "--model", folder / "parts", "--resume", "--after=20u", "--shuffle-window=2000", code=1)
    assert "shuffle_window was 1000 and is 2000" in said, said
    if not (HEED.parent / "heed_mpi.so").exists() or shutil.which("mpirun") is None:
        return
    for ranks in (1, 3):
        model = folder / f"ranks_{ranks}"
        heed("train", "--model", model, *flags, f"--after={UPDATES}u", ranks=ranks)
        assert result(model) == expected, f"other bytes on {ranks} ranks"


def check_text(folder):
    """A packed text of a language model leaves the bytes of the text file, in parts and on ranks, too."""
    heed("corpus", "pack", folder / "g.en", "--task=language", "--vocabs", folder / "en", "-o", folder / "text")
    said = heed("corpus", "check", folder / "text")
    assert "packed tokens of a vocabulary of" in said, said
    small = ("--task=language --language-model.embed=16 --language-model.heads=2 --language-model.layers=1 "
             "--language-model.dropout=0.2 --block-length=20 --batch-tokens=400 --save-freq=1u --early-stopping=0 --shards=8 "
             "--cpu-threads=1").split()
    heed("train", "--model", folder / "lm_text", "--train-sets", folder / "g.en", "--vocabs", folder / "en", *small,
         f"--after={UPDATES}u")
    expected = result(folder / "lm_text")
    flags = ["--train-sets", folder / "text", *small]
    for updates in (5, UPDATES):
        heed("train", "--model", folder / "lm_parts", *flags, f"--after={updates}u", "--resume")
    assert result(folder / "lm_parts") == expected, "a packed text has other bytes"
    if (HEED.parent / "heed_mpi.so").exists() and shutil.which("mpirun") is not None:
        heed("train", "--model", folder / "lm_ranks", *flags, f"--after={UPDATES}u", ranks=3)
        assert result(folder / "lm_ranks") == expected, "a packed text has other bytes on ranks"
    said = heed("train", "--model", folder / "none", *flags, "--vocabs", folder / "zh", code=1)
    assert "was packed with another vocabulary" in said, said
    said = heed("train", "--model", folder / "none", "--train-sets", folder / "packed", *small, code=1)
    assert "heed corpus pack --task language" in said, said
    said = heed("corpus", "pack", folder / "g.en", folder / "g.zh", "--task=language", "--vocabs", folder / "en", "-o",
                folder / "nothing", code=1)
    assert "give one text file and one vocabulary" in said, said


def check_interruption(folder):
    """Ctrl-C leaves nothing."""
    for side in ("en", "zh"):
        (folder / f"many.{side}").write_bytes((folder / f"g.{side}").read_bytes() * 300)
    packing = subprocess.Popen([str(HEED), "corpus", "pack", folder / "many.en", folder / "many.zh", "--vocabs",
                                folder / "en", folder / "zh", "-o", folder / "half"], stderr=subprocess.PIPE)
    while packing.poll() is None and not list(folder.glob("half*")):
        time.sleep(0.01)
    packing.send_signal(signal.SIGINT)
    packing.communicate(timeout=60)
    assert packing.returncode == -signal.SIGINT, packing.returncode
    assert not list(folder.glob("half*")), "something is left"


def check_refusals(folder):
    """What is refused, before anything is written."""
    pack = ["corpus", "pack", folder / "g.en", folder / "g.zh"]
    heed(*pack, "-o", folder / "none", code=2)
    said = heed(*pack, "--vocabs", folder / "en", folder / "zh", "-o", folder / "packed", code=1)
    assert "exists already" in said, said
    heed(*pack, "--vocabs", folder / "missing", "-o", folder / "none", code=1)
    train = ["train", "--model", folder / "none", "--train-sets", folder / "packed", *SMALL]
    said = heed(*train, "--max-length=5", code=1)
    assert "heed corpus pack --max-length=5" in said, said
    said = heed(*train, "--vocabs", folder / "zh", folder / "en", code=1)
    assert "was packed with other vocabularies" in said, said
    damaged = folder / "damaged"
    shutil.copytree(folder / "packed", damaged)
    with open(damaged / "pairs-00000.bin", "r+b") as file:
        file.seek(60000)
        file.write(b"\xff\xff\xff")
    said = heed("corpus", "check", damaged, code=1)
    assert "damaged" in said and "pack the corpus again" in said, said


def main():
    """Packs, trains and asks for what is refused."""
    with tempfile.TemporaryDirectory(prefix="heed-packed-") as name:
        folder = pathlib.Path(name)
        heed("corpus", "grammar", "-n", 3000, "--held-out", 20, "--seed", 1, "-o", folder / "g")
        heed("vocab", "train", folder / "g.en", "--kind=words", "-o", folder / "en")
        heed("vocab", "train", folder / "g.zh", "--kind=characters", "-o", folder / "zh")
        said = heed("corpus", "pack", folder / "g.en", folder / "g.zh", "--vocabs", folder / "en", folder / "zh", "-o",
                    folder / "packed")
        assert "3000 lines, 3000 kept; 3000 pairs kept" in said, said
        said = heed("corpus", "check", folder / "packed")
        assert "3000 packed pairs in 3 blocks" in said and "correlation" in said, said
        check_training(folder)
        check_text(folder)
        check_interruption(folder)
        check_refusals(folder)
        print("packed corpora train with the same bytes")


if __name__ == "__main__":
    main()
