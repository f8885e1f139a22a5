"""PyTorch as the peer of the attention benchmark; peer.py describes the protocol.

    attention n=512 d=64 heads=8 kv_heads=8 variant=causal direction=both threads=1 mode=compile
        ok best_us=33000.1 median_us=33401.0 repeats=7 path=fused
    memory n=8192 variant=window direction=forward
        ok mb=612.4

An attention is warmed up (and compiled) at its first use and then timed for at least 10 ms a
repeat; `path` is the kernel that eager PyTorch uses. memory is the growth of the peak resident set by one
call, including tensors, and needs a fresh process. Only the tensors of the last case are kept, so request
its modes, directions and threads one after another.
"""

import math
import time

import peer
import torch

from attention_cases import DIRECTIONS, MODES, VARIANTS, Case, Problem

DEFAULTS = {
    "n": "512",
    "d": "64",
    "heads": "1",
    "kv_heads": "1",
    "variant": "none",
    "direction": "forward",
    "threads": "1",
    "mode": "eager",
    "repeats": "7",
}
LEAST_US = 10_000
WARM_UP_SECONDS = 0.1
# Each size is compiled separately, which gives the fastest code.
torch._dynamo.config.automatic_dynamic_shapes = False


class AttentionPeer:
    """Keeps one problem, and the number of calls per repeat for each of its works."""

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._works: dict[tuple[str, str, int], tuple] = {}

    def measure(self, options: peer.Options) -> str:
        mode = peer.one_of(options, "mode", MODES)
        direction = peer.one_of(options, "direction", DIRECTIONS)
        threads, repeats = peer.positive(options, "threads"), peer.positive(options, "repeats")
        torch.set_num_threads(threads)
        problem = self._make(case_of(options))
        run, calls = self._warm(problem, (mode, direction, threads))

        def repeat() -> None:
            for _ in range(calls):
                run()

        times = [peer.timed(repeat) / calls for _ in range(repeats)]
        return peer.fields(peer.summary(times) | {"path": problem.path(direction)})

    def _make(self, case: Case) -> Problem:
        if self._problem is None or self._problem.case != case:
            self._works.clear()
            self._problem = None
            torch._dynamo.reset()
            self._problem = Problem(case)
        return self._problem

    def _warm(self, problem: Problem, key: tuple[str, str, int]) -> tuple:
        """Compiled code is made for one number of threads, so each number has its own work."""
        if key not in self._works:
            mode, direction, _ = key
            run = problem.work(mode, direction)
            run()
            end = time.perf_counter() + WARM_UP_SECONDS
            once = peer.timed(run)
            while time.perf_counter() < end:
                once = min(once, peer.timed(run))
            self._works[key] = run, max(1, math.ceil(LEAST_US / once))
        return self._works[key]


def case_of(options: peer.Options) -> Case:
    numbers = {key: peer.positive(options, key) for key in ("n", "d", "heads", "kv_heads")}
    return Case(**numbers, variant=peer.one_of(options, "variant", VARIANTS))


def memory(options: peer.Options) -> str:
    torch.set_num_threads(peer.positive(options, "threads"))
    direction = peer.one_of(options, "direction", DIRECTIONS)
    small = {"n": "64", "heads": "1", "kv_heads": "1"}
    Problem(case_of(options | small)).work("eager", direction)()
    before = peer.peak_resident_kb()
    Problem(case_of(options)).work("eager", direction)()
    return peer.fields({"mb": f"{(peer.peak_resident_kb() - before) / 1024:.1f}"})


if __name__ == "__main__":
    peer.serve({"attention": AttentionPeer().measure, "memory": memory}, DEFAULTS)
