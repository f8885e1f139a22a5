"""differential: two ways to compute the same, in random cases (heed_torture): fused attention against the plain twin,
packed sequences, caches, mechanisms, and whole models trained with other threads, resumed and decoded.

A case is a function of its seed.
"""

import collections
import concurrent.futures
import os
import re

NEEDS = ["release heed_torture"]

# Seconds between two starts of the program: what a crash can hide is no more than that.
ROUND = 60
CASE = re.compile(r"^case (\w+) (\d+)$", re.MULTILINE)


def last_case(output):
    """The kind and seed of the case that ran when the program ended."""
    cases = CASE.findall(output)
    return cases[-1] if cases else None


def one_round(session, seed, seconds):
    """Runs the program once; its output, with its failures reported."""
    program = session.release / "heed_torture"
    done = session.run([program, "differential", "all", seed, seconds], env={"TMPDIR": str(session.folder)},
                       cpu_seconds=8 * seconds + 600)
    output = done.out.decode("utf-8", "replace")
    for kind, case, text in re.findall(r"^WRONG (\w+) (\d+) (.*)$", output, re.MULTILINE):
        session.wrong(f"{kind} {case}: {text}", {"kind": kind, "seed": int(case)})
    if done.code not in (0, 1):
        kind, case = last_case(output) or ("?", 0)
        session.wrong(f"{kind} {case}: the program {done.describe()}", {"kind": kind, "seed": int(case)})
    return output


def run(session):
    """Rounds until the time is over, one program for each CPU."""
    total, refused, rounds = collections.Counter(), 0, 0
    count = os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        while session.time_left() > 1 or rounds == 0:
            seeds = [session.random.randrange(1 << 40) for _ in range(count)]
            seconds = int(max(2, min(ROUND, session.time_left())))
            outputs = list(pool.map(lambda seed: one_round(session, seed, seconds), seeds))
            cases = [kind for output in outputs for kind, _ in CASE.findall(output)]
            rounds += 1
            total.update(cases)
            refused += sum(output.count("\nrefused ") for output in outputs)
            session.say(f"from seeds {', '.join(map(str, seeds))}: {len(cases)} cases, {total.total()} in all")
            if not cases:
                break
    text = ", ".join(f"{number} {kind}" for kind, number in total.items())
    return f"{total.total()} cases ({text}; {refused} models refused as invalid)"


def replay(session, case):
    """The case of a seed."""
    done = session.run([session.release / "heed_torture", "case", case["kind"], case["seed"]], cpu_seconds=600)
    if done.code == 0:
        return None
    return done.out.decode("utf-8", "replace").strip().splitlines()[-1] if done.code == 1 else done.describe()
