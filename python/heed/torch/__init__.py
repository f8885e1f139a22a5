"""heed's attention on PyTorch's tensors, with autograd.

To use it in a whole model:

>>> with heed.torch.replace_sdpa():
...     model(x)
"""

import torch

if not hasattr(torch.library, "register_vmap"):
    raise ImportError(f"heed.torch needs PyTorch 2.5 or later, this is {torch.__version__}")

from heed.torch._attention import attention, scaled_dot_product_attention  # noqa: E402
from heed.torch._errors import Error  # noqa: E402
from heed.torch._modules import MultiheadAttention  # noqa: E402
from heed.torch._replace import replace_sdpa  # noqa: E402

__all__ = [
    "Error",
    "MultiheadAttention",
    "attention",
    "replace_sdpa",
    "scaled_dot_product_attention",
]
