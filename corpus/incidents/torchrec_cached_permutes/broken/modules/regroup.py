from typing import Dict, List, Optional, Tuple

import torch
from torch import nn


def _multi_remap_to_groups(keys: List[List[str]], dims: List[List[int]], groups: List[List[str]]) -> List[torch.Tensor]:
    """Columns of the concatenated values that belong to each group, in the group's order."""
    begin: Dict[str, Tuple[int, int]] = {}
    offset = 0
    for names, sizes in zip(keys, dims):
        for name, size in zip(names, sizes):
            begin[name] = (offset, size)
            offset += size
    return [torch.cat([torch.arange(begin[n][0], begin[n][0] + begin[n][1]) for n in group]) for group in groups]


class KeyedTensor:
    def __init__(self, keys: List[str], length_per_key: List[int], values: torch.Tensor) -> None:
        self._keys, self._length_per_key, self._values = keys, length_per_key, values

    def keys(self) -> List[str]:
        return self._keys

    def length_per_key(self) -> List[int]:
        return self._length_per_key

    def values(self) -> torch.Tensor:
        return self._values


class KTRegroupAsDict(nn.Module):
    """Regroups keyed tensors; the order is computed at the first forward and used again."""

    def __init__(self, groups: List[List[str]], keys: List[str]) -> None:
        super().__init__()
        self._groups = groups
        self._keys = keys
        self._is_inited = False
        self._permutes: Optional[List[torch.Tensor]] = None

    def _module_init(self, keyed_tensors: List[KeyedTensor]) -> None:
        self._permutes = _multi_remap_to_groups(
            [kt.keys() for kt in keyed_tensors], [kt.length_per_key() for kt in keyed_tensors], self._groups
        )
        self._is_inited = True

    def forward(self, keyed_tensors: List[KeyedTensor]) -> Dict[str, torch.Tensor]:
        if not self._is_inited:
            self._module_init(keyed_tensors)
        values = torch.cat([kt.values() for kt in keyed_tensors], dim=1)
        return {key: values.index_select(1, permute) for key, permute in zip(self._keys, self._permutes)}
