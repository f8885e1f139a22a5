"""Goldens of ten training steps of one small network under several optimisers.

Every step has its own batch, so tensors carry the step as their first axis: in.x [10, 6, 7],
after.fc1.weight [10, 16, 7] and so on. Everything runs in double, including the optimiser's state.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from golden import Golden, Random, described, randomise, stored

STEPS, BATCH, FEATURES, HIDDEN, CLASSES = 10, 6, 7, 16, 5
LABEL_SMOOTHING = 0.1
EMA_DECAY = 0.99


class Network(nn.Module):
    """Linear 7->16, exact GELU, LayerNorm, Linear 16->5."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(FEATURES, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, eps=1e-5)
        self.fc2 = nn.Linear(HIDDEN, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(self.norm(F.gelu(self.fc1(x))))


@dataclass
class Recipe:
    name: str
    optimiser: type[torch.optim.Optimizer]
    options: dict[str, object]
    max_norm: float | None = None
    ema: bool = False


ADAM = {"lr": 1e-2, "betas": (0.9, 0.98), "eps": 1e-9, "weight_decay": 0.01}
SGD = {"lr": 5e-2, "momentum": 0.9, "weight_decay": 0.01}
RECIPES = [
    Recipe("optimiser_adamw", torch.optim.AdamW, ADAM, max_norm=1.0),
    Recipe("optimiser_adam_l2", torch.optim.Adam, ADAM),
    Recipe("optimiser_sgd", torch.optim.SGD, {"lr": 5e-2}),
    # Some steps are above this norm and some below.
    Recipe("optimiser_sgd_clipped", torch.optim.SGD, {"lr": 5e-2}, max_norm=2.0),
    Recipe("optimiser_sgd_momentum", torch.optim.SGD, SGD),
    Recipe("optimiser_sgd_nesterov", torch.optim.SGD, SGD | {"nesterov": True}),
    Recipe("optimiser_ema", torch.optim.AdamW, ADAM, max_norm=1.0, ema=True),
]


def goldens() -> Iterator[Golden]:
    for recipe in RECIPES:
        yield train(recipe)


def train(recipe: Recipe) -> Golden:
    random = Random("optimiser")  # the same network and batches for all
    network = randomise(Network(), random)
    xs = random.normal(STEPS, BATCH, FEATURES)
    targets = random.integers(CLASSES, STEPS, BATCH)
    initial = {k: v.detach().clone() for k, v in network.named_parameters()}
    optimiser = recipe.optimiser(network.parameters(), **recipe.options)

    losses, norms, after = [], [], {k: [] for k in initial}
    ema, ema_after = dict(initial), {k: [] for k in initial}
    for x, target in zip(xs, targets):
        optimiser.zero_grad()
        loss = F.cross_entropy(network(x), target, label_smoothing=LABEL_SMOOTHING)
        loss.backward()
        # The norm before clipping; clipping scales by max_norm / (norm + 1e-6) if that is below 1.
        limit = float("inf") if recipe.max_norm is None else recipe.max_norm
        norms.append(torch.nn.utils.clip_grad_norm_(network.parameters(), limit))
        optimiser.step()
        losses.append(loss.detach())
        for name, parameter in network.named_parameters():
            value = parameter.detach().clone()
            after[name].append(value)
            ema[name] = EMA_DECAY * ema[name] + (1 - EMA_DECAY) * value
            ema_after[name].append(ema[name])

    tensors = {"in.x": xs, "in.target": targets}
    tensors |= {f"param.{k}": v for k, v in initial.items()}
    tensors |= {"out.loss": torch.stack(losses), "out.grad_norm": torch.stack(norms)}
    tensors |= {f"after.{k}": torch.stack(v) for k, v in after.items()}
    if recipe.ema:
        tensors |= {f"ema.{k}": torch.stack(v) for k, v in ema_after.items()}
    return Golden(recipe.name, stored(tensors), described(metadata(recipe)))


def metadata(recipe: Recipe) -> dict[str, object]:
    result = {"label_smoothing": LABEL_SMOOTHING, "norm_eps": 1e-5} | recipe.options
    if recipe.max_norm is not None:
        result["max_norm"] = recipe.max_norm
    if recipe.ema:
        result["ema_decay"] = EMA_DECAY
    return result
