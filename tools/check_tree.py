#!/usr/bin/env python3
"""Checks the tree: tests mirror sources, files stay small, headers are guarded, no work is left unfinished."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_LINES = 500
SOURCES = {".h", ".cpp", ".py", ".cmake", ".md", ".toml"}

# Sources without a test file of their own name, and which test covers them.
TESTED_ELSEWHERE = {
    "heed/kernels/attention/backward_cell.cpp": "tests/kernels/attention/backward_test.cpp",
}

# Words that mark unfinished work. They are written with a bracket so that this file does not match.
UNFINISHED = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b|(?i:not (yet )?i[m]plemented)")


def tracked_files():
    """All files that git knows or would add, as paths from the root."""
    out = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout
    return [path for path in out.splitlines() if (ROOT / path).is_file()]


def check_mirror(paths):
    """Each heed/<layer>/x.cpp has a tests/<layer>/x_test.cpp, and each such test a source or header."""
    known = set(paths)
    for path in paths:
        if path.startswith("heed/") and path.endswith(".cpp"):
            test = "tests/" + path.removeprefix("heed/").removesuffix(".cpp") + "_test.cpp"
            cover = TESTED_ELSEWHERE.get(path, test)
            if cover not in known:
                yield f"{path}: has no test {cover}"
    for path in TESTED_ELSEWHERE:
        if path not in known:
            yield f"tools/check_tree.py: TESTED_ELSEWHERE names {path}, which does not exist"


def check_text(path):
    """Size, guard, opening comment and unfinished work of one file."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    if len(lines) >= MAX_LINES and not path.endswith(".md"):
        yield f"{path}: {len(lines)} lines; the limit is {MAX_LINES}: split it"
    # A .cpp with a header of the same name is introduced there, a test by the file it mirrors.
    introduced = path.endswith("_test.cpp") or path.endswith(".cpp") and (ROOT / path).with_suffix(".h").is_file()
    if path.endswith((".h", ".cpp")) and not introduced and not (lines and lines[0].startswith("//")):
        yield f"{path}:1: does not open with what it is"
    # SIMD headers are read once per instruction set and use Highway's toggle as a guard.
    guarded = "#pragma once" in lines or any("HWY_TARGET_TOGGLE" in line for line in lines)
    if path.endswith(".h") and not guarded:
        yield f"{path}: lacks #pragma once"
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield f"{path}:{number}: unfinished: {line.strip()}"


def main():
    paths = tracked_files()
    found = list(check_mirror(paths))
    for path in paths:
        if pathlib.PurePath(path).suffix in SOURCES or path in ("run", ".ci/run", "CMakeLists.txt"):
            found += check_text(path)
    print("\n".join(found) if found else f"tree: {len(paths)} files in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
