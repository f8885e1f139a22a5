"""The operator inside the transforms of ``torch.func``.

They do not differentiate operators that are registered from Python, but functions of autograd with
a separate ``setup_context``.
"""

from __future__ import annotations

from typing import Any

import torch

from heed.torch import _operator
from heed.torch._vmap import vmap_backward, vmap_forward


class Sdpa(torch.autograd.Function):
    """``torch.ops.heed.sdpa``."""

    setup_context = staticmethod(_operator.save)

    @staticmethod
    def forward(*arguments: Any) -> torch.Tensor:
        return _operator.sdpa(*arguments)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return _operator.gradients(SdpaBackward.apply, ctx, gradient)

    @staticmethod
    def vmap(info: Any, dims: Any, *arguments: Any) -> Any:
        return vmap_forward(Sdpa.apply, info, dims, *arguments)


class SdpaBackward(torch.autograd.Function):
    """``torch.ops.heed.sdpa_backward``."""

    setup_context = staticmethod(_operator.save_backward)
    backward = staticmethod(_operator.second_derivatives)

    @staticmethod
    def forward(*arguments: Any) -> tuple[torch.Tensor, ...]:
        return _operator.sdpa_backward(*arguments)

    @staticmethod
    def vmap(info: Any, dims: Any, *arguments: Any) -> Any:
        return vmap_backward(SdpaBackward.apply, info, dims, *arguments)
