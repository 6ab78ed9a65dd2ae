"""Changes of Python source by the operators of cosmic-ray."""

import ast
import random
from collections import defaultdict
from functools import cache
from types import CodeType

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider
from parso.tree import NodeOrLeaf
from parso.utils import split_lines

Place = tuple[tuple[int, int], tuple[int, int]]  # line and column, of the beginning and of the end
Option = tuple[Operator, NodeOrLeaf, int]  # what is done, to which node, at which of its places

# Of cosmic-ray's operators those that leave a type what it is: `a | b` in place of `a + b` fails on every float, and
# `a is b` in place of `a < b` says nothing more than `a == b`. Numbers become one more or one less wherever they stand.
ARITHMETIC = {"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"}
BITWISE = {"BitOr", "BitAnd", "BitXor"}
ORDER = {"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE"}
IDENTITY = {"Is", "IsNot"}
ALIKE = {
    "ReplaceBinaryOperator": (ARITHMETIC, BITWISE, {"LShift", "RShift"}),
    "ReplaceComparisonOperator": (ORDER, IDENTITY),
    "ReplaceUnaryOperator": ({"USub", "UAdd"}, {"Delete", "USub"}, {"Delete", "Invert"}, {"Delete", "Not"}),
}
OTHERS = {
    *("AddNot", "NumberReplacer", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr"),
    *("ReplaceOrWithAnd", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak"),
}


@cache
def operators() -> dict[str, Operator]:
    """Return the operators in use, by name."""
    provider = OperatorProvider()
    found = {}
    for name in provider:
        kind, *ends = name.split("_")
        if name in OTHERS or any(set(ends) <= group for group in ALIKE.get(kind, ())):
            found[name] = provider[name]()
    return found


def places(source: str) -> dict[Place, list[Option]]:
    """Return where a module can be changed, with what can be done there."""
    found: dict[Place, list[Option]] = defaultdict(list)
    for node in ast_nodes(get_ast(source)):
        if _is_guard(node):
            continue
        for operator in operators().values():
            for index, place in enumerate(operator.mutation_positions(node)):
                found[place].append((operator, node, index))
    return found


def _is_guard(node: NodeOrLeaf) -> bool:
    """Return whether this is the value of zip's `strict`, which differs only where callers are wrong."""
    parent = node.parent
    return parent is not None and parent.type == "argument" and parent.get_first_leaf().value == "strict"


def change(source: str, options: list[Option], generator: random.Random) -> str | None:
    """Return the source with one random change at a place; None where nothing that runs differs, or cannot run.

    The options are used up: operators change the tree they came from.
    """
    operator, node, index = generator.choice(options)
    lines = split_lines(source, keepends=True)
    start, end = (len("".join(lines[: line - 1])) + column for line, column in (node.start_pos, node.end_pos))
    changed = source[:start] + operator.mutate(node, index).get_code(include_prefix=False).lstrip() + source[end:]
    try:
        return changed if what_runs(changed) != what_runs(source) else None
    except (SyntaxError, ValueError):
        return None


class _WhatRuns(ast.NodeTransformer):
    """Takes away annotations, docstrings and what runs as a script only."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(value=None)
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return ast.Pass() if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        return ast.Pass() if "__main__" in ast.unparse(node.test) else self.generic_visit(node)


def what_runs(source: str) -> tuple[object, ...]:
    """Return the bytecode of a module without positions, annotations, docstrings and `__main__` blocks."""
    tree = ast.fix_missing_locations(_WhatRuns().visit(ast.parse(source)))
    return _bare(compile(tree, "module", "exec", dont_inherit=True))


def _bare(code: CodeType) -> tuple[object, ...]:
    constants = [_bare(value) if isinstance(value, CodeType) else repr(value) for value in code.co_consts]
    return (code.co_code, code.co_names, code.co_varnames, *constants)
