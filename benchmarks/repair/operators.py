"""The mutation operators: ways in which people make device bugs, each undone by one edit.

A mutant counts only when running it shows the bug, so an operator may be generous: what does no harm is kept as a
control, which devfix must leave alone.  Source of the list: fault studies of deep learning have no device operators;
these are the shapes of real incidents.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from benchmarks.repair.mutations import Operator, Replacement, moved_line, removed_line
from devfix.flow.syntax import SourceTree

__all__ = ["OPERATORS"]

Sites = Iterator[tuple[ast.AST, list[Replacement]]]

_FACTORIES = frozenset(
    "zeros ones full empty arange linspace tensor as_tensor eye rand randn randint randperm normal".split()
)
_LIKE = {"zeros_like": "zeros", "ones_like": "ones", "rand_like": "rand", "randn_like": "randn"}
_NEW = {"new_zeros": "zeros", "new_ones": "ones", "new_empty": "empty", "new_full": "full"}
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


# --- what a node is -------------------------------------------------------------------------------------------------
def _calls(tree: SourceTree, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree.tree):
        if isinstance(node, ast.Call) and _name(node) in names:
            yield node


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _keyword(call: ast.Call, name: str) -> ast.keyword | None:
    return next((keyword for keyword in call.keywords if keyword.arg == name), None)


def _is_move(node: ast.AST) -> bool:
    """``x.to(device)``, ``x.to(other)``, ``x.cuda()``; not ``x.to(torch.float16)`` and not ``x.to("cpu")``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr == "cuda":
        return True
    if node.func.attr != "to" or not (node.args or _keyword(node, "device")):
        return False
    text = ast.unparse(node.args[0]) if node.args else ""
    return not any(word in text for word in ("float", "int", "half", "long", "dtype", "cpu", "double"))


def _moves(tree: SourceTree) -> Iterator[ast.Call]:
    for node in ast.walk(tree.tree):
        if isinstance(node, ast.Call) and _is_move(node):
            yield node


def _moved(call: ast.Call) -> ast.expr:
    assert isinstance(call.func, ast.Attribute)
    return call.func.value


def _assigned_back(tree: SourceTree, call: ast.Call) -> bool:
    """``x = x.to(device)``."""
    parent = tree.parents[call]
    return (
        isinstance(parent, ast.Assign)
        and len(parent.targets) == 1
        and ast.unparse(parent.targets[0]) == ast.unparse(_moved(call))
    )


def _constructs(node: ast.expr) -> bool:
    """``Net(...)`` or ``nn.Linear(...)``: a call of something with a capital letter."""
    return isinstance(node, ast.Call) and _name(node)[:1].isupper()


def _inside(tree: SourceTree, node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> bool:
    for parent in tree.ancestors(node):
        if isinstance(parent, kinds):
            return True
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return False
    return False


def _function_name(tree: SourceTree, node: ast.AST) -> str:
    return getattr(tree.function(node), "name", "")


def _without(tree: SourceTree, call: ast.Call) -> list[Replacement]:
    """``x.method(...)`` becomes ``x``."""
    return [(tree.span(call), tree.source(_moved(call)))]


def _without_keyword(tree: SourceTree, call: ast.Call, name: str) -> list[Replacement]:
    kept = [tree.source(argument) for argument in call.args]
    kept += [tree.source(keyword) for keyword in call.keywords if keyword.arg != name]
    return [(tree.span(call), f"{tree.source(call.func)}({', '.join(kept)})")]


def _with_keyword(tree: SourceTree, call: ast.Call, name: str, value: str) -> list[Replacement]:
    kept = [tree.source(argument) for argument in call.args]
    kept += [tree.source(keyword) for keyword in call.keywords if keyword.arg != name]
    return [(tree.span(call), f"{tree.source(call.func)}({', '.join([*kept, f'{name}={value}'])})")]


def _device_in_reach(tree: SourceTree, node: ast.AST) -> str | None:
    """``device`` where the function has an argument of that name, or the file a variable."""
    function = tree.function(node)
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        names = [argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)]
        if "device" in names:
            return "device"
    for statement in tree.tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "device":
            return "device" if statement.lineno < node.lineno else None  # type: ignore[attr-defined]
    return None


# --- moves that are forgotten ---------------------------------------------------------------------------------------
def _forgotten_batch(tree: SourceTree) -> Sites:
    """``x = x.to(device)`` in a loop."""
    for call in _moves(tree):
        if _assigned_back(tree, call) and _inside(tree, call, _LOOPS):
            gone = removed_line(tree, tree.statement(call))
            if gone is not None:
                yield call, gone


def _forgotten_statement(tree: SourceTree) -> Sites:
    """``model.to(device)`` as a statement, or ``model = model.to(device)`` outside loops."""
    for call in _moves(tree):
        alone = isinstance(tree.parents[call], ast.Expr)
        if alone or (_assigned_back(tree, call) and not _inside(tree, call, _LOOPS)):
            gone = removed_line(tree, tree.statement(call))
            if gone is not None:
                yield call, gone


def _forgotten_construction(tree: SourceTree) -> Sites:
    """``Net(...).to(device)``."""
    for call in _moves(tree):
        if _constructs(_moved(call)):
            yield call, _without(tree, call)


def _forgotten_factory(tree: SourceTree) -> Sites:
    """``torch.randn(...).to(device)``."""
    for call in _moves(tree):
        inner = _moved(call)
        if isinstance(inner, ast.Call) and _name(inner) in _FACTORIES | {"from_numpy", "one_hot"}:
            yield call, _without(tree, call)


def _forgotten_element(tree: SourceTree) -> Sites:
    """The move inside a comprehension, a tuple or a dictionary."""
    for call in _moves(tree):
        parent = tree.parents[call]
        if isinstance(parent, (*_COMPREHENSIONS, ast.Tuple, ast.List, ast.Dict)):
            yield call, _without(tree, call)


def _forgotten_argument(tree: SourceTree) -> Sites:
    """``model(x.to(device))``, ``weight=w.to(device)``."""
    for call in _moves(tree):
        parent = tree.parents[call]
        plain = not _constructs(_moved(call)) and not isinstance(_moved(call), ast.Call)
        if plain and (isinstance(parent, ast.keyword) or (isinstance(parent, ast.Call) and call in parent.args)):
            yield call, _without(tree, call)


def _forgotten_value(tree: SourceTree) -> Sites:
    """``y = batch["y"].to(device)``: bound under another name."""
    for call in _moves(tree):
        parent = tree.parents[call]
        simple = isinstance(_moved(call), (ast.Name, ast.Attribute, ast.Subscript))
        if isinstance(parent, ast.Assign) and simple and not _assigned_back(tree, call):
            yield call, _without(tree, call)


def _dropped_result(tree: SourceTree) -> Sites:
    """``x = x.to(device)`` becomes ``x.to(device)``."""
    for call in _moves(tree):
        if _assigned_back(tree, call):
            yield call, [(tree.span(tree.statement(call)), tree.source(call))]


def _stale_alias(tree: SourceTree) -> Sites:
    """``x = x.to(device)`` becomes ``x_dev = x.to(device)``; what follows still uses ``x``."""
    for call in _moves(tree):
        parent = tree.parents[call]
        if isinstance(parent, ast.Assign) and _assigned_back(tree, call) and isinstance(parent.targets[0], ast.Name):
            yield call, [(tree.span(parent.targets[0]), f"{parent.targets[0].id}_dev")]


def _missing_call(tree: SourceTree) -> Sites:
    """``model.cuda()`` becomes ``model.cuda``."""
    for call in _moves(tree):
        if not call.args and not call.keywords:
            yield call, [(tree.span(call), tree.source(call.func))]


def _hard_coded_cpu(tree: SourceTree) -> Sites:
    """``x.to(device)`` becomes ``x.to("cpu")``."""
    for call in _moves(tree):
        if call.args and _name(call) == "to":
            yield call, [(tree.span(call.args[0]), '"cpu"')]


# --- factories ------------------------------------------------------------------------------------------------------
def _factory_in_forward(tree: SourceTree) -> Sites:
    """``device=`` of a factory, in the methods of a model."""
    for call in _with_device(tree):
        if _function_name(tree, call) in ("forward", "init_hidden", "__init__", "loss", "sample", "encode", "decode"):
            yield call, _without_keyword(tree, call, "device")


def _factory_elsewhere(tree: SourceTree) -> Sites:
    """``device=`` of a factory anywhere else."""
    inside = {id(call) for call, _ in _factory_in_forward(tree)}
    for call in _with_device(tree):
        if id(call) not in inside:
            yield call, _without_keyword(tree, call, "device")


def _with_device(tree: SourceTree) -> Iterator[ast.Call]:
    for call in _calls(tree, *_FACTORIES, *_LIKE, *_NEW):
        keyword = _keyword(call, "device")
        if keyword is not None and "cpu" not in ast.unparse(keyword.value):
            yield call


def _like_to_factory(tree: SourceTree) -> Sites:
    """``torch.zeros_like(x)`` becomes ``torch.zeros(x.shape)``, ``x.new_zeros(n)`` becomes ``torch.zeros(n)``."""
    for call in _calls(tree, *_LIKE):
        if len(call.args) == 1 and isinstance(call.func, ast.Attribute):
            rest = "".join(f", {tree.source(keyword)}" for keyword in call.keywords)
            code = f"{tree.source(call.func.value)}.{_LIKE[_name(call)]}({tree.source(call.args[0])}.shape{rest})"
            yield call, [(tree.span(call), code)]
    for call in _calls(tree, *_NEW):
        if "import torch\n" not in tree.text:
            continue
        arguments = ", ".join(tree.source(argument) for argument in (*call.args, *call.keywords))
        owner = ast.unparse(_moved(call)) if isinstance(call.func, ast.Attribute) else "x"
        dtype = "" if _keyword(call, "dtype") else f", dtype={owner}.dtype"
        yield call, [(tree.span(call), f"torch.{_NEW[_name(call)]}({arguments}{dtype})")]


def _cpu_accumulator(tree: SourceTree) -> Sites:
    """``total = 0.0`` becomes ``total = torch.zeros(())`` where ``total += loss`` follows, or ``loss.item()`` did."""
    for node in ast.walk(tree.tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        if node.value.value == 0 and node.value.value is not False and _numbers_added(tree, node):
            yield node, [(tree.span(node.value), "torch.zeros(())")]


def _numbers_added(tree: SourceTree, node: ast.AST) -> list[ast.Call]:
    """The calls ``loss.item()`` in what is added to the target of an assignment, in a file that knows ``torch``."""
    assert isinstance(node, ast.Assign)
    imports = [alias for inner in ast.walk(tree.tree) if isinstance(inner, ast.Import) for alias in inner.names]
    if not any(alias.name == "torch" and alias.asname is None for alias in imports):
        return []
    target = ast.unparse(node.targets[0])
    added = [
        inner.value
        for inner in ast.walk(tree.function(node))
        if isinstance(inner, ast.AugAssign) and isinstance(inner.op, ast.Add) and ast.unparse(inner.target) == target
    ]
    return [call for value in added for call in ast.walk(value) if isinstance(call, ast.Call) and _name(call) == "item"]


def _of_tensors(tree: SourceTree, node: ast.AST) -> list[Replacement]:
    """The same program with a sum of tensors."""
    return [(tree.span(call), f"{tree.source(_moved(call))}.detach()") for call in _numbers_added(tree, node)]


# --- modules --------------------------------------------------------------------------------------------------------
def _plain_attribute(tree: SourceTree) -> Sites:
    """``self.register_buffer("mask", value)`` becomes ``self.mask = value``."""
    for call in _calls(tree, "register_buffer"):
        named = len(call.args) >= 2 and isinstance(call.args[0], ast.Constant)
        if named and isinstance(tree.parents[call], ast.Expr) and isinstance(call.func, ast.Attribute):
            name, value = call.args[0], call.args[1]
            assert isinstance(name, ast.Constant)
            yield call, [(tree.span(call), f"{tree.source(call.func.value)}.{name.value} = {tree.source(value)}")]


def _plain_container(tree: SourceTree) -> Sites:
    """``nn.ModuleList([...])`` becomes ``[...]``, ``nn.ModuleDict({...})`` becomes ``{...}``."""
    for call in _calls(tree, "ModuleList", "ModuleDict", "ParameterList"):
        if isinstance(tree.parents[call], ast.Attribute):
            continue  # nobody calls a method of nn.Module on a list
        if len(call.args) == 1 and isinstance(call.args[0], (ast.List, ast.Dict, ast.ListComp, ast.DictComp)):
            yield call, [(tree.span(call), tree.source(call.args[0]))]
        elif not call.args and not call.keywords:
            yield call, [(tree.span(call), "{}" if _name(call) == "ModuleDict" else "[]")]


def _moved_parameter(tree: SourceTree) -> Sites:
    """``nn.Parameter(x)`` becomes ``nn.Parameter(x).to(device)``."""
    for call in _calls(tree, "Parameter"):
        device = _device_in_reach(tree, call)
        if device:
            yield call, [(tree.span(call), f"{tree.source(call)}.to({device})")]


def _hoisted_move(tree: SourceTree) -> Sites:
    """``model.to(device)`` goes up to directly behind the construction, ahead of what changes the model."""
    for call in _moves(tree):
        statement = tree.statement(call)
        whole = isinstance(tree.parents[call], ast.Expr) or _assigned_back(tree, call)
        if not whole or _inside(tree, call, _LOOPS):
            continue
        _, block, index = tree.block(statement)
        name = ast.unparse(_moved(call))
        made = [n for n, other in enumerate(block[:index]) if _binds(other, name)]
        named = {inner.id for part in _given(call) for inner in ast.walk(part) if isinstance(inner, ast.Name)}
        late = any(_binds(other, text) for n in made[-1:] for other in block[n + 1 : index] for text in named)
        if made and made[-1] < index - 1 and not late:
            changes = moved_line(tree, statement, block[made[-1]])
            if changes is not None:
                yield call, changes


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _binds(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign) and any(ast.unparse(target) == name for target in statement.targets)


# --- optimizers -----------------------------------------------------------------------------------------------------
_OPTIMIZERS = ("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adamax", "NAdam", "RAdam", "Adadelta")


def _late_move(tree: SourceTree) -> Sites:
    """The move goes behind the construction of an optimizer that makes its state there (Adagrad)."""
    for statement, built, call in _moves_ahead_of_optimizers(tree):
        changes = moved_line(tree, statement, built)
        if changes is not None:
            yield call, changes


def _with_adagrad(tree: SourceTree, call: ast.AST) -> list[Replacement]:
    """The same program with an optimizer that makes its state when it is built."""
    assert isinstance(call, ast.Call)
    if _name(call) == "Adagrad":
        return []
    rate = _keyword(call, "lr")
    arguments = [tree.source(call.args[0]), *([tree.source(rate)] if rate is not None else [])]
    owner = tree.source(_moved(call)) if isinstance(call.func, ast.Attribute) else "torch.optim"
    return [(tree.span(call), f"{owner}.Adagrad({', '.join(arguments)})")]


def _moves_ahead_of_optimizers(tree: SourceTree) -> Iterator[tuple[ast.stmt, ast.stmt, ast.Call]]:
    for call in _calls(tree, *_OPTIMIZERS):
        built = tree.statement(call)
        if not isinstance(built, ast.Assign) or built.value is not call or not call.args:
            continue
        _, block, index = tree.block(built)
        read = {ast.unparse(node) for node in ast.walk(call.args[0])}
        for statement in block[:index]:
            move = getattr(statement, "value", None)
            if isinstance(statement, (ast.Expr, ast.Assign)) and move is not None and _is_move(move):
                back = isinstance(statement, ast.Expr) or _assigned_back(tree, move)
                if back and ast.unparse(_moved(move)) in read:
                    yield statement, built, call


def _state_before_move(tree: SourceTree) -> Sites:
    """The move goes behind ``optimizer.load_state_dict(...)``."""
    for call in _calls(tree, "load_state_dict"):
        loaded = tree.statement(call)
        if not isinstance(loaded, ast.Expr) or "optim" not in ast.unparse(call.func):
            continue
        _, block, index = tree.block(loaded)
        for statement in block[:index]:
            if isinstance(statement, ast.Expr) and _is_move(statement.value):
                changes = moved_line(tree, statement, loaded)
                if changes is not None:
                    yield loaded, changes


# --- checkpoints, generators, what needs the CPU ---------------------------------------------------------------------
def _no_map_location(tree: SourceTree) -> Sites:
    """``torch.load(path, map_location=...)`` loses it."""
    for call in _calls(tree, "load"):
        if _keyword(call, "map_location") is not None:
            yield call, _without_keyword(tree, call, "map_location")


def _map_location_swapped(tree: SourceTree) -> Sites:
    """``map_location="cpu"`` becomes the device, and the other way round."""
    for call in _calls(tree, "load"):
        keyword = _keyword(call, "map_location")
        if keyword is None:
            continue
        if "cpu" not in ast.unparse(keyword.value):
            yield call, [(tree.span(keyword.value), '"cpu"')]
        elif _device_in_reach(tree, call):
            yield call, [(tree.span(keyword.value), "device")]


def _no_cpu(tree: SourceTree) -> Sites:
    """``.cpu()`` is forgotten ahead of NumPy, lists, plots, lengths."""
    for call in _calls(tree, "cpu"):
        if isinstance(call.func, ast.Attribute) and not call.args and not isinstance(tree.parents[call], ast.Expr):
            yield call, _without(tree, call)


def _lengths_moved(tree: SourceTree) -> Sites:
    """``pack_padded_sequence(x, lengths)`` gets its lengths from the accelerator."""
    for call in _calls(tree, "pack_padded_sequence"):
        if len(call.args) >= 2 and not _is_move(call.args[1]):
            code = f"{tree.source(call.args[1])}.to({tree.source(call.args[0])}.device)"
            yield call, [(tree.span(call.args[1]), code)]


def _foreign_generator(tree: SourceTree) -> Sites:
    """``torch.Generator()`` becomes ``torch.Generator(device=device)``, and the other way round."""
    for call in _calls(tree, "Generator"):
        if ast.unparse(call.func) != "torch.Generator":
            continue
        if call.args or call.keywords:
            yield call, [(tree.span(call), f"{tree.source(call.func)}()")]
        elif _device_in_reach(tree, call):
            yield call, [(tree.span(call), f"{tree.source(call.func)}(device=device)")]


def _pinned(tree: SourceTree) -> Sites:
    """``DataLoader(..., pin_memory=True)`` over what may lie on the accelerator."""
    for call in _calls(tree, "DataLoader"):
        keyword = _keyword(call, "pin_memory")
        if keyword is None or ast.unparse(keyword.value) == "False":
            yield call, _with_keyword(tree, call, "pin_memory", "True")


def _wrong_ids(tree: SourceTree) -> Sites:
    """``device_ids=[0]`` becomes ``device_ids=[1]``."""
    for call in _calls(tree, "DataParallel", "DistributedDataParallel", "DDP"):
        keyword = _keyword(call, "device_ids")
        if keyword is not None:
            yield call, [(tree.span(keyword.value), "[1]")]


OPERATORS = tuple(
    Operator(name, (sites.__doc__ or "").split("\n")[0].rstrip("."), sites, *basis)
    for name, sites, *basis in (
        ("forgotten-batch", _forgotten_batch),
        ("forgotten-statement", _forgotten_statement),
        ("forgotten-construction", _forgotten_construction),
        ("forgotten-factory", _forgotten_factory),
        ("forgotten-element", _forgotten_element),
        ("forgotten-argument", _forgotten_argument),
        ("forgotten-value", _forgotten_value),
        ("dropped-result", _dropped_result),
        ("stale-alias", _stale_alias),
        ("missing-call", _missing_call),
        ("hard-coded-cpu", _hard_coded_cpu),
        ("factory-in-forward", _factory_in_forward),
        ("factory-elsewhere", _factory_elsewhere),
        ("like-to-factory", _like_to_factory),
        ("cpu-accumulator", _cpu_accumulator, _of_tensors),
        ("plain-attribute", _plain_attribute),
        ("plain-container", _plain_container),
        ("moved-parameter", _moved_parameter),
        ("hoisted-move", _hoisted_move),
        ("late-move", _late_move, _with_adagrad),
        ("state-before-move", _state_before_move),
        ("no-map-location", _no_map_location),
        ("map-location-swapped", _map_location_swapped),
        ("no-cpu", _no_cpu),
        ("lengths-moved", _lengths_moved),
        ("foreign-generator", _foreign_generator),
        ("pinned", _pinned),
        ("wrong-ids", _wrong_ids),
    )
)
