"""``nn.Module`` objects: their operations, and their creation."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from devfix.analysis.domain.objects import Module
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import (
    UNKNOWN,
    Builtin,
    ClassValue,
    Const,
    Device,
    DeviceValue,
    DType,
    External,
    Keywords,
    Number,
    Origin,
    Pointer,
    Tensor,
    Value,
    join,
)
from devfix.analysis.stdlib.instances import sample_of
from devfix.analysis.stdlib.items import is_unrollable, named_by_index, unpack_fields
from devfix.analysis.torch import (
    forward_results,
    module_hooks,
    module_methods,
    module_moves,
    module_tree,
    modules,
    parametrizations,
)
from devfix.models.index import lookup
from devfix.models.names import MODULE_METHODS

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["ModuleObject", "make"]

_SEQUENCES = ("torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ParameterList")
_SIZES = frozenset(
    "in_features out_features in_channels out_channels num_features embedding_dim hidden_size num_classes "
    "num_embeddings embed_dim input_size kernel_size stride padding num_layers n_features".split()
)
# of layers, also of recurrent ones: https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html
_BASES = frozenset({"torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module"})
_PARAMETERS = re.compile(r"(?:weight|bias)(?:_(?:ih|hh)(?:_l\d+(?:_reverse)?)?)?")
_SETTINGS = frozenset("affine track_running_stats elementwise_affine".split())
_SETTERS = ("initialize", "init_", "set_", "copy_", "load_")  # methods that copy their arguments into weights
# and those that compute nothing with weights, or move and read what they get themselves
_MAKERS = tuple(
    "add_ apply_ build_ create_ log_ make_ prepare_ register_ save_ search "
    "accuracy denormalize evaluate normalize plot post_process postprocess pre_process predict preprocess validate "
    "visualize".split()
)
_PLAIN_NAMES = frozenset(
    "config hparams name cfg args opt dataset datasets vocab tokenizer processor logger trainer".split()
)  # of an opaque module's attributes that are no modules


@dataclass(frozen=True)
class ModuleObject(Module):
    """An ``nn.Module``."""

    def call(
        self, interp: Interpreter, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call the wrapped module, the ``forward`` that was assigned to the object, or that of its class."""
        if self.wraps:
            return interp.call(self.fields.get("module", UNKNOWN), args, keywords, node)
        if self.data_parallel:
            return module_methods.call_parallel(interp, self, args, keywords, node)
        replaced = self.fields.get("forward")
        if replaced is not None:  # ``module.forward = types.MethodType(forward, module)``
            return interp.call(replaced, args, keywords, node)
        if self.cls is None:
            parametrizations.evaluate(interp, pointer, self, node)
        module_hooks.call_before(interp, pointer, self, args, node)
        result = forward_results.settle(interp, interp.call_forward(pointer, args, keywords, node))
        return module_hooks.call_after(interp, pointer, self, args, result, node)

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method of ``nn.Module``."""
        return module_methods.module_method(interp, pointer, name, args, keywords, node)

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return what ``nn.Module`` and the library class define: settings, methods, submodules."""
        if name in ("_modules", "_parameters", "_buffers"):
            return pointer
        if name == "__dict__":
            return Builtin(pointer, name)
        if name == "training":
            return UNKNOWN if self.training is None else Const(self.training)
        if name == "device":
            return DeviceValue(module_tree.weights_device(interp, pointer))
        if name == "dtype" and self.is_opaque:
            return DType()  # of models of Transformers and Diffusers
        if _PARAMETERS.fullmatch(name) and self.weights and (self.cls is None or self._is_layer):
            return Tensor(self.device, (Origin("parameter", pointer.id),), grad=True)
        if name in _SETTINGS and self.cls is None:
            return Const(True)  # PyTorch's defaults
        if name in _SIZES:
            return Number()
        if name in MODULE_METHODS:
            return Builtin(pointer, name)
        if self._is_static(name):
            return External(f"{self.name}.{name}")  # ``generate_square_subsequent_mask`` of a transformer
        return UNKNOWN if self.data_parallel else self._part(interp, pointer, name)

    def _is_static(self, name: str) -> bool:
        """Return whether a method of a library class gets no instance."""
        model = lookup(self.name)
        method = model.method(name) if model is not None and model.kind == "class" else None
        parameters = [each.parameters for each in method.signatures] if method is not None else []
        return bool(parameters) and all(each and each[0].name != "self" for each in parameters)

    @property
    def _is_layer(self) -> bool:
        """Return whether a class of the program derives from a layer of PyTorch, whose parameters have known names."""
        return self.name.startswith("torch.nn.") and self.name not in _BASES

    def _part(self, interp: Interpreter, pointer: Pointer, name: str) -> Value:
        """Return an attribute that may be a submodule."""
        computed = list(module_tree.computed_parts(self))
        if computed and not name.startswith("__"):
            return join(computed)  # one of them has this name
        if self.name.startswith(("torch_geometric.", "dgl.")):
            return Builtin(pointer, name)  # their methods take indices, which may be on another device
        if self.name.startswith("torch.nn.") and "Transformer" not in self.name:
            return Builtin(pointer, name)  # PyTorch's layers have no submodules
        if self.is_opaque and (name.endswith("_") or name.startswith(_SETTERS + _MAKERS)):
            return UNKNOWN  # ``module.weight_or_part.copy_(x)``, ``part.initialize(x)``, ``task.make_batches(sizes)``
        if self.is_opaque and not name.startswith("_"):
            return UNKNOWN if name in _PLAIN_NAMES else module_tree.opaque_child(interp, pointer, name)
        return UNKNOWN if self.cls is not None and self.weights else Builtin(pointer, name)

    # --- items ------------------------------------------------------------------------------------------------
    def elements(self, interp: Interpreter, pointer: Pointer) -> list[Value] | None:
        """Return the submodules of a sequence one by one."""
        if self.name not in _SEQUENCES or self.default_item is not None or not self.fields:
            return None
        return list(self.fields.values()) if is_unrollable(interp, self.fields.values()) else None

    def element(self, interp: Interpreter, pointer: Pointer, node: ast.AST, moved: frozenset[str]) -> Value | None:
        """Return the join of the submodules."""
        return join(self.contents) if self.contents else UNKNOWN

    def unpack(self, interp: Interpreter, pointer: Pointer, count: int) -> list[Value]:
        """Return the submodules."""
        return unpack_fields(self, count)

    def sample(self, interp: Interpreter, pointer: Pointer, node: ast.AST) -> Value:
        """Return an item of a module that is a dataset, too."""
        return sample_of(interp, self.cls, pointer, node)

    def item(self, interp: Interpreter, pointer: Pointer, name: str | None, node: ast.Subscript) -> Value:
        """Return a submodule."""
        return super().item(interp, pointer, named_by_index(self, name), node)

    def other_item(self, interp: Interpreter, pointer: Pointer, name: str | None) -> Value:
        """Return a submodule of an opaque module, or the join of the submodules for an unknown key."""
        if self.is_opaque:
            return module_tree.opaque_child(interp, pointer, name or "*")
        found = list(self.fields.values() if name is None else module_tree.computed_parts(self))
        return join(found) if found else super().other_item(interp, pointer, name)

    def set_item(self, interp: Interpreter, pointer: Pointer, key: Value, value: Value, node: ast.AST) -> None:
        """Register a submodule."""
        name = str(key.value) if isinstance(key, Const) else None
        modules.attach(interp, pointer, name, value, node, weak=name is None)

    # --- what the analysis asks -------------------------------------------------------------------------------
    def escape(self, interp: Interpreter, pointer: Pointer, depth: int) -> None:
        """Make the device of weights on the CPU unknown."""
        module_moves.forget_device(interp, pointer)

    def is_a(self, cls: Value, name: str) -> bool | None:
        """Return whether the module is an instance of a class of PyTorch or of the project."""
        if name in ("torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel"):
            return self.name.endswith(name.split(".")[-1])
        is_of_pytorch = self.name.startswith("torch.nn.") and self.name != "torch.nn.Module" and not self.opaque
        if isinstance(cls, ClassValue) and self.cls is None and is_of_pytorch:
            return False
        if isinstance(cls, ClassValue) or name == "torch.Tensor":
            return super().is_a(cls, name)
        if name == "torch.nn.Module":
            return True
        if name.startswith("builtins.") and name != "builtins.object" and (self.name or not self.opaque):
            return False
        if self.cls is None and name.startswith("torch.nn."):
            wanted = name.split(".")[-1].lstrip("_")
            return None if self.opaque else self.name.split(".")[-1].startswith(wanted)
        return True if name == self.name else None


def make(
    interp: Interpreter,
    name: str,
    node: ast.AST,
    device: Device | None = None,
    weights: bool = True,
    fields: dict[str, Value] | None = None,
    **facts: Any,
) -> Pointer:
    """Create a module of the library class ``name``, on the default device if ``device`` is ``None``."""
    devices = frozenset({device or interp.default_device})
    point = interp.point(node)
    obj = ModuleObject(name, fields=fields or {}, devices=devices, weights=weights, allocated_at=point, **facts)
    return interp.new(obj)
