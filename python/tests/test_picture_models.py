"""Models of pictures: trained, loaded and used from Python."""

from __future__ import annotations

import pathlib
import struct
import zlib

import numpy as np
import pytest

import heed


def write_png(path: pathlib.Path, side: int) -> None:
    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    rows = b"".join(b"\0" + bytes(9 * (x + y) % 256 for x in range(side)) for y in range(side))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    place = tmp_path_factory.mktemp("pictures")
    pixels = bytes((31 * i + j * (i % 3 + 1)) % 256 for i in range(12) for j in range(16 * 16))
    (place / "images").write_bytes(struct.pack(">IIII", 0x803, 12, 16, 16) + pixels)
    (place / "labels").write_bytes(struct.pack(">II", 0x801, 12) + bytes(i % 3 for i in range(12)))
    (place / "captions").write_text("a dog runs\nthe cat\n" * 6)
    for name in ("one.png", "two.png"):
        write_png(place / name, 20)
    heed.train(task="recognise", kind="recurrent_attention", model=place / "glimpses", after="2u",
               train_sets=[place / "images", place / "labels"], reinforce={"reward": "accuracy"},
               recurrent_attention={"glimpses": 3, "patch": 4, "glimpse_hidden": 4, "hidden": 6})
    heed.train(task="caption", model=place / "captioner", after="2u",
               train_sets=[place / "images", place / "captions"], vocabulary={"kind": "words", "size": 0},
               captioner={"stem": 2, "stages": 2, "embed": 4, "hidden": 6})
    return place


def test_glimpses(folder: pathlib.Path) -> None:
    model = heed.load(folder / "glimpses")
    assert type(model) is heed.PictureClassifier
    assert model.config["glimpses"] == 3 and model.labels == ["0", "1", "2"]
    found = model.recognise_batch([folder / "one.png"])[0]
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-5)
    assert model.recognise(folder / "one.png") == next(iter(found))
    seen = model.attention(folder / "one.png")
    weights = np.asarray(seen.cross[0])
    assert weights.shape == (1, 3, 256) and np.allclose(weights.sum(-1), 1.0)
    assert "glimpse 3" in str(seen.picture())


def test_captions(folder: pathlib.Path) -> None:
    captioner = heed.load(folder / "captioner")
    assert type(captioner) is heed.PictureCaptioner
    assert captioner.config["stem"] == 2 and "parameters" in repr(captioner)
    files = [folder / "one.png", str(folder / "two.png")]
    texts = captioner.caption_batch(files, beam_size=2, max_length=5)
    assert texts == [captioner.caption(file, beam_size=2, max_length=5) for file in files]
    assert all(set(text.split()) <= {"a", "dog", "runs", "the", "cat"} for text in texts)
    seen = captioner.attention(files[0])
    weights = np.asarray(seen.cross[0])
    assert weights.shape[0] == 1 and weights.shape[2] == 16 and np.allclose(weights.sum(-1), 1.0, atol=1e-5)
    assert seen.result == captioner.caption(files[0])
    assert captioner.caption_batch([]) == []
    with pytest.raises(heed.Error, match="beam_size"):
        captioner.caption(files[0], beam_size=0)
    with pytest.raises(heed.Error, match='for task "caption"'):
        heed.PictureClassifier(folder / "captioner")
