"""Three hundred short messages, wanted and unwanted, half of them English and half Chinese.

They were written for this project and are in no other collection. Firms, links and numbers in them are invented
(example.com, 555 numbers). Two in five are spam; some of it has none of the words that spam is known by, and some of
the other messages have them, so that a filter has something to learn and something to get wrong.
"""

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def load_messages() -> "pa.Table":
    """Give the messages: `label` (spam or ham), `language` (en or zh) and `text`, in no order.

    >>> messages = load_messages()
    >>> messages.shape, messages.column_names
    ((300, 3), ['label', 'language', 'text'])
    """
    import pyarrow as pa

    text = files(__package__).joinpath("messages.tsv").read_text(encoding="utf-8")
    names, *rows = [line.split("\t") for line in text.splitlines()]
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
