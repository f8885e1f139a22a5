"""Makes the golden files of weights that other programs wrote:

- tests/golden/quantised.safetensors: random blocks of every type that heed dequantises (`in.Q4_0`, bytes) and their
  values by gguf.quants.dequantize (`out.Q4_0`).
- tests/golden/small.gguf: metadata of every type and a few tensors, by gguf.GGUFWriter.
- tests/golden/gguf_models.json: the CRC-32 of the float32 values of every tensor of real models, by the same package;
  made from the folders under $HEED_MODELS, else ~/.cache/heed-models.

  python3 -m venv build/venv-gguf && build/venv-gguf/bin/pip install gguf==0.19.0
  build/venv-gguf/bin/python tools/golden/quantised.py            # the first two
  build/venv-gguf/bin/python tools/golden/quantised.py --models   # the third
"""

import json
import os
import pathlib
import sys
import zlib

import gguf
import numpy as np

GOLDEN = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden"
MODELS = {
    "smollm2-135m-instruct": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "qwen2.5-coder-0.5b-instruct": "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
}
TYPES = ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"]
# Where the F16 scales are in a block. Random bits there would give infinities and NaN.
SCALES = {"F16": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2],
          "Q5_K": [0, 2], "Q6_K": [208]}
# Zero, the smallest subnormal, the largest subnormal, a negative number and the largest number; then random ones.
EDGES = [0x0000, 0x0001, 0x03ff, 0xb800, 0x7bff]


def random_blocks(name, random):
    """Blocks of random bits with finite scales."""
    size, count = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]][1], 7
    if size == 2:
        count = 97
    blocks = random.integers(0, 256, (count, size), dtype=np.uint8)
    for number, offset in enumerate(SCALES.get(name, [])):
        scales = random.normal(0, 0.05, count).astype(np.float16).view(np.uint16)
        for i, edge in enumerate(EDGES):
            scales[(i + number) % count] = edge
        blocks[:, offset:offset + 2] = scales.reshape(-1, 1).view(np.uint8)
    if name == "BF16":
        blocks = random.normal(0, 1, count).astype(np.float32).view(np.uint8).reshape(-1, 4)[:, 2:]
    return np.ascontiguousarray(blocks)


def write_safetensors(path, tensors):
    """Floats first, so that all data is aligned."""
    header, blobs, offset = {}, [], 0
    names = {np.dtype(np.float32): "F32", np.dtype(np.uint8): "U8"}
    for name in sorted(tensors, key=lambda n: (-tensors[n].itemsize, n)):
        blob = tensors[name].tobytes()
        header[name] = {"dtype": names[tensors[name].dtype], "shape": list(tensors[name].shape),
                        "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def make_blocks():
    random, tensors = np.random.default_rng(1), {}
    for name in TYPES:
        blocks = random_blocks(name, random)
        tensors[f"in.{name}"] = blocks
        kind = gguf.GGMLQuantizationType[name]
        with np.errstate(over="ignore", invalid="ignore"):
            tensors[f"out.{name}"] = gguf.quants.dequantize(blocks, kind).astype(np.float32)
    write_safetensors(GOLDEN / "quantised.safetensors", tensors)


def make_file():
    """Small, but with every type of metadata and of tensor that heed reads."""
    random = np.random.default_rng(2)
    writer = gguf.GGUFWriter(GOLDEN / "small.gguf", "test")
    writer.add_uint8("a.u8", 200)
    writer.add_int8("a.i8", -100)
    writer.add_uint16("a.u16", 60000)
    writer.add_int16("a.i16", -30000)
    writer.add_uint32("a.u32", 4000000000)
    writer.add_int32("a.i32", -2000000000)
    writer.add_uint64("a.u64", 2**64 - 1)
    writer.add_int64("a.i64", -(2**63))
    writer.add_float32("a.f32", 0.5)
    writer.add_float64("a.f64", 1e-300)
    writer.add_bool("a.bool", True)
    writer.add_string("a.string", "text with \u72d7")
    writer.add_array("a.strings", ["<s>", "</s>", "\u2581the"])
    writer.add_array("a.integers", [3, 1, 4, 1, 5])
    writer.add_array("a.floats", [0.25, -0.5])
    writer.add_array("a.bools", [True, False])
    writer.add_tensor("f32", np.arange(6, dtype=np.float32).reshape(2, 3))
    writer.add_tensor("f16", np.array([0.5, -2.0, 65504.0], dtype=np.float16))
    writer.add_tensor("i32", np.array([[7], [8]], dtype=np.int32))
    for name in ("BF16", "Q8_0", "Q6_K"):
        blocks = random_blocks(name, random)[:2]
        writer.add_tensor(name.lower(), blocks.reshape(2, -1), raw_dtype=gguf.GGMLQuantizationType[name])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make_models():
    folder = pathlib.Path(os.environ.get("HEED_MODELS") or "~/.cache/heed-models").expanduser()
    result = {}
    for model, name in MODELS.items():
        reader, sums = gguf.GGUFReader(folder / model / name), {}
        for tensor in reader.tensors:
            values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            sums[tensor.name] = zlib.crc32(np.ascontiguousarray(values, dtype=np.float32))
        result[model] = {"file": name, "crc32": sums}
    (GOLDEN / "gguf_models.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    if "--models" in sys.argv:
        make_models()
    else:
        make_blocks()
        make_file()
