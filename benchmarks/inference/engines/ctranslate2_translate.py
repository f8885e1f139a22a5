"""CTranslate2 as a translator. Texts are split into tokens and joined by SentencePiece, inside the time measured."""

from engine import serve


def load(settings: dict):
    import ctranslate2
    import sentencepiece

    source = sentencepiece.SentencePieceProcessor(f"{settings['tokenizers']}/source.spm")
    target = sentencepiece.SentencePieceProcessor(f"{settings['tokenizers']}/target.spm")
    model = ctranslate2.Translator(
        settings["model"],
        compute_type=settings["form"],
        inter_threads=settings["inter_threads"],
        intra_threads=settings["intra_threads"],
    )
    # Workers side by side share the sentences of a call only if a batch is smaller than the call.
    batch = 64 // settings["inter_threads"]

    def run(request: dict) -> list[str]:
        tokens = [[*source.encode(text, out_type=str), "</s>"] for text in request["texts"]]
        beam = request["beam"]
        if request["one_by_one"]:
            found = [model.translate_batch([sentence], beam_size=beam)[0] for sentence in tokens]
        else:
            found = model.translate_batch(tokens, beam_size=beam, max_batch_size=batch)
        return [target.decode(one.hypotheses[0]) for one in found]

    return f"CTranslate2 {ctranslate2.__version__}", run


serve(load)
