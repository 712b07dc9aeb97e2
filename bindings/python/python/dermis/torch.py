"""Tactile data sets for PyTorch.

>>> import torch
>>> from dermis.torch import TouchDataset
>>> touches = TouchDataset("out/array", columns=["observation.tactile", "label"])
>>> loader = torch.utils.data.DataLoader(touches, batch_size=4, shuffle=True)
>>> next(iter(loader))["observation.tactile"].shape
torch.Size([4, 84])

``dermis.dataset.make`` has made the folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.utils.data import Dataset

from dermis.dataset import Touches

__all__ = ["TouchDataset"]


class TouchDataset(Dataset[dict[str, torch.Tensor]]):
    """The rows of a data set as tensors; images are float32 from 0 to 1, (channels, height, width).

    folder, columns: as in ``dermis.dataset.Touches``. rows: numbers of the rows to use; default: all. transform: applied to every row.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        columns: Iterable[str] | None = None,
        rows: Iterable[int] | None = None,
        transform: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]] | None = None,
    ) -> None:
        self.touches = Touches(folder, columns)
        self.rows = list(rows) if rows is not None else list(range(len(self.touches)))
        self.transform = transform

    @property
    def labels(self) -> list[str]:
        """Names of the objects."""
        return self.touches.labels

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        row = {name: _tensor(name, value) for name, value in self.touches[self.rows[index]].items()}
        return self.transform(row) if self.transform is not None else row


def _tensor(name: str, value: Any) -> torch.Tensor:
    tensor = torch.as_tensor(value.copy())
    if not name.startswith("observation.images."):
        return tensor
    return tensor.permute(2, 0, 1).to(torch.float32) / 255.0
