"""Counts of the source of the package, from its syntax trees: nothing is imported."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

MATHEMATICS = ("sift", "refit", "inference", "estimators", "pairwise", "solver", "numerics")
"""Rooms whose numbers change answers."""
NUMBER_MAKERS = {"array", "linspace", "logspace", "geomspace", "arange", "log", "sqrt", "exp"}
"""Functions of NumPy that make numbers of numbers."""

OF_TUPLES = {"_", "_asdict", "_fields", "_make", "_replace"}
"""Public names of named tuples, which begin with an underscore all the same."""
HARMLESS = ("Rounding:", "Time:", "Memory:", "Words:", "Format:", "Theory:")
"""How the explanation of a number begins that nobody chose to change answers by: it bounds a
rounding error, is one of time or memory, of what is printed or refused, of a file or a list, or
follows from theory.
"""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    """A file of the package: its dotted name, its text and its syntax tree."""

    name: str
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """The folder, or the file, directly below the package."""
        return self.name.split(".")[1] if "." in self.name else ""


@cache
def modules(package: Path) -> tuple[Module, ...]:
    """All modules of a package in the folder `package`."""
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = (package.name, *path.relative_to(package).with_suffix("").parts)
        name = ".".join(parts).removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        found.append(Module(name, text, ast.parse(text)))
    return tuple(found)


def rooms(package: Path) -> dict[str, tuple[int, int]]:
    """Room -> lines, files."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for module in modules(package):
        lines[module.room] += len(module.text.splitlines())
        files[module.room] += 1
    return {room: (lines[room], files[room]) for room in sorted(lines)}


# ------------------------------------------------ imports
class Import(NamedTuple):
    """One imported name: by which module, from which one, which name (None = the module)."""

    importer: str
    imported: str
    name: str | None


def imports(package: Path) -> Iterator[Import]:
    """All imports of the package's own modules, those inside functions and those for types too."""
    known = {module.name for module in modules(package)}
    for module in modules(package):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in known:
                        yield Import(module.name, alias.name, None)
            elif isinstance(node, ast.ImportFrom) and node.module in known and not node.level:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    if inner in known:
                        yield Import(module.name, inner, None)
                    else:
                        yield Import(module.name, str(node.module), alias.name)


def cycles(package: Path) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others of the group."""
    graph: dict[str, set[str]] = {module.name: set() for module in modules(package)}
    for one in imports(package):
        if one.imported != one.importer:
            graph[one.importer].add(one.imported)
    reached = {name: reachable(graph, name) for name in graph}
    found = {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in graph
        if name in reached[name]
    }
    return sorted(sorted(group) for group in found)


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """What can be reached from a node, itself only where a way leads back to it."""
    met: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        node = waiting.pop()
        if node not in met:
            met.add(node)
            waiting += graph[node]
    return met


# ------------------------------------------------ private names
def is_private(name: str) -> bool:
    """Whether a name begins with an underscore, and Python gave it no meaning."""
    return name.startswith("_") and not name.endswith("__") and name not in OF_TUPLES


def private_imports(package: Path) -> list[str]:
    """Private names and private modules that are imported from another room."""
    found = []
    for one in imports(package):
        _, *place = one.imported.split(".")
        inner = [*place[1:], *([one.name] if one.name else [])]
        if place and place[0] != room_of(one.importer) and any(map(is_private, inner)):
            found.append(f"{one.importer}: {one.imported}{'.' + one.name if one.name else ''}")
    return sorted(found)


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def private_uses(package: Path) -> list[str]:
    """Private attributes that are used in a room and defined in other rooms only."""
    homes: dict[str, set[str]] = {}
    for module in modules(package):
        for name in private_definitions(module.tree):
            homes.setdefault(name, set()).add(module.room)
    return sorted(
        f"{module.name}:{node.lineno}: {ast.unparse(node)}"
        for module in modules(package)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute)
        and module.room not in homes.get(node.attr, {module.room})
    )


def private_definitions(tree: ast.Module) -> Iterator[str]:
    """Private functions, methods, classes, variables and attributes that a module defines."""
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.attr
        else:
            continue
        if is_private(name):
            yield name


# ------------------------------------------------ Any
def any_in_signatures(package: Path) -> Counter[str]:
    """Room -> how many parameters and returned values are annotated `Any` and nothing else."""
    found: Counter[str] = Counter()
    for module in modules(package):
        for node in ast.walk(module.tree):
            if isinstance(node, Function):
                found[module.room] += sum(ast.unparse(one) == "Any" for one in annotations(node))
    return found


def annotations(function: Function) -> Iterator[ast.expr]:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    yield from (arg.annotation for arg in every if arg is not None and arg.annotation is not None)
    if function.returns is not None:
        yield function.returns


# ------------------------------------------------ numbers that change answers
def setting_fields(package: Path) -> list[str]:
    """Fields with a number for a default of the classes called ...Settings or Limits; without those
    whose explanation begins by saying that they change no answer.
    """
    found = []
    for module in modules(package):
        if module.room not in MATHEMATICS:
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and node.name.endswith(("Settings", "Limits")):
                found += [
                    f"{module.name}.{node.name}.{ast.unparse(line.target)}"
                    for line in node.body
                    if isinstance(line, ast.AnnAssign)
                    and line.value
                    and is_number(line.value)
                    and not explained(node.body, line).startswith(HARMLESS)
                ]
    return found


def loose_numbers(package: Path) -> list[str]:
    """Constants of modules that are numbers, or tuples or arrays of numbers; without those whose
    explanation begins by saying that they change no answer.
    """
    found = []
    for module in modules(package):
        if module.room not in MATHEMATICS:
            continue
        for node in module.tree.body:
            if isinstance(node, ast.Assign):
                targets, value = node.targets, node.value
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                targets, value = [node.target], node.value
            else:
                continue
            if is_number(value) and not explained(module.tree.body, node).startswith(HARMLESS):
                names = [name for target in targets for name in target_names(target)]
                found += [f"{module.name}.{name}" for name in names]
    return found


def explained(body: list[ast.stmt], constant: ast.stmt) -> str:
    """The string that stands right after a constant or a field."""
    after = body[body.index(constant) + 1 :][:1]
    for line in after:
        if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant):
            return str(line.value.value)
    return ""


def target_names(target: ast.expr) -> list[str]:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return [ast.unparse(part) for part in parts]


def is_number(node: ast.expr) -> bool:
    """Whether an expression is made of numbers alone: 2, -1e-3, (1, 2), np.logspace(-1, 6, 29).

    Examples
    --------
    >>> [is_number(ast.parse(t, mode="eval").body) for t in ("1 / 3", "(1, True)", "'a'", "f(1)")]
    [True, True, False, False]
    """
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool | int | float)
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    if isinstance(node, ast.Tuple | ast.List):
        return bool(node.elts) and all(map(is_number, node.elts))
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).split(".")[-1] in NUMBER_MAKERS and all(
            map(is_number, node.args)
        )
    return False
