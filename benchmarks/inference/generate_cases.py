"""Language models in GGUF files, against llama.cpp, which computes with the file's blocks of 4 bits, as heed does by
default ("none"). heed's int8 rounds these numbers once more and writes other texts; its bf16 has no goal."""

import materials
from compare import Case, compare, memory_row
from process import EngineError, started

MODELS = ["smollm2-135m-instruct", "qwen2.5-coder-0.5b-instruct"]
GOALS = {"none": (1.2, 1.0), "int8": (1.2, 1.0), "bf16": (0.0, 0.0)}  # of the prompt, of decoding
PROMPT, DECODED = 512, 128
OPENING = "It is said that"


def agreement(ours: list[int], theirs: list[int]) -> str:
    """The tokens before the first difference."""
    same = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    return f"first {same} of {len(ours)} tokens equal"


def cases(name: str, form: str, threads: int, prompt: str) -> list[Case]:
    """A prompt is read and one token chosen; or a few words are read and many tokens chosen."""
    group = f"language models, {'blocks of the file' if form == 'none' else form} against llama.cpp"
    reading, decoding = GOALS[form]
    long, short = {"prompt": prompt, "tokens": 1}, {"prompt": OPENING, "tokens": DECODED}
    return [
        Case(group, f"{name}, prompt of {PROMPT} tokens", threads, long, PROMPT, "tokens", reading),
        Case(group, f"{name}, {DECODED} tokens decoded", threads, short, DECODED, "tokens", decoding),
    ]


def measure(report, options, name: str, form: str, threads: int) -> None:
    if not any(case.wanted(options) for case in cases(name, form, threads, "")):
        return
    settings = {"model": str(materials.model(name)), "threads": threads, "form": form}
    specs = [("heed", "heed_generate", settings), ("llama.cpp", "llama_generate", settings)]
    with started(report, specs) as (ours, peer):
        prompt = ours.run({"cut": materials.story(), "tokens": PROMPT}, show=True)["result"]
        length = peer.run({"count": prompt}, show=True)["result"]
        if length != PROMPT:
            report.note(f"{name}: llama.cpp reads the prompt of {PROMPT} tokens as {length}")
        for case in cases(name, form, threads, prompt):
            if case.wanted(options):
                report.add(compare(case, [ours, peer], agreement, options))
        report.memory.append(memory_row(f"{name}, {form}", threads, [ours, peer]))


def run(report, options) -> None:
    for form in GOALS:
        for name in MODELS:
            for threads in options.threads:
                try:
                    measure(report, options, name, form, threads)
                except (materials.Skipped, EngineError) as why:
                    report.note(str(why))
