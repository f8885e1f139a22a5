"""PyTorch as a peer of heed's benchmarks: a process that reads requests line by line and times them.

    mlp threads=1 mode=eager repeats=7
        ok best_us=4260.1 median_us=4601.0 repeats=7 optimiser=fused
    versions
        ok torch=2.13.0 python=3.11.7 cpu=AVX2 mkldnn=true mkl=true
    cases
        ok mlp gru lstm
    quit

An invalid request is answered with `error <why>` and changes nothing. All peers share this module: the
protocol, timing and compiling. Import it before anything that may print.
"""

import os
import platform
import statistics
import sys
import time
import types
from collections.abc import Callable, Iterable

# Answers go to the real stdout; whatever libraries and compilers print there goes to stderr.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import torch  # noqa: E402

# After its limit of recompilations torch.compile silently falls back to eager mode.
torch._dynamo.config.recompile_limit = 64
torch._dynamo.config.fail_on_recompile_limit_hit = True

Options = dict[str, str]
Measure = Callable[[Options], str]


def serve(cases: dict[str, Measure], defaults: Options) -> None:
    """Answers requests for these cases, with these options, until `quit` or the end of input."""
    for line in sys.stdin:
        if not line.strip():
            continue
        if line.strip() == "quit":
            break
        try:
            print("ok", answer(cases, defaults, line), file=answers)
        except Exception as error:  # one short line for any error, because the driver reads lines
            print("error", " ".join(str(error).split())[:1000], file=answers)


def answer(cases: dict[str, Measure], defaults: Options, line: str) -> str:
    command, *words = line.split()
    if command == "versions":
        return versions()
    if command == "cases":
        return " ".join(cases)
    if command not in cases:
        raise ValueError(f"no case {command!r}; there are {', '.join(cases)}")
    return cases[command](parse_options(words, defaults))


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


def fields(values: Options) -> str:
    return " ".join(f"{k}={v}" for k, v in values.items())


def summary(times: list[float]) -> Options:
    """The fields of an answer for times in microseconds."""
    return {
        "best_us": f"{min(times):.1f}",
        "median_us": f"{statistics.median(times):.1f}",
        "repeats": str(len(times)),
    }


def parse_options(words: Iterable[str], defaults: Options) -> Options:
    options = dict(defaults)
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in defaults:
            raise ValueError(f"{word!r} is not one of " + ", ".join(f"{k}=" for k in defaults))
        options[key] = value
    return options


def positive(options: Options, key: str) -> int:
    value = options[key]
    if not value.isdecimal() or int(value) < 1:
        raise ValueError(f"{key}={value} is not a whole number from 1")
    return int(value)


def one_of(options: Options, key: str, allowed: Iterable[str]) -> str:
    if options[key] not in allowed:
        raise ValueError(f"{key}={options[key]} is not one of {', '.join(allowed)}")
    return options[key]


CPU_TIME = os.environ.get("HEED_BENCH_CLOCK") == "cpu"
clock = time.process_time_ns if CPU_TIME else time.perf_counter_ns


def timed(function: Callable[[], object]) -> float:
    """Microseconds of one call, of CPU time with HEED_BENCH_CLOCK=cpu."""
    start = clock()
    function()
    return (clock() - start) / 1000


def peak_resident_kb() -> int:
    """The peak of this process only; getrusage also includes the peak of the process that started it."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def compiled(function: Callable, **options: object) -> Callable:
    """A copy with its own code object: compiled code is cached by code object and must not be shared."""
    own = types.FunctionType(
        function.__code__.replace(), function.__globals__, closure=function.__closure__
    )
    return torch.compile(own, **options)
