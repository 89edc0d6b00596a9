"""One table of numbers in the forms that users hand over: dtypes, layouts, frames, sparse matrices."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">i4", ">i8"]
FLOATS = ["f2", "f4", "f8", ">f4", ">f8", "g"]
SPARSE = [
    f"{name}_{kind}" for name in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia") for kind in ("array", "matrix")
]


def names_of(n: int) -> list[str]:
    return [f"c{j}" for j in range(n)]


def cast(rng: np.random.Generator, X: Any) -> Any:
    """Numbers in a dtype that holds every one of them, if only as its nearest."""
    whole = bool(np.isfinite(X).all() and (np.floor(X) == X).all())
    possible = FLOATS + [kind for kind in INTEGERS if whole and _holds(kind, X)]
    if np.isin(X, (0, 1)).all():
        possible.append("?")
    kind = rng.choice(possible)
    with np.errstate(over="ignore", under="ignore"):
        found = X.astype(kind)
        return found if (np.isfinite(found) == np.isfinite(X)).all() else X


def _holds(kind: str, X: Any) -> bool:
    limits = np.iinfo(kind)
    return bool(X.size and limits.min <= X.min() and X.max() <= limits.max and np.abs(X).max() <= 2.0**53)


N_LAYOUTS = 12


def laid_out(X: Any, layout: int) -> Any:
    """The same numbers in another layout of memory, or as lists, objects or a frame."""
    match layout:
        case 0:
            return np.asfortranarray(X)
        case 1:
            return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
        case 2:
            return X[::-1, ::-1].copy()[::-1, ::-1]
        case 3:
            frozen = X.copy()
            frozen.flags.writeable = False
            return frozen
        case 4 if X.dtype.char != "g":
            return X.astype(object)
        case 5 if X.dtype.char != "g":
            return X.tolist()
        case 6:
            return np.ma.masked_invalid(X) if X.dtype.kind == "f" else np.ma.masked_array(X)
        case 7 | 8 | 9:
            return framed(["pandas", "polars", "arrow"][layout - 7], X)
    return np.ascontiguousarray(X)


def framed(library: str, X: Any) -> Any:
    plain = X.astype("f8") if X.dtype.char == "g" or not X.dtype.isnative else X
    columns = dict(zip(names_of(X.shape[1]), plain.T, strict=True))
    match library:
        case "pandas":
            return pd.DataFrame(columns)
        case "polars":
            return pl.DataFrame({name: np.ascontiguousarray(column) for name, column in columns.items()})
    return pa.table(columns)


def made_sparse(rng: np.random.Generator, X: Any) -> Any:
    """The same numbers as a sparse matrix: any format, cells in parts, zeros written out, indices of 64 bits."""
    X = X.astype("f8") if X.dtype.char in "ge" or not X.dtype.isnative else X
    form = str(rng.choice(SPARSE[: -2 if len(X) > 100 else None]))  # long matrices are not kept by their diagonals
    if form.startswith(("csr", "coo")) and rng.random() < 0.5 and X.dtype.kind in "if":
        rows, columns = np.indices(X.shape).reshape(2, -1)
        some = (X.ravel() != 0) | (rng.random(X.size) < 0.2)
        rows, columns, cells = rows[some], columns[some], X.ravel()[some]
        parts = rng.random(len(cells)) < 0.3  # the cell stands twice, and is the sum of both
        rows, columns = np.append(rows, rows[parts]), np.append(columns, columns[parts])
        cells = np.append(np.where(parts, 0, cells).astype(X.dtype), cells[parts])
        order = rng.permutation(len(cells))
        found = sparse.coo_array((cells[order], (rows[order], columns[order])), shape=X.shape)
        if form.startswith("csr"):
            found = unsummed_csr(found)
        return found
    return getattr(sparse, form)(X)


def unsummed_csr(coo: Any) -> Any:
    """CSR with the cells in the order they came, those that stand twice not added up."""
    order = np.argsort(coo.row, kind="stable")
    start = np.searchsorted(coo.row[order], np.arange(coo.shape[0] + 1))
    index = np.int64 if coo.shape[0] % 2 else np.int32
    return sparse.csr_array((coo.data[order], coo.col[order].astype(index), start.astype(index)), shape=coo.shape)
