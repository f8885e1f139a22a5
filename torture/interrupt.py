"""interrupt: heed gets SIGINT or SIGTERM at random moments, also in the middle of a large batch.

Promises: a filter ends by the signal; what it has written is the beginning of the right output, in whole lines, and a
file appears only if it is complete. A training run saves its state and ends; resumed, it ends with the bytes of an
undisturbed run. If there is a program with the address sanitizer (`cmake --preset asan -D HEED_BUILD_CLI=ON && ninja -C
build/asan heed_cli`), it takes turns with the other.
"""

import itertools
import shutil
import signal
import subprocess
import threading
import time

import kill
import patience
import session as s

NEEDS = ["release heed_cli"]

ASAN = s.ROOT / "build" / "asan" / "heed"
SIGNALS = (signal.SIGINT, signal.SIGTERM)
CPU_SECONDS = 300

# Name: the command and its standard input. Long texts are 200 of 1,000 words, in one batch.
FILTERS = {
    "classify": ("classify --model c --batch-tokens=200000", "long"),
    "classify-batches": ("classify --model c --all", "long"),
    "translate": ("translate --model m --beam-size=2 --window=40", "short"),
    "generate": ("generate --model l --max-length=12 --method=beam -i -", "short"),
    "encode": ("vocab encode --vocab words.json", "long"),
}
# Curves and checkpoints of interrupted updates are written in addition.
COMPARED = ("checkpoint_last/model.safetensors", "checkpoint_last/optimizer.safetensors", "checkpoint_last/progress.json",
            "train.csv", "valid.csv")


class Interrupter:
    """The work of one session: straight results are computed once."""

    def __init__(self, session):
        self.session = session
        self.programs = {"heed": session.heed, **({"asan": str(ASAN)} if ASAN.exists() else {})}
        self.straight = {}  # (program, name): (result, seconds)
        self.base = session.folder / "base"
        self.base.mkdir()
        self.signals = self.places = 0
        self.longest = 0.0
        s.make_corpus(session, self.base, 120)
        for model, task in (("m", "translate"), ("l", "language"), ("c", "classify")):
            session.need("train", "--model", model, *s.train_flags(task, "words", "--after=10u"), folder=self.base)
        session.need("vocab", "train", "g.en", "--kind=words", "-o", "words.json", folder=self.base)
        lines = (self.base / "g.en").read_bytes().splitlines()
        words = itertools.islice(itertools.cycle(b" ".join(lines).split()), 200_000)
        self.input = {"short": b"".join(line + b"\n" for line in lines),
                      "long": b"".join(b" ".join(itertools.islice(words, 1000)) + b"\n" for _ in range(200))}

    def place(self):
        """A fresh folder with links to texts and models."""
        folder = self.session.folder / f"run-{self.places}"
        self.places += 1
        folder.mkdir()
        for path in self.base.iterdir():
            (folder / path.name).symlink_to(path)
        return folder

    def heed(self, program, arguments, folder, data=b"", after=None):
        """Runs heed; after = (seconds, signal) interrupts it."""
        process = subprocess.Popen([self.programs[program], *arguments], cwd=folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        sent = []

        def send():
            sent.append(time.monotonic())
            process.send_signal(after[1])

        timer = threading.Timer(after[0], send) if after else None
        if timer:
            timer.start()
        code, out, err = patience.communicate(process, CPU_SECONDS, data)
        if timer:
            timer.cancel()
        if sent and code != 0:
            self.signals += 1
            self.longest = max(self.longest, time.monotonic() - sent[0])
        return s.Done(code, out, err)

    def expected(self, program, name, run):
        """The result of an undisturbed run, and its seconds."""
        if (program, name) not in self.straight:
            begin = time.monotonic()
            result = run()
            self.straight[program, name] = (result, time.monotonic() - begin)
        return self.straight[program, name]

    def need(self, program, arguments, folder, data=b""):
        """An undisturbed run, which must succeed."""
        done = self.heed(program, arguments, folder, data)
        if done.code != 0:
            raise RuntimeError(f"{program} {' '.join(arguments)}: {done.describe()}")
        return done

    def filter(self, program, name, case):
        """Interrupts a filter that writes to a pipe or to a file; what is wrong."""
        command, text = FILTERS[name]
        arguments, data, folder = command.split(), self.input[text], self.place()
        right, seconds = self.expected(program, name, lambda: self.need(program, arguments, folder, data).out)
        to_file = case["to_file"]
        done = self.heed(program, arguments + (["-o", "out"] if to_file else []), folder, data,
                         (case["share"] * seconds, case["signal"]))
        out = folder / "out"
        written = out.read_bytes() if out.exists() else b""
        if done.code not in (0, -case["signal"]):
            return f"{name} {done.describe()}"
        if done.err.strip():
            return f"{name} says: {done.describe()}"
        if s.strays(folder):
            return f"{name} leaves {', '.join(s.strays(folder)[:3])}"
        if to_file and written != (right if done.code == 0 else b""):
            return f"{name} leaves a file that is not complete"
        if not to_file and (not right.startswith(done.out) or done.code == 0 and done.out != right):
            return f"{name} writes another output than undisturbed"
        if not to_file and done.out and not done.out.endswith(b"\n"):
            return f"{name} ends inside a line"
        return None

    def results(self, folder):
        """What a training run has computed."""
        return {name: s.content(folder / "out" / name) for name in COMPARED}

    def train(self, program, name, case):
        """Interrupts a training run and resumes it; what is wrong."""
        task, vocabulary, more = kill.TRAINING[name]
        arguments = ["train", "--model", "out", *s.train_flags(task, vocabulary, more)]

        def undisturbed():
            folder = self.place()
            self.need(program, arguments, folder)
            return self.results(folder)

        right, seconds = self.expected(program, name, undisturbed)
        folder = self.place()
        for share in case["shares"]:
            done = self.heed(program, [*arguments, "--resume"], folder, b"", (share * seconds, case["signal"]))
            if done.code not in (0, -case["signal"]):
                return f"{name} {done.describe()}"
        done = self.heed(program, [*arguments, "--resume"], folder)
        if done.code != 0:
            return f"{name}: training that resumes {done.describe()}"
        differs = s.difference(self.results(folder), right)
        if differs:
            return f"{name}: other bytes than undisturbed: {differs}"
        return f"{name} leaves {', '.join(s.strays(folder)[:3])}" if s.strays(folder) else None

    def once(self, case):
        """One case; what is wrong."""
        name = case["job"]
        wrong = (self.train if name in kill.TRAINING else self.filter)(case["program"], name, case)
        for folder in self.session.folder.glob("run-*"):
            shutil.rmtree(folder)
        return f"{case['program']}: {wrong}" if wrong else None


def draw(random, program, name):
    """A random case."""
    case = {"job": name, "program": program, "signal": int(random.choice(SIGNALS))}
    if name in kill.TRAINING:
        return {**case, "shares": [random.uniform(0, 0.5) for _ in range(4)]}
    return {**case, "share": random.uniform(0, 1.0), "to_file": random.random() < 0.3}


def run(session):
    """Cases until the time is over."""
    interrupter = Interrupter(session)
    jobs = [(program, name) for name in [*FILTERS, *kill.TRAINING] for program in interrupter.programs]
    session.random.shuffle(jobs)
    cases = 0
    while session.time_left() > 0:
        case = draw(session.random, *jobs[cases % len(jobs)])
        cases += 1
        wrong = interrupter.once(case)
        if wrong:
            session.wrong(wrong, case)
        elif cases % 20 == 0:
            session.say(f"{cases} cases, {interrupter.signals} signals")
    return f"{cases} cases, {interrupter.signals} signals, the last end {interrupter.longest:.1f} s after its signal"


def replay(session, case):
    """The same command and moments, ten times, since a moment is never quite the same."""
    interrupter = Interrupter(session)
    for _ in range(10):
        wrong = interrupter.once(case)
        if wrong:
            return wrong
    return None
