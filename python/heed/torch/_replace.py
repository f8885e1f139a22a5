"""Replaces PyTorch's attention by heed's, in one block of a program."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Iterator

import torch
from torch.nn import functional
from torch.overrides import handle_torch_function, has_torch_function_variadic

from heed.torch import _attention

_DTYPES = (torch.float32, torch.bfloat16, torch.float64, torch.float16)


class _Thread(threading.local):
    """What only the current thread uses. A default of the class is found faster than none."""

    instead: Callable[..., torch.Tensor] | None = None


_thread = _Thread()
_original = functional.scaled_dot_product_attention


class _Switch:
    """A setting of the process that is on while any block of any thread needs it."""

    def __init__(self, turn_on: Callable[[], None], turn_off: Callable[[], None]) -> None:
        self._turn_on, self._turn_off = turn_on, turn_off
        self._lock = threading.Lock()
        self.users = 0

    def __enter__(self) -> None:
        with self._lock:
            if self.users == 0:
                self._turn_on()
            self.users += 1

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self.users -= 1
            if self.users == 0:
                self._turn_off()


def _keep_in_scripts() -> None:
    """torch.jit.script compiles calls by the function that it finds: it takes PyTorch's."""
    register = getattr(torch.jit._builtins, "_register_builtin", None)
    if register is not None:
        register(dispatch, "aten::scaled_dot_product_attention")


def _install() -> None:
    global _original
    _original = functional.scaled_dot_product_attention
    functional.scaled_dot_product_attention = dispatch
    _keep_in_scripts()


def _remove() -> None:
    if functional.scaled_dot_product_attention is dispatch:
        functional.scaled_dot_product_attention = _original


_was_fast = True


def _avoid_fast_path() -> None:
    global _was_fast
    _was_fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)


def _allow_fast_path() -> None:
    torch.backends.mha.set_fastpath_enabled(_was_fast)


_patched = _Switch(_install, _remove)
_replaced = _Switch(_avoid_fast_path, _allow_fast_path)


def _is_readable(x: torch.Tensor) -> bool:
    """Whether it is a plain tensor on the CPU, or what a tracer puts in the place of one."""
    kind = type(x)
    if kind not in _attention.PLAIN_TYPES and not kind.__module__.startswith("torch._subclasses."):
        return False
    return x.is_cpu and not x.is_nested


def _is_ours(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None
) -> bool:
    """Whether heed computes it. PyTorch computes everything else, or says what is wrong with it.

    Every call asks this, so it is written for speed.
    """
    for x in (query, key, value):
        if x.dtype not in _DTYPES:
            return False
        if type(x) is not torch.Tensor or not x.is_cpu or x.is_nested:
            if not _is_readable(x):
                return False
    return mask is None or (
        _is_readable(mask)
        and mask.dim() > 1
        and mask.dtype in (torch.bool, torch.float32, query.dtype)
    )


def _function() -> Callable[..., torch.Tensor]:
    """heed's function for the current thread."""
    if torch.compiler.is_compiling():
        return _attention.scaled_dot_product_attention
    own = _thread.instead
    if own is not None:
        return own
    # Another thread's MultiheadAttention may have installed `dispatch` for itself.
    return _attention.scaled_dot_product_attention if _replaced.users else _original


def dispatch(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """What ``torch.nn.functional.scaled_dot_product_attention`` is meanwhile."""
    if has_torch_function_variadic(query, key, value, attn_mask):
        # Subclasses such as CausalBias, and modes: they get the call, as PyTorch's function does.
        return handle_torch_function(
            dispatch,
            (query, key, value, attn_mask),
            query,
            key,
            value,
            attn_mask=attn_mask,
            dropout_p=dropout_p,
            is_causal=is_causal,
            scale=scale,
            enable_gqa=enable_gqa,
        )
    function = _function() if _is_ours(query, key, value, attn_mask) else _original
    return function(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )


@contextlib.contextmanager
def replace_sdpa() -> Iterator[None]:
    """Within this context, heed computes PyTorch's attention on the CPU, in all threads.

    It replaces ``torch.nn.functional.scaled_dot_product_attention``. The fused inference path of
    ``torch.nn.MultiheadAttention`` and of the Transformer's layers does not call that function, so
    it is disabled in this context. PyTorch computes what heed does not: other devices, nested
    tensors, other dtypes. Two kinds of calls do not reach heed: those of
    ``torch.nn.MultiheadAttention`` with ``need_weights=True`` (``heed.torch.MultiheadAttention``
    does), and those by a name that was imported from ``torch.nn.functional`` before.
    """
    with _replaced, _patched:
        yield


@contextlib.contextmanager
def instead(function: Callable[..., torch.Tensor]) -> Iterator[None]:
    """Uses this function for attention in the current thread."""
    before = _thread.instead
    _thread.instead = function
    try:
        with _patched:
            yield
    finally:
        _thread.instead = before
