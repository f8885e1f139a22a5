"""The PyTorch side of the attention benchmark: one attention per variant, as users of PyTorch write it.

f32, one sequence of n queries and n keys. Eager and compiled code call
scaled_dot_product_attention; flex is the compiled flex_attention, which on a CPU has no backward.
"""

import dataclasses
from collections.abc import Callable

import torch
from peer import compiled
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

VARIANTS = ("none", "causal", "padding", "bias", "dropout", "window", "gqa")
DIRECTIONS = ("forward", "both")
MODES = ("eager", "compile", "flex")
WINDOW = 256
DROPOUT = 0.1
Attend = Callable[..., torch.Tensor]


@dataclasses.dataclass(frozen=True)
class Case:
    n: int
    d: int
    heads: int
    kv_heads: int
    variant: str


class Problem:
    """The tensors of a case, made once, and the ways to run it."""

    def __init__(self, case: Case) -> None:
        torch.manual_seed(20240229)
        self.case = case
        n, d = case.n, case.d
        shapes = [(1, heads, n, d) for heads in (case.heads, case.kv_heads, case.kv_heads)]
        if case.variant == "bias":
            shapes.append((1, case.heads, n, n))
        self._leaves = [torch.randn(*shape, requires_grad=True) for shape in shapes]
        self._dy = torch.randn(1, case.heads, n, d)
        self._arguments = sdpa_arguments(case)

    def path(self, direction: str) -> str:
        """The choice of scaled_dot_product_attention: the fused kernel or matrix products."""
        q, k, v, *bias = self._inputs(direction)
        arguments = self._arguments | ({"attn_mask": bias[0]} if bias else {})
        return "fused" if torch._fused_sdp_choice(q, k, v, **arguments) else "unfused"

    def work(self, mode: str, direction: str) -> Callable[[], object]:
        """The timed work: a call without gradients, or one with the gradients of all inputs."""
        if mode == "flex":
            attend = compiled(self._flex())
        else:
            attend = self._sdpa() if mode == "eager" else compiled(self._sdpa())
        inputs = self._inputs(direction)
        if direction == "both":
            return lambda: torch.autograd.grad(attend(*inputs), inputs, self._dy)

        def forward() -> None:
            with torch.no_grad():
                attend(*inputs)

        return forward

    def _inputs(self, direction: str) -> list[torch.Tensor]:
        """Detached for forward: a bias that requires a gradient would prevent the fused kernel."""
        return self._leaves if direction == "both" else [x.detach() for x in self._leaves]

    def _sdpa(self) -> Attend:
        arguments = self._arguments
        if self.case.variant == "bias":
            return lambda q, k, v, bias: scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return lambda q, k, v: scaled_dot_product_attention(q, k, v, **arguments)

    def _flex(self) -> Attend:
        if self.case.variant == "bias":
            return lambda q, k, v, bias: flex_attention(
                q, k, v, score_mod=lambda score, b, h, i, j: score + bias[b, h, i, j]
            )
        n, seen = self.case.n, flex_mask(self.case)
        mask = create_block_mask(seen, None, None, n, n, device="cpu") if seen else None
        gqa = self.case.heads != self.case.kv_heads
        return lambda q, k, v: flex_attention(q, k, v, block_mask=mask, enable_gqa=gqa)


def sdpa_arguments(case: Case) -> dict[str, object]:
    match case.variant:
        case "causal":
            return {"is_causal": True}
        case "padding":  # [1, 1, 1, n]: faster than expanded to [1, 1, n, n]
            return {"attn_mask": (torch.arange(case.n) < real_keys(case))[None, None, None, :]}
        case "window":  # in place, so that nothing is larger than the mask itself
            everything = torch.ones(case.n, case.n, dtype=torch.bool)
            return {"attn_mask": everything.tril_().triu_(1 - WINDOW)}
        case "dropout":
            return {"dropout_p": DROPOUT}
        case "gqa":
            return {"enable_gqa": True}
    return {}


def flex_mask(case: Case) -> Callable | None:
    """The mask for flex_attention."""
    real = real_keys(case)
    masks = {
        "causal": lambda b, h, i, j: i >= j,
        "padding": lambda b, h, i, j: j < real,
        "window": lambda b, h, i, j: (i >= j) & (i - j < WINDOW),
    }
    return masks.get(case.variant)


def real_keys(case: Case) -> int:
    """The number of keys of a padded sequence that are not padding."""
    return case.n * 3 // 4
