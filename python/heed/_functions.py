"""Functions that are more convenient to write in Python than to bind."""

from __future__ import annotations

from typing import Any, NamedTuple

from heed import _core

_CAUSAL = _core.causal()


def mask_and_dropout(attn_mask: Any, dropout_p: float, is_causal: bool) -> tuple[Any, float]:
    """PyTorch's three arguments as heed's mask and dropout."""
    if is_causal and attn_mask is not None:
        raise _core.Error(
            "[attention] an explicit attn_mask goes without is_causal=True: "
            "compose them, mask=heed.boolean_mask(attn_mask) & heed.causal()"
        )
    if not 0.0 <= dropout_p <= 1.0:
        raise _core.Error(f"[attention] dropout_p is {dropout_p}: a probability is from 0 to 1")
    if dropout_p == 1.0:  # all weights are 0, as for a query without visible keys
        return _nothing(), 0.0
    return (_CAUSAL if is_causal else attn_mask), dropout_p


def _nothing() -> _core.Mask:
    """A mask that hides every key from every query."""
    import numpy

    return _core.boolean_mask(numpy.zeros((1, 1), bool))


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """``torch.nn.functional.scaled_dot_product_attention`` for arrays of any library.

    A mask of bool says which keys a query may attend to, a mask of floats is added to the scores,
    and ``is_causal`` counts from the first query and the first key, all as in PyTorch. A query
    without visible keys gets 0. For gradients of PyTorch's tensors use ``heed.torch``.
    """
    mask, dropout = mask_and_dropout(attn_mask, dropout_p, is_causal)
    return _core.attention(
        query, key, value, mask=mask, dropout=dropout, scale=scale, enable_gqa=enable_gqa
    )


class Gradients(NamedTuple):
    """The gradients of one call of attention."""

    q: Any
    k: Any
    v: Any
    others: tuple[Any, ...]
    """The gradients of past_key and past_value, of the arrays of the score and of the modifiers, of
    a mask of floats, and of the arrays of the normaliser, if they were given, in this order."""


def backward(
    grad_output: Any, q: Any, k: Any, v: Any, *, grad_lse: Any = None, **options: Any
) -> Gradients:
    """The gradients of ``heed.attention(q, k, v, **options)``.

    ``grad_output`` is the gradient of the output, ``grad_lse`` that of the log-sum-exp;
    either may be None. The options are those of ``heed.attention`` that affect the result; with
    dropout the seed of the forward call is required. The forward pass runs again, which costs about
    a third of the total time.
    """
    if options.get("dropout") and options.get("seed") is None:
        raise _core.Error("[backward] dropout without a seed: give the seed of the forward call")
    call = _core.record(q, k, v, return_lse=grad_lse is not None, **options)
    dq, dk, dv, *others = call.backward(grad_output, grad_lse)
    return Gradients(dq, dk, dv, tuple(others))
