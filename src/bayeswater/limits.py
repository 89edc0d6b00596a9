"""The one place for limits on memory and files, and the check made before anything large is allocated."""

from bayeswater.errors import ResourceLimitError

TABLE_BYTES = 4 * 2**30
"""Largest table of counts or probabilities that a fit may allocate."""

TABLE_AXES = 63
"""Most variables of one table: NumPy has arrays of 64 axes, and takes 63 indices at once."""

ALL_PAIRS_BYTES = 2**30
"""Largest counts of all pairs of columns: with what is read off them a fit then stays under some GiB.

Of more columns, pairs are counted one by one and let go, and only those are kept that a model reads.
"""

SOME_PAIRS_BYTES = 2**28
"""What the counts of super-parents with all other columns may take, where those of all pairs would take more."""

HELD_BYTES = 4 * 2**30
"""Largest source of rows that is read into memory for a model that cannot learn from pieces of it."""

MODEL_FILE_BYTES = 4 * 2**30
"""Largest model file that is written or read."""

MODEL_HEADER_BYTES = 16 * 2**20
"""Largest header of a model file: its labels, names and parameters."""

JSON_DEPTH = 32
"""Levels of lists and objects in the document of a model file; the deepest of ours has about 15."""

NETWORK_FILE_BYTES = 2**30
"""Largest network file that is read."""

NETWORK_UNPACKED_BYTES = 2**28
"""Largest network that is read from a compressed file: what a few KiB can ask for must be less than what is sent."""

NETWORK_EXPANDED_BYTES = 2**27
"""Largest sum of all tables of a network file that it does not write out, but has us make: a file of a few lines can
ask for 2**60 rows."""


UNPACKED_BYTES = 2**28
UNPACKED_TIMES = 500
"""What an archive of rows may unpack to in any case, and how many times its own size beyond that: no table is packed so
tightly, but what is made to fill a disk is."""

SHEET_BYTES = 2**30
SHEET_CELLS = 2**25
"""Largest sum of the files in a spreadsheet, and most cells of a sheet: it is held in memory, empty cells too."""


def require_unpacked(n_bytes: int, n_packed: int, what: str) -> None:
    """Refuse an archive that unpacks to many times its size.

    >>> require_unpacked(2**40, 2**20, "rows.csv.gz")
    Traceback (most recent call last):
    bayeswater.errors.ResourceLimitError: rows.csv.gz unpacks to 1048576 times its size, as files that are made to \
fill a disk do (the limit is 500 times); if you trust it, unpack it first
    """
    if n_bytes > UNPACKED_BYTES and n_bytes > UNPACKED_TIMES * n_packed:
        raise ResourceLimitError(
            f"{what} unpacks to {n_bytes // max(n_packed, 1)} times its size, as files that are made to fill a disk do "
            f"(the limit is {UNPACKED_TIMES} times); if you trust it, unpack it first"
        )


def require_few_cells(n_cells: int, what: str) -> None:
    """Refuse a spreadsheet that reaches over more than `SHEET_CELLS`.

    >>> require_few_cells(2**34, "t.xlsx")
    Traceback (most recent call last):
    bayeswater.errors.ResourceLimitError: t.xlsx reaches over 17,179,869,184 cells, most of them empty, over the limit \
of 33,554,432; take out the cells at its far end, or write the sheet to a CSV file
    """
    if n_cells > SHEET_CELLS:
        raise ResourceLimitError(
            f"{what} reaches over {n_cells:,} cells, most of them empty, over the limit of {SHEET_CELLS:,}; take out "
            "the cells at its far end, or write the sheet to a CSV file"
        )


def require_table_bytes(n_bytes: int, what: str, way_out: str) -> None:
    """Refuse a table over `TABLE_BYTES`, with its size and the way out.

    >>> require_table_bytes(2**40, "counts of column 'id'", "drop the column")
    Traceback (most recent call last):
    bayeswater.errors.ResourceLimitError: counts of column 'id' would take 1024 GiB, over the limit of \
4 GiB; drop the column
    """
    _require_bytes(n_bytes, TABLE_BYTES, what, way_out)


def require_table_axes(n_axes: int, what: str, way_out: str) -> None:
    """Refuse a table of more than `TABLE_AXES` variables: only where most have one state could it be small.

    >>> require_table_axes(80, "the joint distribution of 80 variables", "ask for fewer together")
    Traceback (most recent call last):
    bayeswater.errors.ResourceLimitError: the joint distribution of 80 variables would need 80 axes, over the limit \
of 63; ask for fewer together
    """
    if n_axes > TABLE_AXES:
        raise ResourceLimitError(f"{what} would need {n_axes} axes, over the limit of {TABLE_AXES}; {way_out}")


def require_held_bytes(n_bytes: float, what: str, way_out: str) -> None:
    """Refuse rows in memory over `HELD_BYTES`, with their size and the way out.

    >>> require_held_bytes(2**33, "the rows of people.csv", "read fewer columns")
    Traceback (most recent call last):
    bayeswater.errors.ResourceLimitError: the rows of people.csv would take 8 GiB, over the limit of 4 GiB; read \
fewer columns
    """
    _require_bytes(n_bytes, HELD_BYTES, what, way_out)


def _require_bytes(n_bytes: float, most: int, what: str, way_out: str) -> None:
    if n_bytes > most:
        raise ResourceLimitError(
            f"{what} would take {bytes_in_words(n_bytes)}, over the limit of {bytes_in_words(most)}; {way_out}"
        )


def bytes_in_words(n_bytes: float) -> str:
    """Give a size of memory in the unit that leaves it a number before the point.

    >>> bytes_in_words(96), bytes_in_words(1536), bytes_in_words(5 * 2**30), bytes_in_words(6e13)
    ('96 bytes', '1.5 KiB', '5 GiB', '55879 GiB')
    """
    size, unit = float(n_bytes), "bytes"
    for larger in ("KiB", "MiB", "GiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f} {unit}" if 1e3 <= size < 1e6 else f"{size:.4g} {unit}"
