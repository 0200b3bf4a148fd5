"""Values in float64, as far as one file shows: NumPy's default, and what keeps or ends it."""

from __future__ import annotations

import ast

from codemods.portability._torch_names import named
from devfix.syntax.tree import SourceTree

__all__ = ["cast_of", "is_double", "is_from_numpy", "moved_value"]

#: Functions of NumPy that make float64, unless a dtype is given.
_NUMPY = {
    *(f"numpy.{name}" for name in ("zeros", "ones", "empty", "linspace", "eye", "identity", "logspace", "geomspace")),
    *(f"numpy.random.{name}" for name in ("rand", "randn", "normal", "uniform", "random", "random_sample", "sample")),
    *(f"numpy.random.{name}" for name in ("standard_normal", "beta", "gamma", "exponential", "laplace")),
}
#: Functions of PyTorch that keep the dtype of an array.
_FROM_NUMPY = ("torch.from_numpy", "torch.as_tensor", "torch.tensor")
_DOUBLES = ("torch.float64", "torch.double", "numpy.float64", "numpy.double")
_MOST_POSITIONAL = {"numpy.zeros": 1, "numpy.ones": 1, "numpy.empty": 1}  # arguments before the dtype
#: Methods that keep the dtype.
_KEEPING = {
    *("reshape", "copy", "transpose", "flatten", "ravel", "squeeze", "repeat", "clip"),
    *("view", "unsqueeze", "permute", "t", "contiguous", "clone", "detach", "pin_memory", "expand", "to", "cuda"),
}
_IMAGES = ("cv2.", "imageio.", "PIL.", "skimage.io.")
_CASTS = {"float": "torch.float32", "half": "torch.float16", "bfloat16": "torch.bfloat16"}
_DTYPES = ("torch.float32", "torch.float", "torch.float16", "torch.half", "torch.bfloat16")
_MOST_STEPS = 12  # from a value to where it comes from


def is_double(tree: SourceTree, node: ast.expr, steps: int = _MOST_STEPS) -> bool:
    """Return whether an expression is certainly a tensor or an array in float64."""
    if steps == 0:
        return False
    match node:
        case ast.Name():
            value = _only_value(tree, node)
            return value is not None and is_double(tree, value, steps - 1)
        case ast.BinOp(left=left, right=right, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow()):
            sides = (left, right)
            doubles = [is_double(tree, side, steps - 1) for side in sides]
            return any(doubles) and all(d or isinstance(s, ast.Constant) for d, s in zip(doubles, sides, strict=True))
        case ast.Subscript(value=value):
            return is_double(tree, value, steps - 1)
        case ast.Attribute(value=value, attr="T"):
            return is_double(tree, value, steps - 1)
        case ast.Call():
            return _is_double_call(tree, node, steps - 1)
    return False


def _is_double_call(tree: SourceTree, call: ast.Call, steps: int) -> bool:
    dtype = next((each.value for each in call.keywords if each.arg == "dtype"), None)
    name = named(tree, call.func)
    if dtype is not None:
        return bool(name) and named(tree, dtype) in _DOUBLES
    if name in _NUMPY:
        return len(call.args) <= _MOST_POSITIONAL.get(name, len(call.args))
    if name == "numpy.array":
        return bool(call.args) and _has_floats(call.args[0])
    if name in _FROM_NUMPY:
        return bool(call.args) and is_double(tree, call.args[0], steps)
    if name == "torch.DoubleTensor":
        return True
    if not isinstance(call.func, ast.Attribute) or name:
        return False
    if call.func.attr == "double" and not call.args:
        return True
    keeps = call.func.attr in _KEEPING and not any(named(tree, each) for each in call.args)
    return keeps and is_double(tree, call.func.value, steps)


def _has_floats(node: ast.expr) -> bool:
    """Return whether a display holds a number with a decimal point, and nothing but numbers."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return any(map(_has_floats, node.elts))
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def is_from_numpy(tree: SourceTree, node: ast.expr, steps: int = _MOST_STEPS) -> bool:
    """Return whether a tensor is made of an array, or is certainly in float64, before it is moved."""
    if steps and isinstance(node, ast.Name):
        value = _only_value(tree, node)
        return value is not None and is_from_numpy(tree, value, steps - 1)
    if isinstance(node, ast.Subscript):
        return is_from_numpy(tree, node.value, steps)
    if isinstance(node, ast.Call) and named(tree, node.func) == "torch.from_numpy":
        return bool(node.args) and not _is_image(tree, node.args[0])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPING:
        return not named(tree, node.func) and is_from_numpy(tree, node.func.value, steps)
    return is_double(tree, node)


def _is_image(tree: SourceTree, node: ast.expr) -> bool:
    """Return whether an array may be the bytes of an image, which are better cast behind the copy."""
    values = [node]
    if isinstance(node, ast.Name):
        assigned = [each for each in ast.walk(tree.function(node)) if isinstance(each, ast.Assign)]
        values = [each.value for each in assigned if ast.unparse(each.targets[0]) == node.id]
    calls = (each for value in values for each in ast.walk(value) if isinstance(each, ast.Call))
    return any(named(tree, each.func).startswith(_IMAGES) for each in calls)


def _only_value(tree: SourceTree, name: ast.Name) -> ast.expr | None:
    """Return the value of the only assignment to a name in its function."""
    scope = tree.function(name)
    found = []
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and node.id == name.id and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.append(node)
        elif isinstance(node, ast.arg) and node.arg == name.id:
            return None
    outer = tree.parents[found[0]] if len(found) == 1 else None
    return outer.value if isinstance(outer, ast.Assign) and outer.targets == found else None


def moved_value(tree: SourceTree, node: ast.expr) -> ast.expr | None:
    """Return the value that ``x.to(device)`` or ``x.cuda()`` moves without a cast; ``None`` for other expressions."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr == "cuda" and not node.args and not named(tree, node.func):
        return node.func.value
    if (
        node.func.attr != "to"
        or len(node.args) != 1
        or any(each.arg not in ("non_blocking", "copy") for each in node.keywords)
    ):
        return None
    is_dtype = named(tree, node.args[0]) or ast.unparse(node.args[0]).endswith(("dtype", "float32", "float16"))
    return None if is_dtype and not _is_device(tree, node.args[0]) else node.func.value


def _is_device(tree: SourceTree, node: ast.expr) -> bool:
    call = node.func if isinstance(node, ast.Call) else node
    return named(tree, call) == "torch.device"


def cast_of(tree: SourceTree, node: ast.expr) -> tuple[ast.expr, str] | None:
    """Return the value that a call casts to less than float64, and the dtype; ``None`` for other expressions."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.keywords:
        return None
    if node.func.attr in _CASTS and not node.args:
        return node.func.value, _CASTS[node.func.attr]
    if node.func.attr == "to" and len(node.args) == 1 and named(tree, node.args[0]) in _DTYPES:
        return node.func.value, tree.source(node.args[0])
    return None
