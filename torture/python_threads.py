"""Many Python threads that call the package heed at once: python_threads.py SEED THREADS SECONDS.

Every job has a result from before the threads started, and must give the same bits among them.
"""

import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

import numpy as np

import heed


def config(folder):
    """A translator that is trained in a moment."""
    prefix = folder / "corpus"
    heed.grammar_corpus(80, held_out=8, seed=1).write(prefix)
    return {"vocabulary": {"kind": "characters"}, "batch_tokens": 300, "after": "4u", "valid_freq": "2u",
            "save_freq": "2u", "train_sets": [f"{prefix}.en", f"{prefix}.zh"],
            "valid_sets": [f"{prefix}.test.en", f"{prefix}.test.zh"],
            "transformer": {"embed": 16, "heads": 2, "hidden": 32, "encoder_layers": 1, "decoder_layers": 1}}


class Jobs:
    """Calls that must always give the same."""

    def __init__(self, folder):
        self.folder = folder
        self.config = config(folder)
        heed.train(self.config, model=folder / "model")
        self.translator = heed.Translator(folder / "model")
        self.parameters = (folder / "model" / "checkpoint_last" / "model.safetensors").read_bytes()
        numbers = np.random.default_rng(1)
        self.q, self.k, self.v = (numbers.standard_normal((2, 4, 65, 16)).astype(np.float32) for _ in range(3))
        self.seen = numbers.random((65, 65)) < 0.7
        self.sentences = (folder / "corpus.test.en").read_text(encoding="utf-8").splitlines()
        self.count = 0
        self.lock = threading.Lock()

    def plain(self):
        return heed.attention(self.q, self.k, self.v, mask=heed.causal()).tobytes()

    def stages(self):
        return heed.attention(self.q, self.k, self.v, modifiers=[heed.alibi(4), heed.soft_cap(5.0)],
                              mask=heed.window(9, 3) & heed.boolean_mask(self.seen)).tobytes()

    def gradients(self):
        found = heed.backward(self.q, self.q, self.k, self.v, mask=heed.causal())
        return b"".join(np.asarray(x).tobytes() for x in (found.q, found.k, found.v))

    def function(self):
        mask = heed.mask_fn(lambda b, h, i, j: (i + j) % 3 != 0)
        return heed.attention(self.q[:, :, :20], self.k[:, :, :20], self.v[:, :, :20], mask=mask).tobytes()

    def cache(self):
        cache = heed.KVCache(batch=2, heads=4, features=16)
        result = b""
        for t in range(0, 12, 3):
            cache.append(self.k[:, :, t:t + 3], self.v[:, :, t:t + 3])
            result += cache.attend(self.q[:, :, t:t + 1]).tobytes()
            cache.rewind(1)
        return result

    def translate(self):
        found = self.translator.translate_batch(self.sentences, beam_size=2, max_length=10)
        return repr([(t.text, t.score) for n_best in found for t in n_best])

    def load(self):
        return heed.Translator(self.folder / "model").translate(self.sentences[0], beam_size=1, max_length=8)

    def train(self):
        with self.lock:
            self.count += 1
            folder = self.folder / f"model-{self.count}"
        heed.train(self.config, model=folder)
        same = (folder / "checkpoint_last" / "model.safetensors").read_bytes() == self.parameters
        shutil.rmtree(folder)
        return same

    def mistake(self):
        try:
            heed.attention(self.q, self.k[:, :3], self.v)
        except heed.Error as error:
            return str(error)
        return "no error"

    def threads(self):
        heed.set_num_threads(random.choice((1, 2, 3)))
        return None


def main():
    """Runs all jobs on all threads."""
    seed, threads, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="heed-torture-python-") as name:
        jobs = Jobs(pathlib.Path(name))
        # Training is rare: it takes as long as everything else together.
        names = ["plain", "stages", "gradients", "function", "cache", "translate", "load", "mistake", "threads"] * 4
        names.append("train")
        expected = {job: getattr(jobs, job)() for job in dict.fromkeys(names)}
        end, wrong, calls = time.monotonic() + seconds, [], [0] * threads

        def work(number):
            draw = random.Random(f"{seed} {number}")
            while time.monotonic() < end and not wrong:
                job = draw.choice(names)
                try:
                    if getattr(jobs, job)() != expected[job]:
                        wrong.append(f"{job} gives another result among threads")
                except Exception as error:  # pylint: disable=broad-except
                    wrong.append(f"{job}: {type(error).__name__}: {error}")
                calls[number] += 1

        print("ready", flush=True)
        running = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    print(f"WRONG {wrong[0]}" if wrong else f"{threads} threads, {sum(calls)} calls")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
