#!/usr/bin/env python3
"""Draws what int8 weights lose: the integers of a row of weights, and the cosines of embeddings.

Usage: quantisation_picture.py PICTURE.svg WEIGHTS.safetensors TENSOR NAME SIZE PLAIN.raw INT8.raw [NAME SIZE …]

TENSOR is an F32 matrix; its first row is drawn. For each NAME the two files have vectors of SIZE numbers, as
`heed embed --format raw` writes them without and with `--quantize int8`. The picture of docs/concepts/quantisation.md:

  for q in none int8; do ./run heed embed -m all-minilm-l6-v2 --quantize $q --format raw -i lines > minilm.$q.raw; done
  tools/quantisation_picture.py quantisation.svg all-minilm-l6-v2/model.safetensors \\
    encoder.layer.0.attention.self.query.weight MiniLM 384 minilm.none.raw minilm.int8.raw
"""

import array
import json
import math
import pathlib
import struct
import sys

WIDTH, HEIGHT, LEFT, TOP, PLOT = 920, 300, 60, 50, 190
COLOURS = ("#3b6ea8", "#d98a29", "#5a9e62", "#a8577e")


def first_row(path, tensor):
    """The first row of a matrix of F32 in a safetensors file."""
    with path.open("rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        entry = json.loads(file.read(length))[tensor]
        if entry["dtype"] != "F32" or len(entry["shape"]) != 2:
            sys.exit(f"{tensor} is {entry['dtype']} {entry['shape']}: give a matrix of F32")
        file.seek(8 + length + entry["data_offsets"][0])
        return array.array("f", file.read(4 * entry["shape"][1]))


def integers_of(row):
    """The row as int8: in groups of 64 columns, the nearest steps of the greatest magnitude / 127."""
    integers = []
    for at in range(0, len(row), 64):
        group = row[at:at + 64]
        greatest = max(abs(x) for x in group)
        integers += [round(x * 127 / greatest) for x in group]  # to even if halfway
    return integers


def cosines(size, plain, int8):
    """The cosine of each vector in one file and the same in the other."""
    a, b = (array.array("f", pathlib.Path(path).read_bytes()) for path in (plain, int8))
    if len(a) != len(b) or len(a) % size:
        sys.exit(f"{plain} and {int8} do not have vectors of {size} numbers each")
    result = []
    for i in range(0, len(a), size):
        x, y = a[i:i + size], b[i:i + size]
        norm = math.sqrt(sum(v * v for v in x) * sum(v * v for v in y))
        result.append(sum(p * q for p, q in zip(x, y)) / norm)
    return result


def text(x, y, words, anchor="middle", size=12, colour="#1d2430"):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def bars(counts, x, width, colour, opacity):
    """Bars over a width, the highest as high as the plot."""
    step, highest = width / len(counts), max(counts)
    return [f'<rect x="{x + i * step:.1f}" y="{TOP + PLOT - PLOT * n / highest:.1f}" width="{step:.2f}" '
            f'height="{PLOT * n / highest:.1f}" fill="{colour}" fill-opacity="{opacity}"/>'
            for i, n in enumerate(counts) if n]


def axis(x, width, labels):
    """A line under the bars with labels at even distances."""
    y = TOP + PLOT
    parts = [f'<line x1="{x}" y1="{y}" x2="{x + width}" y2="{y}" stroke="#5b6470"/>']
    for i, label in enumerate(labels):
        parts.append(text(x + width * i / (len(labels) - 1), y + 18, label, colour="#5b6470"))
    return parts


def row_part(integers):
    width = 340
    counts = [0] * 64  # four integers in each
    for n in integers:
        counts[min((n + 128) // 4, 63)] += 1
    return [text(LEFT + width / 2, 30, f"integers of a row of {len(integers)} weights", size=13),
            *bars(counts, LEFT, width, COLOURS[0], 1), *axis(LEFT, width, ("-127", "-64", "0", "64", "127"))]


def cosine_part(models):
    x, width, least, count = LEFT + 420, 380, 0.998, 80
    parts = [text(x + width / 2, 30, "cosine of vectors with f32 and with int8 weights", size=13)]
    for i, (name, values) in enumerate(models):
        counts = [0] * count
        for value in values:
            counts[min(max(int((value - least) / (1 - least) * count), 0), count - 1)] += 1
        parts += bars(counts, x, width, COLOURS[i % len(COLOURS)], 0.65)
        mean = sum(values) / len(values)
        parts.append(text(x + 4, TOP + 14 + 18 * i, f"{name}: mean {mean:.4f}, least {min(values):.4f}", "start",
                          colour=COLOURS[i % len(COLOURS)]))
    return parts + axis(x, width, ("0.998", "0.999", "1"))


def main():
    arguments = sys.argv[1:]
    if len(arguments) < 7 or (len(arguments) - 3) % 4:
        sys.exit(__doc__)
    picture, weights, tensor, *rest = arguments
    models = [(rest[i], cosines(int(rest[i + 1]), *rest[i + 2:i + 4])) for i in range(0, len(rest), 4)]
    parts = row_part(integers_of(first_row(pathlib.Path(weights), tensor))) + cosine_part(models)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
            'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">'
            f'<title>What int8 weights lose</title><rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>')
    pathlib.Path(picture).write_text("\n".join([head, *parts, "</svg>", ""]))


main()
