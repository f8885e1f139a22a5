#!/usr/bin/env python3
"""What `heed train` and `heed demo` refuse, and that a refusal changes nothing on the disk; forms of flags; a full disk.

Usage: train_test.py HEED
"""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

HEED = sys.argv[1]
SETS = "--train-sets g.en g.zh --valid-sets g.test.en g.test.zh".split()
FLAGS = ("--vocabulary.kind=characters --transformer.embed=16 --transformer.heads=2 --transformer.hidden=32 "
         "--encoder-layers=1 --decoder-layers=1 --batch-tokens=400 --peak=0.01 --warmup=10").split()
LANGUAGE = ("--task=language --train-sets g.en --vocabulary.kind=characters --language-model.embed=16 "
            "--language-model.heads=2 --language-model.layers=1 --block-length=32 --batch-tokens=256").split()


def run(*arguments, code=0, **options):
    """Runs heed to its end, which must be that; what it printed."""
    done = subprocess.run([HEED, *map(str, arguments)], capture_output=True, text=True, check=False, **options)
    assert done.returncode == code, f"heed {arguments} ended with {done.returncode}, not {code}:\n{done.stderr}"
    return done.stdout + done.stderr


def content(folder):
    """Every file of a folder and its bytes; not the lock, which names the last process."""
    return {path: path.read_bytes() for path in pathlib.Path(folder).rglob("*")
            if path.is_file() and path.name != ".heed-lock"}


def check_refused_resume():
    """Settings that are refused leave the folder as it was, and the plain resume goes on."""
    run("train", "--model", "refused", *SETS, *FLAGS, "--after=4u")
    before = content("refused")
    for flags in (["--optimizer.kind=sgd"], ["--transformer.embed=32"], ["--task=language", "--train-sets", "g.en"], ["--train-sets", "none", "g.zh"],
                  ["--vocabulary.size=5", "--schedule.kind=noam", "--warmup=0"], ["--cpu-threads=4294967297"]):
        said = run("train", "--model", "refused", "--resume", *flags, code=1)
        assert "bug" not in said and content("refused") == before, f"{flags}: {said}"
    pathlib.Path("file").write_text("x")
    run("train", "--model", "refused", "--resume", "--after=9u", "--tensorboard", "file/x", code=1)
    assert content("refused") == before
    assert "going on from update 4" in run("train", "--model", "refused", "--resume", "--after=6u")


def check_other_batches():
    """Inside an epoch a run cannot go on with other batches, in any task; at the end of one it can."""
    for model, sets in (("language", LANGUAGE), ("translator", [*SETS, *FLAGS])):
        run("train", "--model", model, *sets, "--after=4u")
        for flag in ("--batch-tokens=512", "--seed=9", *(["--block-length=16"] if model == "language" else [])):
            said = run("train", "--model", model, "--resume", "--after=6u", flag, code=1)
            key = flag.split("=")[0].strip("-").replace("-", "_")
            assert re.search(rf"inside epoch 1.*{key}.* was \d+ and is \d+", said), said
        run("train", "--model", model, "--resume", "--after=1e")
        run("train", "--model", model, "--resume", "--after=2e", "--batch-tokens=512")
        assert json.loads(pathlib.Path(model, "checkpoint_last", "progress.json").read_text())["epoch"] == 2


TRANSLATORS = {
    "bahdanau": "--kind=recurrent --embed=8 --hidden=12 --dropout=0.2",
    "luong": "--kind=recurrent --embed=8 --hidden=12 --layers=2 --cell=lstm --feeding=readout --readout=attentional "
             "--no-bidirectional --reversed-source --bridge=copy --recurrent.attention=local_p",
    "plain": "--kind=recurrent --embed=8 --hidden=12 --recurrent.attention=none --feeding=none --readout=state",
    "convolutional": "--kind=convolutional --embed=8 --hidden=12 --encoder-layers=2 --decoder-layers=2",
    "reformer": "--kind=reformer_translator --embed=8 --heads=2 --encoder-layers=lsh --decoder-layers=lsh --tied=two "
                "--dropout=0.2",
    "hard": "--kind=recurrent --embed=8 --hidden=12 --recurrent.attention=hard --entropy=0.01",
}


def check_translators():
    """Every translator resumes to the bit, translates, aligns and is drawn; hard attention reports its samples."""
    flags = "--vocabulary.kind=characters --vocabulary.shared=false --batch-tokens=400 --peak=0.01 --warmup=10".split()
    for name, kind in TRANSLATORS.items():
        train = ["train", *SETS, *flags, *kind.split()]
        run(*train, "--model", f"{name}.whole", "--after=6u")
        run(*train, "--model", name, "--after=4u")
        log = run(*train, "--model", name, "--after=6u", "--resume", "--log-format=json", "--disp-freq=1")
        weights = [pathlib.Path(folder, "checkpoint_last", "model.safetensors").read_bytes()
                   for folder in (name, f"{name}.whole")]
        assert weights[0] == weights[1], f"{name}: a resumed run has other weights"
        updates = [line for line in map(json.loads, filter(lambda text: text.startswith("{"), log.splitlines()))
                   if line["event"] == "update"]
        assert [line["update"] for line in updates] == [5, 6], log
        assert all(("reward" in line and "entropy" in line) == (name == "hard") for line in updates), log
        assert pathlib.Path(name, "samples.csv").exists() == (name == "hard")
        said = run("translate", "--model", name, "--beam-size=3", "-i", "g.test.en")
        assert len(said.splitlines()) == 20, said
        if name == "plain":
            said = run("translate", "--model", name, "--alignment=hard", "-i", "g.test.en", code=1)
            assert "the model has no attention to the source" in said, said
            continue
        run("translate", "--model", name, "--alignment=hard", "-i", "g.test.en")
        run("see", "attention", "--model", name, "-o", f"{name}.svg", "Tom sees a cat.")
        assert "<svg" in pathlib.Path(f"{name}.svg").read_text()


def check_truth_values():
    """Keys that are true or false have four forms, the last one counts, and help shows the default."""
    help_text = run("train", "--help")
    assert re.search(r"--vocabulary\.shared,--shared,--no-vocabulary\.shared\{false\},--no-shared\{false\} "
                     r"\(true\|false\)=true", help_text), help_text
    assert re.search(r"--checkpoint-activations\S* \(true\|false\)=false", help_text)
    for flags, value in ((["--vocabulary.shared", "false"], "false"), (["--vocabulary.shared=false"], "false"),
                         (["--no-shared"], "false"), (["--no-vocabulary.shared"], "false"), (["--shared"], "true"),
                         (["--shared", "true"], "true"), (["--no-shared", "--shared"], "true"), ([], "true"),
                         (["--shared", "--no-shared=true"], "false"), (["--shared", "--shared", "false"], "false")):
        folder = pathlib.Path("truth")
        run("train", "--model", folder, *SETS, *FLAGS, "--tied=none", "--after=1u", *flags)
        assert f"shared = {value} " in (folder / "train.toml").read_text(), flags
        shutil.rmtree(folder)
    said = run("train", "--model", "truth", *SETS, "--shared=maybe", code=2)
    assert "must be true or false, found maybe" in said and "bug" not in said, said
    assert "maybe" in run("train", "--model", "truth", *SETS, "--shared", "maybe", code=2)


def check_signal_in_a_validation():
    """A signal ends a validation that would not end; the state is saved, and the validation is done on resuming."""
    search = "--validation.search."
    endless = [f"{search}min-length=100000", f"{search}max-length=100000", f"{search}max-length-ratio=1e9"]
    for number in (signal.SIGINT, signal.SIGTERM):
        command = [HEED, "train", "--model", "validated", *SETS, *FLAGS, "--after=4u", "--valid-freq=2u", "--disp-freq=1",
                   "--validation.metrics", "loss", "bleu", "--stop-on=bleu", *endless]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert any("update 2 " in line for line in process.stderr)
            process.send_signal(number)
            said = process.stderr.read()
            assert process.wait() == 0 and "interrupted" in said, said
        assert not pathlib.Path("validated/checkpoint_best").exists()
        short = [f"{search}min-length=0", f"{search}max-length=9"]
        said = run("train", "--model", "validated", "--resume", "--disp-freq=1", *short)
        assert re.search(r"going on from update 2\n.*update 2  validation.*update 3 .*update 4  validation", said,
                         re.DOTALL), said
        shutil.rmtree("validated")


def check_refused_demo():
    """A demo with other settings leaves the folder of the first as it was."""
    settings = {"folder": "demo", "updates": 2, "sentences": 1000, "held-out": 12, "seed": 1}

    def demo(code=0, **changes):
        return run("demo", *(f"--{key}={value}" for key, value in {**settings, **changes}.items()), code=code)

    demo()
    before = content("demo")
    for key, value in (("seed", 5), ("sentences", 1001), ("held-out", 13), ("updates", 3)):
        assert "other settings" in demo(code=1, **{key: value})
        assert content("demo") == before, key
    demo()


def limit_files(size):
    """Makes larger files fail as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def check_full_disk():
    """A checkpoint that does not fit leaves nothing, and what a killed process left is removed."""
    # Python ignores SIGXFSZ, and so does a child of it where restore_signals is off.
    said = run("train", "--model", "full", *SETS, *FLAGS, "--after=2u", code=1, restore_signals=False,
               preexec_fn=lambda: limit_files(40000))
    assert "cannot write" in said and "bug" not in said, said
    names = {path.name for path in pathlib.Path("full").iterdir()}
    assert names == {".heed-lock", "train.toml", "train.csv", "valid.csv"}, names
    (pathlib.Path("full") / ".heed-checkpoint").mkdir()
    (pathlib.Path("full") / ".heed-checkpoint" / "model.safetensors").write_text("half")
    (pathlib.Path("full") / ".heed-4000000-0.tmp").write_text("half")
    run("train", "--model", "full", "--resume", "--optimizer.kind=sgd", "--train-sets", "none", "none", code=1)
    assert {path.name for path in pathlib.Path("full").iterdir()} == names
    run("train", "--model", "full", "--resume")


def main():
    """Runs all checks beside one small corpus."""
    with tempfile.TemporaryDirectory(prefix="heed-train-") as name:
        os.chdir(name)
        run("corpus", "grammar", "-n", 300, "--held-out", 20, "--seed", 1, "-o", "g")
        for check in [value for key, value in globals().items() if key.startswith("check_")]:
            print(check.__name__, flush=True)
            check()
        os.chdir("/")


if __name__ == "__main__":
    main()
