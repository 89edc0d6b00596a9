"""Figures of the source: how large it is, how deep its classes stand, and the walk of one row through it.

    make house

The walk runs with compiled loops off, since a compiled loop hides the modules that it was made of. A *hop* is a call
in another module than the last one; a *return* is a call of `models/` to a lower room than the one it called last.
"""

import ast
import io
import os
import re
import sys
import threading
import tokenize
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ["BAYESWATER_COMPILE"] = "0"

SOURCE = Path(__file__).parents[1] / "src" / "bayeswater"
ROOMS = (
    *("kernels", "files", "data", "engines", "statistics", "estimate", "structure", "networks", "inference"),
    *("decision", "families", "explain", "learning", "models", "plots", "demo", "cli"),
)
"""Lowest first."""

NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

FOR_EVERYBODY = {"_replace", "_asdict", "_fields", "_make", "_repr_html_"}
"""Names that `NamedTuple` gives to everybody, and the one by which notebooks ask for HTML."""


def code_lines(text: str) -> int:
    """Count the lines of a file without docstrings, comments and blanks."""
    docs = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docs)


def private_uses(tree: ast.Module) -> int:
    """Count the uses of ``thing._private`` where the private name is not one of this file."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _base(node) in ("self", "cls")}
    own |= {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    return sum(
        isinstance(node, ast.Attribute)
        and re.match(r"_[a-z]", node.attr) is not None
        and _base(node) not in ("self", "cls", "super", "os", "sys")
        and node.attr not in own | FOR_EVERYBODY
        for node in ast.walk(tree)
    )


def _base(node: ast.Attribute) -> str:
    value: ast.expr = node.value
    if isinstance(value, ast.Call):
        value = value.func
    return value.id if isinstance(value, ast.Name) else ""


def chain(kind: type) -> int:
    """Count our own classes above a class, on the longest line of inheritance."""
    above = [base for base in kind.__bases__ if base.__module__.startswith("bayeswater")]
    return max((1 + chain(base) for base in above), default=0)


def chains() -> list[tuple[int, str]]:
    """Give the length of the chain above each public class."""
    import bayeswater

    kinds = [getattr(bayeswater, name) for name in bayeswater.__all__]
    found = [(chain(kind), kind.__name__) for kind in kinds if isinstance(kind, type)]
    return sorted(found, reverse=True)


def walk(call: Callable[[], Any]) -> tuple[int, int, int, int]:
    """Follow a call: its modules, those of them in `models/`, hops, and returns to a lower room."""
    visited: list[str] = []
    called: list[int] = []
    prefix = str(SOURCE) + os.sep

    def module(frame: Any) -> str:
        name = frame.f_code.co_filename if frame is not None else ""
        return name[len(prefix) :] if name.startswith(prefix) else ""

    def follow(frame: Any, event: str, argument: Any) -> None:
        here = module(frame) if event == "call" and frame.f_code.co_name != "<module>" else ""
        if not here:
            return
        if not visited or visited[-1] != here:
            visited.append(here)
        room = Path(here).parts[0]
        if module(frame.f_back).startswith("models") and room in ROOMS and room != "models":
            called.append(ROOMS.index(room))

    threading.setprofile_all_threads(follow) if sys.version_info >= (3, 12) else threading.setprofile(follow)
    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    modules = {place for place in visited if not place.endswith("__init__.py")}
    returns = sum(later < earlier for earlier, later in pairwise(called))
    in_models = sum(place.startswith("models") for place in modules)
    return len(modules), in_models, len(visited) - 1, returns


def walks() -> list[tuple[str, tuple[int, int, int, int]]]:
    """Walk one row of a frame of pandas through the calls that people make most."""
    import pandas as pd

    import bayeswater as bw

    rows = pd.DataFrame(
        {"x": [float(i % 7) + i / 100 for i in range(60)], "c": ["a", "b", "c"] * 20, "n": [i % 9 for i in range(60)]}
    )
    y = ["yes" if i % 3 else "no" for i in range(60)]
    numbers = rows[["x", "n"]]
    found = []
    for name, kind, X in (
        ("GaussianNB", bw.GaussianNB, numbers),
        ("NaiveBayes", bw.NaiveBayes, rows),
        ("AODE", bw.AODE, rows),
        ("BayesEnsemble", lambda: bw.BayesEnsemble(), rows),
    ):
        kind().fit(X, y).predict(X.head(1))  # what is imported or loaded once is no part of the road
        model = kind()
        found.append((f"{name} fit", walk(lambda model=model, X=X: model.fit(X, y))))
        found.append((f"{name} first predict", walk(lambda model=model, X=X: model.predict(X.head(1)))))
        found.append((f"{name} later predict", walk(lambda model=model, X=X: model.predict(X.head(1)))))
    network = bw.BayesianNetwork.from_data([("c", "y")], rows[["c"]].assign(y=y))
    network.posteriors(rows[["c"]].head(1), "y")
    found.append(("posteriors", walk(lambda: network.posteriors(rows[["c"]].head(1), "y"))))
    return found


def main() -> None:
    """Print all figures."""
    files = sorted(SOURCE.rglob("*.py"))
    texts = {path: path.read_text() for path in files}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    rooms = Counter(path.relative_to(SOURCE).parts[0] for path in files)
    code = Counter[str]()
    for path, text in texts.items():
        code[path.relative_to(SOURCE).parts[0]] += code_lines(text)
    n_lines = sum(len(text.splitlines()) for text in texts.values())
    print(f"{len(files)} files, {sum(code.values())} lines of code, {n_lines} in all")
    for room, lines in code.most_common():
        print(f"  {room:16} {rooms[room]:4} files {lines:6} lines of code")
    naming = sorted(str(path.relative_to(SOURCE)) for path, text in texts.items() if re.search("poisson", text, re.I))
    print(f"{len(naming)} files name poisson: {', '.join(naming)}")
    print("chains of our own classes:", ", ".join(f"{name} {length}" for length, name in chains() if length > 1))
    names = Counter(node.name for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    print("class names that repeat:", {name: n for name, n in names.items() if n > 1})
    stems = Counter(path.stem for path in files if path.stem != "__init__")
    print("file names over two:", {name: n for name, n in stems.items() if n > 2})
    uses = {str(path.relative_to(SOURCE)): n for path, tree in trees.items() if (n := private_uses(tree))}
    print(f"{sum(uses.values())} uses of a private name from outside, in {len(uses)} files: {uses}")
    print(f"{'call':28} modules (in models)  hops  returns")
    for name, (modules, in_models, hops, returns) in walks():
        print(f"{name:28} {modules:7} ({in_models:3})        {hops:5}  {returns:5}")


if __name__ == "__main__":
    main()
