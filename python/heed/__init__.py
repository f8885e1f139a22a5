"""heed: attention on the CPU, fused, differentiable, visible and reproducible to the bit.

>>> import heed, numpy as np
>>> q = k = v = np.ones((1, 8, 128, 64), np.float32)
>>> heed.attention(q, k, v, mask=heed.causal()).shape
(1, 8, 128, 64)

Arrays come from NumPy, PyTorch, JAX or anything else that speaks DLPack or the buffer protocol, and
results are arrays of the same library. ``heed.torch`` has the same functions inside autograd.
"""

from heed import plot
from heed._core import (
    Attention,
    Classifier,
    Comparison,
    Continuation,
    Error,
    GrammarCorpus,
    HTML,
    KVCache,
    LanguageModel,
    Mask,
    SVG,
    Stage,
    Tokenizer,
    TrainingResult,
    Translation,
    Translator,
    additive,
    alibi,
    alibi_slopes,
    attention,
    bias,
    boolean,
    causal,
    compare,
    cosine,
    dilated_window,
    distance_bias,
    gaussian,
    general,
    get_num_threads,
    global_positions,
    grammar_corpus,
    hard,
    lengths,
    mechanisms as list,
    manual_seed,
    positions,
    segments,
    set_num_threads,
    shaw,
    softcap,
    softmax_with_sink,
    t5,
    temperature,
    top_k,
    train,
    version as __version__,
    window,
)
from heed._functions import Gradients, backward, scaled_dot_product_attention

# heed.list stays out: a star would put it in the place of Python's own.
__all__ = [name for name in dir() if not name.startswith("_") and name != "list"]
