#!/usr/bin/env python3
"""Checks that every file under heed/, cli/ and python/ includes only from its own layer and those below it.

LAYERS is the list of the layers; ARCHITECTURE.md explains them.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Each layer and the layers that it uses directly.
LAYERS = {
    "base": [],
    "io": ["base"],
    "kernels": ["io"],
    "tensor": ["kernels"],
    "autograd": ["tensor"],
    "ops": ["autograd"],
    "nn": ["ops"],
    "attention": ["nn"],
    "distributed": ["nn"],
    "text": ["io"],
    "pictures": ["io"],
    "evaluation": ["text"],
    "data": ["text", "pictures", "tensor"],
    "models": ["attention"],
    "generation": ["models", "data"],
    "training": ["generation", "evaluation", "distributed"],
    "study": ["attention"],
    "plot": ["training", "study"],
    "serve": ["plot"],
    "cli": ["serve"],
    "python": ["plot"],
}

# Libraries that only some files may include: include prefix, allowed paths, reason.
ONLY_IN = [
    ("hwy/", ("heed/kernels/", "heed/base/isa."), "SIMD lives in kernels/"),
    ("dnnl", ("heed/kernels/gemm.cpp",), "only kernels/gemm.cpp uses oneDNN"),
    ("oneapi/", ("heed/kernels/gemm.cpp",), "only kernels/gemm.cpp uses oneDNN"),
    ("omp.h", ("heed/kernels/gemm.cpp",), "only oneDNN uses OpenMP"),
    ("sentencepiece", ("heed/text/sentence_piece",), "only heed/text/sentence_piece* uses SentencePiece"),
    ("utf8proc", ("heed/text/unicode",), "only heed/text/unicode* uses Unicode tables"),
    ("pcre2", ("heed/text/pipeline/regex.cpp",), "only heed/text/pipeline/regex.cpp uses PCRE2"),
    ("png.h", ("heed/pictures/picture_file.cpp",), "only heed/pictures/picture_file.cpp reads PNG"),
    ("jpeglib.h", ("heed/pictures/picture_file.cpp",), "only heed/pictures/picture_file.cpp reads JPEG"),
    ("zlib", ("heed/io/",), "only heed/io/ reads compressed files"),
    ("mpi.h", ("heed/distributed/mpi/",), "only heed/distributed/mpi/ uses MPI"),
    ("boost/", ("heed/serve/server.", "heed/serve/session"), "only the network of the server uses Boost"),
    ("openssl/", ("heed/serve/keys.cpp",), "only heed/serve/keys.cpp hashes"),
    ("CLI/", ("cli/",), "only the program parses flags"),
    ("nanobind/", ("python/",), "only python/ uses nanobind"),
    ("librsvg", ("cli/png.cpp",), "only the program writes PNG"),
    ("cairo", ("cli/png.cpp",), "only the program writes PNG"),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def reach(layer):
    """The layers that a layer may include: itself and everything below."""
    seen, todo = set(), [layer]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo += LAYERS[current]
    return seen


def layer_of(path):
    """'ops' for heed/ops/x.h, 'cli' for cli/x.cpp, None for heed/heed.h."""
    parts = path.split("/")
    if parts[0] == "heed":
        return parts[1] if len(parts) > 2 else None
    return parts[0]


def check_include(path, quote, name):
    """The problem with one include of one file, or None."""
    layer = layer_of(path)
    for prefix, places, why in ONLY_IN:
        if name.startswith(prefix) and not path.startswith(places):
            return f"<{name}> is not for this file: {why}"
    if not name.startswith(("heed/", "cli/", "python/")):
        relative = quote == '"' and (ROOT / path).parent.joinpath(name).exists()
        return f'"{name}": write the path from the project root' if relative else None
    if name == "heed/heed.h":
        return "heed/heed.h is for users of the library" if path.startswith("heed/") else None
    if layer is not None and layer_of(name) not in reach(layer):
        return f"{layer}/ may not include {name}: it uses {', '.join(LAYERS[layer]) or 'nothing'}"
    return None


def problems():
    files = sorted(f for top in ("heed", "cli", "python") for f in (ROOT / top).rglob("*") if f.suffix in (".h", ".cpp"))
    for file in files:
        path = file.relative_to(ROOT).as_posix()
        layer = layer_of(path)
        if layer is not None and layer not in LAYERS:
            yield f"{path}: '{layer}' is not in the list of layers (tools/check_layers.py)"
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            problem = match and check_include(path, *match.groups())
            if problem:
                yield f"{path}:{number}: {problem}"


def main():
    found = list(problems())
    print("\n".join(found) if found else "layers: every include points down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
