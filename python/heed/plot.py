"""Pictures of attention and of training, as SVG that shows itself in a notebook.

>>> output, weights = heed.attention(q, k, v, return_weights=True)
>>> heed.plot.heatmap(weights[0, 0]).save("head.svg")
>>> heed.plot.sheet(weights[0])
"""

from __future__ import annotations

import os
from typing import Any, Sequence

from heed import _core
from heed._core import HTML, SVG

__all__ = ["curves", "heatmap", "page", "pattern", "sheet"]


def _array(weights: Any) -> Any:
    if not isinstance(weights, (list, tuple)):
        return weights
    import numpy

    return numpy.asarray(weights, numpy.float32)


def _layers(weights: Any) -> list[Any]:
    """Arrays [heads, rows, columns], one per layer."""
    if isinstance(weights, (list, tuple)):
        return [layer for part in weights for layer in _layers(_array(part))]
    if not hasattr(weights, "shape"):
        raise TypeError(f"weights: {type(weights).__name__} is no array")
    rank = len(weights.shape)
    if rank == 4:
        return [weights[i] for i in range(weights.shape[0])]
    if rank == 3:
        return [weights]
    if rank == 2:
        return [weights[None]]
    raise _core.Error(
        f"[plot] weights of shape {tuple(weights.shape)}: give [layers, heads, queries, keys]"
    )


def _labelled(
    weights: Any, rows: Sequence[str] | None, columns: Sequence[str] | None
) -> tuple[list[Any], Sequence[str], Sequence[str]]:
    """Arrays [heads, rows, columns] and their labels, which are numbers by default."""
    layers = _layers(weights)
    if not layers:
        raise _core.Error("[plot] weights of no layers: give at least one array")
    queries, keys = layers[0].shape[-2:]
    return (
        layers,
        [str(i) for i in range(queries)] if rows is None else rows,
        [str(i) for i in range(keys)] if columns is None else columns,
    )


def heatmap(
    weights: Any,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    title: str = "",
    cell: float = 14.0,
    relative: bool = True,
    power: float = 1.0,
) -> SVG:
    """Draws a matrix of weights [rows, columns]; darker cells have more weight.

    ``rows`` and ``columns`` are labels; by default there are none. ``cell`` is the side of a cell.
    The darkest shade is the largest weight, or 1 if not ``relative``. The shade is weight^power: a
    power below 1 makes small weights visible. NaN is white.
    """
    return _core.draw_heatmap(
        _array(weights),
        [] if rows is None else rows,
        [] if columns is None else columns,
        title=title,
        cell=cell,
        relative=relative,
        power=power,
    )


def sheet(
    weights: Any,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    kind: str = "encoder",
    layer: int | None = None,
    head: int | None = None,
) -> SVG:
    """Draws several layers and heads on one sheet: layers are rows, heads are columns.

    ``weights`` is an array [layers, heads, queries, keys] (or with the first one or two axes
    missing), or a list with an array [heads, queries, keys] for each layer. ``rows`` and
    ``columns`` name queries and keys; without them they are numbered. ``kind`` sets the title:
    'encoder', 'decoder' or 'cross'. ``layer`` and ``head``, from 1, select one.
    """
    return _core.draw_sheet(*_labelled(weights, rows, columns), kind, layer, head)


def page(
    weights: Any,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    kind: str = "encoder",
    text: str = "",
    result: str = "",
) -> HTML:
    """Shows the same weights as ``sheet`` on an interactive page: point at tokens, choose heads.

    ``text`` and ``result`` are the input and the output of the model, shown at the top.
    """
    return _core.draw_page(*_labelled(weights, rows, columns), kind, text, result)


def _option(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_option(item) for item in value)
    return "none" if value is None else str(value)


def pattern(
    *names: str,
    positions: int = 32,
    causal: bool = False,
    cell: float | None = None,
    **options: Any,
) -> SVG:
    """Draws the weights of mechanisms for an input with similar near, and a few distant, positions.

    All heads of a single mechanism are drawn, or the first head of each of several; without a name,
    all mechanisms of ``heed.list()`` are drawn. ``options`` are those of the mechanism.
    """
    chosen = list(names) or [mechanism["name"] for mechanism in _core.mechanisms()]
    settings = [f"{key}={_option(value)}" for key, value in options.items()]
    side = cell if cell is not None else (7.0 if len(chosen) == 1 else 5.0)
    return _core.draw_pattern(chosen, positions, causal, settings, side)


def curves(*folders: str | os.PathLike[str], log_updates: bool = False) -> SVG:
    """Draws the loss and the validation metrics of training runs over updates.

    The folders are those that ``heed.train`` trains into; each has its own colour.
    """
    return _core.draw_curves(list(folders), log_updates)
