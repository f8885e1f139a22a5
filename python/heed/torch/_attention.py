"""heed's attention on PyTorch's tensors, with autograd.

Eager calls on plain tensors go straight to heed and keep its recorded call for the backward pass.
Where PyTorch does more than compute (tracers, transforms, forward mode, hooks), the call goes
through the operator of ``_operator.py``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import _C
from torch._C._functorch import is_legacy_batchedtensor
from torch.autograd import forward_ad
from torch.nn import functional
from torch.nn.attention.bias import CausalBias, CausalVariant

from heed import _core
from heed._functions import mask_and_dropout
from heed.torch import _operator, _transforms
from heed.torch._errors import Error, as_runtime_error
from heed.torch._plain import plain

PLAIN_TYPES = (torch.Tensor, torch.nn.Parameter)
pytorchs = functional.scaled_dot_product_attention
_PRE_DISPATCH = _C.DispatchKey.PreDispatch


def _is_transformed() -> bool:
    """Whether tensors may be something else than the memory that they point to."""
    return (
        _C._are_functorch_transforms_active()
        or _C._get_tracing_state() is not None
        or forward_ad._current_level >= 0
    )


def _is_plain(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: torch.Tensor | None
) -> bool:
    """Whether the call is eager and on plain tensors: heed can compute it without the dispatcher.

    Every call asks this, so it is written for speed.
    """
    return not (
        _C._are_functorch_transforms_active()
        or _C._get_tracing_state() is not None
        or forward_ad._current_level >= 0
        or _C._len_torch_dispatch_stack()
        or _C._dispatch_tls_is_dispatch_key_included(_PRE_DISPATCH)
        # Activation checkpointing: a recorded call would keep what the hooks want to let go.
        or _C._autograd._top_saved_tensors_default_hooks(True) is not None
        or type(query) not in PLAIN_TYPES
        or type(key) not in PLAIN_TYPES
        or type(value) not in PLAIN_TYPES
        or (attn_mask is not None and type(attn_mask) not in PLAIN_TYPES)
    )


def _is_empty(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> bool:
    """Whether there are no heads or no features, which heed does not take."""
    return any(x.shape[-1] == 0 or 0 in x.shape[-3:-2] for x in (query, key, value))


def _dispatched(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
    seed: torch.Tensor | None = None,
) -> torch.Tensor:
    """The call as PyTorch's tracers and transforms see it."""
    mask_and_dropout(attn_mask, dropout_p, is_causal)
    if not torch.jit.is_tracing() and _is_empty(query, key, value):
        return pytorchs(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        )
    if seed is None:
        seed = _operator.new_seed(dropout_p)
    function = _operator.sdpa
    if not torch.compiler.is_compiling():
        if forward_ad._current_level >= 0:  # the operator has no forward-mode derivative
            function = plain
        elif _C._are_functorch_transforms_active():
            function = _transforms.Sdpa.apply
    return function(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, seed)


# ---- scaled_dot_product_attention ----------------------------------------------------------------


class _Sdpa(torch.autograd.Function):
    """One recorded call with the arguments of scaled_dot_product_attention."""

    @staticmethod
    def forward(
        ctx: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attn_mask: torch.Tensor | None,
        options: tuple[Any, ...],
    ) -> torch.Tensor:
        call = _core.record(query, key, value, **_operator.stages(attn_mask, *options))
        output = call.results()
        # Saved, with the output, so that autograd checks that they were not changed in place.
        ctx.save_for_backward(query, key, value, attn_mask, output)
        ctx.recorded = call, options
        return output

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        *tensors, _ = ctx.saved_tensors
        call, options = ctx.recorded
        needed = ctx.needs_input_grad[:4]
        if torch.is_grad_enabled() or _is_transformed() or is_legacy_batchedtensor(gradient):
            function = _operator.sdpa_backward
            if _C._are_functorch_transforms_active():
                function = _transforms.SdpaBackward.apply
            found = function(gradient, *tensors, *options, list(needed))
            found = [g if n else None for g, n in zip(found, needed)]
        else:
            found = call.backward(gradient, None, needed)
        return (*found, *_NONE[len(found) :])


_NONE = (None,) * 5
# Function.apply without its Python part, which is for torch.func and takes half of the time.
_apply = super(torch.autograd.Function, _Sdpa).apply


def _check_mask(attn_mask: torch.Tensor, query: torch.Tensor) -> None:
    dtype = attn_mask.dtype
    if dtype not in (torch.bool, torch.float32, query.dtype):
        raise Error(
            f"[attention] attn_mask is {dtype}, the query {query.dtype}: a mask is bool, float32 "
            "or of the query's dtype"
        )
    if attn_mask.dim() < 2:
        raise Error(
            f"[attention] attn_mask is {list(attn_mask.shape)}: it needs at least two axes, "
            "queries and keys"
        )


def _without_causal_bias(
    attn_mask: CausalBias, is_causal: bool
) -> tuple[torch.Tensor | None, bool]:
    """PyTorch's lazy causal masks as attn_mask and is_causal."""
    if is_causal:
        raise Error("[attention] a CausalBias goes without is_causal=True")
    if (
        attn_mask.variant == CausalVariant.UPPER_LEFT
        or attn_mask.seq_len_q == attn_mask.seq_len_kv
    ):
        return None, True
    return attn_mask._materialize(), False


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """``torch.nn.functional.scaled_dot_product_attention``, computed by heed.

    It works inside autograd to any order, ``torch.func``, autocast, ``torch.compile``,
    ``torch.export`` and ``torch.jit.trace``, as the operator ``torch.ops.heed.sdpa``. Second and
    forward-mode derivatives are computed by PyTorch's own operations.
    """
    if isinstance(attn_mask, CausalBias):
        attn_mask, is_causal = _without_causal_bias(attn_mask, is_causal)
    if torch.is_autocast_enabled("cpu"):
        query, key, value, attn_mask = _operator.autocast(query, key, value, attn_mask)
    if attn_mask is not None:
        _check_mask(attn_mask, query)
    if torch.compiler.is_compiling() or not _is_plain(query, key, value, attn_mask):
        return _dispatched(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    seed = _operator.new_seed(dropout_p) if dropout_p else None
    options = (dropout_p, is_causal, scale, enable_gqa, seed)
    try:
        if torch.is_grad_enabled() and (
            query.requires_grad
            or key.requires_grad
            or value.requires_grad
            or (attn_mask is not None and attn_mask.requires_grad)
        ):
            return _apply(query, key, value, attn_mask, options)
        return _core.attention(query, key, value, **_operator.stages(attn_mask, *options))
    except _core.Error as error:
        if not _is_empty(query, key, value):
            raise as_runtime_error(error) from None
    return pytorchs(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )


# ---- attention -----------------------------------------------------------------------------------


def _arrays(options: dict[str, Any]) -> list[torch.Tensor]:
    """The tensors among the options, in the order of a recorded call's gradients."""
    modifiers = options.get("modifiers", ())
    if isinstance(modifiers, _core.Stage):
        modifiers = (modifiers,)
    stages = [options.get("score"), *modifiers]
    found = [a for stage in stages if isinstance(stage, _core.Stage) for a in stage.arrays]
    mask = options.get("mask")
    if isinstance(mask, torch.Tensor) and mask.dtype != torch.bool:
        found.append(mask)
    normaliser = options.get("normaliser")
    if isinstance(normaliser, _core.Stage):
        found += normaliser.arrays
    return found


_ONCE = (
    "[attention] heed.torch.attention has no second derivative: use "
    "heed.torch.scaled_dot_product_attention"
)


class _Once(torch.autograd.Function):
    """Returns gradients unchanged. Differentiating them again is an error, never 0.

    The tensors that they depend on are inputs too, so that autograd finds its way here.
    """

    @staticmethod
    def forward(ctx: Any, count: int, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tensors[:count]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise Error(_ONCE)


class _Attention(torch.autograd.Function):
    """One recorded call. Its inputs are the options and all tensors that gradients may go to."""

    @staticmethod
    def forward(ctx: Any, options: dict[str, Any], *tensors: Any) -> Any:
        ctx.call = _core.record(*tensors[:3], **options)
        results = ctx.call.results()
        results = results if isinstance(results, tuple) else (results,)
        # Saved, with the output, so that autograd checks that they were not changed in place.
        ctx.save_for_backward(*(t for t in tensors if isinstance(t, torch.Tensor)), results[0])
        ctx.set_materialize_grads(False)
        weights = int(options.get("return_weights", False))
        ctx.lse = 1 + weights if options.get("return_lse") else None
        differentiable = {0, ctx.lse}
        ctx.mark_non_differentiable(*(r for i, r in enumerate(results) if i not in differentiable))
        return results if len(results) > 1 else results[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        *tensors, _ = ctx.saved_tensors  # raises if one of them was changed in place
        d_output, d_lse = gradients[0], gradients[ctx.lse] if ctx.lse is not None else None
        needed = list(ctx.needs_input_grad[1:])
        if d_output is None and d_lse is None:
            return (None,) * (1 + len(needed))
        given = [g for g in (d_output, d_lse) if g is not None]
        if _is_transformed() or any(is_legacy_batchedtensor(g) for g in given):
            raise Error(
                "[attention] heed.torch.attention has no batched gradients: compute one at a time, "
                "or use heed.torch.scaled_dot_product_attention"
            )
        found = [g for g in ctx.call.backward(d_output, d_lse, needed) if g is not None]
        if torch.is_grad_enabled():
            found = list(_Once.apply(len(found), *found, *given, *tensors))
        results = iter(found)
        return (None, *(next(results) if n else None for n in needed))


_OF_THE_OPERATOR = {"mask", "dropout", "seed", "scale", "enable_gqa"}


def _transformed(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, options: dict[str, Any]
) -> torch.Tensor:
    """A call of attention that the operator can express."""
    mask = options.get("mask")
    stages = {name for name in options if name not in _OF_THE_OPERATOR and options[name]}
    if isinstance(mask, _core.Mask):
        stages.add("mask")
    if stages:
        raise Error(
            f"[attention] {', '.join(sorted(stages))}: inside torch.func, torch.jit.trace, make_fx "
            "and forward mode heed.torch.attention takes only what "
            "torch.nn.functional.scaled_dot_product_attention can do"
        )
    seed = options.get("seed")
    return _dispatched(
        query,
        key,
        value,
        mask,
        options.get("dropout", 0.0),
        False,
        options.get("scale"),
        options.get("enable_gqa", False),
        None if seed is None else torch.tensor(seed),
    )


def _is_traced() -> bool:
    """Whether a tracer or FakeTensors see PyTorch's operators, and nothing else."""
    if _is_transformed() or _C._dispatch_tls_is_dispatch_key_included(_PRE_DISPATCH):
        return True
    modes = _C._TorchDispatchModeKey
    return _C._len_torch_dispatch_stack() > 0 and any(
        _C._get_dispatch_mode(mode) is not None
        for mode in (modes.FAKE, modes.PROXY, modes.FUNCTIONAL)
    )


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    past_key: torch.Tensor | None = None,
    past_value: torch.Tensor | None = None,
    return_present: bool = False,
    **options: Any,
) -> Any:
    """``heed.attention`` with gradients to q, k, v, to the tensors of stages and to a float mask.

    All options of ``heed.attention`` but ``out``. The log-sum-exp is differentiable, weights and
    scores are not. There are no second derivatives, and ``torch.compile`` does not look inside;
    ``scaled_dot_product_attention`` has both.
    """
    if torch.compiler.is_compiling():
        return _uncompiled(
            q,
            k,
            v,
            past_key=past_key,
            past_value=past_value,
            return_present=return_present,
            **options,
        )
    if (past_key is None) != (past_value is None):
        raise Error("[attention] past_key and past_value go together: give both or none")
    if past_key is not None:
        k, v = torch.cat((past_key, k), -2), torch.cat((past_value, v), -2)
    mask = options.get("mask")
    if isinstance(mask, CausalBias):
        lower = mask.variant == CausalVariant.LOWER_RIGHT
        options["mask"] = _core.causal("bottom_right" if lower else "top_left")
    if torch.is_autocast_enabled("cpu"):
        q, k, v = _operator.autocast(q, k, v)
    try:
        if _is_traced():
            result = _transformed(q, k, v, options)
        else:
            result = _attend(q, k, v, options)
    except _core.Error as error:
        raise as_runtime_error(error) from None
    if not return_present:
        return result
    return (*result, k, v) if isinstance(result, tuple) else (result, k, v)


def _attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, options: dict[str, Any]
) -> Any:
    if options.get("dropout") and options.get("seed") is None:
        options["seed"] = int(torch.randint(2**62, ()))
    tensors = (q, k, v, *_arrays(options))
    if torch.is_grad_enabled() and any(getattr(t, "requires_grad", False) for t in tensors):
        return _Attention.apply(options, *tensors)
    return _core.attention(q, k, v, **options)


_uncompiled = torch.compiler.disable(attention)
