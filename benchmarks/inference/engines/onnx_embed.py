"""ONNX Runtime as an encoder of sentences: batches of 32 texts of similar length, as sentence-transformers makes them.
Texts are split into tokens by Hugging Face's tokenizers, inside the time measured."""

import os

from engine import serve


def load(settings: dict):
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if settings["threads"] > 1 else "false"
    os.environ["RAYON_NUM_THREADS"] = str(settings["threads"])
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{settings['tokenizer']}/tokenizer.json")
    tokenizer.enable_truncation(settings["max_length"])
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = settings["threads"]
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = onnxruntime.InferenceSession(settings["model"], options, providers=["CPUExecutionProvider"])
    names = {node.name for node in session.get_inputs()}

    def vectors(batch: list) -> "np.ndarray":
        longest = max(len(one.ids) for one in batch)
        ids = np.full((len(batch), longest), settings["padding"], np.int64)
        mask = np.zeros((len(batch), longest), np.int64)
        for row, one in enumerate(batch):
            ids[row, : len(one.ids)] = one.ids
            mask[row, : len(one.ids)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (states,) = session.run(None, {name: inputs[name] for name in names})  # [B, T, E]
        if settings["pooling"] == "mean":
            weights = mask[:, :, None].astype(np.float32)
            pooled = (states * weights).sum(1) / weights.sum(1)
        else:
            pooled = states[:, 0]
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def run(request: dict) -> "np.ndarray":
        read = tokenizer.encode_batch(request["texts"])
        order = sorted(range(len(read)), key=lambda i: -len(read[i].ids))
        found = [vectors([read[i] for i in order[at : at + 32]]) for at in range(0, len(order), 32)]
        result = np.empty((len(order), found[0].shape[1]), np.float32)
        result[order] = np.concatenate(found)
        return result

    return f"ONNX Runtime {onnxruntime.__version__}", run


serve(load)
