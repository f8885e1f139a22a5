"""PyTorch as the peer of the models benchmark; peer.py describes the protocol.

    loss file=/tmp/x/tiny.safetensors batch=0
        ok loss=9.2131451
    step file=/tmp/x/tiny.safetensors batch=0 threads=2 mode=compile repeats=3
        ok best_us=400000.1 median_us=401000.0 repeats=3
    decode file=/tmp/x/tiny.safetensors batch=0 length=20 threads=2 repeats=3
        ok best_us=90000.0 median_us=91000.0 repeats=3 sums=4120,7771
    memory file=/tmp/x/tiny.safetensors threads=2
        ok mb=612.4

heed writes the files. A step is warmed up (and compiled) at its first use; only the training of the
last file is kept. memory is the growth of the peak resident set by two steps of every batch, and needs
a fresh process.
"""

import peer
import torch

from models_cases import Training
from models_decoding import greedy

MODES = ("eager", "compile")
WARM_UP_STEPS = 2
DEFAULTS = {
    "file": "",
    "batch": "0",
    "threads": "1",
    "mode": "eager",
    "repeats": "3",
    "length": "20",
}
# Each shape is compiled separately, which gives the fastest code.
torch._dynamo.config.automatic_dynamic_shapes = False


class ModelsPeer:
    def __init__(self) -> None:
        self._path = ""
        self._training: Training | None = None
        self._losses: dict[tuple[str, int], object] = {}
        self._warm: set[tuple[str, int, str]] = set()

    def loss(self, options: peer.Options) -> str:
        training = self._load(options["file"])
        return peer.fields({"loss": f"{training.loss_in_use(self._batch(options)):.7f}"})

    def step(self, options: peer.Options) -> str:
        mode = peer.one_of(options, "mode", MODES)
        threads, repeats = peer.positive(options, "threads"), peer.positive(options, "repeats")
        training = self._load(options["file"])
        batch = self._batch(options)
        loss_of = self._loss_of(training, mode, threads)

        def run() -> None:
            training.step(loss_of, batch)

        key = (mode, threads, options["batch"])
        if key not in self._warm:
            for _ in range(WARM_UP_STEPS):
                run()
            self._warm.add(key)
        return peer.fields(peer.summary([peer.timed(run) for _ in range(repeats)]))

    def decode(self, options: peer.Options) -> str:
        torch.set_num_threads(peer.positive(options, "threads"))
        training = self._load(options["file"])
        batch, length = self._batch(options), peer.positive(options, "length")
        model = training.model.eval()
        words = greedy(model, batch, length)
        repeats = peer.positive(options, "repeats")
        times = [peer.timed(lambda: greedy(model, batch, length)) for _ in range(repeats)]
        model.train()
        sums = ",".join(str(int(row)) for row in row_sums(words))
        return peer.fields(peer.summary(times) | {"sums": sums})

    def _load(self, path: str) -> Training:
        if self._training is None or self._path != path:
            self._training = None
            self._losses.clear()
            self._warm.clear()
            torch._dynamo.reset()
            self._training, self._path = Training(path), path
        return self._training

    def _batch(self, options: peer.Options) -> dict[str, torch.Tensor]:
        return self._training.batches[int(options["batch"])]

    def _loss_of(self, training: Training, mode: str, threads: int) -> object:
        """Compiled code is made for one number of threads, so each number has its own code."""
        torch.set_num_threads(threads)
        if mode == "eager":
            return training.model
        torch._inductor.config.cpp.threads = threads
        model = training.model
        if (mode, threads) not in self._losses:
            self._losses[mode, threads] = peer.compiled(lambda **batch: model(**batch))
        return self._losses[mode, threads]


def row_sums(words: torch.Tensor) -> torch.Tensor:
    """A checksum per sentence to compare two decodings: the sum of position times word."""
    return (words * torch.arange(1, words.shape[1] + 1)).sum(dim=1)


def memory(options: peer.Options) -> str:
    torch.set_num_threads(peer.positive(options, "threads"))
    x = torch.randn(64, 64, requires_grad=True)
    (x @ x).sum().backward()
    torch.optim.Adam([x], fused=True).step()
    before = peer.peak_resident_kb()
    training = Training(options["file"])
    for _ in range(2):
        for batch in training.batches:
            training.step(training.model, batch)
    return peer.fields({"mb": f"{(peer.peak_resident_kb() - before) / 1024:.1f}"})


if __name__ == "__main__":
    models = ModelsPeer()
    peer.serve(
        {"loss": models.loss, "step": models.step, "decode": models.decode, "memory": memory},
        DEFAULTS,
    )
