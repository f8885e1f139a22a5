"""Pictures: that they are SVG with what was asked for in it, and show and save themselves."""

from __future__ import annotations

import html
import math
import pathlib
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import heed


def words_of(picture: heed.SVG) -> list[str]:
    """All words of a picture, which must be XML."""
    root = ElementTree.fromstring(str(picture))
    return [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]


def titles_of(picture: heed.SVG) -> list[str]:
    root = ElementTree.fromstring(str(picture))
    return [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}title")]


def weights(*shape: int) -> Any:
    raw = np.random.default_rng(1).random(shape)
    return raw / raw.sum(-1, keepdims=True)


def test_heatmap_has_labels_and_title() -> None:
    picture = heed.plot.heatmap(weights(2, 3), ["a", "<b>"], ["x", "y", "狗"], title="one head")
    assert {"a", "<b>", "x", "y", "狗", "one head"} <= set(words_of(picture))
    assert words_of(heed.plot.heatmap(weights(2, 3))) == []


def test_heatmap_takes_any_array() -> None:
    w = weights(4, 5).astype(np.float32)
    picture = str(heed.plot.heatmap(w))
    assert str(heed.plot.heatmap(w.tolist())) == picture
    assert str(heed.plot.heatmap(np.asfortranarray(w))) == picture
    assert str(heed.plot.heatmap(w.astype(np.float64))) == picture
    assert str(heed.plot.heatmap(w.T)) != picture
    assert str(heed.plot.heatmap(w > 0.2)) == str(heed.plot.heatmap((w > 0.2).astype(np.float32)))


def test_heatmap_shades() -> None:
    w = np.array([[0.1, 0.2]])
    assert str(heed.plot.heatmap(w)) != str(heed.plot.heatmap(w, relative=False))
    assert str(heed.plot.heatmap(w)) != str(heed.plot.heatmap(w, power=0.5))
    assert 'width="40" height="20"' in str(heed.plot.heatmap(w, cell=20.0))


@pytest.mark.parametrize(
    ("shape", "layers", "heads"), [((2, 3, 4, 5), 2, 3), ((3, 4, 5), 1, 3), ((4, 5), 1, 1)]
)
def test_sheet_has_every_head(shape: tuple[int, ...], layers: int, heads: int) -> None:
    picture = heed.plot.sheet(weights(*shape))
    assert len(titles_of(picture)) == layers * heads
    assert f"layer {layers}" in words_of(picture) and f"head {heads}" in words_of(picture)
    assert words_of(picture).count("4") >= 1  # the last key's number


def test_sheet_of_layers_with_different_heads() -> None:
    picture = heed.plot.sheet(
        [weights(1, 2, 2), weights(3, 2, 2)], ["q", "r"], ["k", "l"], kind="cross"
    )
    assert len(titles_of(picture)) == 4
    assert "Cross-attention, layer 2, head 3" in titles_of(picture)
    assert "k" in words_of(picture)
    one = heed.plot.sheet([weights(1, 2, 2), weights(3, 2, 2)], layer=2, head=3)
    assert titles_of(one) == ["Encoder self-attention, layer 2, head 3"]


def test_page_shows_itself_in_a_frame() -> None:
    page = heed.plot.page(weights(2, 2, 3, 3), text="a dog runs", result="狗跑")
    text = str(page)
    assert text.lower().startswith("<!doctype html>") and "a dog runs" in text and "狗跑" in text
    shown = page._repr_html_()
    frame = re.fullmatch(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts"[^>]*></iframe>', shown)
    assert frame and html.unescape(frame[1]) == text


def test_pattern() -> None:
    one = heed.plot.pattern("multi_head", positions=8)
    assert "multi_head, head 1" in words_of(one)
    two = heed.plot.pattern("multi_head", "restricted", positions=8)
    assert set(words_of(two)) == {"multi_head", "restricted"}
    narrow = heed.plot.pattern("restricted", positions=8, left=1, right=0)
    wide = heed.plot.pattern("restricted", positions=8, left=7, right=0)
    assert len(str(narrow)) < len(str(wide))
    assert str(heed.plot.pattern("multi_head", positions=8, causal=True)) != str(one)
    every = words_of(heed.plot.pattern(positions=8))
    assert every == [mechanism["name"] for mechanism in heed.list()]


def test_pictures_save_themselves(tmp_path: pathlib.Path) -> None:
    picture = heed.plot.heatmap(weights(2, 2), ["猫", "狗"])
    picture.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == str(picture) == picture.text
    assert picture._repr_svg_() == str(picture)
    assert repr(picture).startswith("<heed.SVG of ")
    with pytest.raises(heed.Error, match="must end in .svg"):
        picture.save(str(tmp_path / "a.png"))
    page = heed.plot.page(weights(2, 2))
    page.save(str(tmp_path / "a.html"))
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == str(page)
    with pytest.raises(TypeError, match="path"):
        page.save(3)  # type: ignore[arg-type]


def test_curves(tmp_path: pathlib.Path) -> None:
    header = "update,epoch,loss,perplexity,rate,norm,skipped,source_tokens,target_tokens,seconds\n"
    for name in ("slow", "fast"):
        folder = tmp_path / name
        folder.mkdir()
        rows = "".join(f"{i},0.1,{9 / i},{9 / i},0.1,1,0,5,5,0.1\n" for i in range(1, 9))
        (folder / "train.csv").write_text(header + rows)
        (folder / "valid.csv").write_text(
            "update,epoch,metric,value,best,seconds\n4,0.1,loss,2,1,1\n4,0.1,bleu,7,1,1\n"
        )
    picture = heed.plot.curves(tmp_path / "slow", str(tmp_path / "fast"))
    assert any("slow" in word for word in words_of(picture))
    assert any("fast" in word for word in words_of(picture))
    assert any("bleu" in word.lower() for word in words_of(picture))
    assert str(heed.plot.curves(tmp_path / "slow", log_updates=True)) != str(
        heed.plot.curves(tmp_path / "slow")
    )
    with pytest.raises(heed.Error):
        heed.plot.curves(tmp_path / "none")
    with pytest.raises(heed.Error, match="File name too long"):
        heed.plot.curves("x" * 300)


@pytest.mark.parametrize("bad", [-1.0, 0.0, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["power", "cell"])
def test_drawing_numbers_are_checked(name: str, bad: float) -> None:
    with pytest.raises(heed.Error, match=name):
        heed.plot.heatmap(weights(2, 2), **{name: bad})
    if name == "cell":
        with pytest.raises(heed.Error, match=name):
            heed.plot.pattern("multi_head", positions=4, cell=bad)


def test_weights_that_are_not_numbers_are_white() -> None:
    w = weights(2, 2)
    w[0, 0] = math.nan
    white = w.copy()
    white[0, 0] = 0.0
    assert str(heed.plot.heatmap(w)) == str(heed.plot.heatmap(white))
    with pytest.raises(heed.Error, match="not numbers"):
        heed.plot.sheet(w)


@pytest.mark.parametrize("draw", [heed.plot.sheet, heed.plot.page])
def test_layers_and_labels_are_checked(draw: Any) -> None:
    with pytest.raises(heed.Error, match="no layers"):
        draw([])
    with pytest.raises(heed.Error, match="for 3 query tokens"):
        draw(weights(2, 2), rows=["a", "b", "c"])
    with pytest.raises(TypeError, match="rows: one str"):
        draw(weights(2, 2), rows="ab")
    with pytest.raises(TypeError, match="columns"):
        draw(weights(2, 2), columns=2)
    with pytest.raises(heed.Error, match=r"\[0, 2, 2\]"):
        draw(np.zeros((0, 2, 2)))


def test_mistakes_are_named() -> None:
    with pytest.raises(heed.Error, match="from 1 to 4096"):
        heed.plot.pattern("multi_head", positions=1 << 40)
    with pytest.raises(heed.Error, match="matrix"):
        heed.plot.heatmap(np.zeros((0, 2)))
    with pytest.raises(heed.Error, match="1 row"):
        heed.plot.heatmap(weights(2, 2), rows=["a"])
    with pytest.raises(heed.Error, match="shape"):
        heed.plot.heatmap(weights(2, 2, 2))
    with pytest.raises(heed.Error, match="layers, heads"):
        heed.plot.sheet(weights(2))
    with pytest.raises(heed.Error, match="kind"):
        heed.plot.sheet(weights(2, 2), kind="self")
    with pytest.raises(heed.Error, match="head"):
        heed.plot.sheet(weights(2, 2), head=2)
    with pytest.raises(heed.Error, match="multi_head"):
        heed.plot.pattern("mutli_head")
    with pytest.raises(heed.Error, match="left"):
        heed.plot.pattern("restricted", lfet=2)
    with pytest.raises(TypeError, match="array"):
        heed.plot.sheet(3)
    with pytest.raises(TypeError, match="weights"):
        heed.plot.heatmap(np.array([[object()]]))
    with pytest.raises(TypeError, match="rows"):
        heed.plot.heatmap(weights(2, 2), rows=[1, 2])  # type: ignore[list-item]
