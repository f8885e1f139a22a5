"""Goldens of the layers that are neither recurrent nor convolutional."""

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional as F

from golden import Golden, Random, check_no_kink, differentiate, randomise

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}


def goldens() -> Iterator[Golden]:
    yield from linear()
    yield from embedding()
    yield from norms()
    yield from residual_norms()
    yield from feed_forward()


def linear() -> Iterator[Golden]:
    for activation, function in ACTIVATIONS.items():
        for bias in (True, False):
            name = "linear" if bias else "linear_no_bias"
            name += "" if activation == "none" else f"_{activation}"
            random = Random(name)
            module = randomise(nn.Linear(17, 13, bias=bias), random)
            x = random.normal(3, 7, 17)
            if activation == "relu":
                check_no_kink(module(x))
            metadata = {"activation": activation, "bias": bias}
            yield differentiate(name, lambda x: function(module(x)), {"x": x}, module, metadata)


def embedding() -> Iterator[Golden]:
    for name, padding_idx in {"embedding": None, "embedding_padding_idx": 2}.items():
        random = Random(name)
        module = randomise(nn.Embedding(17, 5, padding_idx=padding_idx), random)
        ids = random.integers(17, 3, 7)
        ids[0, :3] = torch.tensor([4, 4, 16])  # a repeated row and the last one
        metadata = {}
        if padding_idx is not None:
            with torch.no_grad():
                module.weight[padding_idx] = 0
            ids[1, 4:] = padding_idx
            metadata["padding_idx"] = padding_idx
        yield differentiate(name, lambda ids: module(ids), {"ids": ids}, module, metadata)


def norms() -> Iterator[Golden]:
    modules = {
        "layer_norm": nn.LayerNorm(17, eps=1e-5),
        "layer_norm_no_bias": nn.LayerNorm(17, eps=1e-5, bias=False),
        "layer_norm_no_affine": nn.LayerNorm(17, eps=1e-5, elementwise_affine=False),
        "rms_norm": nn.RMSNorm(17, eps=1e-6),
        "rms_norm_no_affine": nn.RMSNorm(17, eps=1e-6, elementwise_affine=False),
    }
    for name, module in modules.items():
        random = Random(name)
        randomise(module, random)
        x = random.normal(3, 7, 17, scale=2.0, mean=0.5)
        yield differentiate(name, lambda x: module(x), {"x": x}, module, {"eps": module.eps})


def residual_norms() -> Iterator[Golden]:
    """y = norm(x + r); the `_sum` files also output the sum, which pre-norm blocks need."""
    for kind, make in {"layer_norm": nn.LayerNorm, "rms_norm": nn.RMSNorm}.items():
        for suffix in ("residual", "residual_sum"):
            name = f"{kind}_{suffix}"
            random = Random(name)
            eps = 1e-5 if kind == "layer_norm" else 1e-6
            module = randomise(make(13, eps=eps), random)
            inputs = {"x": random.normal(3, 7, 13), "r": random.normal(3, 7, 13, mean=0.5)}

            def forward(x, r):
                total = x + r
                y = module(total)
                return {"y": y, "sum": total} if suffix == "residual_sum" else y

            yield differentiate(name, forward, inputs, module, {"eps": eps})


class FeedForward(nn.Module):
    """linear2(activation(linear1(x))), names as in nn.TransformerEncoderLayer."""

    def __init__(self, activation: str) -> None:
        super().__init__()
        self.linear1 = nn.Linear(7, 17)
        self.linear2 = nn.Linear(17, 7)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear2(self.activation(self.linear1(x)))


class GatedFeedForward(nn.Module):
    """SwiGLU: down(silu(gate(x)) * up(x)), names as in the Llama checkpoints."""

    def __init__(self) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(7, 17, bias=False)
        self.up_proj = nn.Linear(7, 17, bias=False)
        self.down_proj = nn.Linear(17, 7, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


def feed_forward() -> Iterator[Golden]:
    for activation in ("relu", "gelu", "gelu_tanh", "silu"):
        name = f"feed_forward_{activation}"
        random = Random(name)
        module = randomise(FeedForward(activation), random)
        x = random.normal(3, 5, 7)
        if activation == "relu":
            check_no_kink(module.linear1(x))
        metadata = {"activation": activation}
        yield differentiate(name, lambda x: module(x), {"x": x}, module, metadata)

    random = Random("feed_forward_swiglu")
    module = randomise(GatedFeedForward(), random)
    x = random.normal(3, 5, 7)
    yield differentiate("feed_forward_swiglu", lambda x: module(x), {"x": x}, module)
