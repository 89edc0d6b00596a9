"""`TruthStyle`: two words of which one means true, and `WordStyle`, in which a model keeps both as states."""

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from bayeswater.data.reading.cell_style import CellStyle, by_distinct, holds_strings
from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa

TRUTHS = (
    *((("yes", "y"), ("no", "n")), (("true", "t"), ("false", "f")), (("on",), ("off",))),
    *((("是",), ("否",)), (("真",), ("假",)), (("对",), ("错",)), (("はい",), ("いいえ",)), (("да",), ("нет",))),
    *((("ja",), ("nein", "nee", "nej", "nei")), (("wahr",), ("falsch",)), (("waar",), ("onwaar",))),
    *((("oui",), ("non",)), (("vrai",), ("faux",)), (("sí", "sì", "si"), ("no",)), (("sim",), ("não", "nao"))),
    *((("verdadero", "verdadeiro", "vero"), ("falso",)), (("tak",), ("nie",)), (("ano", "áno"), ("ne", "nie"))),
    *((("igen",), ("nem",)), (("kyllä",), ("ei",)), (("evet",), ("hayır", "hayir")), (("da",), ("nu", "ne"))),
    *((("예", "네"), ("아니오", "아니요")), (("ναι",), ("όχι",)), (("نعم",), ("لا",)), (("כן",), ("לא",))),
    *((("✓", "✔", "☑"), ("✗", "✘", "☐", "☒")),),
)
"""Words for true and for false, in small letters; single letters are English alone, since others are codes, too."""


@record
class TruthStyle(CellStyle):
    """Two words.

    Parameters
    ----------
    true, false : words, whatever their case; the first as most cells have it
    """

    kind, named, stored = "truth", "truths", "bool"

    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()

    @property
    def of_states(self) -> CellStyle:
        """Words, unless they are true and false."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        return self if self.true[0].lower() == "true" else WordStyle(**own)

    def values(self, strings: "pa.Array") -> "pa.Array":
        """Read each word once."""
        return by_distinct(self._truths, strings)

    def _truths(self, strings: "pa.Array") -> "pa.Array":
        import pyarrow as pa
        import pyarrow.compute as pc

        known = [word.lower() for word in self.true + self.false]
        return pc.less(pc.index_in(pc.utf8_lower(strings), value_set=pa.array(known)), len(self.true))

    def __str__(self) -> str:
        return f"{self.true[0]} or {self.false[0]}"


@record
class WordStyle(TruthStyle):
    """Two words that stay words."""

    kind, named, stored, makes_values = "words", "words", "string", False

    @property
    def of_states(self) -> CellStyle:
        """These."""
        return self

    def read(self, cells: "pa.ChunkedArray", name: str, *, is_clean: bool = False) -> "pa.ChunkedArray":
        """Spell both words alike, also where cells are truths; others stay as they are. It is a dictionary of them."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not (holds_strings(cells.type) or pa.types.is_boolean(cells.type)):
            return cells
        chunks = []
        for chunk in cells.chunks or [pa.array([], cells.type)]:
            encoded = chunk if pa.types.is_dictionary(cells.type) else chunk.dictionary_encode()
            truths, others = encoded.dictionary, pa.nulls(len(encoded.dictionary), pa.string())
            if not pa.types.is_boolean(truths.type):
                others = self.present(pa.chunked_array([truths])).combine_chunks()
                truths = self._truths(others)
            own = pc.coalesce(pc.if_else(truths, self.true[0], self.false[0]), others).dictionary_encode()
            chunks.append(pa.DictionaryArray.from_arrays(own.indices.take(encoded.indices), own.dictionary))
        return pa.chunked_array(chunks)

    def spelled(self, states: Sequence[Any]) -> tuple[Any, ...]:
        """Spell the words among states as this style does, unless two would become one."""
        known = {word.lower(): own[0] for own in (self.true, self.false) for word in own}
        words = tuple(known.get(state.lower(), state) if isinstance(state, str) else state for state in states)
        return words if len({*words}) == len(states) else tuple(states)
