"""Translation, against CTranslate2: OPUS-MT English to French, and the same with 8,000 tokens, which is a
Transformer-base. Sentences of Multi30k; texts go in and come out on both sides, so that tokenising counts."""

import itertools
import pathlib

import materials
from compare import Case, compare, memory_row
from process import started

NAME = "opus-mt-en-fr"
TOKENS = 8000
MODELS = {NAME: lambda: materials.model(NAME), "transformer-base": lambda: materials.trimmed_model(NAME, TOKENS)}
GOAL = 1.1
FORMS = {"f32": ("none", "float32"), "int8": ("int8", "int8")}  # heed's name, CTranslate2's
SEARCHES = {"greedy": 1, "beam 4": 4}


def sizes(quick: bool) -> dict[str, dict]:
    texts = materials.english()
    one_by_one = {"texts": texts[:60], "one_by_one": True}
    batch = {"texts": texts[:64], "one_by_one": False}
    if quick:
        return {"one by one": {**one_by_one, "texts": texts[:10]}, "batch of 64": batch}
    whole = {"texts": texts, "one_by_one": False}
    return {"60 sentences one by one": one_by_one, "batch of 64": batch, "1000 sentences": whole}


def engines(folder: pathlib.Path, form: str, threads: int) -> list[tuple]:
    """heed and CTranslate2; with two threads the latter twice: two batches side by side, or two threads for each."""
    ours, theirs = FORMS[form]
    peer = {"model": str(materials.ctranslate2_model(folder)), "tokenizers": str(folder), "form": theirs}
    found = [("heed", "heed_translate", {"model": str(folder), "form": ours, "threads": threads})]
    for inter, intra in {(1, threads), (threads, 1)}:
        label = "CTranslate2" if threads == 1 else f"CTranslate2, {inter} x {intra} threads"
        settings = peer | {"inter_threads": inter, "intra_threads": intra, "threads": intra}
        found.append((label, "ctranslate2_translate", settings))
    return found


def agreement(ours: list[str], theirs: list[str]) -> str:
    return f"{sum(a == b for a, b in zip(ours, theirs))} of {len(ours)} texts equal"


def cases(model: str, form: str, threads: int, quick: bool) -> list[Case]:
    return [
        Case(
            group=f"translation, {model}, {form}",
            name=f"{search}, {size}",
            threads=threads,
            request={**request, "beam": beam},
            units=len(request["texts"]),
            unit="sentences",
            goal=GOAL,
        )
        for search, beam in SEARCHES.items()
        for size, request in sizes(quick).items()
    ]


def run(report, options) -> None:
    for model, form, threads in itertools.product(MODELS, FORMS, options.threads):
        wanted = [case for case in cases(model, form, threads, options.quick) if case.wanted(options)]
        if not wanted:
            continue
        with started(report, engines(MODELS[model](), form, threads)) as found:
            for case in wanted:
                report.add(compare(case, found, agreement, options))
            report.memory.append(memory_row(f"{model}, {form}", threads, found))
