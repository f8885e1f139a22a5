"""The content of a golden file, and the function that makes it from a forward pass.

Everything is computed in double and stored as f32. Random values are multiples of 1/1024, so inputs
are the same numbers in both types.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch

Tensors = dict[str, torch.Tensor]
# Upstream gradient of a scalar output: not 1, so that a backward pass that ignores it is caught.
SCALAR_GRAD_OUT = 1.5


@dataclass
class Golden:
    """One file under tests/golden."""

    name: str
    tensors: Tensors
    metadata: dict[str, str] = field(default_factory=dict)


class Random:
    """Reproducible values for one golden; NumPy guarantees that RandomState never changes."""

    def __init__(self, name: str) -> None:
        self._state = np.random.RandomState(zlib.crc32(name.encode()))

    def normal(self, *shape: int, scale: float = 1.0, mean: float = 0.0) -> torch.Tensor:
        values = self._state.standard_normal(shape) * scale + mean
        return on_grid(torch.as_tensor(np.asarray(values)))

    def distinct(self, *shape: int) -> torch.Tensor:
        """Distinct values of about unit size, so that a maximum has no ties."""
        count = int(np.prod(shape))
        order = self._state.permutation(count).reshape(shape)
        return torch.as_tensor((order - count // 2) / 256.0)

    def integers(self, high: int, *shape: int) -> torch.Tensor:
        return torch.as_tensor(self._state.randint(0, high, size=shape), dtype=torch.int64)

    def mask(self, *shape: int, share: float = 0.5) -> torch.Tensor:
        return torch.as_tensor(self._state.random_sample(shape) < share)


def on_grid(values: torch.Tensor) -> torch.Tensor:
    return torch.round(values.double() * 1024) / 1024


def randomise(module: torch.nn.Module, random: Random) -> torch.nn.Module:
    """The module in double with random parameters: weights by fan-in, norm scales around 1."""
    module.double()
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            shape = tuple(parameter.shape)
            if len(shape) > 1:
                fan_in = int(np.prod(shape[1:]))
                parameter.copy_(random.normal(*shape, scale=fan_in**-0.5))
            else:
                is_norm_scale = name.rsplit(".", 1)[-1] == "weight"
                parameter.copy_(random.normal(*shape, scale=0.25, mean=float(is_norm_scale)))
    return module


def check_no_kink(pre_activation: torch.Tensor) -> None:
    """Fails if an input of a ReLU is so near 0 that it may have the other sign in f32."""
    smallest = pre_activation.abs().min().item()
    assert smallest > 1e-5, f"a ReLU input of size {smallest}: choose another name or seed"


def differentiate(
    name: str,
    forward: Callable[..., torch.Tensor | Tensors],
    inputs: Tensors,
    module: torch.nn.Module | None = None,
    metadata: dict[str, object] | None = None,
) -> Golden:
    """Runs `forward(**inputs)` and pushes random upstream gradients back through it.

    A single output is called y. Floating inputs and the module's parameters get gradients.
    """
    leaves = {k: v.clone().requires_grad_(v.is_floating_point()) for k, v in inputs.items()}
    parameters = dict(module.named_parameters()) if module else {}
    assert not leaves.keys() & parameters.keys()

    result = forward(**leaves)
    outputs = result if isinstance(result, dict) else {"y": result}
    random = Random(name + "/grad_out")
    grad_outs = {
        k: random.normal(*v.shape) if v.dim() else torch.tensor(SCALAR_GRAD_OUT, dtype=v.dtype)
        for k, v in outputs.items()
    }
    torch.autograd.backward(list(outputs.values()), list(grad_outs.values()))

    tensors = {f"in.{k}": v for k, v in inputs.items()}
    tensors |= {f"param.{k}": v for k, v in parameters.items()}
    tensors |= {f"out.{k}": v for k, v in outputs.items()}
    tensors |= {f"grad_out.{k}": v for k, v in grad_outs.items()}
    differentiable = leaves | parameters
    tensors |= {f"grad.{k}": v.grad for k, v in differentiable.items() if v.requires_grad}
    return Golden(name, stored(tensors), described(metadata or {}))


def stored(tensors: Tensors) -> Tensors:
    """Tensors as stored in the file: f32 for all floating-point types."""
    return {
        k: v.detach().float() if v.is_floating_point() else v.detach() for k, v in tensors.items()
    }


def described(metadata: dict[str, object]) -> dict[str, str]:
    """Metadata as strings: 0.1, true, 2,1."""

    def text(value: object) -> str:
        if isinstance(value, (tuple, list)):
            return ",".join(text(v) for v in value)
        return str(value).lower() if isinstance(value, bool) else str(value)

    return {k: text(v) for k, v in metadata.items()}
