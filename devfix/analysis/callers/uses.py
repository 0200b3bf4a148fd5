"""Uses of arguments in the body of a function: attributes, methods, operators, subscripts, calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from devfix.analysis.callers.arguments import Kind
from devfix.analysis.callers.attributes import is_of_modules, kinds_with
from devfix.analysis.callers.calls import pass_on
from devfix.analysis.callers.checks import Check, check_of, checks_in
from devfix.analysis.callers.defaults import literal_kind
from devfix.analysis.callers.expressions import has_sizes, holds_texts, kinds_with_index, root_of_cast
from devfix.analysis.callers.file_names import FileNames
from devfix.analysis.callers.votes import ANY_KIND, Votes

__all__ = ["uses_of"]

_ARRAYS = frozenset({Kind.TENSOR, Kind.ARRAY})
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OPERANDS = ANY_KIND - {Kind.MODULE, Kind.CALLABLE, Kind.DEVICE, Kind.DTYPE, Kind.TENSOR_DICT}
_INDICES = frozenset({Kind.NUMBER, Kind.BOOL, Kind.TENSOR, Kind.ARRAY, Kind.LIST, Kind.TEXT})
_COMPARED = frozenset({Kind.NUMBER, Kind.BOOL, Kind.TENSOR, Kind.ARRAY, Kind.TEXT, Kind.LIST})


def uses_of(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    owner: ast.ClassDef | None,
    parameters: Iterable[str],
    names: FileNames,
) -> dict[str, Votes]:
    """Return the votes for each of these parameters.

    An expression that is too deeply nested ends the search.
    """
    collector = _Collector(parameters, names, owner)
    with suppress(RecursionError):
        collector.block(function.body)
    return collector.votes


class _Collector:
    """Walks a body in the order of its lines, and follows each parameter until its name is bound again."""

    def __init__(self, parameters: Iterable[str], names: FileNames, owner: ast.ClassDef | None) -> None:
        self.votes = {name: Votes() for name in parameters}
        self.live: dict[str, Votes] = dict(self.votes)
        self.muted: dict[str, Votes] = {}
        self.names = names
        self.owner = owner

    # Statements

    def block(self, statements: Iterable[ast.AST]) -> None:
        for statement in statements:
            self.visit(statement)

    def visit(self, node: ast.AST) -> None:
        handler = _HANDLERS.get(type(node))
        if handler is not None:
            handler(self, node)
            return
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        self.visit(item)
            elif isinstance(value, ast.AST):
                self.visit(value)

    def branches(self, blocks: list[list[ast.stmt]]) -> None:
        """Visit alternative blocks; a name stays live if it is so behind one of them."""
        before, after = self.live, dict[str, Votes]()
        for block in blocks:
            self.live = dict(before)
            self.block(block)
            if not block or not isinstance(block[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break)):
                after |= self.live
        self.live = {name: votes for name, votes in before.items() if after.get(name) is votes}

    def without(self, checked: Iterable[str], visit: Callable[[], None]) -> None:
        """Visit code in which these names are known to be something special."""
        muted = {name: self.live.pop(name) for name in checked if name in self.live}
        before = self.muted
        self.muted = before | muted
        visit()
        self.muted = before
        self.live |= muted

    def if_(self, node: ast.If) -> None:
        checks = self.test(node.test)
        raises = bool(node.body) and isinstance(node.body[-1], ast.Raise) and not node.orelse
        only = check_of(node.test, self.names)
        for check in checks:
            self.count_check(check, required=raises and only == check and check.negated)
        told_apart = [check.name for check in checks if check.kinds]
        self.without(told_apart, lambda: self.branches([node.body, node.orelse]))

    def count_check(self, check: Check, required: bool) -> None:
        votes = self.live.get(check.name) or self.muted.get(check.name)
        if votes is None:
            return
        if not check.kinds:
            votes.optional = True
        elif required:
            votes.required |= check.kinds
        else:
            votes.checked |= check.kinds

    def assert_(self, node: ast.Assert) -> None:
        check = check_of(node.test, self.names)
        if check is not None and check.kinds and not check.negated:
            self.count_check(check, required=True)
            return
        self.test(node.test)

    def for_(self, node: ast.For | ast.AsyncFor) -> None:
        self.iterate(node.target, node.iter)
        self.branches([node.body, []])
        self.block(node.orelse)

    def iterate(self, target: ast.expr, iterable: ast.expr) -> None:
        """Bind the target of a loop; elements of an argument are followed, too."""
        iterables, targets = [iterable], [target]
        if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name):
            elements = target.elts if isinstance(target, ast.Tuple) else []
            if iterable.func.id == "zip" and len(elements) == len(iterable.args):
                iterables, targets = iterable.args, elements
            elif iterable.func.id == "enumerate" and len(elements) == 2 and iterable.args:
                iterables, targets = iterable.args[:1], elements[1:]
        self.visit(iterable)
        self.unbind(target)
        for each, to in zip(iterables, targets, strict=True):
            votes = self.live.get(each.id) if isinstance(each, ast.Name) else None
            if votes is not None:
                votes.contain()
                if isinstance(to, ast.Name):
                    self.live[to.id] = votes.element()
                elif isinstance(to, (ast.Tuple, ast.List)):
                    votes.rule_out(Kind.TENSOR, Kind.TENSORS)

    def while_(self, node: ast.While) -> None:
        self.test(node.test)
        self.branches([node.body, []])

    def with_(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            self.visit(item.context_expr)
            if item.optional_vars is not None:
                self.unbind(item.optional_vars)
        self.block(node.body)

    def try_(self, node: ast.Try) -> None:
        self.branches([[*node.body, *node.orelse], *(handler.body for handler in node.handlers)])
        self.block(node.finalbody)

    def assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.bind(target, node.value)

    def ann_assign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.bind(node.target, node.value)

    def aug_assign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self.operand(node.target)
        self.operand(node.value)
        self.visit(node.target)

    def bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                for part, element in zip(target.elts, value.elts, strict=True):
                    self.bind(part, element)
                return
            votes = self.live.get(value.id) if isinstance(value, ast.Name) else None
            self.unbind(target)
            if votes is not None:
                votes.contain()
                names = [each.id for each in target.elts if isinstance(each, ast.Name)]
                parts = votes.unpacked(names) if len(names) == len(target.elts) else ()
                self.live |= {name: part for name, (_, part) in zip(names, parts, strict=False)}
        elif isinstance(target, ast.Name):
            source = self.live.get(root_of_cast(value))
            self.unbind(target)
            if source is not None:
                self.live[target.id] = source
        else:
            self.visit(target)

    def unbind(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.live.pop(target.id, None)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self.unbind(part)
        elif isinstance(target, ast.Starred):
            self.unbind(target.value)
        else:
            self.visit(target)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        arguments = node.args
        inner = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        before = self.live
        self.live = dict(before)
        for parameter in inner:
            if parameter is not None:
                self.live.pop(parameter.arg, None)
        self.block(node.body if isinstance(node.body, list) else [node.body])
        self.live = before

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        before = self.live
        self.live = dict(before)
        for generator in node.generators:
            self.iterate(generator.target, generator.iter)
            for condition in generator.ifs:
                self.test(condition)
        for part in ("elt", "key", "value"):
            if isinstance(getattr(node, part, None), ast.expr):
                self.visit(getattr(node, part))
        self.live = before

    # Expressions

    def test(self, node: ast.expr) -> list[Check]:
        """Visit a condition and return the checks in it; the names that they check are left alone."""
        checks = checks_in(node, self.names)
        self.without([check.name for check in checks if check.kinds], lambda: self.truth(node))
        return checks

    def truth(self, node: ast.expr) -> None:
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                self.truth(value)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.truth(node.operand)
        elif isinstance(node, ast.Name):
            if node.id in self.live:
                self.live[node.id].is_scalar = True
        else:
            if isinstance(node, ast.Compare) and all(isinstance(op, _ORDER) for op in node.ops):
                for part in (node.left, *node.comparators):
                    if isinstance(part, ast.Name) and part.id in self.live:
                        self.live[part.id].is_scalar = True
            self.visit(node)

    def bool_op(self, node: ast.BoolOp) -> None:
        for check in self.test(node):
            self.count_check(check, required=False)

    def if_exp(self, node: ast.IfExp) -> None:
        checks = self.test(node.test)
        for check in checks:
            self.count_check(check, required=False)

        def visit() -> None:
            self.visit(node.body)
            self.visit(node.orelse)

        self.without([check.name for check in checks if check.kinds], visit)

    def attribute(self, node: ast.Attribute) -> None:
        votes = self.live.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if votes is None:
            self.visit(node.value)
            return
        self.count_attribute(votes, kinds_with(node.attr, False), node.attr)

    def count_attribute(self, votes: Votes, kinds: frozenset[Kind], name: str) -> None:
        if name.startswith("_"):
            return
        votes.is_module |= is_of_modules(name)
        votes.has_own_attributes |= not kinds
        votes.allow(kinds or frozenset({Kind.MODULE}))  # a class of the project may have any
        if len(kinds) == 1 and Kind.TENSOR_DICT not in kinds:
            votes.strong |= kinds

    def subscript(self, node: ast.Subscript) -> None:
        votes = self.live.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if votes is not None:
            kinds = kinds_with_index(node.slice)
            votes.allow(kinds)
            votes.is_sequence |= Kind.LIST in kinds
        else:
            self.visit(node.value)
        self.index(node.slice)

    def index(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self.index(part)
        elif isinstance(node, ast.Slice):
            for bound in (node.lower, node.upper, node.step):
                operand = bound.operand if isinstance(bound, ast.UnaryOp) else bound
                if isinstance(operand, ast.Name) and operand.id in self.live:
                    self.live[operand.id].show(Kind.NUMBER, Kind.BOOL)
                elif bound is not None:
                    self.visit(bound)
        elif isinstance(node, ast.Name):
            if node.id in self.live:
                self.live[node.id].allow(_INDICES)
        else:
            self.visit(node)

    def bin_op(self, node: ast.BinOp) -> None:
        for part in (node.left, node.right):
            votes = self.live.get(part.id) if isinstance(part, ast.Name) else None
            if votes is None:
                self.visit(part)
            elif isinstance(node.op, ast.MatMult):
                votes.allow(_ARRAYS)
            elif not isinstance(node.op, ast.Mod) or literal_kind(node.left) is not Kind.TEXT:
                votes.rule_out(*(ANY_KIND - _OPERANDS))

    def operand(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name) and node.id in self.live:
            self.live[node.id].rule_out(*(ANY_KIND - _OPERANDS))

    def compare(self, node: ast.Compare) -> None:
        check = check_of(node, self.names)
        if check is not None:
            self.count_check(check, required=False)
            return
        sides = [node.left, *node.comparators]
        texts = any(literal_kind(side) is Kind.TEXT or holds_texts(side) for side in sides)
        for position, side in enumerate(sides):
            votes = self.live.get(side.id) if isinstance(side, ast.Name) else None
            if votes is None:
                self.visit(side)
            elif texts and not (position and isinstance(node.ops[position - 1], (ast.In, ast.NotIn))):
                votes.show(Kind.TEXT)
            elif all(isinstance(op, _ORDER) for op in node.ops):
                votes.allow(_COMPARED)

    def call(self, node: ast.Call) -> None:
        func = node.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in self.live:
            self.count_method(self.live[func.value.id], func.attr, node)
        elif isinstance(func, ast.Name):
            if func.id in self.live:
                self.live[func.id].show(Kind.CALLABLE, Kind.MODULE)
        else:
            self.visit(func)
        check = check_of(node, self.names)
        if check is not None:
            self.count_check(check, required=False)
            return
        for position, argument in enumerate(node.args):
            self.argument(node, position, argument)
        for keyword in node.keywords:
            if keyword.arg is not None:
                self.argument(node, keyword.arg, keyword.value)
            else:
                self.visit(keyword.value)

    def argument(self, call: ast.Call, place: int | str, value: ast.expr) -> None:
        if isinstance(value, ast.Starred) and isinstance(value.value, ast.Name) and value.value.id in self.live:
            self.live[value.value.id].contain()
        elif isinstance(value, ast.Name):
            if value.id in self.live:
                pass_on(self.live[value.id], call, place, self.names, self.owner)
        elif isinstance(value, (ast.List, ast.Tuple)):
            for element in value.elts:
                if isinstance(element, ast.Name) and element.id in self.live:
                    pass_on(self.live[element.id], call, place, self.names, self.owner, packed=True)
                else:
                    self.visit(element)
        else:
            self.visit(value)

    def count_method(self, votes: Votes, name: str, call: ast.Call) -> None:
        if name.startswith("_"):
            return
        kinds = kinds_with(name, True)
        named = {keyword.arg for keyword in call.keywords}
        if "dim" in named or "keepdim" in named or (name == "view" and has_sizes(call)):
            kinds &= {Kind.TENSOR}
        elif "axis" in named or "keepdims" in named:
            kinds &= {Kind.TENSOR, Kind.ARRAY}
        self.count_attribute(votes, kinds, name)


_HANDLERS: dict[type, Callable[[_Collector, Any], object]] = {
    ast.If: _Collector.if_,
    ast.For: _Collector.for_,
    ast.AsyncFor: _Collector.for_,
    ast.While: _Collector.while_,
    ast.With: _Collector.with_,
    ast.AsyncWith: _Collector.with_,
    ast.Try: _Collector.try_,
    ast.Assert: _Collector.assert_,
    ast.Assign: _Collector.assign,
    ast.AnnAssign: _Collector.ann_assign,
    ast.AugAssign: _Collector.aug_assign,
    ast.FunctionDef: _Collector.function,
    ast.AsyncFunctionDef: _Collector.function,
    ast.Lambda: _Collector.function,
    ast.ListComp: _Collector.comprehension,
    ast.SetComp: _Collector.comprehension,
    ast.GeneratorExp: _Collector.comprehension,
    ast.DictComp: _Collector.comprehension,
    ast.BoolOp: _Collector.bool_op,
    ast.IfExp: _Collector.if_exp,
    ast.Attribute: _Collector.attribute,
    ast.Subscript: _Collector.subscript,
    ast.BinOp: _Collector.bin_op,
    ast.Compare: _Collector.compare,
    ast.Call: _Collector.call,
}
for _leaf in (ast.Name, ast.Constant, ast.Import, ast.ImportFrom, ast.Pass, ast.ClassDef, ast.Global, ast.Nonlocal):
    _HANDLERS[_leaf] = lambda _collector, _node: None
