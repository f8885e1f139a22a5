"""heed's inference against CTranslate2, ONNX Runtime, sentence-transformers and llama.cpp, on real models.

    ./run bench inference [translate|embed|generate] [--results DIR] [--quick]

Each engine is a process of its own that keeps its model loaded. They answer the same requests in turn, with the same
number of threads; the least of the times counts. A peer or model that is absent is skipped with one line.
"""

import argparse
import pathlib
import re

import embed_cases
import generate_cases
import materials
import translate_cases
from process import EngineError
from report import ROOT, Report

PARTS = {"translate": translate_cases.run, "embed": embed_cases.run, "generate": generate_cases.run}


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run bench inference", description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=PARTS, help="all without one")
    folder = ROOT / "benchmarks/results"
    parser.add_argument("--results", type=pathlib.Path, default=folder, help="folder of the record")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=7, help="times that each engine answers a request")
    parser.add_argument("--seconds", type=float, default=60, help="no further rounds of a case after this time")
    parser.add_argument("--only", type=re.compile, default="", help="cases whose group and name match this expression")
    parser.add_argument("--quick", action="store_true", help="small requests, two rounds, no record")
    options = parser.parse_args()
    if options.quick:
        options.rounds = 2
    return options


def measure(report: Report, options: argparse.Namespace) -> None:
    for name, run in PARTS.items():
        if options.part not in (None, name):
            continue
        try:
            run(report, options)
        except (materials.Skipped, EngineError) as why:
            report.note(str(why))


def main() -> None:
    options = parsed()
    report = Report()
    try:
        measure(report, options)
    except KeyboardInterrupt:
        report.note("interrupted: the rows are those measured until then")
    for row in report.memory:
        report.add(row)
    print(f"\n{report.missed()} of the goals above missed (marked !)")
    if not options.quick:
        report.write(options.results / f"inference{'-' + options.part if options.part else ''}.json")


if __name__ == "__main__":
    main()
