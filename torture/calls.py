"""calls: every call of the C library that heed makes fails in turn (shim.cpp), with each error that it may have.

Promises: the program ends with exit code 1 and a message that names the cause, and what was on the disk before is
intact and usable; or it succeeds with the right result. Interrupted and short calls are always survived.
"""

import collections
import concurrent.futures
import itertools
import json
import os
import re
import shutil
import threading

import served
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
          "libfontconfig", "libOpenCL", "libtomlplusplus", "ld-linux")
# A job takes a fraction of a second.
CPU_SECONDS = 30
# A run of fewer seconds is short, and tries the calls of so many jobs.
SHORT = 100
JOBS_OF_SHORT = 2
# A failure of one cause shows at many places; so many of each are left as files.
OF_A_KIND = 3

TRAIN = "--after=4u --save-freq=2u --valid-freq=2u --keep-last=1"
# Name: the command, and the command that tries again after a failure if it is another.
JOBS = {
    "train": ("train --model out " + " ".join(s.train_flags("translate", "words", TRAIN)), "--resume"),
    "resume": ("train --model m --resume --after=6u --save-freq=1u", ""),
    "train-pieces": ("train --model out " + " ".join(
        s.train_flags("bag_of_words", "sentencepiece", TRAIN + " --vocabulary.size=80 --tensorboard=events")), "--resume"),
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
    "convert": ("convert h -o out", ""),
    "export": ("export h -o out", ""),
    "embed": ("embed --model h -i words.txt -o out.npy", ""),
    "fill": ("fill --model f -i masked.txt --top-k=3", ""),
    "list": ("list multi_head", ""),
}
# Jobs whose output must not exist yet.
NEVER_OVERWRITE = ("average", "convert", "export")

# The tokenizer of small models of Hugging Face.
TOKENIZER = {
    "added_tokens": [{"id": i, "content": word, "special": True}
                     for i, word in enumerate(("[PAD]", "[UNK]", "[MASK]", "[CLS]", "[SEP]"))],
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 4], "cls": ["[CLS]", 3]},
    "model": {"type": "WordLevel", "unk_token": "[UNK]",
              "vocab": {"[PAD]": 0, "[UNK]": 1, "[MASK]": 2, "[CLS]": 3, "[SEP]": 4, "a": 5, "dog": 6, "runs": 7}},
}


def from_outside(stack):
    """Whether the call was made by one of those libraries: the first frame that is not a runtime's."""
    for line in stack.splitlines():
        if not any(name in line for name in ("heed_torture_shim", "libstdc++", "libc.so")):
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
    for model, golden in (("h", "bert"), ("f", "bert_masked_lm")):
        shutil.copytree(s.ROOT / "tests" / "golden" / "hf" / golden, base / model)
        (base / model / "tokenizer.json").write_text(json.dumps(TOKENIZER), encoding="utf-8")
    (base / "words.txt").write_text("a dog runs\ndog\n", encoding="utf-8")
    (base / "masked.txt").write_text("a [MASK] runs\n", encoding="utf-8")
    return base


def may_stay(name, fail):
    """Whether a temporary file may be there after a fault, until the next run removes it: a file cannot be removed
    while unlink fails, nor a folder without memory, and .heed-dropped is a checkpoint whose removal has failed."""
    is_folder = any(part in name for part in (".heed-checkpoint", ".heed-tmp"))
    return fail.startswith("unlink") or (fail and ".heed-dropped" in name) or (is_folder and fail.endswith("ENOMEM:on"))


class Caller:
    """Runs jobs with faults and judges how they end."""

    def __init__(self, session):
        self.session = session
        shim = str(session.release / "libheed_torture_shim.so")
        self.servers = served.Servers(session.heed, shim, session.folder)
        self.base = make_base(session)
        self.lock = threading.Lock()
        self.places = 0
        self.before = {}    # job: snapshot
        self.expected = {}  # job: (snapshot, stdout)

    def place(self, job):
        """A folder with the texts, which no job changes, and copies of the models that this job names."""
        with self.lock:
            self.places += 1
            folder = self.session.folder / f"run-{self.places}"
        folder.mkdir()
        named = {word.split("/")[0] for word in words(job)}
        for path in self.base.iterdir():
            if path.is_file():
                os.link(path, folder / path.name)
            elif path.name in named:
                shutil.copytree(path, folder / path.name, symlinks=True)
        return folder

    def heed(self, job, folder, again=False, **env):
        """Runs a job with one thread, so that calls come in the same order."""
        threads = "2" if job == "train" else "1"
        return self.servers.run(words(job, again), folder, {"HEED_THREADS": threads, **env}, CPU_SECONDS)

    def output(self, job, done):
        """What a job prints, unless it is a log with times."""
        return b"" if "train" in words(job)[:1] else done.out

    def count(self, job):
        """Runs a job undisturbed; the places it calls from: (function, stack, first, last)."""
        folder, log = self.place(job), self.session.folder / f"{job}.count"
        self.before[job] = s.snapshot(folder)
        done = self.heed(job, folder, TORTURE_COUNT=log)
        if done.code != 0:
            raise RuntimeError(f"{job} {done.describe()}")
        self.expected[job] = (s.snapshot(folder), self.output(job, done))
        shutil.rmtree(folder)
        rows = [line.split() for line in log.read_text().splitlines()]
        return [(name, stack, int(first), int(last)) for name, stack, first, last, _ in rows]

    def once(self, job, fail):
        """One fault; (what is wrong or None, whether the call was reached, the stack)."""
        folder = self.place(job)
        hit = folder.with_suffix(".hit")
        try:
            done = self.heed(job, folder, TORTURE_FAIL=fail, TORTURE_HIT=hit)
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
            return self.compare(job, folder, done, "a wrong result without an error", fail)
        if done.code != 1:
            return done.describe()
        if not message.strip() and function != "stdio":
            return "fails without a message"
        if s.BUG in message:
            return f"calls it a bug: {last_words(message, 2)}"
        if error in SURVIVED and not by_library:
            return f"does not survive it: {last_words(message, 1)}"
        return self.check_state(job, folder, fail)

    def compare(self, job, folder, done, what, fail=""):
        """Whether the folder and the output are those of an undisturbed run; a file whose removal failed may stay."""
        files, out = self.expected[job]
        differs = s.difference(s.snapshot(folder), files)
        if not differs and done is not None and self.output(job, done) != out:
            differs = "standard output differs"
        left = [name for name in s.strays(folder) if not may_stay(name, fail)]
        if not differs and left:
            differs = f"temporary files stay: {', '.join(left)}"
        return f"{what}: {differs}" if differs else None

    def check_state(self, job, folder, fail):
        """After an error: nothing is lost, nothing is half written, and the job can be done again."""
        now = s.snapshot(folder)
        files, _ = self.expected[job]
        for name, data in self.before[job].items():
            if name.endswith(".csv") or name.startswith("m/checkpoint_"):
                continue  # curves grow, checkpoints are kept or removed by the run
            if now.get(name) not in (data, files.get(name)):
                return f"an error has changed {name}"
        left = [name for name in s.strays(folder) if not may_stay(name, fail)]
        if left:
            return f"temporary files stay: {', '.join(left)}"
        for name in [name for name in now if name.startswith("out") and "/" not in name and name not in self.before[job]]:
            if name in files and now[name] != files[name] and not name.endswith(".csv"):
                return f"{name} is half written"
        if job in NEVER_OVERWRITE and (folder / "out").exists():
            shutil.rmtree(folder / "out")
        done = self.heed(job, folder, again=True)
        if done.code != 0:
            return f"cannot be done again: {done.describe()}"
        return self.compare(job, folder, None, "done again it gives another result")


def faults_of(caller, session):
    """All faults to try, (job, text for the shim, place), and the number of places of each function. A place is a
    function with the stack that it is called from. A short run tries some of the jobs, because counting the places of
    all would take its time; which ones and in which order depends on the seed alone."""
    places, cases = set(), []
    for job in session.random.sample(list(JOBS), len(JOBS) if session.time_left() > SHORT else JOBS_OF_SHORT):
        for function, stack, first, last in caller.count(job):
            place = (function, stack)
            # Memory is asked for in thousands of places, most of them the same in every job.
            if function == "malloc" and place in places:
                continue
            places.add(place)
            numbers = {first, last} if function != "malloc" else {first}
            faults = [f"{function}:{number}:{error}:{how}" for error, how in FAULTS[function] for number in numbers]
            session.random.shuffle(faults)
            cases += [(rank, job, fault, place) for rank, fault in enumerate(faults)]
    # One fault of every place comes before the second of any. Calls for memory are 99 of 100; the others take turns
    # with them.
    session.random.shuffle(cases)
    cases.sort(key=lambda case: case[0])
    memory = [case[1:] for case in cases if case[3][0] == "malloc"]
    short = [case[1:] for case in cases if case[3][0] != "malloc"]
    mixed = [case for pair in itertools.zip_longest(short, memory) for case in pair if case]
    return mixed, collections.Counter(function for function, _ in sorted(places))


class Tally:
    """What has been tried and found."""

    def __init__(self, session, faults):
        self.session = session
        self.faults = faults
        self.tried = self.reached = self.outside = 0
        self.places = set()
        self.kinds = collections.Counter()

    def add(self, job, fail, place, result):
        """One fault more."""
        wrong, hit, stack = result
        self.tried += 1
        self.reached += hit
        if hit:
            self.places.add(place)
        if self.tried % 1000 == 0:
            self.session.say(self.text())
        if not wrong:
            return
        if "ENOMEM" in fail and from_outside(stack):
            self.outside += 1
            return
        kind = (fail.split(":")[0], re.sub(r"\d+", "N", wrong))
        self.kinds[kind] += 1
        if self.kinds[kind] <= OF_A_KIND:
            self.session.wrong(f"{job}, {fail}: {wrong}", {"job": job, "fail": fail, "stack": stack.splitlines()})

    def text(self):
        """The figures."""
        return (f"{self.tried} of {self.faults} faults tried, {self.reached} reached at {len(self.places)} places, "
                f"{self.kinds.total()} wrong of {len(self.kinds)} kinds, {self.outside} in libraries that give up when "
                "memory is short")


def run(session):
    """All faults, or as many as the time allows."""
    caller = Caller(session)
    cases, places = faults_of(caller, session)
    jobs = len(caller.expected)
    each = ", ".join(f"{function} {count}" for function, count in sorted(places.items()))
    session.say(f"{jobs} of {len(JOBS)} jobs call from {places.total()} places ({each}); {len(cases)} faults to try")
    tally = Tally(session, len(cases))

    def attempt(case):
        return caller.once(*case[:2]) if session.time_left() > 0 else None

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for case, result in zip(cases, pool.map(attempt, cases)):
            if result:
                tally.add(*case, result)
    caller.servers.close()
    return f"{tally.text()}; {places.total()} places in all"


def replay(session, case):
    """The same fault in the same job."""
    caller = Caller(session)
    caller.count(case["job"])
    wrong, hit, _ = caller.once(case["job"], case["fail"])
    caller.servers.close()
    return wrong if hit or wrong else "the call was not reached: the program has changed"
