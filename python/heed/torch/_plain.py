"""Attention in PyTorch's own operations: the plain version of heed's kernel.

Every transform of PyTorch works on it, to any order. heed's kernel computes values and first
derivatives; this computes second derivatives and forward-mode derivatives.
"""

from __future__ import annotations

import torch


def lead_of(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, enable_gqa: bool
) -> tuple[int, ...]:
    """The axes of the result before the last two."""
    own = 3 if enable_gqa and query.dim() > 2 else 2  # with shared heads, the query has the number
    batch = torch.broadcast_shapes(query.shape[:-own], key.shape[:-own], value.shape[:-own])
    return (*batch, *query.shape[-own:-2])


def _kept(
    lead: tuple[int, ...],
    query: torch.Tensor,
    keys: int,
    dropout_p: float,
    seed: torch.Tensor | None,
) -> torch.Tensor:
    """What heed's dropout multiplies the weights by: 0 or 1 / (1 - p).

    Equal scores give weights of 1 / keys, and the identity as values returns them.
    """
    rows = query.shape[-2]
    if dropout_p == 1.0:
        return query.new_zeros((*lead, rows, keys))
    ones = torch.eye(keys, dtype=query.dtype).expand(*lead, keys, keys)
    weights = torch.ops.heed.sdpa(
        query.new_zeros((*lead, rows, 1)),
        query.new_zeros((*lead, keys, 1)),
        ones,
        None,
        dropout_p,
        False,
        None,
        False,
        seed,
    )
    return weights * keys


def plain(
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
    """The output of ``torch.ops.heed.sdpa``."""
    dtype = query.dtype
    lead = lead_of(query, key, value, enable_gqa)
    if dtype in (torch.float16, torch.bfloat16):  # heed computes in f32, too
        query, key, value = query.float(), key.float(), value.float()
    if enable_gqa and query.dim() > 2:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    rows, keys = query.shape[-2], key.shape[-2]
    if scale is None:
        scale = query.shape[-1] ** -0.5
    scores = query @ key.transpose(-1, -2) * scale
    if is_causal:
        attn_mask = torch.ones(rows, keys, dtype=torch.bool).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, float("-inf"))
    elif attn_mask is not None:
        scores = scores + attn_mask
    # Softmax of a row of -inf is NaN; a query without visible keys gets 0 and no gradient.
    hidden = (scores == float("-inf")).all(-1, keepdim=True)
    weights = scores.masked_fill(hidden, 0.0).softmax(-1).masked_fill(hidden, 0.0)
    if dropout_p:
        weights = weights * _kept(lead, query, keys, dropout_p, seed)
    return (weights @ value).to(dtype)
