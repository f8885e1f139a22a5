#!/usr/bin/env python3
"""Models of pictures: training, resuming, use, pictures of attention, wrong input.

Usage: pictures_test.py HEED
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

HEED = sys.argv[1]
SHORT = "--batch-sentences=8 --peak=0.01 --warmup=1 --valid-freq=3u --save-freq=3u".split()
GLIMPSES = ("--task=recognise --kind=recurrent_attention --glimpses=3 --recurrent-attention.patch=6 "
            "--glimpse-hidden=8 --recurrent-attention.hidden=12 --reinforce.reward=accuracy").split()
CAPTIONS = ("--task=caption --vocabulary.kind=words --vocabulary.size=0 --captioner.stem=2 --captioner.stages=2 "
            "--captioner.embed=6 --captioner.hidden=8").split()
SETS = ["--train-sets", "images", "labels", "--valid-sets", "images", "labels"]


def run(*arguments, code=0):
    """Runs heed to its end, which must be that; what it printed on both outputs."""
    done = subprocess.run([HEED, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == code, f"heed {arguments} ended with {done.returncode}, not {code}:\n{done.stderr}"
    return done.stdout, done.stderr


def weights(folder):
    """The parameters of the newest checkpoint."""
    return pathlib.Path(folder, "checkpoint_last", "model.safetensors").read_bytes()


def write_png(path, side):
    """A grey picture as a PNG file."""
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    rows = b"".join(b"\0" + bytes(9 * (x + y) % 256 for x in range(side)) for y in range(side))
    pathlib.Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" +
                                   chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
                                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_digits(count=40, side=20):
    """Pictures and labels in the form of MNIST: a bright bar whose place is the label."""
    pictures = struct.pack(">IIII", 0x803, count, side, side)
    for i in range(count):
        pictures += bytes(250 if (p % side) // 2 == i % 10 else (i + p) % 40 for p in range(side * side))
    pathlib.Path("images").write_bytes(pictures)
    pathlib.Path("labels").write_bytes(struct.pack(">II", 0x801, count) + bytes(i % 10 for i in range(count)))


def check_resumes(flags, sets):
    """A run that is resumed has the bits of one that was not, with any number of threads."""
    run("train", "--model", "whole", *flags, *sets, *SHORT, "--after=6u", "--cpu-threads=1")
    run("train", "--model", "parts", *flags, *sets, *SHORT, "--after=3u", "--cpu-threads=2")
    said = "".join(run("train", "--model", "parts", "--resume", "--after=6u"))
    assert "going on from update 3" in said, said
    assert weights("whole") == weights("parts")
    run("average", "whole/checkpoint_3", "whole/checkpoint_6", "-o", "mean")


def check_glimpses():
    """The recurrent attention model."""
    write_digits()
    write_png("digit.png", 30)
    check_resumes(GLIMPSES, SETS)
    out, said = run("recognise", "-m", "mean", "--set", "images", "labels")
    assert len(out.splitlines()) == 40 and "of 40 pictures" in said, said
    assert run("recognise", "-m", "mean", "--set", "images", "labels")[0] == out, "no location is drawn"
    assert run("recognise", "-m", "mean", "--batch", 7, "--set", "images", "labels")[0] == out
    said = "".join(run("train", "--model", "log", *GLIMPSES, *SETS, *SHORT, "--after=2u", "--disp-freq=1"))
    assert "reward " in said and "entropy " in said, said
    run("see", "attention", "digit.png", "-m", "mean", "-o", "glimpses.svg")
    svg = pathlib.Path("glimpses.svg").read_text(encoding="utf-8")
    assert all(f">glimpse {i}<" in svg for i in (1, 2, 3)), svg[:2000]
    run("see", "attention", "digit.png", "-m", "mean", "-o", "glimpses.html")
    large = [flag.replace("patch=6", "patch=21") for flag in GLIMPSES]
    said = run("train", "--model", "x", *large, *SETS, *SHORT, code=1)[1]
    assert "patch = 21 for pictures of 20 x 20 pixels" in said, said
    said = run("train", "--model", "x", "--task=language", "--reinforce.reward=accuracy", "--train-sets", "labels",
               code=1)[1]
    assert "it counts labels, and task \"language\" has tokens" in said, said
    assert not list(pathlib.Path("x").glob("checkpoint*")), "a wrong config leaves nothing"


def check_captions():
    """The captioner: made data, soft and hard attention, references, boxes, wrong input."""
    write_digits(side=12)
    write_png("scene.png", 30)
    for prefix, count in (("made", 24), ("again", 24), ("held", 6)):
        run("corpus", "captions", "images", "labels", "-n", count, "-o", prefix)
    for ending in ("idx", "txt", "boxes"):
        assert pathlib.Path(f"made.{ending}").read_bytes() == pathlib.Path(f"again.{ending}").read_bytes()
    sets = ["--train-sets", "made.idx", "made.txt", "--valid-sets", "held.idx", "held.txt"]
    for attention in ("hard score=additive", "bahdanau"):
        for folder in ("whole", "parts", "mean"):
            shutil.rmtree(folder, ignore_errors=True)
        check_resumes([*CAPTIONS, f"--captioner.attention={attention}"], sets)
    references = ["--set", "held.idx", "--references", "held.txt", "--boxes", "held.boxes", "--max-length=8"]
    out, said = run("caption", "-m", "mean", *references)
    assert len(out.splitlines()) == 6 and "of 6 captions; BLEU " in said and "right cells " in said, said
    assert run("caption", "-m", "mean", *references, "--batch", 1)[0] == out, "captions do not depend on company"
    assert len(run("caption", "-m", "mean", "scene.png", "--beam-size", 3)[0].splitlines()) == 1
    said = "".join(run("train", "--model", "log", *CAPTIONS, "--captioner.attention=gumbel", *sets, *SHORT,
                       "--after=2u", "--disp-freq=1"))
    assert "reward " in said and "entropy " in said, said
    run("see", "attention", "scene.png", "-m", "mean", "-o", "words.svg")
    assert ">&lt;/s&gt;<" in pathlib.Path("words.svg").read_text(encoding="utf-8")
    check_wrong_captions(sets)


def check_wrong_captions(sets):
    """Files that do not belong together, and verbs of other tasks."""
    said = run("train", "--model", "x", *CAPTIONS, "--train-sets", "made.idx", "held.txt", code=1)[1]
    assert "held.txt has 6 lines for 24 pictures" in said, said
    said = run("train", "--model", "x", *CAPTIONS, "--train-sets", "made.txt", "made.idx", code=1)[1]
    assert "made.txt" in said and "idx file" in said, said
    said = run("train", "--model", "x", *CAPTIONS, "--train-sets", "made.idx", code=1)[1]
    assert "give two" in said, said
    said = run("train", "--model", "x", *CAPTIONS, *sets[:3], "--valid-sets", "images", "labels", code=1)[1]
    assert "labels" in said, said
    assert not list(pathlib.Path("x").glob("checkpoint*")), "wrong files leave nothing"
    said = run("caption", "-m", "mean", "--set", "held.idx", "--boxes", "held.boxes", code=1)[1]
    assert "give both" in said, said
    said = run("caption", "-m", "mean", "--set", "held.idx", "--references", "made.txt", code=1)[1]
    assert "made.txt has 24 lines for 6 pictures" in said, said
    assert "give either" in run("caption", "-m", "mean", code=1)[1]
    assert "for task \"caption\"" in run("recognise", "-m", "mean", "scene.png", code=1)[1]
    said = run("corpus", "captions", "images", "labels", "--canvas", 20, "-o", "small", code=1)[1]
    assert "give at least 24" in said and not pathlib.Path("small.idx").exists(), said


def main():
    for check in (check_glimpses, check_captions):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            check()
            os.chdir("/")
    print("models of pictures: as they should be")


if __name__ == "__main__":
    main()
