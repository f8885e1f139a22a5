"""threads: many threads call everything at once, in C++ (heed_torture threads) and in Python (python_threads.py).

Promises: results have the same bits as on one thread; nothing crashes, hangs or waits for ever. For data races build
with the thread sanitizer: `./run torture threads` uses build/tsan/heed_torture too if it is there.
"""

import os

import session as s

NEEDS = ["release heed_torture heed_cli", "python heed_python"]

TSAN = s.ROOT / "build" / "tsan" / "heed_torture"


def commands(session):
    """The programs: name and what comes before SEED THREADS SECONDS."""
    found = {"C++": [session.release / "heed_torture", "threads"],
             "Python": [s.ROOT / "build" / "venv-python" / "bin" / "python", s.ROOT / "torture" / "python_threads.py"]}
    if TSAN.exists():
        found["C++, thread sanitizer"] = ["setarch", "-R", TSAN, "threads"]
    return found


def one(session, name, seed, threads, seconds):
    """One run; (what is wrong, what it says)."""
    env = {"PYTHONPATH": str(session.release / "python"),
           "TSAN_OPTIONS": f"suppressions={s.ROOT / 'tools' / 'tsan.supp'}:halt_on_error=1"}
    done = session.run([*commands(session)[name], seed, threads, seconds], env=env, cpu_seconds=(os.cpu_count() or 1) * seconds + 600)
    lines = done.out.decode("utf-8", "replace").strip().splitlines() or [""]
    if done.code == 0:
        return None, lines[-1]
    return (lines[-1] if lines[-1].startswith("WRONG") else done.describe()), ""


def run(session):
    """Each program in turn until the time is over."""
    names = list(commands(session))
    said, rounds = [], 0
    while session.time_left() > 1 or rounds < len(names):
        name = names[rounds % len(names)]
        left = max(2.0, session.time_left() / max(1, len(names) - rounds))
        seconds = int(min(60, left))
        rounds += 1
        seed, threads = session.random.randrange(1 << 40), session.random.choice((3, 8, 24))
        wrong, text = one(session, name, seed, threads, seconds)
        if wrong:
            session.wrong(f"{name}: {wrong}", {"program": name, "seed": seed, "threads": threads, "seconds": seconds})
            if rounds >= len(names):
                break
        else:
            said.append(f"{name}: {text}")
            session.say(f"{said[-1]}, {seconds} s, seed {seed}")
    return f"{rounds} runs on {os.cpu_count()} CPUs; last: {said[-1] if said else 'none passed'}"


def replay(session, case):
    """The same calls, though never in quite the same order."""
    wrong, _ = one(session, case["program"], case["seed"], case["threads"], case["seconds"])
    return wrong
