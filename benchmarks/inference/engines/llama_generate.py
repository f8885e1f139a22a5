"""llama.cpp as a language model: greedy, to the length asked for, through its C interface."""

import pathlib

from engine import serve


def load(settings: dict):
    import llama_cpp as llama

    (path,) = pathlib.Path(settings["model"]).glob("*.gguf")
    threads = settings["threads"]
    model = llama.Llama(str(path), n_ctx=1024, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False)
    context = model.ctx
    sampler = llama.llama_sampler_init_greedy()

    def tokens_of(text: str) -> list[int]:
        return model.tokenize(text.encode(), add_bos=False, special=False)

    def decode(tokens: list[int]) -> int:
        """Reads tokens and returns the most probable next one."""
        array = (llama.llama_token * len(tokens))(*tokens)
        if llama.llama_decode(context, llama.llama_batch_get_one(array, len(tokens))) != 0:
            raise RuntimeError("llama_decode failed")
        return llama.llama_sampler_sample(sampler, context, -1)

    def run(request: dict):
        if "count" in request:
            return len(tokens_of(request["count"]))
        llama.llama_memory_clear(llama.llama_get_memory(context), True)
        found = [decode(tokens_of(request["prompt"]))]
        while len(found) < request["tokens"]:
            found.append(decode(found[-1:]))
        return found

    return f"llama-cpp-python {llama.__version__}", run


serve(load)
