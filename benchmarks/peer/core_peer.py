"""PyTorch as the peer of the core benchmark; peer.py describes the protocol.

The first use of a case, mode and thread count warms up (and compiles) before it is timed. The modes
are eager, compile (torch.compile with its defaults, which leaves GRU and LSTM one eager call) and,
only for gru, unrolled (torch.compile through the 50 steps: minutes to compile, cached on disk
afterwards).
"""

import functools

import peer
import torch

import core_cases

MODES = ("eager", "compile", "unrolled")
WARM_UP_RUNS = 3
DEFAULTS = {"threads": "1", "mode": "eager", "repeats": "7"}


class CorePeer:
    """Keeps the work of every requested case, so that only its first use is slow."""

    def __init__(self) -> None:
        self._works: dict[tuple[str, str, int], core_cases.Work] = {}

    def measure(self, case: str, options: peer.Options) -> str:
        mode = options["mode"]
        threads, repeats = peer.positive(options, "threads"), peer.positive(options, "repeats")
        if mode not in MODES or (mode == "unrolled" and case != "gru"):
            raise ValueError(f"{case} has no mode {mode}")
        torch.set_num_threads(threads)
        work = self._warm(case, mode, threads)
        work.reset()
        times = [peer.timed(work.run) for _ in range(repeats)]
        return peer.fields(peer.summary(times) | work.notes)

    def _warm(self, case: str, mode: str, threads: int) -> core_cases.Work:
        """Compiled code is made for one number of threads, so each number has its own work."""
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


if __name__ == "__main__":
    core = CorePeer()
    peer.serve({case: functools.partial(core.measure, case) for case in core_cases.CASES}, DEFAULTS)
