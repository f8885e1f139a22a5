"""PyTorch as the peer of the core benchmark: a process that times what it is told, line by line.

    mlp threads=1 mode=eager repeats=7
        ok best_us=4260.1 median_us=4601.0 repeats=7 optimiser=fused
    versions
        ok torch=2.13.0 python=3.11.7 cpu=AVX2 mkldnn=true mkl=true
    cases
        ok mlp gru lstm layer_norm gelu matmul cross_entropy
    quit

A request that makes no sense is answered with `error <why>` and changes nothing. The first use of a
case, mode and thread count warms up (and compiles) before it is timed. The modes are eager, compile
(torch.compile with its defaults, which leaves GRU and LSTM one eager call) and, for gru alone,
unrolled (torch.compile through the 50 steps: minutes to compile, cached on disk afterwards).
"""

import os
import platform
import statistics
import sys
from collections.abc import Iterable

# Answers go to the real stdout; whatever libraries and compilers print there goes to stderr.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import torch  # noqa: E402

import core_cases  # noqa: E402

MODES = ("eager", "compile", "unrolled")
WARM_UP_RUNS = 3
DEFAULTS = {"threads": "1", "mode": "eager", "repeats": "7"}
# Past its limit of recompilations torch.compile goes back to eager without a word.
torch._dynamo.config.recompile_limit = 64
torch._dynamo.config.fail_on_recompile_limit_hit = True


class Peer:
    """Keeps the work of every case asked for, so that only its first use is slow."""

    def __init__(self) -> None:
        self._works: dict[tuple[str, str, int], core_cases.Work] = {}

    def measure(self, case: str, options: dict[str, str]) -> str:
        mode = options["mode"]
        threads, repeats = positive(options, "threads"), positive(options, "repeats")
        if mode not in MODES or (mode == "unrolled" and case != "gru"):
            raise ValueError(f"{case} has no mode {mode}")
        torch.set_num_threads(threads)
        work = self._warm(case, mode, threads)
        work.reset()
        times = [core_cases.timed(work.run) for _ in range(repeats)]
        answer = {"best_us": f"{min(times):.1f}", "median_us": f"{statistics.median(times):.1f}"}
        return fields(answer | {"repeats": str(repeats)} | work.notes)

    def _warm(self, case: str, mode: str, threads: int) -> core_cases.Work:
        """Compiled code is made for one number of threads, so each number has work of its own."""
        key = (case, mode, threads)
        if key not in self._works:
            work = core_cases.make(case, mode)
            for _ in range(WARM_UP_RUNS):
                work.run()
            if isinstance(work, core_cases.TrainingStep):
                work.choose_optimiser()
                work.run()
            self._works[key] = work
        return self._works[key]


def versions() -> str:
    return fields(
        {
            "torch": torch.__version__,
            "python": platform.python_version(),
            "cpu": torch.backends.cpu.get_cpu_capability(),
            "mkldnn": str(torch.backends.mkldnn.is_available()).lower(),
            "mkl": str(torch.backends.mkl.is_available()).lower(),
        }
    )


def fields(values: dict[str, str]) -> str:
    return " ".join(f"{k}={v}" for k, v in values.items())


def parse_options(words: Iterable[str]) -> dict[str, str]:
    options = dict(DEFAULTS)
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in DEFAULTS:
            raise ValueError(f"{word!r} is not one of " + ", ".join(f"{k}=" for k in DEFAULTS))
        options[key] = value
    return options


def positive(options: dict[str, str], key: str) -> int:
    value = options[key]
    if not value.isdecimal() or int(value) < 1:
        raise ValueError(f"{key}={value} is not a whole number from 1")
    return int(value)


def answer(peer: Peer, line: str) -> str:
    command, *words = line.split()
    if command == "versions":
        return versions()
    if command == "cases":
        return " ".join(core_cases.CASES)
    if command not in core_cases.CASES:
        raise ValueError(f"no case {command!r}; there are {', '.join(core_cases.CASES)}")
    return peer.measure(command, parse_options(words))


def main() -> None:
    peer = Peer()
    for line in sys.stdin:
        if not line.strip():
            continue
        if line.strip() == "quit":
            break
        try:
            print("ok", answer(peer, line), file=answers)
        except Exception as error:  # one short line, whatever went wrong: the driver reads lines
            print("error", " ".join(str(error).split())[:1000], file=answers)


if __name__ == "__main__":
    main()
