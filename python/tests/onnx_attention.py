"""ONNX's operator Attention, opsets 23 to 25, said with heed.attention: a worked example of the
call, which test_onnx.py checks against the operator's published tests. It is no runtime for models.

The operator's order of stages is scale, soft-cap, mask, softmax, as ONNX 1.22 settled it for all
opsets. Softmax is computed in at least f32, whatever softmax_precision asks for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import heed

# What qk_matmul_output holds in its modes 0 to 2; in mode 3 it is the weights.
_SCORES = ("raw", "modified", "masked")


def attention(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    attn_mask: np.ndarray | None = None,
    past_key: np.ndarray | None = None,
    past_value: np.ndarray | None = None,
    nonpad_kv_seqlen: np.ndarray | None = None,
    *,
    scale: float | None = None,
    is_causal: int = 0,
    q_num_heads: int | None = None,
    kv_num_heads: int | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
    qk_matmul_output_mode: int = 0,
    left_window_size: int = -1,
    right_window_size: int = -1,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The operator's four outputs: Y, present_key, present_value and qk_matmul_output."""
    packed = Q.ndim == 3
    if packed:
        Q, K, V = _split(Q, q_num_heads), _split(K, kv_num_heads), _split(V, kv_num_heads)
    past = 0 if past_key is None else past_key.shape[2]
    queries, keys = Q.shape[2], past + K.shape[2]
    reach = {"left": left_window_size, "right": 0 if is_causal else right_window_size}
    mask = _band(past, queries, keys, nonpad_kv_seqlen, reach)
    modifiers = [heed.soft_cap(softcap)] if softcap else []
    biases = []
    if attn_mask is not None:
        attn_mask = _padded(attn_mask, keys)
        if attn_mask.dtype == bool:
            mask = _both(mask, heed.boolean_mask(attn_mask))
        else:
            biases.append(heed.dense_bias(attn_mask))
    call = {
        "scale": scale,
        "enable_gqa": True,
        "past_key": past_key,
        "past_value": past_value,
    }
    weights = qk_matmul_output_mode == 3
    Y, seen, present_key, present_value = heed.attention(
        Q,
        K,
        V,
        modifiers=modifiers + biases,
        mask=mask,
        return_weights=weights,
        return_scores=None if weights else _SCORES[qk_matmul_output_mode],
        return_present=True,
        **call,
    )
    if qk_matmul_output_mode == 1 and biases:  # to ONNX the bias is a mask, to heed a modifier
        seen = heed.attention(Q, K, V, modifiers=modifiers, return_scores="modified", **call)[1]
    return (_join(Y) if packed else Y), present_key, present_value, seen


def _split(x: np.ndarray, heads: int | None) -> np.ndarray:
    """[B, T, H D] as [B, H, T, D], without a copy."""
    assert heads is not None, "inputs of three axes need the numbers of heads"
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def _join(x: np.ndarray) -> np.ndarray:
    """[B, H, T, D] as [B, T, H D]; heed lays results out as queries were, so nothing is moved."""
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def _padded(mask: np.ndarray, keys: int) -> np.ndarray:
    """A mask that ends before the keys do hides the rest."""
    missing = (*mask.shape[:-1], keys - mask.shape[-1])
    hidden = np.full(missing, False if mask.dtype == bool else -np.inf, mask.dtype)
    return np.concatenate((mask, hidden), -1)


def _both(a: Any, b: Any) -> Any:
    return b if a is None else a & b


def _band(
    past: int, queries: int, keys: int, lengths: np.ndarray | None, reach: dict[str, int]
) -> Any:
    """Causal masks and windows, around the position past + i of query i, and padding.

    With lengths, which come without a past, the last query stands at its sequence's last key.
    """
    left, right = (None if n < 0 else n for n in (reach["left"], reach["right"]))
    limited = left is not None or right is not None
    if lengths is None:
        return heed.window(left, right, corner=past) if limited else None
    padding = heed.key_lengths(lengths)
    if not limited:
        return padding
    distance = (
        np.arange(keys) - np.arange(queries)[:, None] - (lengths - queries).reshape(-1, 1, 1, 1)
    )  # [B, 1, Tq, Tk]
    near = (distance >= (-keys - queries if left is None else -left)) & (
        distance <= (keys + queries if right is None else right)
    )
    return padding & heed.boolean_mask(near)
