"""Goldens of attention: PyTorch's own if it has the variant, else the formula of the paper."""

import math
from collections.abc import Iterator

import torch
from torch.nn import functional as F

from golden import Golden, Random, differentiate

B, H, TQ, TK, D = 2, 4, 9, 13, 8


def goldens() -> Iterator[Golden]:
    yield from scaled_dot_product()
    yield from modified()


def operands(random: Random, kv_heads: int = H, queries: int = TQ, keys: int = TK):
    return {
        "q": random.normal(B, H, queries, D),
        "k": random.normal(B, kv_heads, keys, D),
        "v": random.normal(B, kv_heads, keys, D + 3),
    }


def scaled_dot_product() -> Iterator[Golden]:
    """F.scaled_dot_product_attention."""
    yield differentiate("attention", sdpa_of(), operands(Random("attention")))
    yield differentiate(
        "attention_causal", sdpa_of(is_causal=True), operands(Random("attention_causal"))
    )
    name = "attention_gqa"
    yield differentiate(name, sdpa_of(enable_gqa=True), operands(Random(name), kv_heads=2))

    name = "attention_mask"
    random = Random(name)
    mask = random.mask(B, 1, TQ, TK, share=0.4)
    mask[..., 0] = True  # PyTorch differs from heed for rows without visible keys
    yield differentiate(
        name,
        lambda q, k, v, mask: F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
        operands(random) | {"mask": mask},
    )
    name = "attention_bias"
    random = Random(name)
    yield differentiate(
        name,
        lambda q, k, v, bias: F.scaled_dot_product_attention(q, k, v, attn_mask=bias),
        operands(random) | {"bias": random.normal(H, TQ, TK)},
    )


def sdpa_of(**options):
    return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options)


def modified() -> Iterator[Golden]:
    """softmax(modify(q k^T / sqrt(D))) v."""
    name = "attention_alibi"
    random = Random(name)
    yield differentiate(name, alibi, operands(random) | {"slopes": random.normal(H).abs()})
    name = "attention_t5"
    random = Random(name)
    yield differentiate(
        name, t5, operands(random, queries=40, keys=200) | {"table": random.normal(32, H)}
    )
    name = "attention_shaw"
    random = Random(name)
    tables = {"key_table": random.normal(7, D), "value_table": random.normal(7, D + 3)}
    yield differentiate(name, shaw, operands(random) | tables)
    name = "attention_soft_cap"
    random = Random(name)
    yield differentiate(name, soft_cap, operands(random), metadata={"cap": 2.0})
    name = "attention_sink"
    random = Random(name)
    yield differentiate(name, sink, operands(random) | {"sinks": random.normal(H)})
    name = "attention_additive"
    random = Random(name)
    yield differentiate(name, additive, operands(random) | {"w": random.normal(D)})


def scores(q, k):
    return q @ k.mT / math.sqrt(D)


def distances(q, k):
    """j - i for query i and key j."""
    return torch.arange(k.shape[-2]) - torch.arange(q.shape[-2])[:, None]


def alibi(q, k, v, slopes):
    return (scores(q, k) - slopes[:, None, None] * distances(q, k).abs()).softmax(-1) @ v


def t5_bucket(relative):
    """The bucket of a key at `relative` = j - i, bidirectional, 32 buckets up to 128 (Raffel et al. 2020)."""
    half, exact = 16, 8
    distance = relative.abs()
    far = torch.log(distance.clamp(min=1) / exact) / math.log(128 / exact) * (half - exact)
    near = distance < exact
    bucket = torch.where(near, distance, (exact + far.long()).clamp(max=half - 1))
    return bucket + torch.where(relative > 0, half, 0)


def t5(q, k, v, table):
    bias = table[t5_bucket(distances(q, k))].permute(2, 0, 1)
    return (scores(q, k) + bias).softmax(-1) @ v


def shaw(q, k, v, key_table, value_table):
    clipped = distances(q, k).clamp(-3, 3) + 3
    with_keys = scores(q, k) + torch.einsum("bhid,ijd->bhij", q, key_table[clipped]) / math.sqrt(D)
    weights = with_keys.softmax(-1)
    return weights @ v + torch.einsum("bhij,ijd->bhid", weights, value_table[clipped])


def soft_cap(q, k, v):
    return (2.0 * torch.tanh(scores(q, k) / 2.0)).softmax(-1) @ v


def sink(q, k, v, sinks):
    with_sink = torch.cat([scores(q, k), sinks[None, :, None, None].expand(B, H, TQ, 1)], -1)
    return with_sink.softmax(-1)[..., :-1] @ v


def additive(q, k, v, w):
    return (torch.tanh(q[:, :, :, None] + k[:, :, None]) @ w).softmax(-1) @ v
