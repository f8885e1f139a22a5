"""Vectors of sentences, against ONNX Runtime and sentence-transformers. Texts go in on all sides, so that tokenising
counts."""

import dataclasses

import materials
from compare import Case, compare, memory_row
from process import EngineError, started

GOAL = 1.2
LINES = 500


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    texts: object
    pooling: str
    padding: int
    max_length: int
    has_modules: bool = True  # the files that sentence-transformers reads


MODELS = [
    Model("all-minilm-l6-v2", materials.english, "mean", 0, 256),
    Model("bge-small-zh-v1.5", materials.chinese, "first", 0, 512, has_modules=False),
    Model("all-mpnet-base-v2", materials.english, "mean", 1, 384),
]


def engines(model: Model, form: str, threads: int) -> list[tuple]:
    folder = str(materials.model(model.name))
    common = {"threads": threads, "pooling": model.pooling}
    ours = {"model": folder, "form": "int8" if form == "int8" else "none"} | common
    onnx = {
        "model": str(materials.onnx_model(model.name, form)),
        "tokenizer": folder,
        "padding": model.padding,
        "max_length": model.max_length,
    } | common
    found = [("heed", "heed_embed", ours), ("ONNX Runtime", "onnx_embed", onnx)]
    if form == "f32" and model.has_modules:
        found.append(("sentence-transformers", "transformers_embed", {"model": folder} | common))
    return found


def least_cosine(ours: list, theirs: list) -> float:
    """The vectors have length 1."""
    return min(sum(x * y for x, y in zip(a, b)) for a, b in zip(ours, theirs))


class Agreement:
    """f32: the least cosine between the two. int8: the least cosine of each with the vectors of f32."""

    def __init__(self):
        self.exact: dict[str, list] = {}

    def of(self, model: Model, form: str):
        def compared(ours: list, theirs: list) -> str:
            if form == "f32":
                self.exact[model.name] = ours
                return f"cosine ≥ {least_cosine(ours, theirs):.4f}"
            exact = self.exact[model.name]
            return f"cosine with f32 ≥ {least_cosine(ours, exact):.3f}; theirs {least_cosine(theirs, exact):.3f}"

        return compared


def measure(report, options, model: Model, form: str, threads: int, agreement: Agreement) -> None:
    texts = model.texts()[:LINES]
    if options.quick:
        texts = texts[::5]
    case = Case(
        group=f"vectors of sentences, {form}",
        name=f"{model.name}, {len(texts)} texts",
        threads=threads,
        request={"texts": texts},
        units=len(texts),
        unit="texts",
        goal=GOAL,
    )
    if not case.wanted(options):
        return
    with started(report, engines(model, form, threads)) as found:
        report.add(compare(case, found, agreement.of(model, form), options))
        report.memory.append(memory_row(f"{model.name}, {form}", threads, found))


def run(report, options) -> None:
    agreement = Agreement()
    for form in ("f32", "int8"):
        for model in MODELS:
            for threads in options.threads:
                try:
                    measure(report, options, model, form, threads, agreement)
                except (materials.Skipped, EngineError) as why:
                    report.note(str(why))
