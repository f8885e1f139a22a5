"""What there is to choose from, and the comparison of sequence layers."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest
from small_models import run_program

import heed

TINY: dict[str, Any] = {
    "lengths": [8, 16],
    "sizes": [4, 8],
    "path_lengths": [4, 8],
    "runs": 1,
}


def test_list_has_every_mechanism() -> None:
    mechanisms = {mechanism["name"]: mechanism for mechanism in heed.list()}
    assert len(mechanisms) == len(heed.list()) > 15
    assert mechanisms["multi_head"]["traits"]["fused"] is True
    assert {"formula", "paper", "cost"} <= set(mechanisms["multi_head"])
    names = {option["name"] for option in mechanisms["restricted"]["options"]}
    assert "left" in names
    assert "rope" in {code["name"] for code in heed.positions()}


def test_list_is_the_programs() -> None:
    assert json.loads(run_program("list", "--json")) == {
        "mechanisms": heed.list(),
        "positions": heed.positions(),
        "masks": heed.masks(),
    }


def test_compare() -> None:
    found = heed.compare(**TINY, neighbours=2, recurrence="lstm", backward=True)
    numbers = found.numbers
    assert numbers["lengths"] == [8, 16] and numbers["neighbours"] == 2
    assert numbers["backward"] is True
    assert [layer["name"] for layer in numbers["layers"]][2] == "lstm"
    points = numbers["layers"][0]["points"]
    assert len(points) == 4 and all(point["flops"] > 0 for point in points)
    assert "self-attention" in str(found) and "complexity" in str(found)
    ElementTree.fromstring(str(found.svg))
    assert found._repr_svg_() == str(found.svg)
    assert "batch 1" in repr(found)


def test_quick_fills_what_is_not_given() -> None:
    numbers = heed.compare(quick=True, sizes=[4, 8], path_lengths=[4, 8], runs=1).numbers
    assert numbers["sizes"] == [4, 8] and numbers["lengths"] == [64, 128, 256, 512]


def test_compare_names_mistakes() -> None:
    with pytest.raises(heed.Error, match="ascending"):
        heed.compare(sizes=[8, 4])
    with pytest.raises(heed.Error, match="recurrence"):
        heed.compare(**TINY, recurrence="rnn")
    with pytest.raises(TypeError):
        heed.compare(sizes="8")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        heed.compare(width=8)  # type: ignore[call-arg]
