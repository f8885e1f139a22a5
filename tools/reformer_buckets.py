#!/usr/bin/env python3
"""Draws the buckets of docs/models/reformer.md.

Usage: reformer_buckets.py PICTURE.svg TEXT.txt BUCKETS BEFORE AFTER

Reads two folders of models of the duplication task (tools/reformer_duplicate.sh), hashes the queries of the first example
of the text in one round and draws the bucket of each position of the second half under that of the position it copies.
BEFORE is a model that was trained for one update (--after 1u).

  tools/reformer_buckets.py reformer-buckets.svg w127/valid.txt 8 start/checkpoint_last w127/full/checkpoint_last
"""

import array
import json
import math
import pathlib
import random
import struct
import sys

COLOURS = ("#3b6ea8", "#d98a29", "#5a9e62", "#a8577e", "#7a6fb0", "#b8a13c", "#4fa3a8", "#8c6d5a")
INK, GREY = "#1d2430", "#5b6470"


def tensors_of(folder):
    """The tensors of a model as lists: name -> (shape, numbers)."""
    data = (folder / "model.safetensors").read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    entries = json.loads(data[8:8 + length])
    entries.pop("__metadata__", None)
    return {name: (entry["shape"], array.array("f", data[8 + length + entry["data_offsets"][0]:8 + length + entry["data_offsets"][1]]))
            for name, entry in entries.items()}


def first_queries(folder, text):
    """The heads, and the queries of the first layer at each position of the text: [T][E]."""
    tensors = tensors_of(folder)
    words = json.loads((folder / "tokenizer.heed.json").read_text())["tokens"]
    heads = json.loads((folder / "config.json").read_text())["model"]["heads"]
    tokens, places = tensors["tokens.tokens.weight"][1], tensors["tokens.position.weight"][1]
    scale, shift = (tensors[f"decoder.layers.0.norm1.{part}"][1] for part in ("weight", "bias"))
    matrix, bias = (tensors[f"decoder.layers.0.self_attn.qk_proj.{part}"][1] for part in ("weight", "bias"))
    size = len(scale)
    queries = []
    for t, character in enumerate(text):
        token = words.index(character)
        x = [tokens[token * size + i] + places[t * size + i] for i in range(size)]
        mean = sum(x) / size
        deviation = math.sqrt(sum((v - mean) ** 2 for v in x) / size + 1e-5)
        x = [(v - mean) / deviation * scale[i] + shift[i] for i, v in enumerate(x)]
        queries.append([bias[o] + sum(matrix[o * size + i] * x[i] for i in range(size)) for o in range(size)])
    return heads, queries


def buckets_of(heads, queries, buckets):
    """For each head, the bucket of each position: the nearest of some random directions and their opposites."""
    size = len(queries[0]) // heads
    numbers = random.Random(1)
    result = []
    for head in range(heads):
        directions = [[numbers.gauss(0, 1) for _ in range(size)] for _ in range(buckets // 2)]
        line = []
        for query in queries:
            part = query[head * size:(head + 1) * size]
            turned = [sum(a * b for a, b in zip(part, direction)) for direction in directions]
            turned += [-x for x in turned]
            line.append(turned.index(max(turned)))
        result.append(line)
    return result


def text(x, y, words, anchor="middle", size=12, colour=INK):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def write_picture(path, title, width, height, parts):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">'
            f'<title>{title}</title><rect width="{width}" height="{height}" fill="#ffffff"/>')
    pathlib.Path(path).write_text("\n".join([head, *parts, "</svg>", ""]))


def bucket_panel(top, name, lines, word):
    """Each head: the buckets of the first word, and under them those of the positions that predict its copy."""
    left, cell, high = 70, 6, 15
    pairs = [(line[1 + i], line[1 + word + i]) for line in lines for i in range(word)]
    same = sum(a == b for a, b in pairs) / len(pairs)
    parts = [text(left, top, f"{name}: {100 * same:.0f} % of the pairs have the same bucket", "start", 13)]
    cells = {}  # by colour
    for head, line in enumerate(lines):
        y = top + 12 + head * (2 * high + 8)
        parts.append(text(left - 8, y + high + 4, f"head {head + 1}", "end", 11, GREY))
        for i in range(word):
            for row, bucket in enumerate((line[1 + i], line[1 + word + i])):
                cells.setdefault(COLOURS[bucket % len(COLOURS)], []).append(
                    f"M{left + i * cell} {y + row * high}h{cell}v{high}h-{cell}z")
    return parts + [f'<path d="{"".join(places)}" fill="{colour}"/>' for colour, places in cells.items()]


def draw_buckets(picture, text_path, buckets, before, after):
    lines = pathlib.Path(text_path).read_text().split("\n")
    word = len(lines[1])
    example = f"\n{lines[1]}\n{lines[1]}"
    parts = []
    for i, (name, folder) in enumerate((("before training", before), ("after training", after))):
        heads, queries = first_queries(pathlib.Path(folder), example)
        found = buckets_of(heads, queries, int(buckets))
        parts += bucket_panel(30 + i * (heads * 38 + 40), name, found, word)
    write_picture(picture, "Buckets of a word and of its copy", 80 + 6 * word, 20 + 2 * (heads * 38 + 40), parts)


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    draw_buckets(*sys.argv[1:])


main()
