"""Models that point and models of algorithmic tasks: trained, loaded and used from Python."""

from __future__ import annotations

import pathlib

import pytest

import heed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    place = tmp_path_factory.mktemp("sequences")
    (place / "sets").write_text("0 0 1 0 1 1 output 1 2 3\n0 1 1 0 0.2 0.3 1 1 output 1 2 4\n")
    (place / "bits").write_text("101 001 output 10\n111 011 001 output 11 01\n")
    heed.train(task="point", model=place / "pointer", train_sets=[place / "sets"], after="2u",
               pointer_network={"embed": 4, "hidden": 6, "each_once": True})
    heed.train(task="copy", model=place / "machine", train_sets=[place / "bits"], after="2u",
               turing_machine={"slots": 6, "width": 3, "hidden": 5})
    return place


def test_pointing(folder: pathlib.Path) -> None:
    pointer = heed.load(folder / "pointer")
    assert type(pointer) is heed.ElementPointer
    assert pointer.config["features"] == 2 and "elements of 2 numbers" in repr(pointer)
    sets = [[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)], [[0.5, 0.5]]]
    found = pointer.point_batch(sets, beam_size=3)
    assert found == [pointer.point(elements, beam_size=3) for elements in sets]
    assert all(len(set(positions)) == len(positions) and set(positions) <= {1, 2, 3} for positions in found)
    assert len(pointer.attention(sets[0]).cross) == 1
    with pytest.raises(heed.Error, match="reads 2 each"):
        pointer.point([[1.0, 2.0, 3.0]])
    with pytest.raises(heed.Error, match="must be numbers"):
        pointer.point([["a", 1.0]])
    with pytest.raises(heed.Error, match="at least one element"):
        pointer.point([])


def test_writing_bits(folder: pathlib.Path) -> None:
    machine = heed.load(folder / "machine")
    assert type(machine) is heed.BitMachine
    assert machine.config["slots"] == 6 and "3 bits to read, 2 to write" in repr(machine)
    written = machine.write(["101", "001"], 4)
    assert len(written) == 4 and all(len(word) == 2 and set(word) <= {"0", "1"} for word in written)
    with pytest.raises(heed.Error, match="there must be 3"):
        machine.write(["10"], 1)
    with pytest.raises(heed.Error, match="at least 1"):
        machine.write(["101"], 0)
