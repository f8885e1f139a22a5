"""What all kinds of torture share: the programs, the time, the seed, the folder to work in, and the files that say
what was found."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import patience

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOUND = ROOT / "build" / "torture"

# Kinds that write thousands of small files work in memory, where syncing costs nothing.
IN_MEMORY = ("calls", "differential", "files")
MEMORY = "/dev/shm"

# What heed prints for an error that it did not expect.
BUG = "bug in heed"


class Session:
    """One run of one kind of torture."""

    def __init__(self, name, seed, seconds):
        self.name = name
        self.seed = seed
        self.random = random.Random(f"{name} {seed}")
        self.end = time.monotonic() + seconds
        parent = MEMORY if name in IN_MEMORY and os.access(MEMORY, os.W_OK) else None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"heed-torture-{name}-", dir=parent))
        self.release = ROOT / "build" / "release"
        self.heed = str(self.release / "heed")
        self.found = []
        self.lock = threading.Lock()

    def close(self):
        """Removes the folder that was worked in."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def time_left(self):
        """Seconds until this kind should stop."""
        return self.end - time.monotonic()

    def say(self, text):
        """One line of output."""
        print(f"{self.name}: {text}", flush=True)

    def wrong(self, what, case, attachment=None):
        """Reports a failure and leaves it as a file that `./run torture replay` takes."""
        FOUND.mkdir(parents=True, exist_ok=True)
        with self.lock:
            path = FOUND / f"{self.name}-{self.seed}-{len(self.found) + 1}.json"
            self.found.append(path)
        case = {"name": self.name, "what": what, **case}
        if attachment is not None:
            data = path.with_suffix(".input")
            data.write_bytes(attachment)
            case["input"] = data.name
        path.write_text(json.dumps(case, indent=1) + "\n", encoding="utf-8")
        self.say(f"WRONG: {what}\n  replay: ./run torture replay {os.path.relpath(path, ROOT)}")

    def run(self, command, folder=None, env=None, cpu_seconds=120):
        """Runs a command to its end, unless it hangs."""
        process = subprocess.Popen([str(word) for word in command], cwd=folder or self.folder,
                                   env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return Done(*patience.communicate(process, cpu_seconds))

    def need(self, *arguments, folder=None):
        """Runs heed, which must succeed."""
        done = self.run([self.heed, *arguments], folder)
        if done.code != 0:
            raise RuntimeError(f"heed {' '.join(map(str, arguments))}: {done.describe()}")
        return done


class Done:
    """How a process ended."""

    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err

    def describe(self):
        """How it ended and the last line it printed."""
        if self.code is None:
            how = "hangs"
        elif self.code < 0:
            how = f"is killed by {signal.Signals(-self.code).name}"
        else:
            how = f"exits with {self.code}"
        lines = self.err.decode("utf-8", "replace").strip().splitlines()
        return f"{how}: {' / '.join(lines[-2:])[:300]}"


# ---- what is on the disk ----

def is_stray(path):
    """Whether a name is one of heed's temporary files or folders; the lock of a folder stays."""
    return path.name.endswith(".heed-tmp") or path.name.startswith(".heed-") and path.name != ".heed-lock"


def strays(folder):
    """The temporary files and folders below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if is_stray(path))


def content(path):
    """The bytes of a file, without the parts that are times: the last column of curves, the seconds of progress."""
    data = path.read_bytes()
    if path.name in ("train.csv", "valid.csv"):
        return b"\n".join(line.rpartition(b",")[0] for line in data.split(b"\n"))
    if path.name == "progress.json":
        return {key: value for key, value in json.loads(data).items() if key != "seconds"}
    return data


def snapshot(folder):
    """The files and links below a folder, temporary ones left out."""
    files = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name.startswith("events.out."):
            continue  # named after the time
        if any(part.startswith(".heed-") or part.endswith(".heed-tmp") for part in path.relative_to(folder).parts):
            continue
        if path.is_symlink():
            files[name] = ("link", os.readlink(path))
        elif path.is_file():
            files[name] = content(path)
    return files


def difference(now, expected):
    """Which files differ, in a few words; empty if none."""
    names = [f"{name} is missing" for name in expected if name not in now]
    names += [f"{name} is new" for name in now if name not in expected]
    names += [f"{name} differs" for name in expected if name in now and now[name] != expected[name]]
    return ", ".join(names[:4])


# ---- small training runs ----

# Sizes with which an update takes milliseconds.
TINY = {
    "translate": ("--transformer.embed=16 --transformer.heads=2 --transformer.hidden=32 --encoder-layers=1 "
                  "--decoder-layers=1"),
    "language": "--task=language --layers=1 --embed=16 --heads=2 --block-length=16 --positions=rope",
    "classify": "--task=classify --layers=1 --embed=16 --heads=2",
    "bag_of_words": "--task=classify --kind=bag_of_words --embed=16",
    "self_attentive": "--task=classify --kind=self_attentive --embed=16 --self_attentive.hidden=16 --hops=2",
}


def make_corpus(session, folder, sentences):
    """Writes small texts for every task: g.en, g.zh, g.test.en, g.test.zh, and labelled g.tsv, g.test.tsv."""
    session.need("corpus", "grammar", "-n", sentences, "--held-out", 12, "--seed", 1, "-o", "g", folder=folder)
    for name in ("g", "g.test"):
        lines = (folder / f"{name}.en").read_text(encoding="utf-8").splitlines()
        labelled = [f"{'short' if len(line) < 30 else 'long'}\t{line}\n" for line in lines]
        (folder / f"{name}.tsv").write_text("".join(labelled), encoding="utf-8")


def train_flags(task, vocabulary, more=""):
    """The flags of a small training run in a folder with the texts of make_corpus."""
    sets = {"translate": "--train-sets g.en g.zh --valid-sets g.test.en g.test.zh",
            "language": "--train-sets g.en --valid-sets g.test.en"}
    default = "--train-sets g.tsv --valid-sets g.test.tsv"
    return (f"{TINY[task]} {sets.get(task, default)} --vocabulary.kind={vocabulary} --batch-tokens=300 --peak=0.01 "
            f"--warmup=10 {more}").split()
