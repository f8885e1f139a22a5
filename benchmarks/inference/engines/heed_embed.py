"""heed as an encoder of sentences."""

from engine import serve


def load(settings: dict):
    import heed

    heed.set_num_threads(settings["threads"])
    model = heed.load(settings["model"], quantize=settings["form"])
    options = {"pooling": settings["pooling"], "normalize": True}
    return f"heed {heed.__version__}", lambda request: model.encode(request["texts"], **options)


serve(load)
