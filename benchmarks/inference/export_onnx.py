"""Writes an encoder of a Hugging Face folder as ONNX. ONNX Runtime's optimiser of Transformers fuses what it can.

    python export_onnx.py FOLDER f32|int8 OUT.onnx
"""

import pathlib
import sys
import tempfile

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers import optimizer
from transformers import AutoModel


class States(torch.nn.Module):
    """The last hidden states, [B, T, E]."""

    def __init__(self, model: torch.nn.Module):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def export(model: torch.nn.Module, path: pathlib.Path) -> None:
    ids = torch.randint(1000, 2000, (2, 16))
    axes = {name: {0: "batch", 1: "length"} for name in ("input_ids", "attention_mask", "states")}
    torch.onnx.export(
        States(model),
        (ids, torch.ones_like(ids)),
        str(path),
        input_names=["input_ids", "attention_mask"],
        output_names=["states"],
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )


def main() -> None:
    folder, form, out = sys.argv[1:]
    model = AutoModel.from_pretrained(folder, attn_implementation="eager", local_files_only=True).eval()
    with tempfile.TemporaryDirectory() as place:
        plain, fused = pathlib.Path(place) / "plain.onnx", pathlib.Path(place) / "fused.onnx"
        export(model, plain)
        config = model.config
        optimizer.optimize_model(
            str(plain), "bert", num_heads=config.num_attention_heads, hidden_size=config.hidden_size
        ).save_model_to_file(str(fused))
        if form == "int8":
            default = {"DefaultTensorType": onnx.TensorProto.FLOAT}  # of the fused operators
            quantize_dynamic(fused, out, weight_type=QuantType.QInt8, per_channel=True, extra_options=default)
        else:
            fused.replace(out)


main()
