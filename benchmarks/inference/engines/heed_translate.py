"""heed as a translator."""

from engine import serve


def load(settings: dict):
    import heed

    heed.set_num_threads(settings["threads"])
    model = heed.load(settings["model"], quantize=settings["form"])

    def run(request: dict) -> list[str]:
        options = {"beam_size": request["beam"], "length_penalty": 1.0, "stopping": "first"}
        if request["one_by_one"]:
            return [model.translate(text, **options) for text in request["texts"]]
        return [found[0].text for found in model.translate_batch(request["texts"], **options)]

    return f"heed {heed.__version__}", run


serve(load)
