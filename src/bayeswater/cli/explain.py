"""``bayeswater explain``: why a row is given its class."""

from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from bayeswater.cli.options import AS_USUAL, AsJson, DataFile, ModelFile, ReadingOptions


def explain(
    model: ModelFile,
    /,
    *data: DataFile,
    rows: Annotated[int, Parameter(validator=Number(gte=1))] = 5,
    against: str | None = None,
    lang: Literal["en", "zh"] = "en",
    as_json: AsJson = False,
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Say why a row is given its class, column by column.

    Parameters
    ----------
    rows
        How many rows to explain, from the first one on.
    against
        Class to compare with; by default the second most probable one.
    lang
        Language of the reasons: English or Chinese.
    """
    from bayeswater.cli.models import known_class, load_model, open_for, require_explanations
    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import warnings_once
    from bayeswater.data.row_places import Stretch, rows_named
    from bayeswater.errors import DataError
    from bayeswater.models.streaming.sources import column_names
    from bayeswater.phrases import Language

    classifier = load_model(model)
    require_explanations(classifier)
    other = {} if against is None else {"against": known_class(classifier, against)}
    source = open_for(classifier, model, reading, list(data))
    table = source.head(column_names(classifier), rows)
    if not table.num_rows:
        raise DataError(f"{source.name} has no rows; give a file with rows")
    with warnings_once(), rows_named([Stretch(source.name, 0, table.num_rows)]):
        explanations = classifier.explain(table, **other, lang=lang)
    say = Language.of(lang).say
    for number, explanation in enumerate(explanations, start=1):
        if as_json:
            print_document({"row": number, **explanation.to_dict()}, on_one_line=True)
        else:
            print(f"{'' if number == 1 else chr(10)}{say('row', n=number)}\n{explanation}")
