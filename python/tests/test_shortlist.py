"""Translators that choose among the candidates of a list."""

from __future__ import annotations

import pathlib

import pytest
from small_models import run_program, translator_config

import heed


def best(translator: heed.Translator, sentences: list[str]) -> list[str]:
    return [found[0].text for found in translator.translate_batch(sentences)]


def test_a_list_keeps_most_translations(tmp_path: pathlib.Path) -> None:
    model, file = tmp_path / "translator", tmp_path / "list"
    heed.train(translator_config(tmp_path), model=model, after="200u")
    corpus = [str(tmp_path / name) for name in ("corpus.en", "corpus.zh")]
    run_program("shortlist", "-m", str(model), *corpus, "-o", str(file))
    translator = heed.Translator(model)
    sentences = (tmp_path / "corpus.test.en").read_text(encoding="utf-8").splitlines()
    short = translator.with_shortlist(file)
    plain, found = best(translator, sentences), best(short, sentences)
    assert sum(a == b for a, b in zip(plain, found)) >= 0.5 * len(plain)
    assert [n_best[0].text for n_best in short.translate_iter(sentences)] == found
    least = translator.with_shortlist(file, shortlist_best=1, shortlist_common=0)
    assert best(least, sentences) != plain
    with pytest.raises(heed.Error, match="shortlist_best"):
        translator.with_shortlist(file, shortlist_best=0)
    with pytest.raises(heed.Error, match="no-such-list"):
        translator.with_shortlist("no-such-list")
