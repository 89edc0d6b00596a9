"""``bayeswater compare-structures``: in which arcs two networks differ."""

from typing import Annotated

from cyclopts import Parameter

from bayeswater.cli.networks import Tolerance
from bayeswater.cli.options import AsJson


def compare_structures(
    first: Annotated[str, Parameter(help="Network file.")],
    second: Annotated[str, Parameter(help="Network file of the same variables.")],
    /,
    *,
    tolerance: Tolerance = None,
    as_json: AsJson = False,
) -> None:
    """Say in which arcs two networks differ, and how far apart they are."""
    from bayeswater.cli.documents import print_document
    from bayeswater.cli.structures import graph_of
    from bayeswater.cli.tables import plain_table
    from bayeswater.cli.words import findings, warnings_told_once
    from bayeswater.structure.equivalence import is_equivalent, structural_hamming_distance

    with warnings_told_once():
        one, other = graph_of(first, tolerance), graph_of(second, tolerance)
    distance = structural_hamming_distance(one, other)
    plain = structural_hamming_distance(one, other, of_classes=False)
    mine, theirs = set(one.edges()), set(other.edges())
    turned = sorted(arc for arc in mine if arc[::-1] in theirs)
    only_first = sorted(arc for arc in mine - theirs if arc not in turned)
    only_second = sorted(arc for arc in theirs - mine if arc[::-1] not in mine)
    if as_json:
        print_document(
            {
                "distance_of_classes": distance,
                "distance_of_graphs": plain,
                "equivalent": is_equivalent(one, other),
                "in_both": sorted(mine & theirs),
                "turned": turned,
                "only_in_first": only_first,
                "only_in_second": only_second,
            }
        )
        return
    table = plain_table("arc", "", title=f"{first} and {second}")
    for arcs, what in ((turned, "turned"), (only_first, f"only in {first}"), (only_second, f"only in {second}")):
        for parent, child in arcs:
            table.add_row(f"{parent} -> {child}", what)
    console = findings()
    if table.row_count:
        console.print(table)
    n_both = len(mine & theirs)
    console.print(
        f"{n_both} arc{'s' * (n_both != 1)} in both; structural Hamming distance {plain}, "
        f"of the equivalence classes {distance}" + ("; they are equivalent" if distance == 0 else ""),
        soft_wrap=True,
    )
