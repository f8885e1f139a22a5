"""Makes the files of torch.save that tests read: tests/golden/torch_zip.bin, tests/golden/torch_old.bin (the form before
PyTorch 1.6) and tests/golden/torch_values.safetensors, the same tensors, contiguous. Run it like make_goldens.py.
"""

import collections
import pathlib

import torch

import safetensors_file

GOLDEN = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden"


def state():
    """A state dict with every case that the reader distinguishes."""
    torch.manual_seed(1)
    matrix = torch.arange(12, dtype=torch.float32).reshape(3, 4) / 8
    layer = torch.nn.Linear(4, 2)
    tensors = collections.OrderedDict()
    tensors["matrix"] = matrix
    tensors["tied"] = matrix
    tensors["transposed"] = matrix.t()
    tensors["row"] = matrix[1]
    tensors["columns"] = matrix[:, 1:3]
    tensors["parameter"] = layer.weight
    tensors["scalar"] = torch.tensor(2.5)
    tensors["empty"] = torch.zeros(0, 3)
    tensors["half"] = torch.tensor([0.5, -2.0, 65504.0], dtype=torch.float16)
    tensors["brain"] = torch.tensor([[1.0, -3.0], [0.5, 256.0]], dtype=torch.bfloat16).t()
    tensors["double"] = torch.tensor([0.1, 1e-3], dtype=torch.float64)
    tensors["long"] = torch.arange(5).expand((1, -1))
    tensors["int"] = torch.tensor([-1, 2], dtype=torch.int32)
    tensors["byte"] = torch.tensor([0, 255], dtype=torch.uint8)
    tensors["bool"] = torch.tensor([True, False, True])
    tensors["char"] = torch.tensor([-3], dtype=torch.int8)
    return tensors


def main():
    tensors = state()
    module = torch.nn.Module()  # its state dict has the attribute _metadata
    module.layer = torch.nn.Linear(2, 2)
    whole = {"model": tensors, "inner": module.state_dict(), "step": 7, "rate": 0.5, "name": "test", "none": None,
             "list": [torch.ones(2), 3]}
    torch.save(whole, GOLDEN / "torch_zip.bin")
    torch.save(whole, GOLDEN / "torch_old.bin", _use_new_zipfile_serialization=False)
    values = {f"model.{name}": tensor.detach() for name, tensor in tensors.items() if name != "char"}
    values.update({f"inner.{name}": tensor for name, tensor in module.state_dict().items()})
    values["list.0"] = torch.ones(2)
    as_float = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.float64: torch.float32}
    values = {name: tensor.to(as_float.get(tensor.dtype, tensor.dtype)).contiguous() for name, tensor in values.items()}
    (GOLDEN / "torch_values.safetensors").write_bytes(safetensors_file.serialise(values, {}))


if __name__ == "__main__":
    main()
