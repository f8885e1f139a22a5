"""files: hostile files of every format that heed reads, through the fuzz targets (fuzz/), built with the address and
undefined-behaviour sanitizers.

Promise: any bytes are read or refused with an error; no crash, no hang, no unbounded memory. With clang++ on the path
libFuzzer makes the inputs (preset fuzz), otherwise fuzz/replay_main.cpp mutates the seeds (preset asan).
"""

import pathlib
import re
import shutil

import session as s

PRESET = "fuzz" if shutil.which("clang++") else "asan"
TARGETS = sorted(path.stem for path in (s.ROOT / "fuzz").glob("*_fuzz.cpp"))
NEEDS = [f"{PRESET} {' '.join(TARGETS)}"]

INPUT_SECONDS = 30   # an input that takes longer hangs
MEGABYTES = 2048     # one allocation above this, or twice that in all, is too much
ENVIRONMENT = {
    "ASAN_OPTIONS": f"detect_leaks=1:max_allocation_size_mb={MEGABYTES}:hard_rss_limit_mb={2 * MEGABYTES}:"
                    "allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "FUZZ_INPUT_SECONDS": str(INPUT_SECONDS),
}


def program(target):
    """The program of a target."""
    return s.ROOT / "build" / PRESET / target


def seeds(target):
    """The committed inputs of a target."""
    return s.ROOT / "tests" / "fuzz_corpus" / target.removesuffix("_fuzz")


def one_line(done):
    """What the sanitizer or the program says."""
    text = (done.out + done.err).decode("utf-8", "replace")
    for pattern in (r"^SUMMARY: .*", r"^.*runtime error: .*", r"^==\d+==ERROR: .*", r"^terminate called.*"):
        found = re.search(pattern, text, re.MULTILINE)
        if found:
            return found.group(0)[:300]
    return done.describe()


def mutate(session, target, seconds, number):
    """Mutations of the seeds by replay_main; how many ran."""
    failing = session.folder / f"{target}-input"
    first = session.random.randrange(1 << 30)
    command = [program(target), seeds(target), f"{seconds}s", first]
    done = session.run(command, env={**ENVIRONMENT, "FUZZ_INPUT_FILE": str(failing)},
                       timeout=seconds + 20 * INPUT_SECONDS)
    found = re.search(rb"(\d+) mutations passed", done.out)
    if done.code != 0:
        data = failing.read_bytes() if failing.exists() else None
        session.wrong(f"{target}: {one_line(done)}", {"target": target, "first": first, "number": number}, data)
        return 0
    return int(found.group(1)) if found else 0


def fuzz(session, target, seconds, number):
    """libFuzzer for a while, from the seeds and what it has found before; how many inputs ran."""
    corpus = s.FOUND / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    artifacts = session.folder / f"{target}-{number}-"
    command = [program(target), f"-max_total_time={seconds}", f"-timeout={INPUT_SECONDS}",
               f"-rss_limit_mb={2 * MEGABYTES}", f"-malloc_limit_mb={MEGABYTES}", f"-artifact_prefix={artifacts}",
               f"-seed={session.random.randrange(1 << 30)}", "-print_final_stats=1", corpus, seeds(target)]
    done = session.run(command, env=ENVIRONMENT, timeout=seconds + 20 * INPUT_SECONDS)
    for path in sorted(session.folder.glob(f"{target}-{number}-*")):
        session.wrong(f"{target}: {one_line(done)}", {"target": target}, path.read_bytes())
    found = re.search(rb"number_of_executed_units: (\d+)", done.err)
    return int(found.group(1)) if found else 0


def run(session):
    """Every target in turn, again and again, for longer each time."""
    total, number, broken = {}, 0, set()
    step = fuzz if PRESET == "fuzz" else mutate
    while session.time_left() > 0 or number < len(TARGETS):
        target = TARGETS[number % len(TARGETS)]
        number += 1
        if len(broken) == len(TARGETS):
            break
        if target in broken:
            continue
        rest = len(TARGETS) - (number - 1) % len(TARGETS)
        seconds = int(max(1, min(60, session.time_left() / rest)))
        before = len(session.found)
        count = step(session, target, seconds, number)
        total[target] = total.get(target, 0) + count
        if len(session.found) > before:
            broken.add(target)  # the same failure would come again
        else:
            session.say(f"{target}: {count} inputs")
    text = ", ".join(f"{target.removesuffix('_fuzz')} {count}" for target, count in sorted(total.items()))
    return f"{sum(total.values())} inputs by {'libFuzzer' if PRESET == 'fuzz' else 'mutation'} ({text})"


def replay(session, case):
    """The input of a case, alone."""
    done = session.run([program(case["target"]), pathlib.Path(case["folder"]) / case["input"]], env=ENVIRONMENT)
    return None if done.code == 0 else one_line(done)
