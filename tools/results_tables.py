#!/usr/bin/env python3
"""Prints the tables of docs/performance.md and of the pages beside the records from a record of benchmarks/results/.

    python3 tools/results_tables.py benchmarks/results/models.json

Missed goals are marked; a column without values is left out.
"""

import itertools
import json
import pathlib
import sys


def cell(row: dict, column: str) -> str:
    if column == "ratio":
        met = row["ratio"] >= row["goal"]
        return f"**{row['ratio']:.2f}**" if met else f"{row['ratio']:.2f} ✗"
    if column == "goal":
        return f"{row['goal']:.2f}" if row["goal"] > 0 else ""
    if column == "error":
        return f"{row['error']:.0e}" if "error" in row else ""
    if column == "cpu ratio":
        return f"{row['cpu_ratio']:.2f}" if "cpu_ratio" in row else ""
    return str(row.get(column, ""))


def table(group: str, rows: list[dict]) -> str:
    columns = ["name", "threads", "ratio", "goal", "cpu ratio", "ours", "yardstick", "error", "agreement"]
    columns = [c for c in columns if c == "name" or any(cell(row, c) for row in rows)]
    lines = [f"### {group[0].upper()}{group[1:]}", ""]
    lines += ["| " + " | ".join("" if c == "name" else c for c in columns) + " |"]
    lines += ["|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(cell(row, c) for c in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: results_tables.py RESULTS.json")
    record = json.loads(pathlib.Path(sys.argv[1]).read_text())
    print(f"{record['cpu']}, {record['isa']}, {record['compiler']}, {record['date']}\n")
    for note in record["notes"]:
        print(note.strip(), end="\n\n")
    for group, rows in itertools.groupby(record["rows"], key=lambda row: row["group"]):
        print(table(group, list(rows)))


if __name__ == "__main__":
    main()
