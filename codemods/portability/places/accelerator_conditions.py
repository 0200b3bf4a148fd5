"""Conditions on CUDA that hold for other accelerators, too, once the code under them follows the device."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codemods.portability._cuda_calls import can_be_conditional
from codemods.portability._torch_names import named, prints
from codemods.portability.places.cuda_place import CudaPlace, Kind
from codemods.portability.places.cuda_requirements import DEFAULT_TYPE, requirement
from codemods.portability.places.literals import is_computed_cuda
from devfix.syntax.device_literals import is_cuda_literal
from devfix.syntax.tree import SourceTree, walk

__all__ = ["AcceleratorCondition", "accelerator_conditions"]

_AVAILABLE = "torch.cuda.is_available"
_OF_TENSORS = frozenset("size shape dim ndim dtype detach view reshape new new_zeros new_ones numpy numel".split())
_OTHERS = re.compile(r"\b(?:mps|xpu|npu|accelerator)\b")
_HARMLESS_KEYWORDS = ("pin_memory",)


@dataclass(frozen=True, eq=False)
class _Branch:
    """A branch that runs only if a condition holds; ``is_else`` tells which one of its statement or expression."""

    owner: ast.If | ast.IfExp
    is_else: bool

    @property
    def code(self) -> Sequence[ast.AST]:
        """The code of the branch."""
        return self._of(self.is_else)

    @property
    def otherwise(self) -> Sequence[ast.AST]:
        """The code of the other branch."""
        return self._of(not self.is_else)

    def _of(self, is_else: bool) -> Sequence[ast.AST]:
        found = self.owner.orelse if is_else else self.owner.body
        return found if isinstance(found, list) else [found]


@dataclass(frozen=True, eq=False)
class AcceleratorCondition:
    """A query for CUDA, with the branches that run where its answer is yes.

    Attributes:
        queries: the expressions that ask: ``torch.cuda.is_available()``, or ``x.is_cuda``; several if they are assigned
            to one name.
        places: what changes if the condition asks for any accelerator: the queries, and the devices that they choose.
        inside: the places under it.
        tests: the tests that it decides, and whether their ``else`` is the branch for CUDA.
        value: the expression of the value whose device the tests ask for; ``None`` if they do not, or a name does.
        reason: why it must stay.

    """

    queries: tuple[ast.expr, ...]
    places: tuple[CudaPlace, ...]
    inside: tuple[CudaPlace, ...]
    tests: dict[ast.expr, bool]
    value: ast.expr | None
    reason: str = ""

    @property
    def asks_for_any(self) -> bool:
        """Whether it asks if CUDA is available, not where a value is."""
        return isinstance(self.queries[0], ast.Call)

    def refused(self, reason: str) -> AcceleratorCondition:
        """Return the condition as one that stays."""
        return replace(self, places=(replace(self.places[0], reason=reason),), reason=reason)


def accelerator_conditions(
    tree: SourceTree,
    places: Sequence[CudaPlace],
    typed: Mapping[ast.expr, list[CudaPlace]],
    trees: Sequence[SourceTree],
    *,
    is_library: bool,
) -> list[AcceleratorCondition]:
    """Return the conditions of a file that keep some of its places, or a choice of a device, from other accelerators.

    Args:
        tree: the file.
        places: its places that name CUDA, under conditions or not.
        typed: the places of names of CUDA's tensor types, by the value of the name.
        trees: all files of the program.
        is_library: files that are not known may import the file.

    """
    by_node = {place.node: place for place in places if place.kind != Kind.FALLBACK}  # those are CUDA's alone
    groups: dict[str, list[ast.expr]] = {}
    for node in tree.nodes:
        if _is_query(tree, node):
            assert isinstance(node, ast.expr)
            stored = _stored(tree, node)
            groups.setdefault(ast.unparse(stored) if stored is not None else str(tree.span(node)), []).append(node)
    others = [other for other in trees if other is not tree]
    found = (_condition(tree, queries, by_node, typed, None if is_library else others) for queries in groups.values())
    return [each for each in found if each is not None]


def _is_query(tree: SourceTree, node: ast.AST) -> bool:
    match node:
        case ast.Call(func=func, args=[], keywords=[]):
            return named(tree, func) == _AVAILABLE
        case ast.Attribute(attr="is_cuda", ctx=ast.Load(), value=ast.Name(id=name)):
            return _is_tensor(tree, node, name)
    return False


def _is_tensor(tree: SourceTree, node: ast.AST, name: str) -> bool:
    """Return whether the function around a node uses a name as a tensor: options may have an attribute ``is_cuda``."""
    function = next((each for each in tree.ancestors(node) if isinstance(each, ast.FunctionDef)), tree.tree)
    return any(
        isinstance(each, ast.Attribute)
        and each.attr in _OF_TENSORS
        and isinstance(each.value, ast.Name)
        and each.value.id == name
        for each in walk(function)
    )


def _condition(
    tree: SourceTree,
    queries: list[ast.expr],
    places: dict[ast.expr, CudaPlace],
    typed: Mapping[ast.expr, list[CudaPlace]],
    others: Sequence[SourceTree] | None,
) -> AcceleratorCondition | None:
    """Return the condition that queries make; ``None`` if no place depends on it, or if others are thought of."""
    reads, reason = _reads(tree, queries, others)
    branches = []
    for read, holds in reads:
        branch = _branch(tree, read, holds=holds)
        if branch is not None:
            branches.append(branch)
        elif not _is_harmless(tree, read):
            reason = reason or f"`{ast.unparse(read)}` is also used outside of conditions"
    if any(_OTHERS.search(tree.source(node)) for branch in branches for node in branch.otherwise):
        return None
    chosen = {id(branch): _chosen(tree, branch, queries, places) for branch in branches}
    for branch in branches:
        if isinstance(branch.owner, ast.IfExp) and branch.owner in typed and _is_exact(tree, branch, queries):
            chosen[id(branch)] = typed[branch.owner]
    inside = [place for branch in branches for place in _inside(branch, places)]
    goes_back = any(_is_move_back(node) for branch in branches for node in _nodes(branch))
    if not goes_back and not any(chosen.values()) and not any(place.node not in queries for place in inside):
        return None
    calls = [
        CudaPlace(tree, node, Kind.CALL)
        for branch in branches
        for node in _nodes(branch)
        if isinstance(node, ast.Call) and can_be_conditional(tree, node) and named(tree, node.func) != DEFAULT_TYPE
    ]
    query = queries[0]
    is_of_value = isinstance(query, ast.Attribute)
    for branch in branches:
        known = {place.node for place in (*inside, *calls, *chosen[id(branch)])}
        reason = reason or requirement(tree, list(_nodes(branch)), known, places, is_of_value=is_of_value)
    decided = [place for found in chosen.values() for place in found]
    whole = [place.node for place in decided]
    asked = [
        CudaPlace(tree, each, Kind.QUERY)
        for each in queries
        if not any(node is each or node in tree.ancestors(each) for node in whole)
    ]
    tests = {branch.owner.test: branch.is_else for branch in branches}
    value = query.value if isinstance(query, ast.Attribute) and _stored(tree, query) is None else None
    if len({type(each) for each in queries}) > 1:
        reason = reason or "it has the device of a value, too"
    found = AcceleratorCondition(tuple(queries), (*asked, *decided, *calls), tuple(inside), tests, value)
    return found.refused(reason) if reason else found


# --- where a query is read ------------------------------------------------------------------------------------------
def _reads(
    tree: SourceTree, queries: list[ast.expr], others: Sequence[SourceTree] | None
) -> tuple[list[tuple[ast.expr, bool]], str]:
    """Return the expressions that have the answer, and whether it is yes where they are true; a reason against it.

    ``others`` are the other files of the program; ``None`` if they are not known.
    """
    stored = _stored(tree, queries[0])
    if stored is None:
        return [(query, True) for query in queries], ""
    holds = {_is_yes(tree, query) for query in queries}
    name = ast.unparse(stored)
    same = [node for node in tree.nodes if isinstance(node, type(stored)) and _is_same(tree, node, stored)]
    writes = [node for node in same if not isinstance(node.ctx, ast.Load)]
    reads = [node for node in same if isinstance(node.ctx, ast.Load) and not _is_own(tree, node, queries)]
    found: list[tuple[ast.expr, bool]] = [(read, holds == {True}) for read in reads]
    if len(writes) != len(queries) or len(holds) != 1 or None in holds:
        return found, f"`{name}` is assigned elsewhere, too"
    if isinstance(stored, ast.Name) and isinstance(tree.parents[tree.statement(queries[0])], ast.ClassDef):
        return found, f"`{name}` is an attribute of a class"
    if others is None and (isinstance(stored, ast.Attribute) or _is_of_module(tree, queries)):
        return found, f"other files may read `{name}`"
    if isinstance(stored, ast.Attribute):
        if any(_reads_by_name(node, stored) for node in tree.nodes):
            return found, f"`{name}` may be read by its name"
        for other in others or ():
            if any(isinstance(node, ast.Attribute) and _is_same(other, node, stored) for node in other.nodes):
                return found, f"other files read `{name}`"
            if any(_reads_by_name(node, stored) for node in other.nodes):
                return found, f"other files may read `{name}` by its name"
    return found, ""


def _reads_by_name(node: ast.AST, stored: ast.Attribute) -> bool:
    """Return whether an expression is ``getattr(args, "cuda")``, or has all attributes: ``vars(args)``."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=name), *_]):
            return bool(name == stored.attr)
        case ast.Call(func=ast.Name(id="getattr")):
            return True
        case ast.Call(func=ast.Name(id="vars"), args=[value]) | ast.Attribute(attr="__dict__", value=value):
            return ast.unparse(value) == ast.unparse(stored.value)
    return False


def _is_of_module(tree: SourceTree, queries: list[ast.expr]) -> bool:
    """Return whether a name is one of the module, which others can import."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(not any(isinstance(outer, functions) for outer in tree.ancestors(query)) for query in queries)


def _is_same(tree: SourceTree, node: ast.expr, stored: ast.expr) -> bool:
    """Return whether an expression may mean the stored name or attribute; a method that is called does not."""
    if isinstance(node, ast.Attribute) and isinstance(stored, ast.Attribute):
        outer = tree.parents.get(node)
        is_method = isinstance(outer, ast.Call) and outer.func is node
        return node.attr == stored.attr and not is_method and not named(tree, node)  # torch.cuda is a module
    return isinstance(node, ast.Name) and isinstance(stored, ast.Name) and node.id == stored.id


def _is_own(tree: SourceTree, node: ast.AST, queries: list[ast.expr]) -> bool:
    """Return whether a read is part of the assignment: ``args.cuda = args.cuda and torch.cuda.is_available()``."""
    statements = {tree.statement(query) for query in queries}
    return tree.statement(node) in statements


def _stored(tree: SourceTree, query: ast.expr) -> ast.Name | ast.Attribute | None:
    """Return the name or attribute that is assigned the answer, alone or with other conditions."""
    outer = _outermost(tree, query)[0]
    if isinstance(outer, ast.Assign) and len(outer.targets) == 1:
        target = outer.targets[0]
        return target if isinstance(target, (ast.Name, ast.Attribute)) else None
    return None


def _is_yes(tree: SourceTree, query: ast.expr) -> bool | None:
    return _outermost(tree, query)[1]


def _branch(tree: SourceTree, read: ast.expr, *, holds: bool) -> _Branch | None:
    """Return the branch that runs only where the answer is yes; ``None`` if the answer is used in another way."""
    outer, is_true, inner = _outermost(tree, read, holds)
    if isinstance(outer, (ast.If, ast.IfExp)) and outer.test is inner and is_true is not None:
        found = _Branch(outer, is_else=not is_true)
        return found if found.code else None
    return None


def _outermost(tree: SourceTree, node: ast.expr, holds: bool = True) -> tuple[ast.AST, bool | None, ast.AST]:
    """Return what is around a logical expression, and the value of it that implies the answer yes.

    ``holds`` is the value of the node that does.  The value is ``None`` if neither does: ``cuda or mps``.  The last
    item is the whole logical expression.
    """
    value: bool | None = holds
    inner: ast.AST = node
    while True:
        outer = tree.parents[inner]
        match outer:
            case ast.UnaryOp(op=ast.Not()):
                value = None if value is None else not value
            case ast.BoolOp(op=ast.And()):
                value = True if value else None
            case ast.BoolOp():
                value = None if value or value is None else False
            case ast.IfExp(test=test, body=ast.Constant(value=True), orelse=ast.Constant(value=False)) if test is inner:
                pass
            case _:
                return outer, value, inner
        inner = outer


def _is_harmless(tree: SourceTree, read: ast.expr) -> bool:
    """Return whether an answer is printed, or decides whether a loader pins memory, which works without CUDA."""
    for outer in tree.ancestors(read):
        if isinstance(outer, ast.keyword):
            return outer.arg in _HARMLESS_KEYWORDS
        if isinstance(outer, ast.Call):
            return prints(outer)
        if isinstance(outer, ast.stmt):
            break
    return False


# --- what depends on it ---------------------------------------------------------------------------------------------
def _inside(branch: _Branch, places: dict[ast.expr, CudaPlace]) -> Iterator[CudaPlace]:
    for node in _nodes(branch):
        if isinstance(node, ast.expr) and node in places:
            yield places[node]


def _is_move_back(node: ast.AST) -> bool:
    """Return whether a node is a call of ``cpu()``: it must hold for other accelerators, too."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cpu"


def _nodes(branch: _Branch) -> Iterator[ast.AST]:
    for code in branch.code:
        yield from walk(code)


def _chosen(
    tree: SourceTree, branch: _Branch, queries: list[ast.expr], places: dict[ast.expr, CudaPlace]
) -> list[CudaPlace]:
    """Return the place of a device that a conditional expression chooses: ``"cuda" if … else "cpu"``."""
    owner = branch.owner
    if not isinstance(owner, ast.IfExp):
        return []
    cuda = owner.orelse if branch.is_else else owner.body
    cpu = owner.body if branch.is_else else owner.orelse
    is_literal = is_cuda_literal(cuda)
    if cuda in places or not (is_literal or is_computed_cuda(cuda)):
        return []
    if not (isinstance(cpu, ast.Constant) and cpu.value == "cpu"):
        return []
    literal = str(cuda.value) if isinstance(cuda, ast.Constant) else ""
    if literal and owner.test in queries and not branch.is_else:
        value = owner.test.value if isinstance(owner.test, ast.Attribute) else None
        name = f"{tree.source(value)}.device.type" if value is not None else ""
        return [CudaPlace(tree, owner, Kind.CHOICE, literal, name=name)] if not name or literal == "cuda" else []
    return [CudaPlace(tree, cuda, Kind.CHOICE, literal, is_certain=True)]


def _is_exact(tree: SourceTree, branch: _Branch, queries: list[ast.expr]) -> bool:
    """Return whether a test is the answer itself: it holds wherever CUDA is available."""
    test, stored = branch.owner.test, _stored(tree, queries[0])
    if stored is None:
        return test in queries
    values = [tree.statement(query) for query in queries]
    is_read = isinstance(test, (ast.Name, ast.Attribute)) and not branch.is_else
    return is_read and all(
        isinstance(stmt, ast.Assign) and (stmt.value in queries or getattr(stmt.value, "test", None) in queries)
        for stmt in values
    )
