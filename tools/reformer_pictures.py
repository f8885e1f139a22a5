#!/usr/bin/env python3
"""Draws the pictures of docs/models/reformer.md.

Usage: reformer_pictures.py buckets PICTURE.svg TEXT.txt BUCKETS BEFORE AFTER
       reformer_pictures.py memory PICTURE.svg FIGURES.csv

`buckets` reads two folders of models of the duplication task (tools/reformer_duplicate.sh), hashes the queries of the first
example of the text in one round and draws the bucket of each position of the second half under that of the position it
copies. `memory` draws peaks of a training step against the length, from lines "name,n,megabytes".

  tools/reformer_pictures.py buckets reformer-buckets.svg w127/valid.txt 8 start/checkpoint_last w127/4/checkpoint_last
  tools/reformer_pictures.py memory reformer-memory.svg benchmarks/results/reformer-memory.csv
"""

import array
import csv
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


def draw_memory(picture, figures):
    series = {}
    with open(figures, newline="") as file:
        for row in csv.DictReader(file):
            series.setdefault(row["name"], []).append((int(row["n"]), float(row["megabytes"])))
    width, height, left, top, plot_width, plot = 640, 360, 70, 40, 400, 260
    all_n = [n for points in series.values() for n, _ in points]
    first, last = math.log2(min(all_n)), math.log2(max(all_n))
    least, most = 6, 14  # powers of two, megabytes
    at_x = lambda n: left + plot_width * (math.log2(n) - first) / (last - first)
    at_y = lambda mb: top + plot * (most - math.log2(mb)) / (most - least)
    parts = [text(left, 22, "peak memory of a training step without parameters, 6 layers of 256 features", "start", 13)]
    for power in range(least, most + 1, 2):
        label = f"{2 ** power} MB" if power < 10 else f"{2 ** (power - 10)} GB"
        parts += [f'<line x1="{left}" y1="{at_y(2 ** power):.1f}" x2="{left + plot_width}" y2="{at_y(2 ** power):.1f}" '
                  'stroke="#e3e6ea"/>', text(left - 8, at_y(2 ** power) + 4, label, "end", 11, GREY)]
    for n in sorted(set(all_n)):
        parts.append(text(at_x(n), top + plot + 18, f"n = {n}", size=11, colour=GREY))
    for i, (name, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        points.sort()
        path = " ".join(f"{at_x(n):.1f},{at_y(mb):.1f}" for n, mb in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{at_x(n):.1f}" cy="{at_y(mb):.1f}" r="3.5" fill="{colour}"/>' for n, mb in points]
        n, mb = points[-1]
        parts.append(text(at_x(n) + 10, at_y(mb) + 4, name, "start", 12, colour))
    write_picture(picture, "Memory of a training step against the length", width, height, parts)


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 6 and arguments[0] == "buckets":
        draw_buckets(*arguments[1:])
    elif len(arguments) == 3 and arguments[0] == "memory":
        draw_memory(*arguments[1:])
    else:
        sys.exit(__doc__)


main()
