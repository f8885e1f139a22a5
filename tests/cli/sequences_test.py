#!/usr/bin/env python3
"""Models that point, copy, read and answer: data, training, resuming, use, averaging, wrong input.

Usage: sequences_test.py HEED
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HEED = sys.argv[1]
SHORT = "--batch-sentences=8 --peak=0.01 --warmup=1 --valid-freq=3u --save-freq=3u".split()
POINT = "--task=point --embed=8 --pointer-network.hidden=8 --each-once".split()
READ = "--task=read --reader.embed=8 --reader.hidden=6".split()
ANSWER = "--task=answer --memory-network.embed=8 --linear-start=1 --noise=0.3".split()
COPY = "--task=copy --slots=8 --turing-machine.width=4 --turing-machine.hidden=8".split()


def run(*arguments, code=0, given=""):
    """Runs heed to its end, which must be that; what it printed on both outputs."""
    done = subprocess.run([HEED, *map(str, arguments)], input=given, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"heed {arguments} ended with {done.returncode}, not {code}:\n{done.stderr}"
    return done.stdout, done.stderr


def weights(folder):
    """The parameters of the newest checkpoint."""
    return pathlib.Path(folder, "checkpoint_last", "model.safetensors").read_bytes()


def check_training(flags, sets):
    """A run that is resumed has the bits of one that was not; checkpoints are averaged."""
    run("train", "--model", "whole", *flags, *sets, *SHORT, "--after=6u")
    run("train", "--model", "parts", *flags, *sets, *SHORT, "--after=3u")
    said = "".join(run("train", "--model", "parts", "--resume", "--after=6u"))
    assert "going on from update 3" in said, said
    assert weights("whole") == weights("parts")
    assert run("inspect", "whole") == run("inspect", "whole/checkpoint_best"), "the folder of a run is its best model"
    run("average", "whole/checkpoint_3", "whole/checkpoint_6", "-o", "mean")


def check_pointing():
    """Hulls: every verb, beams, areas, lines that are no sets."""
    run("corpus", "hull", "-n", 40, "--held-out", 10, "-o", "hull")
    run("corpus", "hull", "-n", 40, "-o", "again")
    assert pathlib.Path("hull.txt").read_text() == pathlib.Path("again.txt").read_text()
    check_training(POINT, ["--train-sets", "hull.txt", "--valid-sets", "hull.test.txt"])
    out, said = run("point", "-m", "mean", "-i", "hull.test.txt", "--area")
    assert len(out.splitlines()) == 10 and "of 10 sets; area " in said, said
    for line in out.splitlines():
        assert len(set(line.split())) == len(line.split()), "an element twice"
    given = "0 0 1 0 1 1\n0 0 1 0 1 1 0 1\n"
    one = run("point", "-m", "mean", "--beam-size", 3, "--with-score", given=given)[0].splitlines()
    apart = [run("point", "-m", "mean", "--beam-size", 3, given=line + "\n")[0] for line in given.splitlines()]
    assert [line.split("\t")[1] + "\n" for line in one] == apart, "results do not depend on company"
    assert "standard input:2 has 3 numbers" in run("point", "-m", "mean", given="0 0\n1 2 3\n", code=1)[1]
    assert run("point", "-m", "mean", "--on-bad=skip", given="x\n0 0 1 0\n")[0].startswith("\n")
    assert "task \"point\"" in run("translate", "-m", "mean", given="a\n", code=1)[1]
    run("see", "attention", "0 0 1 0 1 1", "-m", "mean", "-o", "hull.svg")
    assert "the set has 3 numbers" in run("see", "attention", "0 0 1", "-m", "mean", "-o", "x.svg", code=1)[1]
    run("corpus", "sort", "-n", 40, "--elements", 2, 4, "-o", "sort")
    said = run("train", "--model", "other", *POINT, "--train-sets", "sort.txt", *SHORT, "--after=1u", code=1)[1]
    assert "numbers: elements have 2 each" in said, said
    run("train", "--model", "sorter", *POINT, "--features=1", "--train-sets", "sort.txt", *SHORT, "--after=1u")
    said = run("point", "-m", "sorter", "--area", given="1\n", code=1)[1]
    assert "polygons have points of 2" in said, said


def check_copying():
    """Bits: the three tasks, wrong bits, the memory as a picture, lines that are no bits."""
    for task in ("copy", "repeat", "recall"):
        run("corpus", task, "-n", 20, "--lengths", 2, 4, "--bits", 4, "--held-out", 5, "-o", task)
        run("train", "--model", f"{task}-model", *COPY, "--train-sets", f"{task}.txt", *SHORT, "--after=1u")
    check_training(COPY, ["--train-sets", "copy.txt", "--valid-sets", "copy.test.txt"])
    out, said = run("copy", "-m", "mean", "-i", "copy.test.txt")
    assert len(out.splitlines()) == 5 and "of 5 sequences; " in said and "wrong bits a sequence" in said, said
    out = run("copy", "-m", "mean", "--length", 3, given="10100 00001\n")[0]
    assert [len(word) for word in out.split()] == [4, 4, 4], out
    said = run("copy", "-m", "mean", given="10100\n101\n", code=1)[1]
    assert "standard input:2 has the vector \"101\" of 3 bits: there must be 5" in said, said
    run("see", "attention", "10100 00001", "-m", "mean", "-o", "memory.svg")
    said = run("train", "--model", "x", *COPY, "--train-sets", "copy.txt", "--valid-sets", "recall.test.txt", code=1)[1]
    assert "there must be 5" in said, said


def check_reading():
    """Cloze questions with both attentions: accuracy, questions without their answer, the words attended to."""
    words = "red dog runs fast sun cat tree".split()
    text = ""
    for i in range(12):
        chosen = [words[(i + k * k) % 7] for k in range(3 + i % 5)]
        text += f"1 ||| {' '.join(chosen)}\n2 ||| the XXXXX {words[i % 3]} ||| {chosen[0]}\n"
    pathlib.Path("tales.txt").write_text(text)
    for attention in ("attention_over_attention", "sum"):
        flags = [*READ, f"--reader.attention={attention}"]
        check_training(flags, ["--train-sets", "tales.txt", "--valid-sets", "tales.txt"])
        out, said = run("read", "-m", "mean", "-i", "tales.txt", "--batch", 5)
        assert len(out.splitlines()) == 12 and set(out.split()) <= set(words) and "of 12 questions" in said, said
        run("see", "attention", "red dog ||| the XXXXX", "-m", "mean", "-o", "words.svg")
        for folder in ("whole", "parts", "mean"):
            shutil.rmtree(folder)
    run("train", "--model", "mean", *READ, "--train-sets", "tales.txt", *SHORT, "--after=1u")
    score, word = run("read", "-m", "mean", "--with-score", given="1 ||| a new name\n2 ||| XXXXX |||\n")[0].split("\t")
    assert 0 < float(score) <= 1 and word.strip() in ("a", "new", "name"), word
    bad = "1 ||| red dog\n2 ||| a XXXXX ||| cat\n1 ||| sun\n2 ||| XXXXX ||| sun\n"
    said = run("read", "-m", "mean", given=bad, code=1)[1]
    assert "standard input:2 has the answer \"cat\", which is not a word of its passage" in said, said
    out, said = run("read", "-m", "mean", "--on-bad=skip", given=bad)
    assert out == "\nsun\n" and "skipped: 1 questions" in said and "1 of 1 questions" in said, (out, said)
    pathlib.Path("bad.txt").write_text(bad)
    said = run("train", "--model", "x", *READ, "--train-sets", "bad.txt", *SHORT, "--after=1u", code=1)[1]
    assert "bad.txt:2 has the answer" in said and not pathlib.Path("x", "checkpoint_last").exists(), said
    said = "".join(run("train", "--model", "x", *READ, "--train-sets", "bad.txt", *SHORT, "--after=1u", "--on-bad=skip"))
    assert "1 questions; skipped: 1" in said, said
    assert "task \"read\"" in run("answer", "-m", "mean", given="1 a?\n", code=1)[1]


def check_answering():
    """Stories of two files: accuracy, questions without answers, the sentences attended to, wrong lines."""
    for name, verb in (("where", "went to"), ("what", "took")):
        text = ""
        for i in range(8):
            who, thing = ("Mary", "John", "Sandra")[i % 3], ("milk", "garden", "hall", "ball")[i % 4]
            text += f"1 {who} {verb} the {thing}.\n2 John left.\n3 What is there?\t{thing}\t1\n4 Who was it?\t{who}\t1\n"
        pathlib.Path(f"{name}.txt").write_text(text)
    check_training(ANSWER, ["--train-sets", "where.txt", "what.txt", "--valid-share=0.25"])
    out, said = run("answer", "-m", "mean", "-i", "where.txt", "--batch", 3)
    assert len(out.splitlines()) == 16 and "of 16 questions" in said, said
    story = "1 Mary took the milk.\n2 Where is the milk?\n3 John left.\n4 Who left?\n"
    out = run("answer", "-m", "mean", "--with-score", given=story)[0]
    assert len(out.splitlines()) == 2 and all(0 < float(line.split("\t")[0]) <= 1 for line in out.splitlines()), out
    assert "standard input:2 begins without a number" in run("answer", "-m", "mean", given="1 a b.\nc d.\n", code=1)[1]
    bad = "1 Mary left.\n2 Who left?\tmary\nJohn came.\n3 Who came?\tjohn\n1 It left.\n2 Who left?\tit\n"
    out, said = run("answer", "-m", "mean", "--on-bad=skip", given=bad)
    lines = out.splitlines()
    assert len(lines) == 3 and lines[0] and not lines[1] and lines[2] and "of 2 questions" in said, (out, said)
    run("see", "attention", "Mary took the milk. John left. Where is the milk?", "-m", "mean", "-o", "hops.svg")
    assert "give a story" in run("see", "attention", "Who left?", "-m", "mean", "-o", "x.svg", code=1)[1]
    said = run("train", "--model", "x", *READ, "--train-sets", "where.txt", *SHORT, code=1)[1]
    assert "where.txt:1 has no number and 1 columns" in said, said
    assert "task \"answer\"" in run("read", "-m", "mean", given="1 ||| a\n", code=1)[1]


def main():
    for check in (check_pointing, check_copying, check_reading, check_answering):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            check()
            os.chdir("/")
    print("models of sequences: as they should be")


if __name__ == "__main__":
    main()
