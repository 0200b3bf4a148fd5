"""PyTorch Geometric and DGL: graphs, graph datasets, and loaders that sample a graph.

https://pytorch-geometric.readthedocs.io/en/latest/modules/data.html, https://www.dgl.ai/dgl_docs/api/python/dgl.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Mapping, object_at
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    Function,
    IterableOf,
    Keywords,
    Pointer,
    Tensor,
    TupleValue,
    Value,
    alternatives,
)
from devfix.analysis.torch import batch_objects
from devfix.analysis.torch.batch_objects import BatchObject
from devfix.analysis.torch.data import DatasetObject, LoaderObject, make_loader

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]

_BATCH = "torch_geometric.data.Batch"


def _graph(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Build a graph from tensors; its device is unknown if they are on several devices."""
    if "device" in keywords or "**" in keywords:
        tensors = Tensor(UNKNOWN_DEVICE, maybe_container=True)
        return interp.new(BatchObject(name, default_item=tensors, allocated_at=interp.point(node)))
    if name.endswith("add_self_loop") and args:
        return args[0]
    graph = batch_objects.make(interp, name, node)
    devices = {tensor.device for value in (*args, *keywords.values()) for tensor in _tensors(value)}
    if devices != {CPU}:
        device = devices.pop() if len(devices) == 1 else UNKNOWN_DEVICE
        interp.now.update(graph, default_item=Tensor(device, maybe_container=True), position=None)
    return graph


def _tensors(value: Value) -> list[Tensor]:
    if isinstance(value, TupleValue):
        return [tensor for item in value.items for tensor in _tensors(item)]
    return [option for option in alternatives(value) if isinstance(option, Tensor)]


@dataclass(frozen=True)
class GraphLoaderObject(LoaderObject):
    """A loader that collates graphs: what it loads from files is one, too, which moves in place.

    ``torch_geometric/loader/dataloader.py``, ``Collater``.
    """

    def element(self, interp: Interpreter, pointer: Pointer, node: ast.AST, moved: frozenset[str]) -> Value | None:
        """Return a batch of graphs; numbers, tuples and tensors are collated as PyTorch's loader does it."""
        batch = super().element(interp, pointer, node, moved)
        changed = None if batch is None else object_at(interp, batch, Mapping)
        rest = changed.default_item if changed is not None else batch
        if not isinstance(rest, Tensor) or not rest.maybe_container or not rest.origins:
            return batch
        fields, place = {} if changed is None else changed.fields, (rest.origins[0].site_id, ())
        return interp.new(BatchObject(_BATCH, fields=fields, default_item=rest, position=place))


def _graph_loader(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    loader = make_loader(interp, args, keywords, node)
    assert isinstance(loader, Pointer)
    interp.now.write(loader.id, GraphLoaderObject(**vars(interp.heap_object(loader))))
    return loader


def _sampling_loader(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``NeighborLoader(graph)``: yields subgraphs on the CPU if the graph is on the CPU, else on an unknown device."""
    data = args[0] if args else keywords.get("data", UNKNOWN)
    graph = object_at(interp, data, BatchObject)
    tensors = graph.default_item if graph is not None else None
    if not isinstance(tensors, Tensor) or tensors.device != CPU or "transform" in keywords:
        return IterableOf(Tensor(UNKNOWN_DEVICE, maybe_container=True, is_certain=False))
    return interp.new(LoaderObject(name, fields={"dataset": data}, allocated_at=interp.point(node), pinned=True))


def _graph_dataset(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``Planetoid(...)``: graphs on the CPU, or on an unknown device if a transform may move them (``ToDevice``)."""
    assert interp.activation is not None
    maybe_moved = "ToDevice" in interp.activation.module.tree.text or any(
        _is_project_code(interp, value) for value in keywords.values()
    )
    tensors = Tensor(UNKNOWN_DEVICE if maybe_moved else CPU, maybe_container=True)
    sample: Value = interp.new(BatchObject(name, default_item=tensors, allocated_at=interp.point(node)))
    return interp.new(DatasetObject(name, fields={"sample": sample}, allocated_at=interp.point(node)))


def _is_project_code(interp: Interpreter, value: Value) -> bool:
    return isinstance(value, (Function, Bound)) or (
        isinstance(value, Pointer) and interp.heap_object(value).cls is not None
    )


def _labelled_graphs(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``TUDataset(...)``: pairs of a graph and its label."""
    dataset = _graph_dataset(interp, name, args, keywords, node)
    assert isinstance(dataset, Pointer)
    graph = interp.heap_object(dataset).fields["sample"]
    interp.now.set_field(dataset, "sample", TupleValue((graph, Tensor(CPU))))
    return dataset


OVERLAYS: dict[str, TransferFunction] = {
    "dgl.add_self_loop": _graph,
    "dgl.data._Graphs": _graph_dataset,
    "dgl.data._LabelledGraphs": _labelled_graphs,
    "dgl.graph": _graph,
    "dgl.heterograph": _graph,
    "dgl.rand_graph": _graph,
    "ogb.nodeproppred.PygNodePropPredDataset": _graph_dataset,
    "torch_geometric.data.Data": _graph,
    "torch_geometric.data.HeteroData": _graph,
    "torch_geometric.datasets.__getattr__": _graph_dataset,
    "torch_geometric.loader.DataLoader": _graph_loader,
    "torch_geometric.loader.__getattr__": _sampling_loader,
}
