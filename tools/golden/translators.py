"""Goldens of the recurrent and the convolutional translator: scores, all gradients, ten steps of Adam.

The recurrent ones are written with nn.GRUCell, nn.LSTMCell and nn.GRU, a step at a time, as the
papers describe them.
"""

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from golden import Golden, Random, randomise
from models import ADAM, PADDING, VOCABULARY, sentence_pairs, train
from transformer import padding

EMBED, HIDDEN, LAYERS, KERNEL, POSITIONS = 6, 5, 2, 3, 8


def goldens() -> Iterator[Golden]:
    for name, kind in {
        "recurrent_bahdanau": Bahdanau,
        "recurrent_luong": Luong,
        "recurrent_plain": Plain,
        "convolutional": Convolutional,
    }.items():
        random = Random(name)
        model = randomise(kind(), random)
        for table in (model.source, model.target):
            table.weight.data[PADDING] = 0.0
        yield train(name, model, sentence_pairs(random), dict(ADAM))


class Bahdanau(nn.Module):
    """Bahdanau et al. 2015 in the form of bentrevett's tutorial: the context is read before the step."""

    def __init__(self) -> None:
        super().__init__()
        self.source = nn.Embedding(VOCABULARY, EMBED, padding_idx=PADDING)
        self.target = nn.Embedding(VOCABULARY, EMBED, padding_idx=PADDING)
        self.encoder = nn.GRU(EMBED, HIDDEN, bidirectional=True, batch_first=True)
        self.bridge = nn.Linear(2 * HIDDEN, HIDDEN)
        self.query = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.key = nn.Linear(2 * HIDDEN, HIDDEN, bias=False)
        self.v = nn.Parameter(torch.empty(HIDDEN))
        self.cell = nn.GRU(EMBED + 2 * HIDDEN, HIDDEN, batch_first=True)
        self.output = nn.Linear(3 * HIDDEN + EMBED, VOCABULARY)

    def forward(self, source, lengths, target):
        memory, state = encoded(self.encoder, self.source(source), lengths)
        h = torch.tanh(self.bridge(torch.cat([state[0], state[1]], dim=-1)))
        hidden, keys, y = padding(lengths, source.shape[1]), self.key(memory), self.target(target)
        rows = []
        for t in range(target.shape[1]):
            scores = torch.tanh(self.query(h)[:, None] + keys) @ self.v
            context = attended(scores, hidden, memory)
            h = self.cell(torch.cat([y[:, t], context], dim=-1)[:, None], h[None])[1][0]
            rows.append(torch.cat([h, context, y[:, t]], dim=-1))
        return self.output(torch.stack(rows, dim=1))


class Luong(nn.Module):
    """Luong et al. 2015: two LSTM layers, reversed source, general score, input feeding."""

    def __init__(self) -> None:
        super().__init__()
        self.source = nn.Embedding(VOCABULARY, EMBED, padding_idx=PADDING)
        self.target = nn.Embedding(VOCABULARY, EMBED, padding_idx=PADDING)
        self.encoder = nn.LSTM(EMBED, HIDDEN, LAYERS, batch_first=True)
        self.general = nn.Parameter(torch.empty(HIDDEN, HIDDEN))
        self.cell = nn.LSTM(EMBED + HIDDEN, HIDDEN, LAYERS, batch_first=True)
        self.combine = nn.Linear(2 * HIDDEN, HIDDEN, bias=False)
        self.output = nn.Linear(HIDDEN, VOCABULARY)

    def forward(self, source, lengths, target):
        order = (lengths[:, None] - 1 - torch.arange(source.shape[1])).clamp(min=0)
        memory, state = encoded(self.encoder, self.source(source.gather(1, order)), lengths)
        hidden, y = padding(lengths, source.shape[1]), self.target(target)
        fed, rows = torch.zeros_like(memory[:, 0]), []
        for t in range(target.shape[1]):
            h, state = self.cell(torch.cat([y[:, t], fed], dim=-1)[:, None], state)
            scores = (h @ self.general @ memory.transpose(1, 2))[:, 0]
            context = attended(scores, hidden, memory)
            fed = torch.tanh(self.combine(torch.cat([context, h[:, 0]], dim=-1)))
            rows.append(fed)
        return self.output(torch.stack(rows, dim=1))


class Plain(nn.Module):
    """Cho et al. 2014: no attention, the encoder's final state is an input of every step."""

    def __init__(self) -> None:
        super().__init__()
        self.source = nn.Embedding(VOCABULARY, EMBED, padding_idx=PADDING)
        self.target = nn.Embedding(VOCABULARY, EMBED, padding_idx=PADDING)
        self.encoder = nn.GRU(EMBED, HIDDEN, batch_first=True)
        self.cell = nn.GRU(EMBED + HIDDEN, HIDDEN, batch_first=True)
        self.output = nn.Linear(2 * HIDDEN + EMBED, VOCABULARY)

    def forward(self, source, lengths, target):
        state = encoded(self.encoder, self.source(source), lengths)[1]
        y = self.target(target)
        context = state[0][:, None].expand(-1, target.shape[1], -1)
        h = self.cell(torch.cat([y, context], dim=-1), state)[0]
        return self.output(torch.cat([h, context, y], dim=-1))


class Convolutional(nn.Module):
    """Gehring et al. 2017 in the form of bentrevett's tutorial, with masked padding."""

    def __init__(self) -> None:
        super().__init__()
        self.source = nn.Embedding(VOCABULARY, EMBED, padding_idx=PADDING)
        self.target = nn.Embedding(VOCABULARY, EMBED, padding_idx=PADDING)
        self.source_positions = nn.Embedding(POSITIONS, EMBED)
        self.target_positions = nn.Embedding(POSITIONS, EMBED)
        self.encoder = ConvStack()
        self.decoder = ConvStack()
        self.query = nn.ModuleList(nn.Linear(HIDDEN, EMBED) for _ in range(LAYERS))
        self.context = nn.ModuleList(nn.Linear(EMBED, HIDDEN) for _ in range(LAYERS))
        self.output = nn.Linear(EMBED, VOCABULARY)

    def forward(self, source, lengths, target):
        hidden = padding(lengths, source.shape[1])
        x = self.source(source) + self.source_positions(torch.arange(source.shape[1]))
        h = self.encoder.expand(x).masked_fill(hidden[..., None], 0.0)
        for conv in self.encoder.convs:
            y = convolved(conv, h, (KERNEL // 2, KERNEL // 2))
            h = ((y + h) * 0.5**0.5).masked_fill(hidden[..., None], 0.0)
        keys = self.encoder.reduce(h)
        values = (keys + x) * 0.5**0.5

        x = self.target(target) + self.target_positions(torch.arange(target.shape[1]))
        h = self.decoder.expand(x)
        for conv, query, context in zip(self.decoder.convs, self.query, self.context):
            y = convolved(conv, h, (KERNEL - 1, 0))
            q = (query(y) + x) * 0.5**0.5
            scores = (q @ keys.transpose(1, 2)).masked_fill(hidden[:, None], -torch.inf)
            y = (y + context(scores.softmax(dim=-1) @ values)) * 0.5**0.5
            h = (y + h) * 0.5**0.5
        return self.output(self.decoder.reduce(h))


class ConvStack(nn.Module):
    """The maps and convolutions of one side; a convolution has the windows' weights [2 H, K * H]."""

    def __init__(self) -> None:
        super().__init__()
        self.expand = nn.Linear(EMBED, HIDDEN)
        self.reduce = nn.Linear(HIDDEN, EMBED)
        self.convs = nn.ModuleList(
            nn.Linear(KERNEL * HIDDEN, 2 * HIDDEN) for _ in range(LAYERS)
        )


def convolved(conv: nn.Linear, x: torch.Tensor, edges: tuple[int, int]) -> torch.Tensor:
    weight = conv.weight.unflatten(1, (KERNEL, HIDDEN)).transpose(1, 2)
    y = F.conv1d(F.pad(x.transpose(1, 2), edges), weight, conv.bias)
    return F.glu(y.transpose(1, 2), dim=-1)


def encoded(encoder: nn.RNNBase, x: torch.Tensor, lengths: torch.Tensor):
    """All states, 0 after the end of a sequence, and the final ones."""
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    y, final = encoder(packed)
    return pad_packed_sequence(y, batch_first=True, total_length=x.shape[1])[0], final


def attended(scores: torch.Tensor, hidden: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
    weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    return (weights[:, None] @ memory)[:, 0]
