"""Where a small fault can be put into a module, and what the fault is: found over the syntax tree, always in one order."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}


SWITCH: Final = "__mutant__"
"""What a module with faults calls ``switch.on``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A fault: the text of one node, and what stands there instead. ``where`` is the function or class that it is in.

    ``number`` counts the faults of the file in the order of their places, ``same`` those that read alike in one function, from 1.
    """

    file: str
    number: int
    line: int
    where: str
    old: str
    new: str
    same: int = 1

    @property
    def key(self) -> str:
        """Names the fault as long as the text around it does not change; lines may move."""
        again = f" #{self.same}" if self.same > 1 else ""
        return f"{self.file}::{self.where}::{self.old} -> {self.new}{again}"


@dataclass(frozen=True, slots=True)
class _Fault:
    """``new`` stands in the place of ``node``; ``told`` is the part of it that differs, with what it becomes."""

    node: ast.expr | ast.stmt
    new: ast.AST
    told: tuple[ast.AST, ast.AST]
    line: int
    column: int
    where: str


def sites(file: str, text: str) -> list[Site]:
    """Every fault that can be put into a module, by its place."""
    return counted(
        Site(
            file=file,
            number=number,
            line=fault.line,
            where=fault.where,
            old=ast.unparse(fault.told[0]),
            new=_text(fault.told[1]),
        )
        for number, fault in enumerate(_faults(ast.parse(text)))
    )


def counted(found: Iterable[Site]) -> list[Site]:
    """Those that read alike in one function, told apart."""
    seen: Counter[str] = Counter()
    told = []
    for site in found:
        seen[site.key] += 1
        told.append(replace(site, same=seen[site.key]))
    return told


def with_faults(text: str, chosen: Mapping[int, int]) -> str:
    """The module with some of its faults, by their number in the file; each is off until its switch's number is turned on."""
    tree = ast.parse(text)
    faults = _faults(tree)
    at: dict[int, list[tuple[int, ast.AST]]] = {}
    for number, switch in chosen.items():
        # A copy: what is put into the old node's parts must not stand in the new one.
        at.setdefault(id(faults[number].node), []).append((switch, copy.deepcopy(faults[number].new)))
    changed = _Switched(at).visit(tree)
    body = changed.body
    first = next((at for at, statement in enumerate(body) if not _stands_first(statement)), len(body))
    body.insert(first, ast.parse(f"from tests.mutants.switch import on as {SWITCH}").body[0])
    return ast.unparse(ast.fix_missing_locations(changed)) + "\n"


def _faults(tree: ast.Module) -> list[_Fault]:
    finder = _Finder()
    finder.visit(tree)
    return sorted(finder.found, key=lambda fault: (fault.line, fault.column))


def _stands_first(statement: ast.stmt) -> bool:
    """A docstring, or an import from the future."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _text(new: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(new))
    return f"({text})" if isinstance(new, ast.expr) else text


class _Switched(ast.NodeTransformer):
    """Puts the faults beside what they replace."""

    def __init__(self, at: Mapping[int, list[tuple[int, ast.AST]]]) -> None:
        self._at = at

    def visit(self, node: ast.AST) -> ast.AST:
        faults = self._at.get(id(node), ())
        changed = self.generic_visit(node)
        for switch, new in faults:
            is_on = ast.Call(
                func=ast.Name(id=SWITCH, ctx=ast.Load()), args=[ast.Constant(value=switch)], keywords=[]
            )
            if isinstance(changed, ast.expr) and isinstance(new, ast.expr):
                changed = ast.IfExp(test=is_on, body=new, orelse=changed)
            elif isinstance(changed, ast.stmt) and isinstance(new, ast.stmt):
                changed = ast.If(test=is_on, body=[new], orelse=[changed])
        return changed


class _Finder(ast.NodeVisitor):
    """Leaves out what does nothing: docstrings, annotations, imports for types, texts."""

    def __init__(self) -> None:
        self.found: list[_Fault] = []
        self._inside: list[str] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inside.append(node.name)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)
        self._inside.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inside.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self._inside.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._put(node.test, ast.UnaryOp(op=ast.Not(), operand=node.test))
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._put(node, ast.IfExp(test=node.test, body=node.orelse, orelse=node.body))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for at, operator in enumerate(node.ops):
            other = COMPARISONS.get(type(operator))
            if other is not None:
                ops = [*node.ops[:at], other(), *node.ops[at + 1 :]]
                self._put(node, ast.Compare(left=node.left, ops=ops, comparators=node.comparators))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._put(node, ast.BoolOp(op=other, values=node.values))
        for left_out in node.values:
            rest = [value for value in node.values if value is not left_out]
            self._put(node, rest[0] if len(rest) == 1 else ast.BoolOp(op=node.op, values=rest))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._put(node, node.operand)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = OPERATORS.get(type(node.op))
        if other is not None and not _is_text(node.left) and not _is_text(node.right):
            self._put(node, ast.BinOp(left=node.left, op=other(), right=node.right))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        other = OPERATORS.get(type(node.op))
        if other is not None and not _is_text(node.value):
            self._put(node, ast.AugAssign(target=node.target, op=other(), value=node.value))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._put(node, ast.Constant(value=not node.value))
        elif isinstance(node.value, int):
            self._put(node, ast.Constant(value=node.value + 1))

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # A docstring.
        if isinstance(node.value, ast.Call):
            self._put(node, ast.Pass())
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self._put(node, ast.Continue())

    def visit_Continue(self, node: ast.Continue) -> None:
        self._put(node, ast.Break())

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.value, ast.Name) and node.value.id == "Literal":
            return  # A type, though it stands where values do.
        self.generic_visit(node)

    def visit_Match(self, node: ast.Match) -> None:
        """No condition can stand in a pattern, so a fault in one replaces the whole statement."""
        for number, case in enumerate(node.cases):
            pattern = case.pattern
            if not isinstance(pattern, ast.MatchValue) or not isinstance(pattern.value, ast.Constant):
                continue
            value = pattern.value.value
            if isinstance(value, int):
                new = copy.deepcopy(node)
                new.cases[number].pattern = ast.MatchValue(value=ast.Constant(value=value + 1))
                self._put(node, new, told=(pattern.value, ast.Constant(value=value + 1)), at=pattern.value)
        self.visit(node.subject)
        for case in node.cases:
            if case.guard is not None:
                self.visit(case.guard)
            for statement in case.body:
                self.visit(statement)

    def _put(
        self,
        node: ast.expr | ast.stmt,
        new: ast.AST,
        told: tuple[ast.AST, ast.AST] | None = None,
        at: ast.expr | None = None,
    ) -> None:
        place = at or node
        self.found.append(
            _Fault(
                node=node,
                new=new,
                told=told or (node, new),
                line=place.lineno,
                column=place.col_offset,
                where=".".join(self._inside) or "module",
            )
        )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
