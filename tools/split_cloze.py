#!/usr/bin/env python3
"""Splits files of cloze questions into PREFIX.train.txt, PREFIX.valid.txt and PREFIX.test.txt: 80, 10 and 10 % of the stories.

Usage: split_cloze.py PREFIX FILE… (plain or gzip). The questions about a story stay together. A question whose answer
is not a word of its passage is left out, and so is one without a blank.
"""

import gzip
import pathlib
import sys
import zlib

BLANK = "XXXXX"


def questions(path):
    """The lines of each question of a file."""
    opener = gzip.open if path.suffix == ".gz" else open
    lines = []
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            lines.append(line)
            if line.count("|||") == 2:
                yield lines
                lines = []


def part_of(lines):
    """The part that a question belongs to, by the first sentence of its story; None if the question is of no use."""
    *_, question, answer = (column.strip() for column in lines[-1].split("|||"))
    words = [word for line in lines[:-1] for word in line.split("|||")[1].split()]
    if BLANK not in question or answer not in words:
        return None
    first = lines[0].replace(BLANK, answer)
    return (["train"] * 8 + ["valid", "test"])[zlib.crc32(first.encode()) % 10]


def main():
    prefix, *paths = sys.argv[1:]
    parts = {"train": [], "valid": [], "test": []}
    for path in paths:
        for lines in questions(pathlib.Path(path)):
            name = part_of(lines)
            if name:
                parts[name] += lines
    for name, lines in parts.items():
        pathlib.Path(f"{prefix}.{name}.txt").write_text("".join(lines), encoding="utf-8")
        print(f"{prefix}.{name}.txt: {sum(line.count('|||') == 2 for line in lines)} questions")


if __name__ == "__main__":
    main()
