#!/usr/bin/env python3
"""Measures fresh processes of heed and of transformers that load a published model and compute the first token (a short
sentence for a translator): wall time, CPU time and peak memory, as /usr/bin/time reports them; best of several runs, heed
and transformers by turns.

    python3 -m venv build/venv-hf && build/venv-hf/bin/pip install torch==2.13.0 transformers==5.22.2 sentencepiece sacremoses gguf
    ./run build heed_cli && build/venv-hf/bin/python tools/compare_start_up.py [RUNS]

Models are read from $HEED_MODELS, else ~/.cache/heed-models.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEED = ROOT / "build/release/heed"
MODELS = pathlib.Path(os.environ.get("HEED_MODELS") or "~/.cache/heed-models").expanduser()
SMOLLM = next((MODELS / "smollm2-135m-instruct").glob("*.gguf"), MODELS)
OPUS = MODELS / "opus-mt-en-fr"
PROMPT, SENTENCE = "The capital of France is", "A cat."

GENERATE = f"""
import torch, transformers as hf
tokenizer = hf.AutoTokenizer.from_pretrained({str(SMOLLM.parent)!r}, gguf_file={SMOLLM.name!r})
model = hf.AutoModelForCausalLM.from_pretrained({str(SMOLLM.parent)!r}, gguf_file={SMOLLM.name!r}, dtype=torch.float32)
ids = tokenizer({PROMPT!r}, return_tensors="pt")
print(tokenizer.decode(model.generate(**ids, do_sample=False, max_new_tokens=1)[0, ids.input_ids.shape[1]:]))
"""
TRANSLATE = f"""
import transformers as hf
tokenizer = hf.MarianTokenizer.from_pretrained({str(OPUS)!r})
model = hf.MarianMTModel.from_pretrained({str(OPUS)!r})
print(tokenizer.decode(model.generate(**tokenizer({SENTENCE!r}, return_tensors="pt"), num_beams=1)[0], skip_special_tokens=True))
"""
CASES = {
    "heed generate": ([str(HEED), "generate", "--model", str(SMOLLM), "--prompt", PROMPT, "--method", "beam", "--beam-size", "1",
                       "--max-length", "1"], ""),
    "transformers, the same GGUF file": ([sys.executable, "-c", GENERATE], ""),
    "heed translate": ([str(HEED), "translate", "--model", str(OPUS), "--beam-size", "1"], SENTENCE + "\n"),
    "transformers, the same folder": ([sys.executable, "-c", TRANSLATE], ""),
}


def measure(command, text):
    """Wall seconds, CPU seconds, MiB, and what was written."""
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as written:
        given.write(text)
        given.seek(0)
        begin = time.monotonic()
        with subprocess.Popen(command, stdin=given, stdout=written, stderr=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.monotonic() - begin
            process.returncode = os.waitstatus_to_exitcode(status)
        written.seek(0)
        if process.returncode != 0:
            sys.exit(f"failed: {command}")
        return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, written.read().strip()


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    results = {name: [] for name in CASES}
    for _ in range(runs):
        for name, (command, text) in CASES.items():
            results[name].append(measure(command, text))
    for name, found in results.items():
        wall, cpu, memory = (min(run[i] for run in found) for i in range(3))
        print(f"{name:34} {wall:7.2f} s  {cpu:7.2f} s CPU  {memory:6.0f} MiB  {found[0][3]!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
