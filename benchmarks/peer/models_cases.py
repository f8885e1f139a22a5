"""The PyTorch side of the models benchmark: translators, a language model and a residual network,
built as a careful user builds them, around scaled_dot_product_attention, nn.GRU, nn.LSTM and nn.Conv2d.

Sizes, parameters and batches come from the file that heed writes, so both sides train the same model on
the same words. Parameters have the names of torch.nn.Transformer.
"""

import json
import math
import re

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

PADDING = 3
TYPES = {"F32": torch.float32, "I64": torch.int64}
Tensors = dict[str, torch.Tensor]


class Saved:
    """A safetensors file: its metadata and its tensors."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            data = bytearray(file.read())
        self.about = header.pop("__metadata__")
        self.tensors = {name: view(data, entry) for name, entry in header.items()}

    def number(self, key: str) -> float:
        return float(self.about[key])

    def size(self, key: str) -> int:
        return int(self.about[key])

    def batches(self) -> list[Tensors]:
        found: dict[int, Tensors] = {}
        for name, tensor in self.tensors.items():
            if match := re.fullmatch(r"batch\.(\d+)\.(\w+)", name):
                found.setdefault(int(match[1]), {})[match[2]] = tensor.clone()
        return [found[i] for i in sorted(found)]

    def parameters(self) -> Tensors:
        return {k: v for k, v in self.tensors.items() if not k.startswith("batch.")}


def view(data: bytearray, entry: dict) -> torch.Tensor:
    begin, end = entry["data_offsets"]
    dtype = TYPES[entry["dtype"]]
    count = (end - begin) // dtype.itemsize
    return torch.frombuffer(data, dtype=dtype, offset=begin, count=count).view(entry["shape"])


class Attention(nn.Module):
    """Multi-head attention of x to itself or to a memory."""

    def __init__(self, embed: int, heads: int, dropout: float, bias: bool) -> None:
        super().__init__()
        self.embed, self.heads, self.dropout = embed, heads, dropout
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed, embed))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * embed)) if bias else None
        self.out_proj = nn.Linear(embed, embed, bias=bias)

    def project(self, x: torch.Tensor, begin: int, end: int) -> list[torch.Tensor]:
        """Queries (0), keys (1) and values (2) in [begin, end), split into heads."""
        rows = slice(begin * self.embed, end * self.embed)
        bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
        parts = F.linear(x, self.in_proj_weight[rows], bias).chunk(end - begin, dim=-1)
        return [p.unflatten(2, (self.heads, -1)).transpose(1, 2) for p in parts]

    def forward(self, x, memory=None, mask=None, causal=False):
        if memory is None:
            q, k, v = self.project(x, 0, 3)
        else:
            (q,), (k, v) = self.project(x, 0, 1), self.project(memory, 1, 3)
        return self.attend(q, k, v, mask, causal)

    def attend(self, q, k, v, mask=None, causal=False):
        dropout = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, is_causal=causal, dropout_p=dropout
        )
        return self.out_proj(y.transpose(1, 2).flatten(2))


class TranslatorLayer(nn.Module):
    """A post-norm layer; with `memory`, a decoder layer."""

    def __init__(self, saved: Saved, decoder: bool) -> None:
        super().__init__()
        embed, dropout = saved.size("embed"), saved.number("dropout")
        self.self_attn = Attention(embed, saved.size("heads"), dropout, bias=True)
        if decoder:
            self.multihead_attn = Attention(embed, saved.size("heads"), dropout, bias=True)
            self.norm3 = nn.LayerNorm(embed)
        self.linear1 = nn.Linear(embed, saved.size("hidden"))
        self.linear2 = nn.Linear(saved.size("hidden"), embed)
        self.norm1, self.norm2 = nn.LayerNorm(embed), nn.LayerNorm(embed)
        self.dropout = nn.Dropout(dropout)

    def feed(self, x):
        return self.dropout(self.linear2(self.dropout(F.relu(self.linear1(x)))))

    def encode(self, x, mask):
        x = self.norm1(x + self.dropout(self.self_attn(x, mask=mask)))
        return self.norm2(x + self.feed(x))

    def decode(self, x, memory, mask):
        x = self.norm1(x + self.dropout(self.self_attn(x, causal=True)))
        x = self.norm2(x + self.dropout(self.multihead_attn(x, memory, mask)))
        return self.norm3(x + self.feed(x))


class Translator(nn.Module):
    """Vaswani et al. 2017; both embeddings and the output share one matrix."""

    def __init__(self, saved: Saved) -> None:
        super().__init__()
        embed = saved.size("embed")
        self.scale, self.smoothing = math.sqrt(embed), saved.number("label_smoothing")
        self.tokens = nn.Embedding(saved.size("vocabulary"), embed, padding_idx=PADDING)
        self.dropout = nn.Dropout(saved.number("dropout"))
        self.encoder = stack(lambda: TranslatorLayer(saved, False), saved.size("encoder_layers"))
        self.decoder = stack(lambda: TranslatorLayer(saved, True), saved.size("decoder_layers"))
        features = torch.arange(0, embed, 2).double()
        angles = torch.arange(512).double()[:, None] * 10000.0 ** (-features / embed)
        positions = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
        self.register_buffer("positions", positions.float(), persistent=False)

    def embedded(self, ids: torch.Tensor, first: int = 0) -> torch.Tensor:
        positions = self.positions[first : first + ids.shape[1]]
        return self.dropout(torch.add(positions, self.tokens(ids), alpha=self.scale))

    def encode(self, source, lengths):
        mask = (torch.arange(source.shape[1]) < lengths[:, None])[:, None, None, :]
        x = self.embedded(source)
        for layer in self.encoder["layers"]:
            x = layer.encode(x, mask)
        return x, mask

    def forward(self, source, lengths, target, expected):
        memory, mask = self.encode(source, lengths)
        x = self.embedded(target)
        for layer in self.decoder["layers"]:
            x = layer.decode(x, memory, mask)
        scores = F.linear(x, self.tokens.weight).flatten(0, 1)
        return F.cross_entropy(scores, expected.flatten(), label_smoothing=self.smoothing)

    @staticmethod
    def name_of(name: str) -> str:
        """The name in this model of a parameter of heed."""
        return re.sub(r"^(source|target)\.tokens", "tokens", name)


class LanguageLayer(nn.Module):
    """Pre-norm, exact GELU, no biases."""

    def __init__(self, saved: Saved) -> None:
        super().__init__()
        embed, hidden = saved.size("embed"), saved.size("hidden")
        self.self_attn = Attention(embed, saved.size("heads"), 0.0, bias=False)
        self.linear1 = nn.Linear(embed, hidden, bias=False)
        self.linear2 = nn.Linear(hidden, embed, bias=False)
        self.norm1, self.norm2 = (nn.LayerNorm(embed, bias=False) for _ in range(2))

    def forward(self, x):
        x = x + self.self_attn(self.norm1(x), causal=True)
        return x + self.linear2(F.gelu(self.linear1(self.norm2(x))))


class LanguageModel(nn.Module):
    """nanoGPT's model: learned positions; embeddings and output share one matrix."""

    def __init__(self, saved: Saved) -> None:
        super().__init__()
        embed = saved.size("embed")
        self.tokens = nn.Embedding(saved.size("vocabulary"), embed)
        self.position = nn.Embedding(saved.size("block"), embed)
        self.decoder = stack(lambda: LanguageLayer(saved), saved.size("layers"))
        self.decoder["norm"] = nn.LayerNorm(embed, bias=False)

    def forward(self, ids, expected):
        x = self.tokens(ids) + self.position.weight[: ids.shape[1]]
        for layer in self.decoder["layers"]:
            x = layer(x)
        scores = F.linear(self.decoder["norm"](x), self.tokens.weight)
        return F.cross_entropy(scores.flatten(0, 1), expected.flatten())

    @staticmethod
    def name_of(name: str) -> str:
        return re.sub(r"^tokens\.(tokens|position)", r"\1", name)


class RecurrentTranslator(nn.Module):
    """What Bahdanau's and Luong's translators have in common; parameters are named as heed's."""

    def __init__(self, saved: Saved, cell: type[nn.RNNBase], bidirectional: bool, fed: int) -> None:
        super().__init__()
        vocabulary, embed, hidden = (saved.size(k) for k in ("vocabulary", "embed", "hidden"))
        dropout, layers = saved.number("dropout"), saved.size("layers")
        between = dropout if layers > 1 else 0.0
        self.source = nn.Embedding(vocabulary, embed, padding_idx=PADDING)
        self.target = nn.Embedding(vocabulary, embed, padding_idx=PADDING)
        self.encoder = cell(
            embed, hidden, layers, bidirectional=bidirectional, batch_first=True, dropout=between
        )
        cells = cell(embed + fed, hidden, layers, batch_first=True, dropout=between)
        self.decoder = nn.ModuleDict({"cells": cells, "attention": nn.Module()})
        self.dropout = nn.Dropout(dropout)

    def encode(self, source, lengths):
        """States, final states and the mask of padding."""
        packed = pack_padded_sequence(
            self.dropout(self.source(source)), lengths, batch_first=True, enforce_sorted=False
        )
        y, final = self.encoder(packed)
        memory = pad_packed_sequence(y, batch_first=True, total_length=source.shape[1])[0]
        return memory, final, torch.arange(source.shape[1]) >= lengths[:, None]

    def loss(self, rows, expected):
        return F.cross_entropy(self.output(rows).flatten(0, 1), expected.flatten())

    @staticmethod
    def name_of(name: str) -> str:
        return name


class Bahdanau(RecurrentTranslator):
    """Keys are projected once; a step reads the context of the state before it."""

    def __init__(self, saved: Saved) -> None:
        embed, hidden = saved.size("embed"), saved.size("hidden")
        super().__init__(saved, nn.GRU, True, 2 * hidden)
        attention = self.decoder["attention"]
        attention.query = nn.Linear(hidden, hidden, bias=False)
        attention.key = nn.Linear(2 * hidden, hidden, bias=False)
        attention.v = nn.Parameter(torch.empty(hidden))
        self.state_bridge = nn.ModuleList([nn.Linear(2 * hidden, hidden)])
        self.output = nn.Linear(3 * hidden + embed, saved.size("vocabulary"))

    def forward(self, source, lengths, target, expected):
        memory, state, hidden = self.encode(source, lengths)
        attention, cells = self.decoder["attention"], self.decoder["cells"]
        h = torch.tanh(self.state_bridge[0](torch.cat([state[0], state[1]], dim=-1)))
        keys, y = attention.key(memory), self.dropout(self.target(target))
        states, contexts = [], []
        for t in range(target.shape[1]):
            scores = torch.tanh(attention.query(h)[:, None] + keys) @ attention.v
            weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
            context = torch.bmm(weights[:, None], memory)
            h = cells(torch.cat([y[:, t : t + 1], context], dim=-1), h[None])[1][0]
            states.append(h)
            contexts.append(context)
        rows = torch.cat([torch.stack(states, dim=1), torch.cat(contexts, dim=1), y], dim=-1)
        return self.loss(rows, expected)


class Luong(RecurrentTranslator):
    """Without input feeding: the whole recurrence, then attention of all positions."""

    def __init__(self, saved: Saved) -> None:
        hidden = saved.size("hidden")
        super().__init__(saved, nn.LSTM, False, 0)
        self.decoder["attention"].weight = nn.Parameter(torch.empty(hidden, hidden))
        self.decoder["combine"] = nn.Linear(2 * hidden, hidden, bias=False)
        self.output = nn.Linear(hidden, saved.size("vocabulary"))

    def forward(self, source, lengths, target, expected):
        memory, state, hidden = self.encode(source, lengths)
        h = self.decoder["cells"](self.dropout(self.target(target)), state)[0]
        scores = h @ self.decoder["attention"].weight @ memory.transpose(1, 2)
        weights = scores.masked_fill(hidden[:, None], -torch.inf).softmax(dim=-1)
        context = torch.bmm(weights, memory)
        rows = torch.tanh(self.decoder["combine"](torch.cat([context, h], dim=-1)))
        return self.loss(rows, expected)


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions; the first of a stage halves the picture and has a convolution as shortcut."""

    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(out)
        self.shortcut = None
        if channels != out or stride != 1:
            self.shortcut = nn.Conv2d(channels, out, 1, stride, bias=False)
            self.shortcut_norm = nn.BatchNorm2d(out)

    def forward(self, x):
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return F.relu(y + (x if self.shortcut is None else self.shortcut_norm(self.shortcut(x))))


class ResNet(nn.Module):
    """He et al. 2016, section 4.2: three stages of three blocks with 16, 32 and 64 channels."""

    def __init__(self, saved: Saved) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.norm = nn.BatchNorm2d(16)
        sizes = [(16, 16), (16, 16), (16, 16), (16, 32), (32, 32), (32, 32), (32, 64), (64, 64), (64, 64)]
        self.blocks = nn.Sequential(*(ResidualBlock(a, b, b // a) for a, b in sizes))
        self.scores = nn.Linear(64, 10)
        self.to(memory_format=torch.channels_last)  # a quarter faster than PyTorch's usual layout

    def forward(self, pictures, labels):
        pictures = pictures.contiguous(memory_format=torch.channels_last)
        x = self.blocks(F.relu(self.norm(self.conv(pictures))))
        return F.cross_entropy(self.scores(x.mean(dim=(2, 3))), labels)

    @staticmethod
    def name_of(name: str) -> str:
        return name


def stack(make, layers: int) -> nn.ModuleDict:
    return nn.ModuleDict({"layers": nn.ModuleList(make() for _ in range(layers))})


KINDS = {
    "translator": Translator,
    "language_model": LanguageModel,
    "bahdanau": Bahdanau,
    "luong": Luong,
    "resnet": ResNet,
}


class Training:
    """A model with its batches and its optimiser; `step` is timed."""

    def __init__(self, path: str) -> None:
        saved = Saved(path)
        torch.manual_seed(20240229)
        self.batches = saved.batches()
        self.model = KINDS[saved.about["kind"]](saved)
        named = {self.model.name_of(k): v for k, v in saved.parameters().items()}
        counts = {k: v for k, v in self.model.state_dict().items() if k.endswith("batches_tracked")}
        self.model.load_state_dict(named | counts)  # heed's BatchNorm does not count its batches
        self.max_norm = float(saved.about.get("max_norm", "inf"))
        self.optimiser = self._optimiser(saved)

    def _optimiser(self, saved: Saved) -> torch.optim.Optimizer:
        options = {"lr": saved.number("rate"), "betas": (0.9, saved.number("beta2")), "fused": True}
        decay = float(saved.about.get("weight_decay", "0"))
        if decay == 0.0:
            return torch.optim.Adam(self.model.parameters(), **options)
        matrices = [p for p in self.model.parameters() if p.dim() >= 2]
        others = [p for p in self.model.parameters() if p.dim() < 2]
        groups = [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0}]
        return torch.optim.AdamW(groups, **options)

    def step(self, loss_of, batch: Tensors) -> None:
        self.optimiser.zero_grad(set_to_none=True)
        loss_of(**batch).backward()
        if math.isfinite(self.max_norm):
            nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.optimiser.step()

    def loss_in_use(self, batch: Tensors) -> float:
        """Without dropout."""
        self.model.eval()
        with torch.no_grad():
            loss = self.model(**batch).item()
        self.model.train()
        return loss
