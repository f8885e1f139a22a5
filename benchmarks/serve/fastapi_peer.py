"""CTranslate2 behind FastAPI and uvicorn, as a service is usually built with them: one translator with a worker for each
core, a plain function per request, which FastAPI runs on its threads.

    python fastapi_peer.py MODEL TOKENIZERS FORM BEAM PORT
"""

import os
import sys

import ctranslate2
import fastapi
import pydantic
import sentencepiece
import uvicorn

MODEL, TOKENIZERS, FORM, BEAM, PORT = sys.argv[1:]
APP = fastapi.FastAPI()
SOURCE = sentencepiece.SentencePieceProcessor(f"{TOKENIZERS}/source.spm")
TARGET = sentencepiece.SentencePieceProcessor(f"{TOKENIZERS}/target.spm")
TRANSLATOR = ctranslate2.Translator(MODEL, compute_type=FORM, inter_threads=len(os.sched_getaffinity(0)), intra_threads=1)


class Body(pydantic.BaseModel):
    """The body of a request."""

    q: str
    source: str = "en"
    target: str = "fr"


@APP.post("/translate")
def translate(body: Body):
    """Translates one text."""
    tokens = [*SOURCE.encode(body.q, out_type=str), "</s>"]
    found = TRANSLATOR.translate_batch([tokens], beam_size=int(BEAM))
    return {"translatedText": TARGET.decode(found[0].hypotheses[0])}


uvicorn.run(APP, host="127.0.0.1", port=int(PORT), log_level="info", access_log=False)
