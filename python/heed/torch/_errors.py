"""heed's errors as PyTorch's users expect them."""

from __future__ import annotations

from heed import _core


class Error(_core.Error, RuntimeError):
    """heed's error that is also a RuntimeError, as PyTorch would raise."""


def as_runtime_error(error: _core.Error) -> Error:
    """The same error as an ``Error``."""
    return error if isinstance(error, Error) else Error(str(error))
