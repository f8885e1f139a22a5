"""PyTorch's modules, computed by heed."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from heed._functions import mask_and_dropout
from heed.torch._attention import attention, scaled_dot_product_attention
from heed.torch._replace import instead


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
        if torch.compiler.is_compiling():  # the block below is no part of a graph
            return torch.compiler.disable(self.forward)(
                query,
                key,
                value,
                key_padding_mask,
                need_weights,
                attn_mask,
                average_attn_weights,
                is_causal,
            )
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
            if not need_weights:
                return scaled_dot_product_attention(
                    q, k, v, mask, dropout_p, is_causal, **options
                )
            mask, dropout = mask_and_dropout(mask, dropout_p, is_causal)
            output, weights = attention(
                q, k, v, mask=mask, dropout=dropout, return_weights=True, **options
            )
            seen.append(weights)
            return output

        swap = self.batch_first and query.dim() == 3
        if swap:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        separate = not self._qkv_same_embed_dim
        with instead(attend):
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
