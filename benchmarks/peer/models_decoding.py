"""Greedy decoding of the translator with cached keys and values, as users of PyTorch write it."""

import torch
from torch.nn import functional as F

from models_cases import PADDING, Tensors, Translator

UNKNOWN, BEGIN, END = 0, 1, 2


class Cache:
    """The keys and values of one layer: those of the memory once, those of generated words step by step."""

    def __init__(self, layer, memory: torch.Tensor, length: int) -> None:
        self.layer = layer
        self.memory = layer.multihead_attn.project(memory, 1, 3)
        attention = layer.self_attn
        shape = (memory.shape[0], attention.heads, length, attention.embed // attention.heads)
        self.keys, self.values = torch.empty(shape), torch.empty(shape)

    def step(self, x: torch.Tensor, at: int, mask: torch.Tensor) -> torch.Tensor:
        """One position [B, 1, E] -> [B, 1, E]."""
        layer = self.layer
        q, k, v = layer.self_attn.project(x, 0, 3)
        self.keys[:, :, at : at + 1] = k
        self.values[:, :, at : at + 1] = v
        seen = self.keys[:, :, : at + 1], self.values[:, :, : at + 1]
        x = layer.norm1(x + layer.self_attn.attend(q, *seen))
        (q,) = layer.multihead_attn.project(x, 0, 1)
        x = layer.norm2(x + layer.multihead_attn.attend(q, *self.memory, mask))
        return layer.norm3(x + layer.feed(x))


@torch.inference_mode()
def greedy(model: Translator, batch: Tensors, length: int) -> torch.Tensor:
    """The most probable `length` words of each sentence; the step that would end it is computed too."""
    memory, mask = model.encode(batch["source"], batch["lengths"])
    caches = [Cache(layer, memory, length + 1) for layer in model.decoder["layers"]]
    last = torch.full((memory.shape[0], 1), BEGIN)
    words = []
    for at in range(length + 1):
        x = model.embedded(last, at)
        for cache in caches:
            x = cache.step(x, at, mask)
        scores = F.linear(x[:, 0], model.tokens.weight)
        scores[:, [UNKNOWN, BEGIN, END, PADDING]] = -torch.inf
        last = scores.argmax(dim=1, keepdim=True)
        words.append(last)
    return torch.cat(words[:length], dim=1)
