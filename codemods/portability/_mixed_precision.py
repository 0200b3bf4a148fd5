"""Uses of ``torch.cuda.amp``, and the edits that name the device instead."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codemods.portability._cuda_api import cuda_function
from codemods.portability._torch_names import named, own_names, replaced_names
from devfix.model import AddKeyword, Edit, PortTargets, ReplaceExpression, ReplaceStatement
from devfix.syntax.bindings import in_scope
from devfix.syntax.tree import SourceTree, walk

__all__ = ["AmpUse", "amp_uses"]

_MODULE = "torch.cuda.amp"
_NAMES = ("autocast", "GradScaler", "custom_fwd", "custom_bwd")
_SPELLINGS = {
    **{f"{_MODULE}.{name}": name for name in _NAMES},
    f"{_MODULE}.autocast_mode.autocast": "autocast",
    f"{_MODULE}.grad_scaler.GradScaler": "GradScaler",
}
_POSITIONAL = {"autocast": ("enabled", "dtype", "cache_enabled")}  # of the deprecated class
_CUDA = '"cuda"'
_DEVICE_TYPE = f"device_type={_CUDA}"
_MPS_AUTOCAST = (2, 5)  # older releases do not have autocast for MPS, even if it is disabled


@dataclass(frozen=True, eq=False)
class AmpUse:
    """A use of a name of ``torch.cuda.amp``.

    ``root`` is the name that the import binds; the uses of a root that an import of its own binds change together.
    ``reason`` says why the use cannot be rewritten.
    """

    tree: SourceTree
    node: ast.expr
    name: str
    root: str
    edits: tuple[Edit, ...] = ()
    reason: str = ""


def amp_uses(tree: SourceTree, targets: PortTargets) -> Iterator[tuple[AmpUse, tuple[Edit, ...]]]:
    """Yield the uses of a file with the edits of each; of uses that change together, all edits."""
    if "cuda" not in tree.text or "amp" not in tree.text:
        return
    found = sorted(_uses(tree, targets), key=lambda use: tree.span(use.node))
    groups: dict[ast.AST | None, list[AmpUse]] = {}
    for use in found:
        groups.setdefault(_import_of(tree, use.root), []).append(use)
    for stmt, group in groups.items():
        if stmt is None:  # uses of torch.cuda.amp.autocast and the like, whose import stays
            yield from ((use, use.edits) for use in group)
            continue
        import_edit, reason = _import_edit(tree, stmt, targets)
        stays = next((use for use in group if not use.edits), None)
        if stays is not None:
            reason = f"line {tree.span(stays.node).line} needs the import as it is"
        if import_edit is None or stays is not None:
            yield from ((replace(use, edits=(), reason=use.reason or reason), ()) for use in group)
        else:
            edits = (import_edit, *(edit for use in group for edit in use.edits))
            yield from ((use, edits) for use in group)


def _import_of(tree: SourceTree, root: str) -> ast.AST | None:
    """Return the import that binds a name; ``None`` for ``torch``, whose import stays."""
    if own_names(tree)[root] == "torch":
        return None
    return next(node for node in tree.nodes if _imports(node, root))


def _uses(tree: SourceTree, targets: PortTargets) -> Iterator[AmpUse]:
    for node in tree.nodes:
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
            continue
        name = _SPELLINGS.get(named(tree, node), "")
        if name and _exists(name, targets):
            yield _use(tree, node, name, targets)


def _exists(name: str, targets: PortTargets) -> bool:
    function = cuda_function(f"{_MODULE}.{name}")
    return function is not None and function.namesake("amp", targets.release) is not None


def _use(tree: SourceTree, node: ast.Name | ast.Attribute, name: str, targets: PortTargets) -> AmpUse:
    root = next(each.id for each in walk(node) if isinstance(each, ast.Name))
    use = AmpUse(tree, node, name, root)
    if own_names(tree)[root] == "torch.cuda":
        return replace(use, reason="the file names torch.cuda, but not torch")
    func = "torch.amp." + name if own_names(tree)[root] == "torch" else tree.source(node)
    if own_names(tree)[root] == _MODULE:
        func = f"{root}.{name}"
    parent = tree.parents[node]
    if isinstance(parent, ast.Call) and parent.func is node:
        if parent.lineno != parent.end_lineno:
            edits = _call_in_lines(tree, parent, name, func)
            return replace(use, edits=edits, reason="" if edits else "its arguments take several lines")
        code, reason = _call(tree, parent, name, func, targets)
        return replace(use, edits=_replaced(tree, parent, code), reason=reason)
    if name.startswith("custom_") and _is_decorator(tree, node):
        return replace(use, edits=_replaced(tree, node, f"{func}({_DEVICE_TYPE})"))
    if name == "GradScaler" and _is_type(tree, node):
        return replace(use, edits=_replaced(tree, node, func))
    return replace(use, reason="it is passed on, and its arguments differ from those of torch.amp")


def _replaced(tree: SourceTree, node: ast.AST, code: str) -> tuple[Edit, ...]:
    return (ReplaceExpression(tree.path, tree.span(node), code),) if code else ()


def _is_decorator(tree: SourceTree, node: ast.AST) -> bool:
    return node in getattr(tree.parents[node], "decorator_list", ())


def _is_type(tree: SourceTree, node: ast.AST) -> bool:
    """Return whether an expression only names a type: in an annotation, or for ``isinstance``."""
    inner = node
    for outer in tree.ancestors(node):
        match outer:
            case ast.Call(func=ast.Name(id="isinstance")):
                return True
            case ast.arg(annotation=annotation) if inner is annotation:
                return True
            case ast.AnnAssign(annotation=annotation) if inner is annotation:
                return True
            case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns) if inner is returns:
                return True
            case ast.Subscript() | ast.Tuple() | ast.BinOp(op=ast.BitOr()):
                inner = outer
            case _:
                return False
    return False


# --- calls ----------------------------------------------------------------------------------------------------------
def _call_in_lines(tree: SourceTree, call: ast.Call, name: str, func: str) -> tuple[Edit, ...]:
    """Return the edits of a call over several lines, which keep its lines; empty if arguments have no names."""
    is_mixed = name == "autocast" and _needs_type(tree, {each.arg or "**": each.value for each in call.keywords})
    if call.args or not call.keywords or is_mixed:
        return ()
    keyword = "device" if name == "GradScaler" else "device_type"
    return (*_replaced(tree, call.func, func), AddKeyword(tree.path, tree.span(call), keyword, _CUDA))


def _needs_type(tree: SourceTree, given: Mapping[str, ast.expr]) -> bool:
    """Return whether the type must be written out, as the file may use another one around the call."""
    enabled = given.get("enabled")
    if "dtype" in given or (isinstance(enabled, ast.Constant) and not enabled.value):
        return False
    return "bfloat16" in tree.text or "set_autocast" in tree.text


def _call(tree: SourceTree, call: ast.Call, name: str, func: str, targets: PortTargets) -> tuple[str, str]:
    """Return the code of a call of ``torch.amp``, or the reason why there is none."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return "", "its arguments are passed as a list"
    if name.startswith("custom_"):
        if call.args:
            return "", "it is applied to a function"
        return f"{func}({', '.join([_DEVICE_TYPE, *_given(tree, call.keywords)])})", ""
    values = dict(zip(_POSITIONAL.get(name, ()), call.args, strict=False))
    rest = call.args[len(values) :]
    if name == "autocast" and rest:
        return "", "it is called with unknown arguments"
    positional = [tree.source(each) for each in rest]
    keywords = [f"{key}={tree.source(value)}" for key, value in values.items()]
    keywords += _given(tree, call.keywords)
    known: dict[str, ast.expr] = {**values} | {each.arg: each.value for each in call.keywords if each.arg}
    has_mapping = any(each.arg is None for each in call.keywords)
    if name == "autocast" and _needs_type(tree, known):
        if own_names(tree).get("torch") != "torch" or has_mapping:
            return "", "inside another autocast, the type of torch.amp.autocast is that of the outer one"
        keywords.append("dtype=torch.float16")
    device = "" if has_mapping or len(rest) > 4 else _device(tree, call, targets)
    if not device:
        return f"{func}({', '.join([_CUDA, *positional, *keywords])})", ""
    on_cuda = f'{device}.type == "cuda"'
    enabled = known.get("enabled")
    if enabled is not None and not isinstance(enabled, ast.Constant):
        text = tree.source(enabled)
        text = text if isinstance(enabled, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({text})"
        on_cuda = f"{text} and {on_cuda}"
    elif enabled is not None and not enabled.value:
        on_cuda = "False"
    keywords = [each for each in keywords if not each.startswith("enabled=")]
    return f"{func}({', '.join([f'{device}.type', *positional, *keywords, f'enabled={on_cuda}'])})", ""


def _given(tree: SourceTree, keywords: Sequence[ast.keyword]) -> list[str]:
    return [
        f"{each.arg}={tree.source(each.value)}" if each.arg else f"**{tree.source(each.value)}" for each in keywords
    ]


def _device(tree: SourceTree, call: ast.Call, targets: PortTargets) -> str:
    """Return the name of the device that the file chooses; empty if there is none, or if it may not be CUDA there.

    With CUDA, the device must be CUDA: mixed precision stays on.
    """
    if "mps" in targets.devices and targets.release < _MPS_AUTOCAST:
        return ""
    if any(_is_decorator(tree, each) for each in (call, *tree.ancestors(call)) if isinstance(each, ast.expr)):
        return ""
    for node in tree.nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[chosen], keywords=[]) as made):
                is_device = named(tree, made.func) == "torch.device" and _is_cuda_where_available(tree, chosen)
                if is_device and _is_bound_once(tree, name) and in_scope(tree, call, name):
                    return name
    return ""


def _is_bound_once(tree: SourceTree, name: str) -> bool:
    return replaced_names(tree).get(name) == 1


def _is_cuda_where_available(tree: SourceTree, chosen: ast.expr) -> bool:
    if isinstance(chosen, ast.IfExp):
        is_query = isinstance(chosen.test, ast.Call) and named(tree, chosen.test.func) == "torch.cuda.is_available"
        return is_query and _is_cuda_where_available(tree, chosen.body)
    return isinstance(chosen, ast.Constant) and str(chosen.value).partition(":")[0] == "cuda"


# --- imports --------------------------------------------------------------------------------------------------------
def _import_edit(tree: SourceTree, stmt: ast.AST, targets: PortTargets) -> tuple[Edit | None, str]:
    """Return the edit of an import of ``torch.cuda.amp`` or its names, or the reason why it stays."""
    assert isinstance(stmt, (ast.Import, ast.ImportFrom))
    bound = {alias.asname or alias.name: alias.name for alias in stmt.names}
    if any(sum(_imports(node, root) for node in tree.nodes) > 1 for root in bound):
        return None, "the name is imported more than once"
    if os.path.basename(tree.path) == "__init__.py":
        return None, "other files may import the name from this one"
    roots = {own_names(tree).get(root, "") for root in bound}
    if roots == {_MODULE} and all(_all_exist(tree, root, targets) for root in bound):
        old, new = (_MODULE, "torch.amp") if isinstance(stmt, ast.Import) else ("torch.cuda", "torch")
    elif isinstance(stmt, ast.ImportFrom) and all(
        name in _SPELLINGS and _exists(_SPELLINGS[name], targets) for name in roots
    ):
        old, new = stmt.module or "", "torch.amp"
    else:
        return None, f"the file needs names that torch.amp lacks in PyTorch {'.'.join(map(str, targets.release))}"
    code = tree.source(stmt).replace(old, new, 1)
    return ReplaceStatement(tree.path, tree.span(stmt), (code,)), ""


def _imports(node: ast.AST, root: str) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom)) and any(
        (alias.asname or alias.name) == root for alias in node.names
    )


def _all_exist(tree: SourceTree, root: str, targets: PortTargets) -> bool:
    """Return whether a file uses a module only for names that torch.amp has in the release that is declared."""
    uses = [tree.parents[node] for node in tree.nodes if isinstance(node, ast.Name) and node.id == root]
    names = [_SPELLINGS.get(named(tree, use), "") if isinstance(use, ast.Attribute) else "" for use in uses]
    return all(name and _exists(name, targets) for name in names)
