#!/usr/bin/env python3
"""Shows in which kinds of kernels the training steps of a model spend their time, for all threads together.

    python3 tools/profile_by_kind.py build/release/heed_bench tiny --steps 20

Samples with `perf record` (Debian: linux-perf), sorts the samples by symbol and adds them up by the
first pattern of KINDS that matches. --symbols shows the largest symbols of each kind.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

# oneDNN generates its kernels at run time: they have no symbol, only an address.
KINDS = [
    ("set-up: weights and batches", r"RandomStream|heed::philox|generate<|logf|_sort|inflate|Corpus"),
    ("matrix products", r"^0x|dnnl|gemm|transpose_tiles|finish_tile|jit_"),
    (
        "attention",
        r"attention|run_cell|forward_block|ForwardBlock|BackwardCell|backward_cell|product_panel|"
        r"product_block|multiply_(tile|keys|unit)|weigh|raise_maxima|(un)?pack_transposed|hide_",
    ),
    ("output's loss", r"cross_entropy|exp_sum"),
    ("norms", r"norm_|Norm"),
    ("dropout", r"dropout"),
    ("optimiser", r"adam_|sgd_|Optimizer|clip|sum_of_squares"),
    ("embeddings", r"embedding|index|gather|scatter"),
    ("copies, sums, activations", r"copy|add_into|add_data|_run<|for_each_run|reduce|mem(cpy|set|move)"),
    ("waiting for work", r"gomp_|omp_|spin_lock|futex|barrier|sched_|schedule|Pool|pool|idle"),
    ("pages and allocation", r"clear_page|page_fault|pagevec|lru|malloc|_int_free|arena|mmap|madvise"),
]


def record(program: str, model: str, steps: int, data: pathlib.Path) -> None:
    command = ["perf", "record", "-q", "-F", "499", "-o", str(data), "--"]
    command += [program, "--model-point", "steps", model, str(steps)]
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        sys.exit("profile_by_kind: there is no perf: install linux-perf")
    except subprocess.CalledProcessError as error:
        sys.exit(f"profile_by_kind: perf failed ({error}); is kernel.perf_event_paranoid above 2?")


def samples(data: pathlib.Path) -> collections.Counter:
    """Samples by symbol."""
    command = ["perf", "script", "-i", str(data), "-F", "ip,sym"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return collections.Counter(symbol_of(line) for line in lines if line.strip())


def symbol_of(line: str) -> str:
    address, _, symbol = line.strip().partition(" ")
    return symbol.strip() if symbol.strip() not in ("", "[unknown]") else f"0x{address[:6]}"


def kind_of(symbol: str) -> str:
    return next((kind for kind, pattern in KINDS if re.search(pattern, symbol)), "everything else")


def report(found: collections.Counter, show_symbols: int) -> None:
    total = found.total()
    kinds: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for symbol, count in found.items():
        kinds[kind_of(symbol)][symbol] += count
    for kind, symbols in sorted(kinds.items(), key=lambda item: -item[1].total()):
        print(f"{100 * symbols.total() / total:6.1f} %  {kind}")
        for symbol, count in symbols.most_common(show_symbols):
            print(f"          {100 * count / total:6.1f} %  {symbol[:120]}")
    print(f"{total} samples")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="heed_bench")
    parser.add_argument("model", choices=("tiny", "base", "gpt"))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--symbols", type=int, default=0, help="show this many symbols of each kind")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "perf.data"
        record(arguments.program, arguments.model, arguments.steps, data)
        report(samples(data), arguments.symbols)


if __name__ == "__main__":
    main()
