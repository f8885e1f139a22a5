#!/usr/bin/env python3
"""Torture: heed under kills, interrupts, failing calls, hostile files, random comparisons, many threads and long runs.

Usage: torture.py [MINUTES] [NAME…] [--seed N]   all kinds, or those named; the time is shared equally
       torture.py replay FILE                    a case that an earlier run left in build/torture/
       torture.py --needs …                      prints what must be built for these arguments
"""

import importlib
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import session as s  # noqa: E402  (after the path is set)

NAMES = ("kill", "interrupt", "calls", "files", "differential", "threads", "memory")


def kind(name):
    """The module of a kind."""
    return importlib.import_module(name)


def needs(names):
    """What the kinds need, a line for each preset: its name and the targets."""
    targets = {}
    for words in (line.split() for name in names for line in kind(name).NEEDS):
        targets.setdefault(words[0], set()).update(words[1:])
    return [" ".join([preset, *sorted(found)]) for preset, found in sorted(targets.items())]


def parse(words):
    """Minutes, names, seed and the case to replay."""
    minutes, names, seed, case = 2.0, [], int(time.time()) % 1000000, None
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "replay" and words:
            case = json.loads(pathlib.Path(words[0]).read_text(encoding="utf-8"))
            case["folder"] = str(pathlib.Path(words.pop(0)).resolve().parent)
            names = [case["name"]]
        elif word == "--seed" and words:
            seed = int(words.pop(0))
        elif word in NAMES:
            names.append(word)
        elif word.replace(".", "", 1).isdigit():
            minutes = float(word)
        else:
            sys.exit(f"torture: unknown word '{word}': give minutes, names ({', '.join(NAMES)}), --seed N or "
                     "replay FILE")
    return minutes, names or list(NAMES), seed, case


def replay(name, case):
    """Runs one case again."""
    session = s.Session(name, case.get("seed", 0), 600)
    try:
        wrong = kind(name).replay(session, case)
    finally:
        session.close()
    print(f"{name}: {'WRONG: ' + wrong if wrong else 'passes'}")
    return 1 if wrong else 0


def main():
    """Runs the kinds one after another."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--needs"]:
        _, names, _, _ = parse(arguments[1:])
        print("\n".join(needs(names)))
        return 0
    minutes, names, seed, case = parse(arguments)
    if case:
        return replay(names[0], case)
    print(f"torture: {minutes:g} minutes, seed {seed}", flush=True)
    end = time.monotonic() + 60 * minutes
    summary, failed = [], 0
    for i, name in enumerate(names):
        session = s.Session(name, seed, max(5.0, (end - time.monotonic()) / (len(names) - i)))
        begin = time.monotonic()
        try:
            text = kind(name).run(session)
        finally:
            session.close()
        failed += len(session.found)
        state = f"{len(session.found)} WRONG" if session.found else "passed"
        summary.append(f"{name}: {state} in {time.monotonic() - begin:.0f} s: {text}")
        print(summary[-1], flush=True)
    print("\n".join(["", f"torture: seed {seed}", *summary]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
