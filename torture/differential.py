"""differential: two ways to compute the same, in random cases (heed_torture): fused attention against the plain twin,
packed sequences, caches, mechanisms, and whole models trained with other threads, resumed and decoded.

A case is a function of its seed.
"""

import re

NEEDS = ["release heed_torture"]

# Seconds between two starts of the program: what a crash can hide is no more than that.
ROUND = 60


def last_case(output):
    """The kind and seed of the case that ran when the program ended."""
    cases = re.findall(r"^case (\w+) (\d+)$", output, re.MULTILINE)
    return cases[-1] if cases else None


def one_round(session, seed, seconds):
    """Runs the program once; counts by kind."""
    program = session.release / "heed_torture"
    done = session.run([program, "differential", "all", seed, seconds], timeout=seconds + 600)
    output = done.out.decode("utf-8", "replace")
    for kind, case, text in re.findall(r"^WRONG (\w+) (\d+) (.*)$", output, re.MULTILINE):
        session.wrong(f"{kind} {case}: {text}", {"kind": kind, "seed": int(case)})
    if done.code not in (0, 1):
        kind, case = last_case(output) or ("?", 0)
        session.wrong(f"{kind} {case}: the program {done.describe()}", {"kind": kind, "seed": int(case)})
    counts = {}
    for kind, _ in re.findall(r"^case (\w+) (\d+)$", output, re.MULTILINE):
        counts[kind] = counts.get(kind, 0) + 1
    refused = len(re.findall(r"^refused ", output, re.MULTILINE))
    return counts, refused


def run(session):
    """Rounds until the time is over."""
    total, refused, rounds = {}, 0, 0
    while session.time_left() > 1 or rounds == 0:
        seed = session.random.randrange(1 << 40)
        counts, more = one_round(session, seed, int(max(2, min(ROUND, session.time_left()))))
        rounds += 1
        refused += more
        for kind, count in counts.items():
            total[kind] = total.get(kind, 0) + count
        session.say(f"from seed {seed}: " + ", ".join(f"{kind} {count}" for kind, count in counts.items()))
        if not counts:
            break
    text = ", ".join(f"{count} {kind}" for kind, count in total.items())
    return f"{sum(total.values())} cases ({text}; {refused} models refused as invalid)"


def replay(session, case):
    """The case of a seed."""
    done = session.run([session.release / "heed_torture", "case", case["kind"], case["seed"]], timeout=600)
    if done.code == 0:
        return None
    return done.out.decode("utf-8", "replace").strip().splitlines()[-1] if done.code == 1 else done.describe()
