"""files: hostile files of every format that heed reads, through the fuzz targets (fuzz/), built with the address and
undefined-behaviour sanitizers.

Promise: any bytes are read or refused with an error; no crash, no hang, no unbounded memory. After `cmake --preset
fuzz`, which needs clang 19 with its runtime, libFuzzer makes the inputs; otherwise fuzz/replay_main.cpp mutates the seeds
(preset asan).
"""

import collections
import concurrent.futures
import os
import pathlib
import re

import session as s

PRESET = "fuzz" if (s.ROOT / "build" / "fuzz").is_dir() else "asan"
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


def environment(session):
    """Targets that need files make them in the folder of the session."""
    return {**ENVIRONMENT, "TMPDIR": str(session.folder)}


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


def mutate(session, target, seconds, seed):
    """Mutations of the seeds by replay_main; how many ran, None after a failure."""
    failing = session.folder / f"{target}-input"
    command = [program(target), seeds(target), f"{seconds}s", seed]
    done = session.run(command, env={**environment(session), "FUZZ_INPUT_FILE": str(failing)},
                       cpu_seconds=seconds + 20 * INPUT_SECONDS)
    if done.code != 0:
        data = failing.read_bytes() if failing.exists() else None
        session.wrong(f"{target}: {one_line(done)}", {"target": target, "first": seed}, data)
        return None
    return int(re.search(rb"(\d+) mutations passed", done.out).group(1))


def fuzz(session, target, seconds, seed):
    """libFuzzer for a while, from the seeds and what it has found before; how many inputs ran, None after a failure."""
    corpus = s.FOUND / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    artifacts = f"{target}-{seed}-"
    command = [program(target), f"-max_total_time={seconds}", f"-timeout={INPUT_SECONDS}",
               f"-rss_limit_mb={2 * MEGABYTES}", f"-malloc_limit_mb={MEGABYTES}",
               f"-artifact_prefix={session.folder / artifacts}", f"-seed={seed}", "-print_final_stats=1", corpus,
               seeds(target)]
    done = session.run(command, env=environment(session), cpu_seconds=seconds + 20 * INPUT_SECONDS)
    failing = sorted(session.folder.glob(f"{artifacts}*"))
    for path in failing:
        session.wrong(f"{target}: {one_line(done)}", {"target": target}, path.read_bytes())
    found = re.search(rb"number_of_executed_units: (\d+)", done.err)
    if failing or not found:
        if not failing:
            session.wrong(f"{target}: {one_line(done)}", {"target": target})
        return None
    return int(found.group(1))


def run(session):
    """Every target, again and again, one on each CPU. A target that fails is left out: the same failure would come
    again."""
    total, targets = collections.Counter(), list(TARGETS)
    step = fuzz if PRESET == "fuzz" else mutate
    cpus = os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(cpus) as pool:
        while targets and (session.time_left() > 0 or not total):
            seconds = int(max(1, min(60, session.time_left() * cpus / len(targets))))
            jobs = [(target, session.random.randrange(1 << 30)) for target in targets]
            counts = list(pool.map(lambda job: step(session, job[0], seconds, job[1]), jobs))
            total.update({target: count for target, count in zip(targets, counts) if count})
            targets = [target for target, count in zip(targets, counts) if count is not None]
            session.say(f"{total.total()} inputs, {len(TARGETS) - len(targets)} targets failed")
    text = ", ".join(f"{target.removesuffix('_fuzz')} {count}" for target, count in sorted(total.items()))
    return f"{total.total()} inputs by {'libFuzzer' if PRESET == 'fuzz' else 'mutation'} ({text})"


def replay(session, case):
    """The input of a case, alone."""
    done = session.run([program(case["target"]), pathlib.Path(case["folder"]) / case["input"]],
                       env=environment(session))
    return None if done.code == 0 else one_line(done)
