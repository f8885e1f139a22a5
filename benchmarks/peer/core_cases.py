"""The PyTorch side of the core benchmark: each case is one unit of work, described in CASES.

All data is f32, drawn once from a fixed seed and outside the timed part.
"""

import functools
from collections.abc import Callable

import torch
from peer import compiled, timed
from torch import nn
from torch.nn import functional as F

Run = Callable[[], object]
ADAMW = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01}


class Work:
    """Something to time: `run` once, `reset` before each series of runs."""

    def __init__(self, run: Run, notes: dict[str, str] | None = None) -> None:
        self.run = run
        self.notes = notes or {}

    def reset(self) -> None:
        pass


class TrainingStep(Work):
    """zero_grad(set_to_none) + forward + mean cross entropy + backward + AdamW on one fixed batch.

    The fused and the multi-tensor AdamW are both tried first, and the faster one is used.
    """

    def __init__(self, model: nn.Module, x: torch.Tensor, wrap: Callable) -> None:
        super().__init__(self._step)
        self.model = model
        self.x = x
        self.target = torch.randint(0, 10, (x.shape[0],))
        self.loss = wrap(lambda x, target: F.cross_entropy(model(x), target))
        self.initial = [p.detach().clone() for p in model.parameters()]
        self.optimisers = {
            kind: torch.optim.AdamW(model.parameters(), **ADAMW, **{kind: True})
            for kind in ("fused", "foreach")
        }
        self.optimiser = self.optimisers["fused"]

    def _step(self) -> None:
        self.optimiser.zero_grad(set_to_none=True)
        self.loss(self.x, self.target).backward()
        self.optimiser.step()

    def choose_optimiser(self) -> None:
        self._step()  # makes gradients
        best = dict.fromkeys(self.optimisers, float("inf"))
        for _ in range(20):
            for kind, optimiser in self.optimisers.items():
                best[kind] = min(best[kind], timed(optimiser.step))
        kind = min(best, key=best.__getitem__)
        self.optimiser = self.optimisers[kind]
        self.notes["optimiser"] = kind

    def reset(self) -> None:
        """Back to the first update: long training on one batch would end in denormals."""
        with torch.no_grad():
            for parameter, value in zip(self.model.parameters(), self.initial, strict=True):
                parameter.copy_(value)
        for state in self.optimiser.state.values():
            for tensor in state.values():
                tensor.zero_()


class LastStepClassifier(nn.Module):
    """A one-layer recurrent net of 256 units and a linear head of 10 classes on its last output."""

    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__()
        self.rnn = kind(256, 256, num_layers=1, batch_first=True)
        self.head = nn.Linear(256, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.rnn(x)[0][:, -1])


def mlp(wrap: Callable) -> Work:
    model = nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )
    return TrainingStep(model, torch.randn(64, 784), wrap)


def gru(wrap: Callable) -> Work:
    return TrainingStep(LastStepClassifier(nn.GRU), torch.randn(32, 50, 256), wrap)


def lstm(wrap: Callable) -> Work:
    return TrainingStep(LastStepClassifier(nn.LSTM), torch.randn(32, 50, 256), wrap)


def layer_norm(wrap: Callable) -> Work:
    leaves = [torch.randn(*shape, requires_grad=True) for shape in ((8192, 512), (512,), (512,))]
    grad_out = torch.randn(8192, 512)
    forward = wrap(lambda x, weight, bias: F.layer_norm(x, (512,), weight, bias, 1e-5))

    def run() -> None:
        for leaf in leaves:
            leaf.grad = None
        forward(*leaves).backward(grad_out)

    return Work(run)


def gelu(wrap: Callable) -> Work:
    x = torch.randn(4 * 1024 * 1024)
    forward = wrap(lambda x: F.gelu(x))
    return Work(without_grad(lambda: forward(x)))


def matmul(wrap: Callable) -> Work:
    a, b = torch.randn(1024, 512), torch.randn(512, 512)
    forward = wrap(lambda a, b: a @ b)
    return Work(without_grad(lambda: forward(a, b)))


@functools.cache
def cross_entropy_data() -> tuple[torch.Tensor, torch.Tensor]:
    """131 MB, and as much for the gradient; shared by all modes."""
    return torch.randn(1024, 32000, requires_grad=True), torch.randint(0, 32000, (1024,))


def cross_entropy(wrap: Callable) -> Work:
    logits, target = cross_entropy_data()
    forward = wrap(lambda logits, target: F.cross_entropy(logits, target))

    def run() -> None:
        logits.grad = None
        forward(logits, target).backward()

    return Work(run)


def without_grad(function: Run) -> Run:
    def run() -> None:
        with torch.no_grad():
            function()

    return run


CASES: dict[str, tuple[Callable[[Callable], Work], str]] = {
    "mlp": (mlp, "training step of 784-512-512-10 with ReLU, batch 64"),
    "gru": (
        gru,
        "training step of GRU 256->256, length 50, batch 32, head 256->10 on the last output",
    ),
    "lstm": (lstm, "training step of LSTM 256->256, length 50, batch 32, head as for gru"),
    "layer_norm": (layer_norm, "8192x512 with weight and bias, forward and all three gradients"),
    "gelu": (gelu, "exact GELU of 4194304 elements into a new tensor, forward"),
    "matmul": (matmul, "[1024,512] @ [512,512] into a new tensor, forward"),
    "cross_entropy": (cross_entropy, "mean over 1024 rows of 32000 classes, forward and gradient"),
}


def make(case: str, mode: str) -> Work:
    """The work of a case, compiled by torch.compile unless the mode is eager."""
    torch.manual_seed(20240229)
    torch._dynamo.config.allow_rnn = mode == "unrolled"
    wrap = functools.partial(compiled, fullgraph=mode == "unrolled")
    return CASES[case][0]((lambda function: function) if mode == "eager" else wrap)
