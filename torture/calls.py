"""calls: every call of the C library that heed makes fails in turn (shim.cpp), with each error that it may have.

Promises: the program ends with exit code 1 and a message that names the cause, and what was on the disk before is
intact and usable; or it succeeds with the right result. Interrupted and short calls are always survived.
"""

import concurrent.futures
import os
import re
import shutil
import threading

import session as s

NEEDS = ["release heed_cli heed_torture_shim"]

# The faults of each function: (error, once or on).
FAULTS = {
    "write": [("ENOSPC", "once"), ("ENOSPC", "on"), ("EIO", "once"), ("EINTR", "once"), ("short", "once")],
    "read": [("EIO", "once"), ("EINTR", "once"), ("short", "once")],
    "open": [("EMFILE", "once"), ("EIO", "once"), ("EINTR", "once")],
    "close": [("EIO", "once"), ("EINTR", "once")],
    "fsync": [("EIO", "once"), ("ENOSPC", "on"), ("EINTR", "once")],
    "rename": [("EIO", "once"), ("ENOSPC", "on")],
    "mmap": [("ENOMEM", "once")],
    "ftruncate": [("EIO", "once")],
    "mkdir": [("ENOSPC", "once"), ("EIO", "on")],
    "unlink": [("EIO", "once")],
    "symlink": [("ENOSPC", "once")],
    "stdio": [("ENOSPC", "on")],
    "thread": [("EAGAIN", "once")],
    "malloc": [("ENOMEM", "once"), ("ENOMEM", "on")],
}
SURVIVED = ("EINTR", "short")

# Libraries that end the process when memory is short; their calls are counted apart.
OTHERS = ("libsentencepiece", "libprotobuf", "libdnnl", "libgomp", "libglib", "libgobject", "librsvg", "libcairo",
          "libfontconfig", "libOpenCL", "ld-linux")
# A failure of one cause shows at many places; so many of each are left as files.
OF_A_KIND = 3

TRAIN = "--after=4u --save-freq=2u --valid-freq=2u --keep-last=1"
# Name: the command, and the command that tries again after a failure if it is another.
JOBS = {
    "train": ("train --model out " + " ".join(s.train_flags("translate", "words", TRAIN)), "--resume"),
    "resume": ("train --model m --resume --after=6u --save-freq=1u", ""),
    "train-pieces": ("train --model out " + " ".join(
        s.train_flags("bag_of_words", "sentencepiece", TRAIN + " --size=80 --tensorboard=events")), "--resume"),
    "average": ("average -m m --last 2 -o out", ""),
    "corpus": ("corpus grammar -n 20 --held-out 5 -o out", ""),
    "corpus-check": ("corpus check g.en g.zh", ""),
    "vocab-words": ("vocab train g.en --kind=words -o out", ""),
    "vocab-pieces": ("vocab train g.en --size=80 --model-type=bpe -o out", ""),
    "vocab-encode": ("vocab encode g.test.en --vocab words.json", ""),
    "translate": ("translate --model m -i g.test.en -o out --beam-size=2 --attention-out=out.safetensors", ""),
    "translate-stdout": ("translate --model m -i g.test.en.gz --beam-size=1", ""),
    "generate": ("generate --model l -p The --max-length=9 -o out", ""),
    "classify": ("classify --model c -i g.test.en", ""),
    "score": ("score g.test.zh -i g.test.zh", ""),
    "inspect": ("inspect m/checkpoint_last/model.safetensors", ""),
    "see-curves": ("see curves m -o out.svg", ""),
    "see-attention": ("see attention She.has.a.dog. --model m -o out.html", ""),
    "list": ("list multi_head", ""),
}


def from_outside(stack):
    """Whether the call was made by one of those libraries: the first frame that is not the C++ runtime's."""
    for line in stack.splitlines():
        if "heed_torture_shim" not in line and "libstdc++" not in line:
            return any(name in line for name in OTHERS)
    return False


def by_runtime(stack):
    """Whether std::filesystem made the call, which reports an interruption as an error."""
    callers = [line for line in stack.splitlines() if "heed_torture_shim" not in line]
    return bool(callers) and "libstdc++" in callers[0]


def words(job, again=False):
    """The arguments of a job."""
    command, more = JOBS[job]
    return command.split() + (more.split() if again else [])


def last_words(message, lines):
    """The end of what was printed."""
    return " / ".join(message.strip().splitlines()[-lines:])[:200]


def make_base(session):
    """The folder that every run starts from."""
    base = session.folder / "base"
    base.mkdir()
    s.make_corpus(session, base, 60)
    session.run(["gzip", "-kn", "g.test.en"], base)
    session.need("vocab", "train", "g.en", "--kind=words", "-o", "words.json", folder=base)
    for model, task in (("m", "translate"), ("l", "language"), ("c", "classify")):
        flags = s.train_flags(task, "words", "--after=4u --save-freq=2u --valid-freq=2u")
        session.need("train", "--model", model, *flags, folder=base)
    return base


class Caller:
    """Runs jobs with faults and judges how they end."""

    def __init__(self, session):
        self.session = session
        self.shim = str(session.release / "libheed_torture_shim.so")
        self.base = make_base(session)
        self.before = s.snapshot(self.base)
        self.lock = threading.Lock()
        self.places = 0
        self.expected = {}  # job: (snapshot, stdout)

    def place(self):
        """A fresh copy of the base."""
        with self.lock:
            self.places += 1
            folder = self.session.folder / f"run-{self.places}"
        shutil.copytree(self.base, folder, symlinks=True)
        return folder

    def heed(self, job, folder, again=False, **env):
        """Runs a job with one thread, so that calls come in the same order."""
        command = [self.session.heed, *words(job, again)]
        return self.session.run(command, folder, {"HEED_THREADS": "2" if job == "train" else "1", **env}, timeout=60)

    def output(self, job, done):
        """What a job prints, unless it is a log with times."""
        return b"" if "train" in words(job)[:1] else done.out

    def count(self, job):
        """Runs a job undisturbed; the places it calls from: (function, stack, first, last)."""
        folder, log = self.place(), self.session.folder / f"{job}.count"
        done = self.heed(job, folder, LD_PRELOAD=self.shim, TORTURE_COUNT=str(log))
        if done.code != 0:
            raise RuntimeError(f"{job} {done.describe()}")
        self.expected[job] = (s.snapshot(folder), self.output(job, done))
        shutil.rmtree(folder)
        rows = [line.split() for line in log.read_text().splitlines()]
        return [(name, stack, int(first), int(last)) for name, stack, first, last, _ in rows]

    def once(self, job, fail):
        """One fault; (what is wrong or None, whether the call was reached, the stack)."""
        folder = self.place()
        hit = folder.with_suffix(".hit")
        try:
            done = self.heed(job, folder, LD_PRELOAD=self.shim, TORTURE_FAIL=fail, TORTURE_HIT=str(hit))
            stack = hit.read_text(errors="replace") if hit.exists() else ""
            wrong = self.judge(job, fail, folder, done, by_runtime(stack)) if stack or done.code != 0 else None
            return wrong, bool(stack), stack
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            hit.unlink(missing_ok=True)

    def judge(self, job, fail, folder, done, by_library):
        """What is wrong with a run that had a fault."""
        function, _, error, _ = fail.split(":")
        message = done.err.decode("utf-8", "replace")
        if done.code == 0:
            # What an error hid from standard error is no loss; standard output must be right.
            return self.compare(job, folder, done, "a wrong result without an error")
        if done.code != 1:
            return done.describe()
        if not message.strip() and function != "stdio":
            return "fails without a message"
        if s.BUG in message:
            return f"calls it a bug: {last_words(message, 2)}"
        if error in SURVIVED and not by_library:
            return f"does not survive it: {last_words(message, 1)}"
        return self.check_state(job, folder, fail)

    def compare(self, job, folder, done, what):
        """Whether the folder and the output are those of an undisturbed run."""
        files, out = self.expected[job]
        differs = s.difference(s.snapshot(folder), files)
        if not differs and done is not None and self.output(job, done) != out:
            differs = "standard output differs"
        left = s.strays(folder)
        if not differs and left:
            differs = f"temporary files stay: {', '.join(left)}"
        return f"{what}: {differs}" if differs else None

    def check_state(self, job, folder, fail):
        """After an error: nothing is lost, nothing is half written, and the job can be done again."""
        now = s.snapshot(folder)
        files, _ = self.expected[job]
        for name, data in self.before.items():
            if name.endswith(".csv") or name.startswith("m/checkpoint_"):
                continue  # curves grow, checkpoints are kept or removed by the run
            if now.get(name) not in (data, files.get(name)):
                return f"an error has changed {name}"
        # A temporary file cannot be removed while unlink fails.
        left = s.strays(folder)
        if left and not fail.startswith("unlink"):
            return f"temporary files stay: {', '.join(left)}"
        for name in [name for name in now if name.startswith("out") and "/" not in name and name not in self.before]:
            if name in files and now[name] != files[name] and not name.endswith(".csv"):
                return f"{name} is half written"
        if job == "average" and (folder / "out").exists():
            shutil.rmtree(folder / "out")
        done = self.heed(job, folder, again=True)
        if done.code != 0:
            return f"cannot be done again: {done.describe()}"
        return self.compare(job, folder, None, "done again it gives another result")


def faults_of(caller, session):
    """All faults to try: (job, text for the shim, first time that this stack is seen)."""
    seen, cases = set(), []
    sites = {}
    for job in JOBS:
        for function, stack, first, last in caller.count(job):
            sites.setdefault(function, set()).add(stack)
            # Memory is asked for in thousands of places, most of them the same in every job.
            if function == "malloc":
                if stack in seen:
                    continue
                seen.add(stack)
            for error, how in FAULTS[function]:
                for number in sorted({first, last} if function != "malloc" else {first}):
                    cases.append((job, f"{function}:{number}:{error}:{how}"))
    session.random.shuffle(cases)
    # Calls for memory are 99 of 100; the others come first.
    cases.sort(key=lambda case: case[1].startswith("malloc"))
    short = [case for case in cases if not case[1].startswith("malloc")]
    memory = cases[len(short):]
    mixed = []
    for i in range(max(len(short), len(memory))):
        mixed += short[i:i + 1] + memory[i:i + 1]
    return mixed, {function: len(stacks) for function, stacks in sites.items()}


def run(session):
    """All faults, or as many as the time allows, in random order."""
    caller = Caller(session)
    cases, sites = faults_of(caller, session)
    total = ", ".join(f"{function} {count}" for function, count in sorted(sites.items()))
    session.say(f"{len(JOBS)} jobs call from {sum(sites.values())} places ({total}); {len(cases)} faults to try")
    tried = reached = outside = 0
    kinds = {}

    def attempt(case):
        if session.time_left() < 0:
            return None
        return case, caller.once(*case)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for result in pool.map(attempt, cases):
            if result is None:
                continue
            (job, fail), (wrong, hit, stack) = result
            tried += 1
            reached += hit
            if not wrong:
                continue
            if "ENOMEM" in fail and from_outside(stack):
                outside += 1
                continue
            kind = (fail.split(":")[0], re.sub(r"\d+", "N", wrong))
            kinds[kind] = kinds.get(kind, 0) + 1
            if kinds[kind] <= OF_A_KIND:
                session.wrong(f"{job}, {fail}: {wrong}", {"job": job, "fail": fail, "stack": stack.splitlines()})
    return (f"{tried} of {len(cases)} faults tried, {reached} reached, {sum(kinds.values())} wrong of {len(kinds)} "
            f"kinds, {outside} in libraries that give up when memory is short")


def replay(session, case):
    """The same fault in the same job."""
    caller = Caller(session)
    caller.count(case["job"])
    wrong, hit, _ = caller.once(case["job"], case["fail"])
    return wrong if hit or wrong else "the call was not reached: the program has changed"
