"""Goldens of learning-rate schedules, by their plain formulas.

in.step is the number of the update, from 1; out.lr is the rate that update uses.
"""

import math
from collections.abc import Callable, Iterator

import torch

from golden import Golden, described

LR = 5e-3


def constant(step: int) -> float:
    return LR


def constant_warmup(step: int, warmup: int = 10) -> float:
    return LR * min(1.0, step / warmup)


def inverse_sqrt(step: int, warmup: int = 20, init_lr: float = 1e-7) -> float:
    """fairseq's: linear from init_lr to LR, then LR * sqrt(warmup / step)."""
    if step < warmup:
        return init_lr + step * (LR - init_lr) / warmup
    return LR * math.sqrt(warmup) / math.sqrt(step)


def noam(step: int, d_model: int = 512, warmup: int = 4000, factor: float = 1.0) -> float:
    """Vaswani et al. 2017, section 5.3."""
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def cosine(step: int, warmup: int = 10, total: int = 60, min_lr: float = 5e-4) -> float:
    """Linear from 0 to LR, half a cosine down to min_lr at step total, min_lr from there on."""
    if step < warmup:
        return LR * step / warmup
    progress = min(1.0, (step - warmup) / (total - warmup))
    return min_lr + (LR - min_lr) * 0.5 * (1 + math.cos(math.pi * progress))


def linear(step: int, warmup: int = 10, total: int = 60) -> float:
    """Linear from 0 to LR, linear down to 0 at step total, 0 from there on."""
    if step < warmup:
        return LR * step / warmup
    return LR * max(0.0, (total - step) / (total - warmup))


EARLY = tuple(range(1, 71))
SCHEDULES: dict[str, tuple[Callable[[int], float], tuple[int, ...]]] = {
    "constant": (constant, EARLY),
    "constant_warmup": (constant_warmup, EARLY),
    "inverse_sqrt": (inverse_sqrt, EARLY + (1000, 100_000)),
    "noam": (noam, EARLY + (3998, 3999, 4000, 4001, 4002, 16_000, 100_000)),
    "cosine": (cosine, EARLY),
    "linear": (linear, EARLY),
}


def goldens() -> Iterator[Golden]:
    for name, (formula, steps) in SCHEDULES.items():
        rates = torch.tensor([formula(s) for s in steps], dtype=torch.float64)
        tensors = {"in.step": torch.tensor(steps), "out.lr": rates.float()}
        yield Golden(f"schedule_{name}", tensors, described(metadata(name, formula)))


def metadata(name: str, formula: Callable[[int], float]) -> dict[str, object]:
    names = formula.__code__.co_varnames[1 : formula.__code__.co_argcount]
    options = dict(zip(names, formula.__defaults__ or ()))
    return options if name == "noam" else {"lr": LR} | options
