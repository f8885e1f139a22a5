"""memory: training, translating and threads in a loop, side by side. Resident memory and open descriptors stay flat.

A process is sampled from /proc from its first result on. The first third of the time is for warming up; the mean of the
last third must not be more than that of the second by 3 % or 4 MB, whichever is more.
"""

import concurrent.futures
import os
import statistics
import subprocess
import threading
import time

import session as s

NEEDS = ["release heed_cli", "python heed_python"]

PAGE = os.sysconf("SC_PAGE_SIZE")
ALLOWED_SHARE, ALLOWED_BYTES = 0.03, 4 << 20
START_SECONDS = 600  # the first result comes in a second; on a busy machine much later


def sample(process):
    """Resident bytes and the number of open descriptors; None if the process has ended."""
    try:
        with open(f"/proc/{process.pid}/statm", encoding="ascii") as file:
            resident = int(file.read().split()[1]) * PAGE
        return resident, len(os.listdir(f"/proc/{process.pid}/fd"))
    except OSError:
        return None


def watch(process, seconds):
    """Samples of a process over that time."""
    samples, end = [], time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        found = sample(process)
        if found:
            samples.append(found)
        time.sleep(min(1.0, seconds / 200))
    return samples


def growth(samples):
    """(what is wrong or None, a line of figures)."""
    third = len(samples) // 3
    if third < 5:
        return "it ended too early to be measured", ""
    second, last = samples[third:2 * third], samples[2 * third:]
    before, after = (statistics.fmean(r for r, _ in part) for part in (second, last))
    opened, open_now = (max(d for _, d in part) for part in (second, last))
    text = (f"{after / 2**20:.1f} MB, {(after - before) / 2**20:+.2f} MB from the second third to the last, "
            f"{open_now} descriptors")
    if after - before > max(ALLOWED_BYTES, ALLOWED_SHARE * before):
        return f"memory grows: {text}", text
    if open_now > opened + 2:
        return f"descriptors grow from {opened} to {open_now}", text
    return None, text


def feed(process, lines):
    """Writes lines to a process for ever."""
    def write():
        try:
            while True:
                process.stdin.write(lines)
        except (BrokenPipeError, ValueError, OSError):
            pass

    threading.Thread(target=write, daemon=True).start()


def drain(process):
    """Drops what a process prints; a function that tells whether it has printed something."""
    first = threading.Event()

    def read():
        while process.stdout.read1(1 << 16):
            first.set()

    threading.Thread(target=read, daemon=True).start()
    return first.is_set


def wait_for(process, has_result):
    """Waits for the first result of a process; whether it came."""
    end = time.monotonic() + START_SECONDS
    while not has_result() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    return has_result()


def start(session, name, seconds):
    """Starts a process that does the same over and over; the process, and a function that tells whether it has a first
    result."""
    folder = session.folder
    pipe = subprocess.PIPE
    if name == "train":
        flags = s.train_flags("translate", "words", "--after=0 --save-freq=5u --valid-freq=10u --keep-last=2 "
                              "--early-stopping=0 --metrics loss bleu --max-length=12")
        model = folder / f"endless-{time.monotonic_ns()}"
        process = subprocess.Popen([session.heed, "train", "--model", model, *flags], cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return process, (model / "checkpoint_best").exists
    if name == "translate":
        process = subprocess.Popen([session.heed, "translate", "--model", "trained", "--beam-size=2", "--window=50"],
                                   cwd=folder, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        feed(process, (folder / "g.en").read_bytes())
        return process, drain(process)
    python = s.ROOT / "build" / "venv-python" / "bin" / "python"
    program = s.ROOT / "torture" / "python_threads.py"
    process = subprocess.Popen([python, program, str(session.seed), "6", str(seconds + 60)], cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.DEVNULL,
                               env={**os.environ, "PYTHONPATH": str(session.release / "python")})
    return process, drain(process)


NAMES = ("train", "translate", "python-threads")


def one(session, name, seconds):
    """Watches one process; (what is wrong, figures)."""
    process, has_result = start(session, name, seconds)
    try:
        started = wait_for(process, has_result)
        samples = watch(process, seconds)
        early = process.poll()
    finally:
        process.kill()
        process.wait()
    if early not in (None, 0):
        return f"{name} ended with {early}", ""
    if not started:
        return f"{name} has no result after {START_SECONDS} s", ""
    wrong, text = growth(samples)
    return (f"{name}: {wrong}" if wrong else None), f"{name}: {text}"


def prepare(session):
    """Texts and a translator."""
    s.make_corpus(session, session.folder, 120)
    session.need("train", "--model", "trained", *s.train_flags("translate", "words", "--after=10u"))


def run(session):
    """All processes for the whole time."""
    prepare(session)
    seconds = max(3.0, session.time_left())
    with concurrent.futures.ThreadPoolExecutor(len(NAMES)) as pool:
        results = list(pool.map(lambda name: one(session, name, seconds), NAMES))
    for name, (wrong, text) in zip(NAMES, results):
        if wrong:
            session.wrong(wrong, {"process": name, "seconds": seconds})
        session.say(f"{text}, {seconds:.0f} s")
    return "; ".join(text for _, text in results)


def replay(session, case):
    """The same process for the same time."""
    prepare(session)
    wrong, _ = one(session, case["process"], case["seconds"])
    return wrong
