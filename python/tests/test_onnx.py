"""The node tests that the package onnx publishes for the operator Attention, through heed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

# Earlier releases have other orders of soft-cap and mask, and NaN where nothing is seen.
onnx = pytest.importorskip(
    "onnx", minversion="1.23", reason="the package onnx, 1.23 or later, is not installed"
)

from onnx_attention import attention  # noqa: E402

OUTPUTS = ("Y", "present_key", "present_value", "qk_matmul_output")


def _published() -> list[Any]:
    """The cases that have the operator itself; the others spell it out in smaller operators."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases("Attention")
    return [case for case in cases if [n.op_type for n in case.model.graph.node] == ["Attention"]]


CASES = _published()


def _assert_close(name: str, out: np.ndarray, right: np.ndarray) -> None:
    """By the tolerances of onnx's own test runner."""
    assert out.shape == right.shape and out.dtype == right.dtype, name
    rtol = 2**-6 if right.dtype.name == "bfloat16" else 1e-3
    out, right = out.astype(np.float64), right.astype(np.float64)
    np.testing.assert_allclose(out, right, rtol=rtol, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_published_case(case: Any) -> None:
    node = case.model.graph.node[0]
    options = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    for given, expected in case.data_sets:
        arrays = iter(given)
        inputs = [next(arrays) if name else None for name in node.input]
        outputs = attention(*inputs, **options)
        wanted = [i for i, name in enumerate(node.output) if name]
        assert len(wanted) == len(expected)
        for i, right in zip(wanted, expected):
            _assert_close(OUTPUTS[i], outputs[i], right)


def test_published_cases_cover_the_operator() -> None:
    """Every opset, input, output and attribute that the schema has occurs in a case."""
    seen: dict[str, set[Any]] = {
        "opset": set(),
        "input": set(),
        "output": set(),
        "attribute": set(),
    }
    for case in CASES:
        node = case.model.graph.node[0]
        seen["opset"].add(case.model.opset_import[0].version)
        seen["input"].update(node.input)
        seen["output"].update(node.output)
        seen["attribute"].update(a.name for a in node.attribute)
    schema = onnx.defs.get_schema("Attention")
    assert {23, 24, 25} <= seen["opset"]
    assert {i.name for i in schema.inputs} <= seen["input"]
    assert {o.name for o in schema.outputs} <= seen["output"]
    assert set(schema.attributes) <= seen["attribute"]


def _random_call(random: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs and attributes of one call, any combination that the operator allows."""
    B, G, D, Tq, Tk = (int(random.integers(1, n)) for n in (4, 4, 9, 7, 9))
    H = G * int(random.integers(1, 4))
    floats = lambda *shape: random.standard_normal(shape).astype(np.float32)  # noqa: E731
    past = int(random.integers(0, 5))
    lengths = past == 0 and random.random() < 0.5
    inputs: dict[str, Any] = {"Q": floats(B, H, Tq, D), "K": floats(B, G, Tk, D)}
    inputs["V"] = floats(B, G, Tk, D + 1)
    if past:
        inputs["past_key"] = floats(B, G, past, D)
        inputs["past_value"] = floats(B, G, past, D + 1)
    if lengths:
        inputs["nonpad_kv_seqlen"] = random.integers(0, Tk + 1, B)
    kind = random.integers(3)
    if kind:
        shape = (B, H, Tq, past + Tk)[int(random.integers(4)) :]
        shape = tuple(
            n if random.random() < 0.7 or i + 1 == len(shape) else 1 for i, n in enumerate(shape)
        )
        inputs["attn_mask"] = floats(*shape) if kind == 1 else random.random(shape) < 0.6
    mode = int(random.integers(4))
    attributes = {
        "is_causal": int(random.integers(2)),
        "qk_matmul_output_mode": mode,
        # In mode 0 the reference gives capped scores, unlike the schema.
        "softcap": float(random.choice([0.0, 0.7])) if mode else 0.0,
        "left_window_size": int(random.integers(-1, 4)),
        "right_window_size": int(random.integers(-1, 4)),
    }
    if random.random() < 0.5:
        attributes["scale"] = 0.3
    return inputs, attributes


@pytest.mark.parametrize("seed", range(60))
def test_any_combination_as_the_reference_has_it(seed: int) -> None:
    from onnx.reference import ReferenceEvaluator

    inputs, attributes = _random_call(np.random.default_rng(seed))
    names = ["Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"]
    node = onnx.helper.make_node(
        "Attention", [n if n in inputs else "" for n in names], list(OUTPUTS), **attributes
    )
    unknown = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, None)
    graph = onnx.helper.make_graph(
        [node],
        "attention",
        [onnx.helper.make_value_info(n, unknown) for n in inputs],
        [onnx.helper.make_value_info(n, unknown) for n in OUTPUTS],
    )
    opset = [onnx.helper.make_opsetid("", 25)]
    reference = ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=opset))
    outputs = attention(*(inputs.get(n) for n in names), **attributes)
    for name, out, right in zip(OUTPUTS, outputs, reference.run(None, inputs)):
        out, right = np.asarray(out), np.asarray(right)
        assert out.shape == right.shape, name
        np.testing.assert_allclose(out, right, rtol=1e-4, atol=1e-5, err_msg=name)
