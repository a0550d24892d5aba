"""The small changes to Python code that mutants are made of.

Comparisons, arithmetic, conditions, numbers, slices, loops, arguments, calls, and what a function
returns are changed; strings, annotations, decorators, error messages, `assert`, `strict=`,
`__repr__` and what only a type checker reads are not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from difflib import ndiff
from functools import partial, singledispatch
from operator import delitem, setitem
from typing import NamedTuple

Change = Callable[[], object]
Function = ast.FunctionDef | ast.AsyncFunctionDef

_OTHERS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    **{ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt)},
    **{ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt)},
    **{ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,)},
    **{ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.And: (ast.Or,), ast.Or: (ast.And,)},
    **{ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,)},
    **{
        ast.FloorDiv: (ast.Mult,),
        ast.Mod: (ast.Mult,),
        ast.Pow: (ast.Mult,),
        ast.USub: (ast.UAdd,),
    },
    **{ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,), ast.BitXor: (ast.BitAnd,)},
    **{ast.LShift: (ast.RShift,), ast.RShift: (ast.LShift,)},
}
"""Operators, and those that take their place."""
_PAIRS = (
    *(("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("floor", "ceil")),
    *(("any", "all"), ("zeros", "ones"), ("startswith", "endswith"), ("lstrip", "rstrip")),
)
_NAMES = {**dict(_PAIRS), **{other: first for first, other in _PAIRS}, "abs": "positive"}
"""Functions and methods, and others that take the same."""
_TYPING = {"cast", "TypeVar", "NewType", "ParamSpec"}
_KEPT_KEYWORDS = {"strict", "repr"}


class Mutation(NamedTuple):
    """A change of a node in place, at a line.

    `lines` are those of its statement; of what runs when the file is `imported` none, but those of
    the function for a default of its parameters.
    """

    line: int
    lines: range
    imported: bool
    node: ast.AST
    change: Change

    def described(self) -> str:
        """Make the change, and tell the lines of its node before and after."""
        before = ast.unparse(self.node).splitlines()
        self.change()
        after = ast.unparse(self.node).splitlines()
        return "\n".join(line for line in ndiff(before, after) if line[0] in "-+")


def mutations(tree: ast.AST) -> Iterator[Mutation]:
    """Every change of a tree, in its order."""
    yield from _below(tree, 0, range(0), imported=True)


def _below(node: ast.AST, line: int, lines: range, imported: bool) -> Iterator[Mutation]:
    line = getattr(node, "lineno", line)
    body = node.body if isinstance(node, Function) else []
    for change in _changes(node):
        yield Mutation(line, lines, imported, node, change)
    for statement, change in _replacements(node):
        outside = imported and not body
        reached = lines if outside else _lines(statement)
        yield Mutation(statement.lineno, reached, outside, node, change)
    for child in _children(node):
        if isinstance(child, ast.stmt) and (body or not imported):
            yield from _below(child, line, _lines(child), imported=False)
        else:
            yield from _below(child, line, _lines(*body) if body else lines, imported)


def _lines(*statements: ast.stmt) -> range:
    return range(statements[0].lineno, (statements[-1].end_lineno or 0) + 1)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that may be changed."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            overloaded = any(ast.unparse(part) == "overload" for part in node.decorator_list)
            if node.name != "__repr__" and not overloaded:
                yield from (part for part in node.args.defaults + node.args.kw_defaults if part)
                yield from node.body
        case ast.ClassDef(body=body):
            yield from body
        case ast.AnnAssign(value=value, annotation=annotation):
            if value and "TypeAlias" not in ast.unparse(annotation):
                yield value
        case _ if not _is_kept(node):
            yield from ast.iter_child_nodes(node)


def _is_kept(node: ast.AST) -> bool:
    match node:
        case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Call(func=ast.Name(name)):
            return name in _TYPING
        case ast.keyword(arg=name):
            return name in _KEPT_KEYWORDS
        case ast.Assign(targets=[ast.Name(name)]):
            return name[:1].isupper() and not name.isupper()  # an alias of a type
    return _for_types(node)


def _replacements(node: ast.AST) -> Iterator[tuple[ast.stmt, Change]]:
    """The statements right below a node that may be replaced, with the changes that do it."""
    for name in ("body", "orelse", "finalbody"):
        if isinstance(statements := getattr(node, name, None), list) and not _for_types(node):
            for place, statement in enumerate(statements):
                for other in _instead(statement):
                    yield statement, partial(setitem, statements, place, other)


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _instead(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Other statements in the place of one."""
    gone = ast.copy_location(ast.Pass(), statement)
    match statement:
        case ast.Expr(value=ast.Call() | ast.Await() | ast.Yield() | ast.YieldFrom()):
            yield gone
        case ast.AugAssign() | ast.Raise() | ast.Delete():
            yield gone
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield gone
        case ast.Break():
            yield ast.copy_location(ast.Continue(), statement)
        case ast.Continue():
            yield ast.copy_location(ast.Break(), statement)


@singledispatch
def _changes(node: ast.AST) -> Iterator[Change]:
    """The changes of a node itself."""
    yield from ()


@_changes.register
def _(node: ast.Compare) -> Iterator[Change]:
    for place, operator in enumerate(node.ops):
        for other in _OTHERS[type(operator)]:
            yield partial(setitem, node.ops, place, other())


@_changes.register
def _(node: ast.BoolOp) -> Iterator[Change]:
    yield partial(setattr, node, "op", _OTHERS[type(node.op)][0]())
    for place in range(len(node.values)):
        yield partial(setitem, node.values, place, node.values[place - 1])


@_changes.register
def _(node: ast.BinOp | ast.AugAssign | ast.UnaryOp) -> Iterator[Change]:
    for other in _OTHERS.get(type(node.op), ()):
        yield partial(setattr, node, "op", other())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield partial(setattr, node, "operand", _negated(node.operand))


@_changes.register
def _(node: ast.If | ast.IfExp) -> Iterator[Change]:
    if not _for_types(node):
        for test in (_negated(node.test), ast.Constant(True), ast.Constant(False)):
            yield partial(setattr, node, "test", test)


@_changes.register
def _(node: ast.While) -> Iterator[Change]:
    yield partial(setattr, node, "test", _negated(node.test))


@_changes.register
def _(node: ast.comprehension) -> Iterator[Change]:
    for place, test in enumerate(node.ifs):
        yield partial(setitem, node.ifs, place, _negated(test))
        yield partial(delitem, node.ifs, place)


@_changes.register
def _(node: ast.match_case) -> Iterator[Change]:
    if node.guard:
        yield partial(setattr, node, "guard", _negated(node.guard))


@_changes.register
def _(node: ast.Constant) -> Iterator[Change]:
    if isinstance(node.value, bool):
        yield partial(setattr, node, "value", not node.value)
    elif isinstance(node.value, int | float):
        yield partial(setattr, node, "value", node.value + 1)
        yield partial(setattr, node, "value", node.value - 1)


@_changes.register
def _(node: ast.Return) -> Iterator[Change]:
    if node.value and ast.unparse(node.value) != "None":
        yield partial(setattr, node, "value", ast.Constant(None))


@_changes.register
def _(node: ast.Slice) -> Iterator[Change]:
    for name, bound in (("lower", node.lower), ("upper", node.upper)):
        if bound:
            yield partial(setattr, node, name, None)
            if not isinstance(bound, ast.Constant):
                more = ast.BinOp(bound, ast.Add(), ast.Constant(1))
                yield partial(setattr, node, name, more)


@_changes.register
def _(node: ast.Call) -> Iterator[Change]:
    match node.func:
        case ast.Name("sorted") if not node.keywords:
            yield partial(setattr, node.func, "id", "list")
        case ast.Name(name) if name in _NAMES:
            yield partial(setattr, node.func, "id", _NAMES[name])
        case ast.Attribute(attr=name) if name in _NAMES:
            yield partial(setattr, node.func, "attr", _NAMES[name])
    for place, keyword in enumerate(node.keywords):
        if keyword.arg and keyword.arg not in _KEPT_KEYWORDS:
            yield partial(delitem, node.keywords, place)


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)
