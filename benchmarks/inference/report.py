"""The results: a printed table, and JSON in the form of the other records of benchmarks/results/."""

import dataclasses
import datetime
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

LINE = "  {:<52} {:>7} {:>6} {:>6} {:>5}  {:<17} {:<42} {:<17} {}"


@dataclasses.dataclass
class Row:
    """`ratio` is heed's figure relative to the yardstick's, larger is better; `goal` is what it should reach, 0 for
    none. `cpu_ratio` is the same of CPU seconds, which other processes of the machine disturb less."""

    group: str
    name: str
    threads: int
    ratio: float
    goal: float
    ours: str
    yardstick: str
    cpu_ratio: float | None = None
    cpu_seconds: str = ""
    rounds: int | None = None
    agreement: str = ""


def output_of(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def first(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1].strip() if found else "unknown"


class Report:
    def __init__(self):
        self.rows: list[Row] = []
        self.memory: list[Row] = []  # added after all others
        self.notes: list[str] = []
        self.versions: list[str] = []

    def note(self, text: str) -> None:
        if text not in self.notes:
            print(text, flush=True)
            self.notes.append(text)

    def version(self, text: str) -> None:
        """Of an engine; the record names each once."""
        if text not in self.versions:
            self.versions.append(text)

    def add(self, row: Row) -> None:
        if not self.rows or self.rows[-1].group != row.group:
            heads = ("", "threads", "ratio", "goal", "cpu", "ours", "yardstick", "cpu seconds", "agreement")
            print(f"\n{row.group}\n" + LINE.format(*heads))
        goal = f"{row.goal:.2f}{'!' if row.ratio < row.goal else ' '}" if row.goal else ""
        cpu = f"{row.cpu_ratio:.2f}" if row.cpu_ratio else ""
        figures = (row.ours, row.yardstick, row.cpu_seconds, row.agreement)
        print(LINE.format(row.name, row.threads, f"{row.ratio:.2f}", goal, cpu, *figures).rstrip(), flush=True)
        self.rows.append(row)

    def missed(self) -> int:
        return sum(row.ratio < row.goal for row in self.rows)

    def write(self, path: pathlib.Path) -> None:
        record = {
            "suite": path.stem,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "cpu": first(r"^model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text()),
            "isa": first(r"instruction set (\w+)", output_of(str(ROOT / "build/release/heed"), "info")),
            "compiler": f"g++ {first(r'([0-9.]+)$', output_of('g++', '-dumpfullversion'))}",
            "notes": ["engines: " + "; ".join(self.versions), *self.notes],
            "rows": [filled(row) for row in self.rows],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        print(f"\nwritten to {path}")


def filled(row: Row) -> dict:
    return {key: value for key, value in dataclasses.asdict(row).items() if value not in (None, "")}
