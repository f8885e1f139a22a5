"""vmap of the operator: the new axis is folded into the batch.

With dropout every sample is a call of its own, because what is dropped depends on the position in
the batch.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import torch


def _one_by_one(
    function: Callable[..., Any], size: int, dims: Sequence[Any], arguments: Sequence[Any]
) -> Any:
    """Calls the function for each sample, so that dropout drops what it would drop without vmap."""
    results = [
        function(
            *(
                x.select(dim, i) if isinstance(x, torch.Tensor) and dim is not None else x
                for x, dim in zip(arguments, dims)
            )
        )
        for i in range(size)
    ]
    if isinstance(results[0], torch.Tensor):
        return torch.stack(results), 0
    return tuple(torch.stack(x) for x in zip(*results)), (0,) * len(results[0])


def _in_front(x: torch.Tensor, dim: int | None, size: int, rank: int) -> torch.Tensor:
    """[size, 1, …, own axes], with as many axes as a sample of that rank has, and one."""
    x = x.unsqueeze(0) if dim is None else x.movedim(dim, 0)
    own = x.shape[1:]
    return x.reshape(-1, *[1] * (rank - len(own)), *own).expand(size, *[-1] * rank)


def _rank(tensors: Sequence[torch.Tensor], dims: Sequence[int | None]) -> int:
    """The number of axes of the largest sample."""
    return max(x.dim() - (dim is not None) for x, dim in zip(tensors, dims))


def vmap_forward(
    function: Callable[..., Any], info: Any, dims: tuple[Any, ...], *arguments: Any
) -> Any:
    """vmap of ``sdpa``, or of another function with its arguments."""
    if arguments[4]:
        return _one_by_one(function, info.batch_size, dims, arguments)
    rank = _rank(arguments[:3], dims)
    wide = max(rank, 3)  # heads have an axis of their own
    tensors = [
        None if x is None else _in_front(x, dim, info.batch_size, wide)
        for x, dim in zip(arguments[:4], dims)
    ]
    output = function(*tensors, *arguments[4:])
    return (output.squeeze(1) if rank == 2 else output), 0


def vmap_backward(
    function: Callable[..., Any], info: Any, dims: tuple[Any, ...], *arguments: Any
) -> Any:
    """vmap of ``sdpa_backward``, or of another function with its arguments."""
    if arguments[5]:
        return _one_by_one(function, info.batch_size, dims, arguments)
    wide = max(_rank(arguments[1:4], dims[1:4]), 3)
    tensors = [
        None if x is None else _in_front(x, dim, info.batch_size, wide)
        for x, dim in zip(arguments[:5], dims)
    ]
    found = function(*tensors, *arguments[5:])
    results, out_dims = [], []
    for g, x, dim, needed in zip(found, arguments[1:5], dims[1:5], arguments[-1]):
        own = [n for axis, n in enumerate(x.shape) if axis != dim] if needed else []
        results.append(g.reshape(info.batch_size, *own) if needed else g)
        out_dims.append(0 if needed else None)
    return tuple(results), tuple(out_dims)
