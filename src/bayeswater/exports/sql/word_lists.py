"""Words of a text in SQL, as the library finds them: cut, counted and looked up in a table of the known ones.

Only known words count, so a query needs no more of Unicode than they do. Capital letters are turned into small ones of
known words one by one, and letters with accents are put together; expressions name all letters and marks by their code,
as Python knows them. How a sigma at the end of a word is written hangs on what stands beside it: a word with one has a
line for each way to write it in capital letters.

    runs     letters, digits, underscores, and the marks behind them
    pieces   of a run, what is written with blanks, and what is not
    words    pieces with blanks around them; of others every character and the neighbouring ones; perhaps pairs of runs
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise, product
from unicodedata import category, normalize

import numpy as np

from bayeswater.data.reading.words import UNSPACED, kind_of_character
from bayeswater.errors import ParameterError
from bayeswater.exports.form import TextForm
from bayeswater.exports.sql.dialects import Dialect
from bayeswater.exports.sql.query import Query
from bayeswater.inference.formula import ScaledWords, WordWeights
from bayeswater.kernels.text_bytes import LETTER, MARK
from bayeswater.records import record

MOST_SIGMAS = 6
"""Sigmas of a word, at most: there are two to that power ways to write it."""

DOTTED = "\u0130"
"""The one capital letter of which two characters become: a small i and a dot."""


@record
class Lists:
    """How a dialect makes lists of texts: `found` in a text by an expression, and so on, and adds up what words say."""

    found: str
    pieces: str  # of each text in a list, by an expression
    spaced: str  # those that an expression does not match
    grams: str  # neighbouring characters, so many, of those that it matches
    neighbours: str  # two of a list, with a blank between them
    joined: str
    composed: str | None  # NFC; None where characters are put together one by one
    code: str = "\\x{{{:x}}}"
    long_code: str = "\\x{{{:x}}}"


LISTS = {
    "duckdb": Lists(
        found="REGEXP_EXTRACT_ALL({0}, {1})",
        pieces="FLATTEN([REGEXP_EXTRACT_ALL(r, {1}) FOR r IN {0}])",
        spaced="[p FOR p IN {0} IF NOT REGEXP_MATCHES(p, {1})]",
        grams="FLATTEN([[SUBSTR(p, i, {2}) FOR i IN RANGE(1, LENGTH(p) - {2} + 2)] FOR p IN {0} "
        "IF REGEXP_MATCHES(p, {1})])",
        neighbours="[{0}[i] || ' ' || {0}[i + 1] FOR i IN RANGE(1, LEN({0}))]",
        joined="LIST_CONCAT({0}, {1})",
        composed="NFC_NORMALIZE({})",
    ),
    "postgres": Lists(
        found="ARRAY(SELECT m[1] FROM REGEXP_MATCHES({0}, {1}, 'g') AS m)",
        pieces="ARRAY(SELECT m[1] FROM UNNEST({0}) AS r, REGEXP_MATCHES(r, {1}, 'g') AS m)",
        spaced="ARRAY(SELECT p FROM UNNEST({0}) AS p WHERE NOT p ~ {1})",
        grams="ARRAY(SELECT SUBSTR(p, i, {2}) FROM UNNEST({0}) AS p, GENERATE_SERIES(1, LENGTH(p) - {2} + 1) AS i "
        "WHERE p ~ {1})",
        neighbours="ARRAY(SELECT {0}[i] || ' ' || {0}[i + 1] FROM GENERATE_SERIES(1, CARDINALITY({0}) - 1) AS i)",
        joined="({0} || {1})",
        composed="NORMALIZE({}, NFC)",
        code="\\u{:04x}",
        long_code="\\U{:08x}",
    ),
    "bigquery": Lists(
        found="REGEXP_EXTRACT_ALL({0}, {1})",
        pieces="ARRAY(SELECT p FROM UNNEST({0}) AS r, UNNEST(REGEXP_EXTRACT_ALL(r, {1})) AS p)",
        spaced="ARRAY(SELECT p FROM UNNEST({0}) AS p WHERE NOT REGEXP_CONTAINS(p, {1}))",
        grams="ARRAY(SELECT SUBSTR(p, i, {2}) FROM UNNEST({0}) AS p, "
        "UNNEST(GENERATE_ARRAY(1, CHAR_LENGTH(p) - {2} + 1)) AS i WHERE REGEXP_CONTAINS(p, {1}))",
        neighbours="ARRAY(SELECT CONCAT({0}[OFFSET(i)], ' ', {0}[OFFSET(i + 1)]) "
        "FROM UNNEST(GENERATE_ARRAY(0, ARRAY_LENGTH({0}) - 2)) AS i)",
        joined="ARRAY_CONCAT({0}, {1})",
        composed="NORMALIZE({}, NFC)",
    ),
    "spark": Lists(
        found="REGEXP_EXTRACT_ALL({0}, {1}, 0)",
        pieces="FLATTEN(TRANSFORM({0}, r -> REGEXP_EXTRACT_ALL(r, {1}, 0)))",
        spaced="FILTER({0}, p -> NOT p RLIKE {1})",
        grams="FLATTEN(TRANSFORM(FILTER({0}, p -> p RLIKE {1} AND LENGTH(p) >= {2}), "
        "p -> TRANSFORM(SEQUENCE(1, LENGTH(p) - {2} + 1), i -> SUBSTRING(p, i, {2}))))",
        neighbours="CASE WHEN SIZE({0}) > 1 THEN TRANSFORM(SEQUENCE(1, SIZE({0}) - 1), "
        "i -> CONCAT(ELEMENT_AT({0}, i), ' ', ELEMENT_AT({0}, i + 1))) ELSE ARRAY() END",
        joined="CONCAT({0}, {1})",
        composed=None,
    ),
}
"""The dialects in which texts are cut by letters of any script, by functions that are tested here or a twin of them."""


def add_words(query: Query, place: int, name: str, form: TextForm, formula: WordWeights | ScaledWords) -> None:
    """Add steps that count known words: h with the place and class is what they add, y with the place how many are."""
    dialect = query.dialect
    if dialect.name not in LISTS:
        raise ParameterError(
            f"column {name!r} holds words, which no query of ours cuts out of a text in {dialect.name}; take a dialect "
            f"among {list(LISTS)}, export the model as JavaScript, Python or a page, or leave the column out"
        )
    if form.ngrams not in (None, (1, 1)):
        raise ParameterError(
            f"column {name!r} holds runs of up to {form.ngrams[1]} words, which this query cannot join; export the "
            "model as JavaScript, Python or a page, or leave the column out"
        )
    lists, text, runs, found, words = LISTS[dialect.name], f"r{place}", f"o{place}", f"i{place}", f"g{place}"
    query.step({text: _folded(dialect, lists, form, name, text)}, [one for one in query.steps[-1] if one != text])
    letters = _codes(lists, LETTER)
    if form.ngrams is not None:
        query.step({words: lists.found.format(text, dialect.text(f"[{letters}]{{2,}}"))})
    else:
        unspaced = _class_of(lists, [(UNSPACED[i], UNSPACED[i + 2]) for i in range(0, len(UNSPACED), 3)])
        run = f"[{letters}][{letters}{_codes(lists, MARK)}]*"
        query.step({runs: lists.found.format(text, dialect.text(run))})
        query.step({found: lists.pieces.format(runs, dialect.text(f"[{unspaced}]+|[^{unspaced}]+"))})
        parts = [lists.spaced.format(found, dialect.text(f"^[{unspaced}]"))]
        if any(re.search(f"[{UNSPACED}]", word) for word in form.words):
            longest = 3 if form.pairs else 2
            parts += [lists.grams.format(found, dialect.text(f"^[{unspaced}]"), n) for n in range(1, longest + 1)]
        if form.pairs and any(" " in word for word in form.words):
            parts.append(lists.neighbours.format(runs))
        whole = parts[0]
        for part in parts[1:]:
            whole = lists.joined.format(whole, part)
        query.step({words: whole})
    _add_up(query, place, words, form, formula)


def _codes(lists: Lists, kind: int) -> str:
    """Name the characters of a kind, in an expression."""
    return _class_of(lists, [(chr(a), chr(b)) for a, b in _ranges(kind)])


@cache
def _ranges(kind: int) -> list[tuple[int, int]]:
    """First and last codes of stretches of characters of a kind."""
    codes = np.flatnonzero(kind_of_character() == kind)
    start = np.flatnonzero(np.diff(codes, prepend=-2) > 1)
    return list(zip(codes[start].tolist(), codes[np.append(start[1:], len(codes)) - 1].tolist(), strict=True))


def _class_of(lists: Lists, ranges: Iterable[tuple[str, str]]) -> str:
    def code(character: str) -> str:
        return (lists.code if ord(character) < 2**16 else lists.long_code).format(ord(character))

    return "".join(code(a) if a == b else f"{code(a)}-{code(b)}" for a, b in ranges)


def _folded(dialect: Dialect, lists: Lists, form: TextForm, name: str, text: str) -> str:
    """Write a text in small letters and composed, as far as known words can tell."""
    is_own = form.ngrams is None
    known = {*"".join(form.words), *normalize("NFD", "".join(form.words))}
    if form.lowercase or is_own:
        text = f"REPLACE({text}, {dialect.text(DOTTED)}, {dialect.text(DOTTED.lower())})"
        small = {a: normalize("NFC", a.lower()) if is_own else a.lower() for a in _capitals() if a != "Σ"}
        changed = [a for a, b in small.items() if b in known]
        if changed:
            first, second = "".join(changed), "".join(small[a] for a in changed)
            text = f"TRANSLATE({text}, {dialect.text(first)}, {dialect.text(second)})"
    accented = sorted(a for a in known if len(normalize("NFD", a)) > 1)
    if not is_own or not accented:
        return text
    if lists.composed is not None:
        return lists.composed.format(text)
    hard = next((word for word in form.words if _is_hard_to_compose(word)), None)
    if hard is not None:
        raise ParameterError(
            f"the word {hard!r} of column {name!r} is put together of several characters, which {dialect.name} has no "
            "function for; take another dialect, or export the model as JavaScript, Python or a page"
        )
    for a in accented:
        text = f"REPLACE({text}, {dialect.text(normalize('NFD', a))}, {dialect.text(a)})"
    return text


def _is_hard_to_compose(word: str) -> bool:
    """Tell whether a word has a letter with several marks, in any order, or a syllable of several letters."""
    is_mark = [category(a)[0] == "M" for a in normalize("NFD", word)]
    return any(a and b for a, b in pairwise(is_mark)) or sum(not a for a in is_mark) > sum(
        category(a)[0] != "M" for a in word
    )


@cache
def _capitals() -> list[str]:
    """List characters that are another one in lower case, or composed."""
    every = (chr(a) for first, last in _ranges(LETTER) for a in range(first, last + 1))
    return [a for a in every if normalize("NFC", a.lower()) != a and len(normalize("NFC", a.lower())) == 1]


def _spellings(word: str, *, lowers: bool) -> list[str]:
    """List the ways to write a word once all capital letters but sigma are small ones."""
    sigmas = [place for place, letter in enumerate(word) if letter in "σς"] if lowers else []
    if len(sigmas) > MOST_SIGMAS:
        raise ParameterError(f"the word {word!r} has {len(sigmas)} sigmas, more than the {MOST_SIGMAS} a query holds")
    found = []
    for capitals in product((False, True), repeat=len(sigmas)):
        letters = list(word)
        for place in (at for at, is_capital in zip(sigmas, capitals, strict=True) if is_capital):
            letters[place] = "Σ"
        if normalize("NFC", "".join(letters).lower()) == word or not any(capitals):
            found.append("".join(letters))
    return found


def _add_up(query: Query, place: int, words: str, form: TextForm, f: WordWeights | ScaledWords) -> None:
    """Look words up, and add what they say."""
    dialect, number = query.dialect, query.number
    lowers = form.lowercase or form.ngrams is None
    lines = [
        (spelled, code)
        for code, word in enumerate(form.words)
        for spelled in (_spellings(word, lowers=lowers) if "\0" not in word else [])
    ]
    is_scaled = isinstance(f, ScaledWords)
    is_marked = form.once or (f.is_marked if isinstance(f, ScaledWords) else f.once)
    amount = number(1) if is_marked else f"LN({number(1)} + {{0}})" if is_scaled else "{0}"
    if dialect.name == "spark":
        _add_up_lists(query, place, words, lines, f, amount)
        return
    x = amount.format("d.c")
    sums = [f"SUM({x} * d.w{k})" for k in query.classes]
    if isinstance(f, ScaledWords):
        sums = [f"{one} / {length_of(f'SUM({x} * {x})', f)}" for one in sums]
    named = ", ".join(f"{one} AS h{place}_{k}" for k, one in enumerate(sums))
    weights = ", ".join(f"CAST(MAX(v.w{k}) AS {FLOATS[dialect.name]}) AS w{k}" for k in query.classes)
    names = ", ".join(["word", "code", *(f"w{k}" for k in query.classes)])

    def numbers(code: int) -> list[str]:
        return [repr(max(float(weight), -1e300)) for weight in f.weights[code]]

    if dialect.name == "bigquery":
        rows = ", ".join(f"({dialect.text(word)}, {code}, {', '.join(numbers(code))})" for word, code in lines)
        kinds = ", ".join(["word STRING", "code INT64", *(f"w{k} FLOAT64" for k in query.classes)])
        table, tokens = f"UNNEST(ARRAY<STRUCT<{kinds}>>[{rows}]) AS v", f"UNNEST({words}) AS word"
    else:
        rows = ", ".join(f"({dialect.text(word)}, {code}, {', '.join(numbers(code))})" for word, code in lines)
        none = ", ".join(["NULL", "0", *("0.0" for _ in query.classes)])
        table = f"(VALUES {rows or f'({none})'}) AS v({names})"
        tokens = f"(SELECT UNNEST({words}) AS word) AS u"
    token = "word" if dialect.name == "bigquery" else "u.word"
    counted = f"SELECT COUNT(*) AS c, {weights} FROM {tokens} JOIN {table} ON v.word = {token} GROUP BY v.code"
    if dialect.name == "bigquery":
        query.step({f"l{place}": f"(SELECT AS STRUCT {named}, COUNT(*) AS y{place} FROM ({counted}) AS d)"})
        names_of = [*(f"h{place}_{k}" for k in query.classes), f"y{place}"]
        query.step({one: f"l{place}.{one}" for one in names_of}, _without(query, place, f"l{place}"))
        return
    kept = _without(query, place)
    query.joins[len(query.steps)] = (
        f", LATERAL (SELECT {named}, COUNT(*) AS y{place} FROM ({counted}) AS d) AS l{place}"
    )
    query.step({}, [*kept, *(f"h{place}_{k}" for k in query.classes), f"y{place}"])


def length_of(square: str, f: ScaledWords) -> str:
    """Write what texts are scaled by: the root of the sum of squares, or once more its root."""
    return f"SQRT(SQRT({square}))" if f.by_root else f"SQRT({square})"


FLOATS = {"duckdb": "DOUBLE", "postgres": "double precision", "bigquery": "FLOAT64"}


def _without(query: Query, place: int, *more: str) -> list[str]:
    """Name the columns that are needed on, once words are counted."""
    return [name for name in query.steps[-1] if name not in (f"o{place}", f"i{place}", f"g{place}", *more)]


def _add_up_lists(
    query: Query, place: int, words: str, lines: Sequence[tuple[str, int]], f: WordWeights | ScaledWords, amount: str
) -> None:
    """Add by functions of lists, where a list is no table."""
    dialect, number, own = query.dialect, query.number, f"o{place}"
    known = ", ".join(dialect.text(word) for word, _ in lines)
    places = ", ".join(str(code) for _, code in lines)
    code_of = f"MAP_FROM_ARRAYS(ARRAY({known}), ARRAY({places}))" if lines else "MAP('', 0)"
    codes = f"FILTER(TRANSFORM(COALESCE({words}, ARRAY()), p -> {code_of}[p]), p -> p IS NOT NULL)"
    query.step({words: codes}, _without(query, place))
    query.step({own: f"ARRAY_DISTINCT({words})"})
    x = amount.format(f"SIZE(FILTER({words}, p -> p = q))")
    listed = [f"ARRAY({', '.join(number(weight) for weight in f.weights[:, k])})" for k in query.classes]
    sums = [f"AGGREGATE({own}, {number(0)}, (s, q) -> s + {x} * GET({one}, q))" for one in listed]
    if isinstance(f, ScaledWords):
        square = f"AGGREGATE({own}, {number(0)}, (s, q) -> s + {x} * {x})"
        length = f"NULLIF({length_of(square, f)}, {number(0)})"
        sums = [f"{one} / {length}" for one in sums]
    found = {f"h{place}_{k}": one for k, one in enumerate(sums)} | {f"y{place}": f"SIZE({own})"}
    query.step(found, _without(query, place))
