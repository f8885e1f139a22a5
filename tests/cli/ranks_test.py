#!/usr/bin/env python3
"""Trains on several ranks of MPI: the same bytes on any number of them, also after kills, and clear refusals.

Usage: ranks_test.py HEED [UPDATES]. Without mpirun, or with a heed that was built without MPI, it only checks the latter's
message. With a number of updates, it only compares 1, 2, 4 and 8 ranks of 1 and 2 threads after so many.
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
UPDATES = int(sys.argv[2]) if len(sys.argv) > 2 else 12
SMALL = ("--vocabulary.kind=characters --batch-tokens=400 --peak=0.01 --warmup=5 --clip-norm=1 "
         f"--after={UPDATES}u --save-freq={UPDATES // 4}u --valid-freq={UPDATES // 2}u --disp-freq=1 "
         "--early-stopping=0").split()
MODELS = {
    "transformer": ("--transformer.embed=16 --transformer.heads=2 --transformer.hidden=32 --encoder-layers=1 "
                    "--decoder-layers=1 --transformer.dropout=0.2").split(),
    "recurrent": "--kind=recurrent --recurrent.embed=12 --recurrent.hidden=12 --recurrent.dropout=0.2".split(),
    "language": ("--task=language --language-model.embed=16 --language-model.heads=2 --language-model.layers=1 "
                 "--language-model.dropout=0.2 --block-length=20").split(),
}
# Open MPI asks before it runs as root, and before it starts more ranks than there are cores.
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def heed(*arguments, ranks=0, code=0, environment=None):
    """Runs heed on so many ranks (0: without MPI), which must end with that code; what it printed."""
    launcher = [*MPIRUN, "-n", str(ranks)] if ranks else []
    done = subprocess.run([*launcher, str(HEED), *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=ENVIRONMENT | (environment or {}))
    said = done.stdout + done.stderr
    assert done.returncode == code, f"{ranks} ranks of heed {arguments} ended with {done.returncode}:\n{said}"
    return said


def result(model):
    """The files of the last checkpoint whose bytes count, and the curves without their last column, which is time."""
    folder = model / f"checkpoint_{UPDATES}"
    files = {name: (folder / name).read_bytes() for name in ("model.safetensors", "optimizer.safetensors")}
    curves = {name: [line.rpartition(",")[0] for line in (model / name).read_text().splitlines()]
              for name in ("train.csv", "valid.csv")}
    return files | curves


def check_same_bytes(folder, name, flags):
    """Several numbers of ranks and threads, and a process without MPI leave the same bytes."""
    expected = None
    long = [(ranks, threads) for ranks in (1, 2, 4, 8) for threads in (1, 2)]
    for ranks, threads in long if len(sys.argv) > 2 else ((1, 2), (2, 1), (3, 1), (4, 2)):
        model = folder / f"{name}_{ranks}"
        shutil.rmtree(model, ignore_errors=True)
        # Small buckets are more messages at once than the window has places.
        bucket = ["--bucket=1000"] if ranks > 2 else []
        said = heed("train", "--model", model, *flags, *bucket, f"--cpu-threads={threads}", ranks=ranks)
        assert f"{ranks} ranks, 8 shards" in said, said
        assert said.count("finished after") == 1, "rank 0 alone must print"
        assert ranks == 1 or "ranks 0:" in said, said
        expected = expected or result(model)
        assert result(model) == expected, f"{name}: other bytes on {ranks} ranks"
    model = folder / f"{name}_alone"
    heed("train", "--model", model, *flags, "--shards=8")
    assert result(model) == expected, f"{name}: other bytes without MPI"
    return expected


def children_of(process):
    """The processes that a process has started; those of mpirun are the ranks."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True,
                           check=False).stdout.split()
    return [int(pid) for pid in found]


def ranks_of(launcher):
    """The processes of the ranks that mpirun has started."""
    return children_of(launcher.pid)


def start(model, ranks, flags):
    """Starts training that can be disturbed, and waits for its first updates; 0 ranks: under heed's supervisor."""
    command = [*MPIRUN, "-n", str(ranks)] if ranks else []
    launcher = subprocess.Popen([*command, str(HEED), "train", "--model", str(model), *flags],
                                stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    said = ""
    for line in launcher.stderr:
        said += line
        if " update 4 " in line:
            return launcher
    raise AssertionError(f"training ended before it was disturbed:\n{said}")


def check_faults(folder, flags, expected):
    """A killed rank, a stopped rank and a signal to one rank; each goes on with other ranks to the same bytes."""
    slow = [*(flag for flag in flags if not flag.startswith("--save-freq")), "--save-freq=1u"]
    model = folder / "killed"
    launcher = start(model, 3, slow)
    os.kill(ranks_of(launcher)[1], signal.SIGKILL)
    launcher.stderr.read()
    assert launcher.wait() != 0
    heed("train", "--model", model, "--resume", ranks=2)
    assert result(model) == expected, "other bytes after a rank was killed"

    model = folder / "stopped"
    launcher = start(model, 3, [*slow, "--rank-deadline=2"])
    stopped = ranks_of(launcher)[2]
    os.kill(stopped, signal.SIGSTOP)
    said = launcher.stderr.read()
    assert launcher.wait() != 0
    assert f"process {stopped}) did not answer within 2 s" in said, said
    heed("train", "--model", model, "--resume")
    assert result(model) == expected, "other bytes after a rank was stopped"

    model = folder / "asked"
    launcher = start(model, 2, slow)
    os.kill(ranks_of(launcher)[1], signal.SIGUSR1)
    said = launcher.stderr.read()
    assert launcher.wait() == 0, said
    assert "interrupted; --resume goes on" in said or "finished" in said, said
    heed("train", "--model", model, "--resume", ranks=3)
    assert result(model) == expected, "other bytes after SIGUSR1"

    model = folder / "supervised"
    supervisor = start(model, 0, [*slow, "--ranks=3", "--restarts=2", "--launcher", " ".join([*MPIRUN, "-n", "{}"])])
    os.kill(children_of(children_of(supervisor.pid)[0])[0], signal.SIGKILL)
    said = supervisor.stderr.read()
    assert supervisor.wait() == 0, said
    assert "starting 3 ranks again from update" in said and "1 restarts left" in said, said
    assert result(model) == expected, "other bytes after a restart"
    # A mistake is not repeated.
    said = heed("train", "--model", folder / "none", *flags, "--stop-on=blue", "--ranks=2", "--restarts=5", "--launcher",
                " ".join([*MPIRUN, "-n", "{}"]), code=1)
    assert said.count("name one of those") == 1, said


def check_translation(folder, model):
    """Several ranks translate as one process does, also if some blocks are there already; results are numbered."""
    source = folder / "many.en"
    source.write_text((folder / "g.en").read_text() * 25)  # three blocks
    flags = ["--model", model, "-i", source, "--beam-size=2", "--max-length=12", "--n-best=2"]
    heed("translate", *flags, "-o", folder / "one")
    expected = (folder / "one").read_bytes()
    heed("translate", *flags, "-o", folder / "some", ranks=3)
    assert (folder / "some").read_bytes() == expected, "ranks translate differently"
    assert not (folder / "some.parts").exists()
    said = heed("translate", "--model", model, "-o", folder / "none", ranks=2, code=1)
    assert "give them with -i and -o" in said, said


def check_refusals(folder, flags):
    """What is refused before the first update."""
    said = heed("train", "--model", folder / "none", *flags, "--shards=2", ranks=3, code=1)
    assert said.count("3 ranks for 2 shards") == 1, said
    # The ranks get flags of their own from MPI's numbers.
    script = folder / "differ.sh"
    script.write_text(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] && set -- "$@" --seed=7\nexec {HEED} "$@"\n')
    script.chmod(0o755)
    done = subprocess.run([*MPIRUN, "-n", "3", str(script), "train", "--model", str(folder / "none"), *flags],
                          capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 1 and "rank 1 (" in done.stderr and "seed is 7 instead of 1" in done.stderr, done.stderr
    script.write_text(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 2 ] && export HEED_ISA=sse4\nexec {HEED} "$@"\n')
    done = subprocess.run([*MPIRUN, "-n", "3", str(script), "train", "--model", str(folder / "none"), *flags],
                          capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 1 and "the instruction set is sse4 instead of" in done.stderr, done.stderr
    script.write_text(f'#!/bin/sh\nexec {HEED} "$@" --model=$OMPI_COMM_WORLD_RANK\n')
    done = subprocess.run([*MPIRUN, "-n", "2", str(script), "train", *flags], cwd=folder,
                          capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 1 and "model is" in done.stderr, done.stderr


def main():
    """Trains models, disturbs one of them, and asks for what is refused."""
    with tempfile.TemporaryDirectory(prefix="heed-ranks-") as name:
        folder = pathlib.Path(name)
        heed("corpus", "grammar", "-n", 200, "--held-out", 20, "--seed", 1, "-o", folder / "g")
        pairs = [*SMALL, "--train-sets", str(folder / "g.en"), str(folder / "g.zh"), "--valid-sets",
                 str(folder / "g.test.en"), str(folder / "g.test.zh")]
        if not (HEED.parent / "heed_mpi.so").exists():
            said = heed("train", "--model", folder / "none", *pairs, code=1, environment={"PMI_RANK": "0"})
            assert "built without MPI" in said, said
            print("heed was built without MPI")
            return
        if shutil.which("mpirun") is None:
            print("there is no mpirun")
            return
        expected = check_same_bytes(folder, "transformer", pairs + MODELS["transformer"])
        check_same_bytes(folder, "recurrent", pairs + MODELS["recurrent"])
        text = [*SMALL, "--train-sets", str(folder / "g.en"), "--valid-sets", str(folder / "g.test.en")]
        check_same_bytes(folder, "language", text + MODELS["language"])
        if len(sys.argv) > 2:
            print(f"{', '.join(MODELS)}: the same bytes after {UPDATES} updates on 1, 2, 4 and 8 ranks of 1 and 2 threads")
            return
        begin = time.monotonic()
        check_faults(folder, pairs + MODELS["transformer"], expected)
        check_translation(folder, folder / "transformer_2")
        check_refusals(folder, pairs + MODELS["transformer"])
        print(f"the same bytes on 1 to 4 ranks, and after faults ({time.monotonic() - begin:.0f} s)")


if __name__ == "__main__":
    main()
