"""Requests answered by heed and by peers in turn, and the table row that comes of it."""

import dataclasses
import math
import time

from process import Engine
from report import Row


@dataclasses.dataclass
class Case:
    """One request. `units` counts what `unit` names, of all that the request computes."""

    group: str
    name: str
    threads: int
    request: dict
    units: int
    unit: str
    goal: float

    def wanted(self, options) -> bool:
        return options.only.search(f"{self.group}, {self.name}") is not None


@dataclasses.dataclass
class Best:
    wall: float = math.inf
    cpu: float = math.inf
    rounds: int = 0
    result: object = None

    def add(self, answer: dict) -> None:
        self.wall, self.cpu = min(self.wall, answer["wall"]), min(self.cpu, answer["cpu"])
        self.rounds += 1
        self.result = answer.get("result", self.result)


def in_turn(case: Case, engines: list[Engine], options) -> list[Best]:
    """A B A B …: options.rounds of them, or as many as begin within options.seconds. The first round also warms up,
    and shows the results."""
    best = [Best() for _ in engines]
    start = time.monotonic()
    for number in range(options.rounds):
        if time.monotonic() - start > options.seconds:
            break
        for engine, one in zip(engines, best):
            one.add(engine.run(case.request, show=number == 0))
    return best


def figure(case: Case, best: Best) -> str:
    rate = case.units / best.wall
    return f"{rate:.{1 if rate < 10 else 0}f} {case.unit}/s"


def compare(case: Case, engines: list[Engine], agreement, options) -> Row:
    """heed is the first engine. The yardstick is the fastest of the others in seconds elapsed; their least CPU
    seconds may be those of another one. `agreement` says how far two results are equal."""
    ours, *theirs = in_turn(case, engines, options)
    place = min(range(len(theirs)), key=lambda i: theirs[i].wall)
    fastest, label = theirs[place], engines[1 + place].label
    cpu = min(one.cpu for one in theirs)
    return Row(
        group=case.group,
        name=case.name,
        threads=case.threads,
        ratio=fastest.wall / ours.wall,
        goal=case.goal,
        ours=figure(case, ours),
        yardstick=f"{figure(case, fastest)} {label}",
        cpu_ratio=cpu / ours.cpu,
        cpu_seconds=f"{ours.cpu:.2f} / {cpu:.2f} s",
        rounds=ours.rounds,
        agreement=agreement(ours.result, fastest.result),
    )


def memory_row(name: str, threads: int, engines: list[Engine]) -> Row:
    """The peak resident memory of heed's process and of the smallest other."""
    ours, *theirs = engines
    smallest = min(theirs, key=lambda engine: engine.peak_kb)
    return Row(
        group="peak resident memory of a process, interpreter and libraries included",
        name=name,
        threads=threads,
        ratio=smallest.peak_kb / ours.peak_kb,
        goal=0.0,
        ours=f"{ours.peak_kb / 1024:.0f} MB",
        yardstick=f"{smallest.peak_kb / 1024:.0f} MB {smallest.label}",
    )
