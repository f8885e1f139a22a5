#!/usr/bin/env python3
"""Checks the tree: tests mirror sources, files and Markdown lines are short, headers have guards, no work is left
unfinished."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_LINES = 500
MAX_COLUMNS = 120  # of a line of Markdown, in characters
SOURCES = {".h", ".cpp", ".py", ".cmake", ".md", ".toml"}

# Sources without a test file of the same name, and the test that covers them.
TESTED_ELSEWHERE = {
    "heed/distributed/mpi/module.cpp": "tests/cli/ranks_test.py",
    "heed/kernels/attention/backward_cell.cpp": "tests/kernels/attention/backward_test.cpp",
    "heed/serve/attention_api.cpp": "tests/serve/service_test.cpp",
    "heed/serve/completions_api.cpp": "tests/serve/service_test.cpp",
    "heed/serve/handlers.cpp": "tests/serve/service_test.cpp",
    "heed/serve/openai_api.cpp": "tests/serve/service_test.cpp",
    "heed/serve/session_plain.cpp": "tests/serve/server_test.cpp",
    "heed/serve/session_tls.cpp": "tests/cli/serve_test.py",
    "heed/serve/translate_api.cpp": "tests/serve/service_test.cpp",
}

# Marks of unfinished work. The brackets keep this file from matching itself.
UNFINISHED = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b|(?i:not (yet )?i[m]plemented)")

# A line that is one link or picture, after a list marker if there is one.
ONE_LINK = re.compile(r"^\s*(?:(?:[-*+]|\d+\.)\s+)?!?\[[^\]]*\]\([^)]*\)\S?$")


def tracked_files():
    """Returns all files that git tracks or would add, as paths from the root."""
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
    # A .cpp with a header of the same name is described there; a test, by the file it mirrors.
    introduced = path.endswith("_test.cpp") or path.endswith(".cpp") and (ROOT / path).with_suffix(".h").is_file()
    if path.endswith((".h", ".cpp")) and not introduced and not (lines and lines[0].startswith("//")):
        yield f"{path}:1: does not start with a comment that says what it is"
    # SIMD headers are included once per instruction set; Highway's toggle is their guard.
    guarded = "#pragma once" in lines or any("HWY_TARGET_TOGGLE" in line for line in lines)
    if path.endswith(".h") and not guarded:
        yield f"{path}: lacks #pragma once"
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield f"{path}:{number}: unfinished: {line.strip()}"


def check_columns(path):
    """Lines of Markdown, except in tables, code blocks, and lines that are one link, which cannot be broken."""
    in_block = False
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_block = not in_block
        free = in_block or line.lstrip().startswith("|") or ONE_LINK.match(line)
        if not free and len(line) > MAX_COLUMNS:
            yield f"{path}:{number}: {len(line)} columns; the limit is {MAX_COLUMNS}"


def main():
    paths = tracked_files()
    found = list(check_mirror(paths))
    for path in paths:
        if pathlib.PurePath(path).suffix in SOURCES or path in ("run", ".ci/run", "CMakeLists.txt"):
            found += check_text(path)
        # Design notes are dated and stay as they were written.
        if path.endswith(".md") and not path.startswith("docs/design/"):
            found += check_columns(path)
    print("\n".join(found) if found else f"tree: {len(paths)} files in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
