"""Language models in GGUF files, against llama.cpp, which computes with the file's blocks of 4 bits; heed with int8."""

import materials
from compare import Case, compare, memory_row
from process import EngineError, started

MODELS = ["smollm2-135m-instruct", "qwen2.5-coder-0.5b-instruct"]
PROMPT, DECODED = 512, 128
OPENING = "It is said that"


def agreement(ours: list[int], theirs: list[int]) -> str:
    """The tokens before the first difference."""
    same = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    return f"first {same} of {len(ours)} tokens equal"


def cases(name: str, threads: int, prompt: str) -> list[Case]:
    """A prompt is read and one token chosen; or a few words are read and many tokens chosen."""
    return [
        Case("language models, int8 against llama.cpp", f"{name}, prompt of {PROMPT} tokens", threads,
             {"prompt": prompt, "tokens": 1}, PROMPT, "tokens", 1.2),
        Case("language models, int8 against llama.cpp", f"{name}, {DECODED} tokens decoded", threads,
             {"prompt": OPENING, "tokens": DECODED}, DECODED, "tokens", 1.0),
    ]  # fmt: skip


def measure(report, options, name: str, threads: int) -> None:
    folder = materials.model(name)
    settings = {"model": str(folder), "threads": threads, "form": "int8"}
    specs = [("heed", "heed_generate", settings), ("llama.cpp", "llama_generate", settings)]
    with started(report, specs) as (ours, peer):
        prompt = ours.run({"cut": materials.story(), "tokens": PROMPT}, show=True)["result"]
        length = peer.run({"count": prompt}, show=True)["result"]
        if length != PROMPT:
            report.note(f"{name}: llama.cpp reads the prompt of {PROMPT} tokens as {length}")
        for case in cases(name, threads, prompt):
            if case.wanted(options):
                report.add(compare(case, [ours, peer], agreement, options))
        report.memory.append(memory_row(f"{name}, int8", threads, [ours, peer]))


def run(report, options) -> None:
    for name in MODELS:
        for threads in options.threads:
            try:
                measure(report, options, name, threads)
            except (materials.Skipped, EngineError) as why:
                report.note(str(why))
