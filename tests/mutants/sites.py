"""Where a small fault can be put into a module, and what the fault is: found over the syntax tree, always in one order."""

from __future__ import annotations

import ast
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A fault: the text of one node, and what stands there instead. ``where`` is the function or class that it is in."""

    file: str
    line: int
    where: str
    begin: int
    end: int
    old: str
    new: str

    @property
    def key(self) -> str:
        """Names the fault as long as the text around it does not change; lines may move."""
        return f"{self.file}::{self.where}::{self.old} -> {self.new}"

    def applied(self, text: str) -> str:
        """The module's text with the fault in it; places are counted in bytes, as the syntax tree does."""
        data = text.encode()
        return (data[: self.begin] + self.new.encode() + data[self.end :]).decode()


def sites(file: str, text: str) -> list[Site]:
    """Every fault that can be put into a module, by its place."""
    finder = _Finder(file, text)
    finder.visit(ast.parse(text))
    return sorted(finder.found, key=lambda site: (site.begin, site.end, site.new))


class _Finder(ast.NodeVisitor):
    """Leaves out what does nothing: docstrings, annotations, imports for types, texts."""

    def __init__(self, file: str, text: str) -> None:
        self.found: list[Site] = []
        self._file = file
        self._data = text.encode()
        self._begins = [0]
        for line in self._data.splitlines(keepends=True):
            self._begins.append(self._begins[-1] + len(line))
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

    def _put(self, node: ast.expr | ast.stmt, new: ast.AST) -> None:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = self._begins[node.lineno - 1] + node.col_offset
        end = self._begins[node.end_lineno - 1] + node.end_col_offset
        text = ast.unparse(ast.fix_missing_locations(new))
        self.found.append(
            Site(
                file=self._file,
                line=node.lineno,
                where=".".join(self._inside) or "module",
                begin=begin,
                end=end,
                old=ast.unparse(node),
                new=f"({text})" if isinstance(new, ast.expr) else text,
            )
        )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
