"""kill: heed is killed (SIGKILL) at random moments, over and over, and started again.

Promises: a training run that was killed and resumed ends with the same bytes as an undisturbed one; every file under
its own name is complete at any time; temporary files do not pile up.
"""

import json
import shutil
import signal
import subprocess
import threading
import time

import session as s

NEEDS = ["release heed_cli"]

RUN = "--after=60u --save-freq=2u --valid-freq=7u --keep-last=3"
# Name: task, vocabulary, flags.
TRAINING = {
    "translate-words": ("translate", "words", f"{RUN} --dropout=0.1"),
    "translate-pieces": ("translate", "sentencepiece", f"{RUN} --vocabulary.size=400 --accumulate=2 --clip-norm=1"),
    "translate-average": ("translate", "characters", f"{RUN} --ema=0.9 --optimizer.kind=adamw --seed=3"),
    "language": ("language", "characters", f"{RUN} --cpu-threads=2"),
    "classify": ("classify", "words", f"{RUN} --checkpoint-activations"),
    "bag-of-words": ("bag_of_words", "words", f"{RUN} --optimizer.kind=sgd --momentum=0.9"),
}
# Name: command; it writes "out", or files that begin with it.
WRITING = {
    "corpus": "corpus grammar -n 3000 --held-out 200 --seed 5 -o out",
    "vocab-words": "vocab train g.en g.zh --kind=words -o out",
    "vocab-pieces": "vocab train g.en --size=100 --model-type=bpe -o out",
    "average": "average -m trained --last 3 -o out",
    "translate": "translate --model trained -i g.en -o out --beam-size 2",
    "see-curves": "see curves trained -o out.svg",
    "see-attention": "see attention --model trained -o out.html She.has.a.dog.",
}


def read_safetensors(path):
    """Whether a safetensors file has all its bytes."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
    return 8 + length + max(ends, default=0) == len(data)


def find_broken(session, model):
    """What is wrong with the folder of a training run that was killed; None if nothing is."""
    checkpoints = sorted(model.glob("checkpoint_*"))
    for folder in checkpoints:
        if not folder.is_dir():
            return f"{folder.name} leads nowhere"
        try:
            for path in folder.iterdir():
                if path.suffix == ".safetensors" and not read_safetensors(path):
                    return f"{folder.name}/{path.name} is cut off"
            if json.loads((folder / "progress.json").read_bytes())["updates"] <= 0:
                return f"{folder.name}/progress.json has no updates"
            json.loads((folder / "config.json").read_bytes())
        except (OSError, ValueError, KeyError) as error:
            return f"{folder.name}: {error}"
    if not checkpoints:
        return None
    for arguments in (["inspect", checkpoints[-1] / "model.safetensors"],
                      ["see", "curves", model, "-o", session.folder / "curves.svg"]):
        done = session.run([session.heed, *arguments])
        if done.code != 0 and b"no training curves" not in done.err and b"no curves" not in done.err:
            return f"heed {arguments[0]} {done.describe()}"
    return None


class Reader(threading.Thread):
    """Reads what checkpoint_last leads to, as fast as it can, while training writes."""

    def __init__(self, model):
        super().__init__(daemon=True)
        self.link = model / "checkpoint_last"
        self.broken = None
        self.reads = 0
        self.done = threading.Event()

    def run(self):
        seen = False
        while not self.done.wait(0.001):
            try:
                folder = self.link.resolve(strict=True)
                seen = True
                json.loads((self.link / "config.json").read_bytes())
                if not read_safetensors(self.link / "model.safetensors"):
                    self.broken = f"{folder.name}/model.safetensors is cut off"
                self.reads += 1
            except FileNotFoundError:
                # Before the first checkpoint. Later the link may move between two calls, but it never leads nowhere
                # twice in a row.
                if seen and not self.link.exists():
                    self.broken = "checkpoint_last leads nowhere"
            except ValueError as error:
                self.broken = str(error)


def pause_and_kill(process, seconds, number):
    """Ends a process after a while; whether that hit it."""
    time.sleep(seconds)
    process.send_signal(number)
    process.wait()
    process.stderr.close()
    return process.returncode == -number


def start(session, arguments, folder):
    """Starts heed."""
    return subprocess.Popen([session.heed, *map(str, arguments)], cwd=folder, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Killer:
    """The work of one session: straight results are computed once."""

    def __init__(self, session):
        self.session = session
        self.straight = {}  # name: (snapshot, seconds)
        self.kills = self.runs = self.reads = 0
        self.base = session.folder / "base"
        self.base.mkdir()
        s.make_corpus(session, self.base, 120)
        session.need("train", "--model", "trained", *s.train_flags("translate", "words", RUN), folder=self.base)

    def place(self, name):
        """A fresh folder with links to the inputs."""
        folder = self.session.folder / f"{name}-{self.runs}"
        self.runs += 1
        folder.mkdir()
        for path in self.base.iterdir():
            (folder / path.name).symlink_to(path)
        return folder

    def expected(self, name, arguments):
        """The files of an undisturbed run, and its seconds."""
        if name not in self.straight:
            folder = self.place(name)
            begin = time.monotonic()
            self.session.need(*arguments, folder=folder)
            seconds = time.monotonic() - begin
            self.straight[name] = (self.results(folder), seconds)
        return self.straight[name]

    def results(self, folder):
        """What the command wrote."""
        return {name: data for name, data in s.snapshot(folder).items() if name.startswith("out")}

    def train(self, name, delays):
        """Trains with a kill after each delay, a share of the time of the undisturbed run; what is wrong."""
        task, vocabulary, more = TRAINING[name]
        flags = s.train_flags(task, vocabulary, more)
        expected, seconds = self.expected(name, ["train", "--model", "out", *flags])
        folder = self.place(name)
        model = folder / "out"
        reader = Reader(model)
        reader.start()
        for delay in delays:
            process = start(self.session, ["train", "--model", "out", *flags, "--resume"], folder)
            self.kills += pause_and_kill(process, delay * seconds, signal.SIGKILL)
            if model.exists():
                broken = find_broken(self.session, model)
                if broken:
                    return f"{name}: after a kill {broken}"
        done = self.session.run([self.session.heed, "train", "--model", "out", *flags, "--resume"], folder)
        reader.done.set()
        reader.join()
        self.reads += reader.reads
        if done.code != 0:
            return f"{name}: training that resumes {done.describe()}"
        if reader.broken:
            return f"{name}: while it trained, {reader.broken}"
        return self.compare(name, folder, expected)

    def write(self, name, delays):
        """Kills a command that writes files, then lets it end; what is wrong."""
        arguments = WRITING[name].split()
        expected, seconds = self.expected(name, arguments)
        folder = self.place(name)
        old = {}
        for delay in delays:
            process = start(self.session, arguments, folder)
            self.kills += pause_and_kill(process, delay * seconds, signal.SIGKILL)
            now = self.results(folder)
            for path, data in now.items():
                if data not in (old.get(path), expected.get(path)):
                    return f"{name}: after a kill {path} is neither absent nor complete"
            old = now
        if not (name == "average" and old):  # it never overwrites
            done = self.session.run([self.session.heed, *arguments], folder)
            if done.code != 0:
                return f"{name}: the run after the kills {done.describe()}"
        return self.compare(name, folder, expected)

    def compare(self, name, folder, expected):
        """The last run has the expected result and has cleaned up."""
        differs = s.difference(self.results(folder), expected)
        if differs:
            return f"{name}: other bytes than undisturbed: {differs}"
        left = s.strays(folder)
        if left:
            return f"{name}: temporary files stay: {', '.join(left[:4])}"
        return None

    def once(self, name, delays):
        """One case; what is wrong."""
        wrong = self.train(name, delays) if name in TRAINING else self.write(name, delays)
        for folder in self.session.folder.glob(f"{name}-[0-9]*"):
            shutil.rmtree(folder)  # hours of them would fill the disk
        return wrong


def run(session):
    """Cases until the time is over."""
    killer = Killer(session)
    names = [*TRAINING, *WRITING]
    session.random.shuffle(names)
    cases = 0
    while session.time_left() > 0:
        name = names[cases % len(names)] if cases < len(names) else session.random.choice(names)
        cases += 1
        training = name in TRAINING
        delays = [session.random.uniform(0, 0.25 if training else 1.0) for _ in range(7 if training else 4)]
        before, begin = killer.kills, time.monotonic()
        wrong = killer.once(name, delays)
        if wrong:
            session.wrong(wrong, {"job": name, "delays": delays})
        else:
            session.say(f"{name}: {killer.kills - before} kills, the same bytes, {time.monotonic() - begin:.1f} s")
    return f"{cases} cases, {killer.kills} kills, {killer.reads} reads of a folder that was being written"


def replay(session, case):
    """The same command and moments, ten times, since a moment is never quite the same."""
    killer = Killer(session)
    for _ in range(10):
        wrong = killer.once(case["job"], case["delays"])
        if wrong:
            return wrong
    return None
