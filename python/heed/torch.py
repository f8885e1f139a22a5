"""heed's attention on PyTorch's tensors, with autograd.

To use it in a whole model:

>>> with heed.torch.replace_sdpa():
...     model(x)
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Iterator

import torch
from torch.nn import functional
from torch.autograd.function import once_differentiable

from heed import _core
from heed._functions import mask_and_dropout

__all__ = [
    "Error",
    "MultiheadAttention",
    "attention",
    "replace_sdpa",
    "scaled_dot_product_attention",
]


class Error(_core.Error, RuntimeError):
    """heed's error that is also a RuntimeError, as PyTorch would raise."""


@contextlib.contextmanager
def _as_runtime_error() -> Iterator[None]:
    try:
        yield
    except Error:
        raise
    except _core.Error as error:
        raise Error(str(error)) from None


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


class _Attention(torch.autograd.Function):
    """One recorded call. Its inputs are the options and all tensors that gradients may go to."""

    @staticmethod
    def forward(ctx: Any, options: dict[str, Any], *tensors: Any) -> Any:
        ctx.call = _core.record(*tensors[:3], **options)
        results = ctx.call.results()
        results = results if isinstance(results, tuple) else (results,)
        # Saved, with the output, so that autograd checks that they were not changed in place.
        ctx.save_for_backward(
            *(t for t in tensors if isinstance(t, torch.Tensor)), results[0]
        )
        ctx.set_materialize_grads(False)
        weights = int(options.get("return_weights", False))
        ctx.lse = 1 + weights if options.get("return_lse") else None
        differentiable = {0, ctx.lse}
        ctx.mark_non_differentiable(
            *(r for i, r in enumerate(results) if i not in differentiable)
        )
        return results if len(results) > 1 else results[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Any) -> Any:
        ctx.saved_tensors  # noqa: B018, raises if one of them was changed in place
        d_lse = gradients[ctx.lse] if ctx.lse is not None else None
        needed = list(ctx.needs_input_grad[1:])
        if gradients[0] is None and d_lse is None:
            return (None,) * (1 + len(needed))
        return (None, *ctx.call.backward(gradients[0], d_lse, needed))


@torch.compiler.disable
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
    scores are not.
    """
    with _as_runtime_error():
        if (past_key is None) != (past_value is None):
            raise _core.Error("[attention] past_key and past_value go together: give both or none")
        if past_key is not None:
            k, v = torch.cat((past_key, k), -2), torch.cat((past_value, v), -2)
        if options.get("dropout") and options.get("seed") is None:
            options["seed"] = int(torch.randint(2**62, ()))
        tensors = (q, k, v, *_arrays(options))
        tracked = any(getattr(t, "requires_grad", False) for t in tensors)
        if tracked and torch.is_grad_enabled():
            result = _Attention.apply(options, *tensors)
        else:
            result = _core.attention(q, k, v, **options)
    if not return_present:
        return result
    return (*result, k, v) if isinstance(result, tuple) else (result, k, v)


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
    """``torch.nn.functional.scaled_dot_product_attention``, computed by heed."""
    with _as_runtime_error():
        mask, dropout = mask_and_dropout(attn_mask, dropout_p, is_causal)
    return attention(
        query, key, value, mask=mask, dropout=dropout, scale=scale, enable_gqa=enable_gqa
    )


# ---- replacing PyTorch's attention ---------------------------------------------------------------

_DTYPES = (torch.float32, torch.bfloat16, torch.float64, torch.float16)
_original = functional.scaled_dot_product_attention
_lock = threading.Lock()
_depth = 0
_thread = threading.local()


def _is_ours(*tensors: Any) -> bool:
    """Whether all are plain tensors on the CPU; PyTorch handles all others, such as nested ones."""
    plain = (torch.Tensor, torch.nn.Parameter)
    return all(
        type(t) in plain and t.device.type == "cpu" and t.dtype in _DTYPES and not t.is_nested
        for t in tensors
    )


def _dispatch(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *args: Any, **options: Any
) -> torch.Tensor:
    function = _original
    if _is_ours(query, key, value):
        function = getattr(_thread, "instead", scaled_dot_product_attention)
    return function(query, key, value, *args, **options)


@contextlib.contextmanager
def _patched() -> Iterator[None]:
    global _depth
    with _lock:
        _depth += 1
        functional.scaled_dot_product_attention = _dispatch
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                functional.scaled_dot_product_attention = _original


@contextlib.contextmanager
def replace_sdpa() -> Iterator[None]:
    """Within this context, heed computes PyTorch's attention on the CPU, in all threads.

    It replaces ``torch.nn.functional.scaled_dot_product_attention``. The fused inference path of
    ``torch.nn.MultiheadAttention`` and of the Transformer's layers does not call that function, so
    it is disabled in this context. PyTorch handles tensors on other devices.
    """
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with _patched():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


@contextlib.contextmanager
def _instead(function: Callable[..., torch.Tensor]) -> Iterator[None]:
    """Uses this function for attention in the current thread."""
    before = getattr(_thread, "instead", None)
    _thread.instead = function
    try:
        with _patched():
            yield
    finally:
        if before is None:
            del _thread.instead
        else:
            _thread.instead = before


class MultiheadAttention(torch.nn.MultiheadAttention):
    """``torch.nn.MultiheadAttention`` computed by heed: same arguments, same state dict.

    The weights that ``need_weights`` returns are those before dropout, without gradient.
    """

    def forward(  # noqa: D102, as the base class has it
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        key_padding_mask: torch.Tensor | None = None,
        need_weights: bool = True,
        attn_mask: torch.Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        seen: list[torch.Tensor] = []

        def attend(
            q: torch.Tensor,
            k: torch.Tensor,
            v: torch.Tensor,
            mask: torch.Tensor | None = None,
            dropout_p: float = 0.0,
            is_causal: bool = False,
            **options: Any,
        ) -> Any:
            mask, dropout = mask_and_dropout(mask, dropout_p, is_causal)
            if not need_weights:
                return attention(q, k, v, mask=mask, dropout=dropout, **options)
            output, weights = attention(
                q, k, v, mask=mask, dropout=dropout, return_weights=True, **options
            )
            seen.append(weights)
            return output

        swap = self.batch_first and query.dim() == 3
        if swap:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        separate = not self._qkv_same_embed_dim
        with _instead(attend):
            output, _ = functional.multi_head_attention_forward(
                query,
                key,
                value,
                self.embed_dim,
                self.num_heads,
                self.in_proj_weight,
                self.in_proj_bias,
                self.bias_k,
                self.bias_v,
                self.add_zero_attn,
                self.dropout,
                self.out_proj.weight,
                self.out_proj.bias,
                training=self.training,
                key_padding_mask=key_padding_mask,
                need_weights=False,
                attn_mask=attn_mask,
                use_separate_proj_weight=separate,
                q_proj_weight=self.q_proj_weight if separate else None,
                k_proj_weight=self.k_proj_weight if separate else None,
                v_proj_weight=self.v_proj_weight if separate else None,
                is_causal=is_causal,
            )
        if swap:
            output = output.transpose(0, 1)
        if not need_weights:
            return output, None
        weights = seen[0]  # [N, H, L, S]
        if average_attn_weights:
            weights = weights.mean(1)
        return output, weights if query.dim() == 3 else weights[0]
