"""sentence-transformers (PyTorch) as an encoder of sentences."""

import os

from engine import serve


def load(settings: dict):
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if settings["threads"] > 1 else "false"
    os.environ["RAYON_NUM_THREADS"] = str(settings["threads"])
    import sentence_transformers
    import torch

    torch.set_num_threads(settings["threads"])
    model = sentence_transformers.SentenceTransformer(settings["model"], device="cpu", local_files_only=True)
    version = f"sentence-transformers {sentence_transformers.__version__}, PyTorch {torch.__version__}"
    return version, lambda request: model.encode(request["texts"], normalize_embeddings=True, show_progress_bar=False)


serve(load)
