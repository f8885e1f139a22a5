"""heed as a language model: greedy, to the length asked for."""

from engine import serve


def load(settings: dict):
    import heed

    heed.set_num_threads(settings["threads"])
    model = heed.load(settings["model"], quantize=settings["form"])

    def run(request: dict):
        if "cut" in request:  # a text of as many tokens
            return model.tokenizer.decode(model.tokenizer.encode(request["cut"])[: request["tokens"]])
        options = {"max_length": request["tokens"], "ignore_end": True}
        options |= {"method": "beam", "beam_size": 1, "repetition_penalty": 1.0}
        return model.generate_batch([request["prompt"]], **options)[0][0].ids

    return f"heed {heed.__version__}", run


serve(load)
