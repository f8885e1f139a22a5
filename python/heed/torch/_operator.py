"""The operator ``torch.ops.heed.sdpa``: heed's attention as PyTorch's dispatcher sees it.

Tracers record it (``torch.compile``, ``torch.export``, ``make_fx``, ``torch.jit.trace``). The
transforms of ``torch.func`` reach it through ``_transforms.py``. Eager calls on plain tensors do
not need the dispatcher and are faster without it (``_attention.py``).

The operator has no state: ``seed`` is a tensor of one integer that decides what dropout drops, and
the backward operator runs the forward pass again, which costs about a third of its time.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Callable, Sequence

import torch
from torch import _C
from torch.utils.flop_counter import register_flop_formula

from heed import _core
from heed._functions import mask_and_dropout
from heed.torch._errors import as_runtime_error
from heed.torch._plain import lead_of, plain
from heed.torch._vmap import vmap_backward, vmap_forward

_library = torch.library.Library("heed", "DEF")

_ARGUMENTS = (
    "Tensor query, Tensor key, Tensor value, Tensor? attn_mask, float dropout_p, "
    "bool is_causal, float? scale, bool enable_gqa, Tensor? seed"
)
_library.define(f"sdpa({_ARGUMENTS}) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_library.define(
    f"sdpa_backward(Tensor gradient, {_ARGUMENTS}, bool[] needed)"
    " -> (Tensor, Tensor, Tensor, Tensor)",
    tags=(torch.Tag.pt2_compliant_tag,),
)
sdpa = torch.ops.heed.sdpa.default
sdpa_backward = torch.ops.heed.sdpa_backward.default


def stages(
    attn_mask: torch.Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
    seed: torch.Tensor | None,
) -> dict[str, Any]:
    """PyTorch's arguments as those of ``heed.attention``, without those that are its defaults."""
    mask, dropout = mask_and_dropout(attn_mask, dropout_p, is_causal)
    options: dict[str, Any] = {}
    if mask is not None:
        options["mask"] = mask
    if dropout:
        options["dropout"] = dropout
        options["seed"] = int(seed)  # type: ignore[arg-type]
    if scale is not None:
        options["scale"] = scale
    if enable_gqa:
        options["enable_gqa"] = True
    return options


def new_seed(dropout_p: float) -> torch.Tensor | None:
    """A seed from PyTorch's generator, if one is needed."""
    return torch.randint(2**62, (), device="cpu") if 0.0 < dropout_p < 1.0 else None


# ---- values --------------------------------------------------------------------------------------


def _empty_output(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, enable_gqa: bool
) -> torch.Tensor:
    """An output without values. Rows or heads are outermost as they are in the query."""
    lead, rows, columns = lead_of(query, key, value, enable_gqa), query.shape[-2], value.shape[-1]
    if query.dim() == 4 and len(lead) == 2 and query.stride(1) < query.stride(2):
        return query.new_empty((lead[0], rows, lead[1], columns)).transpose(1, 2)
    return query.new_empty((*lead, rows, columns))


def _laid_out_as(result: torch.Tensor, model: torch.Tensor) -> torch.Tensor:
    if result.stride() == model.stride():
        return result
    return model.copy_(result)


@torch.library.impl(_library, "sdpa", "CPU")
def _forward(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
    seed: torch.Tensor | None,
) -> torch.Tensor:
    try:
        options = stages(attn_mask, dropout_p, is_causal, scale, enable_gqa, seed)
        with torch.no_grad():
            output = _core.attention(query, key, value, **options)
    except _core.Error as error:
        raise as_runtime_error(error) from None
    return _laid_out_as(output, _empty_output(query, key, value, enable_gqa))


@torch.library.register_fake("heed::sdpa", lib=_library)
def _fake_forward(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *options: Any
) -> torch.Tensor:
    return _empty_output(query, key, value, options[4])


# ---- gradients -----------------------------------------------------------------------------------


@torch.library.impl(_library, "sdpa_backward", "CPU")
def _backward(
    gradient: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
    seed: torch.Tensor | None,
    needed: Sequence[bool],
) -> tuple[torch.Tensor, ...]:
    try:
        options = stages(attn_mask, dropout_p, is_causal, scale, enable_gqa, seed)
        found = _core.record(query, key, value, **options).backward(gradient, None, needed)
    except _core.Error as error:
        raise as_runtime_error(error) from None
    found += [None] * (4 - len(found))
    return tuple(query.new_empty(0) if g is None else g.contiguous() for g in found[:4])


@torch.library.register_fake("heed::sdpa_backward", lib=_library)
def _fake_backward(
    gradient: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None,
    *options: Any,
) -> tuple[torch.Tensor, ...]:
    needed = options[-1]
    return tuple(
        x.new_empty(x.shape) if x is not None and n else query.new_empty(0)
        for x, n in zip((query, key, value, attn_mask), needed)
    )


def save(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Keeps the arguments of ``sdpa`` for its gradients."""
    *tensors, dropout_p, is_causal, scale, enable_gqa, seed = inputs
    ctx.save_for_backward(*tensors, seed)
    ctx.options = (dropout_p, is_causal, scale, enable_gqa)


def gradients(
    function: Callable[..., Any], ctx: Any, gradient: torch.Tensor
) -> tuple[torch.Tensor | None, ...]:
    """The gradients of all arguments, by a function with the arguments of ``sdpa_backward``."""
    *tensors, seed = ctx.saved_tensors
    needed = list(ctx.needs_input_grad[:4])
    found = function(gradient, *tensors, *ctx.options, seed, needed)
    return (*(g if n else None for g, n in zip(found, needed)), *[None] * 5)


torch.library.register_autograd(
    "heed::sdpa",
    lambda ctx, gradient: gradients(sdpa_backward, ctx, gradient),
    setup_context=save,
    lib=_library,
)


def save_backward(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Keeps the arguments of ``sdpa_backward`` for second derivatives."""
    *tensors, dropout_p, is_causal, scale, enable_gqa, seed, needed = inputs
    ctx.save_for_backward(*tensors, seed)
    ctx.options = (dropout_p, is_causal, scale, enable_gqa)
    ctx.needed = list(needed)


def second_derivatives(ctx: Any, *tangents: torch.Tensor) -> tuple[Any, ...]:
    """The gradients of all arguments of ``sdpa_backward``, by PyTorch's own operations."""
    gradient, *learned, mask, seed = ctx.saved_tensors
    needed, options = ctx.needed, (*ctx.options, seed)
    if mask is not None and mask.is_floating_point():
        learned.append(mask)

    def output(*learned: torch.Tensor) -> torch.Tensor:
        query, key, value, *bias = learned
        return plain(query, key, value, bias[0] if bias else mask, *options)

    def first(gradient: torch.Tensor, *learned: torch.Tensor) -> tuple[torch.Tensor, ...]:
        _, pull = torch.func.vjp(output, *learned)
        return tuple(g for g, n in zip(pull(gradient), needed) if n)

    _, pull = torch.func.vjp(first, gradient, *learned)
    found = pull(tuple(t for t, n in zip(tangents, needed) if n))
    return (*found, *[None] * (11 - len(found)))


torch.library.register_autograd(
    "heed::sdpa_backward", second_derivatives, setup_context=save_backward, lib=_library
)


# ---- costs ---------------------------------------------------------------------------------------


def _products(query: Any, key: Any, value: Any, out: Any) -> list[int]:
    """The operations of Q K^T and of P V."""
    pairs = math.prod(out[:-1]) * key[-2]
    return [2 * pairs * query[-1], 2 * pairs * value[-1]]


@register_flop_formula(torch.ops.heed.sdpa)
def _flops(query: Any, key: Any, value: Any, *_: Any, out_shape: Any, **__: Any) -> int:
    return sum(_products(query, key, value, out_shape))


@register_flop_formula(torch.ops.heed.sdpa_backward)
def _backward_flops(gradient: Any, query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    scores, outputs = _products(query, key, value, gradient)
    return 3 * scores + 2 * outputs


# ---- autocast ------------------------------------------------------------------------------------


def autocast(*tensors: torch.Tensor | None) -> list[torch.Tensor | None]:
    """The tensors as PyTorch's autocast gives them to its own attention: all but f64 are cast."""
    dtype = torch.get_autocast_dtype("cpu")
    return [
        x if x is None or not x.is_floating_point() or x.dtype == torch.float64 else x.to(dtype)
        for x in tensors
    ]


def _autocast_forward(*arguments: Any) -> torch.Tensor:
    with _C._ExcludeDispatchKeyGuard(_C.DispatchKeySet(_C.DispatchKey.AutocastCPU)):
        return sdpa(*autocast(*arguments[:4]), *arguments[4:])


_library.impl("sdpa", _autocast_forward, "AutocastCPU")


# ---- vmap ----------------------------------------------------------------------------------------

torch.library.register_vmap("heed::sdpa", partial(vmap_forward, sdpa), lib=_library)
torch.library.register_vmap(
    "heed::sdpa_backward", partial(vmap_backward, sdpa_backward), lib=_library
)
