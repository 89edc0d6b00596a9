"""A graph in the language of Graphviz."""

from bayeswater.structure.dag import Dag


def to_dot(dag: Dag) -> str:
    """Write a graph as DOT.

    >>> print(to_dot(Dag.parse("smoke -> cancer")))
    digraph {
      node [shape=box, style=rounded];
      "smoke";
      "cancer";
      "smoke" -> "cancer";
    }
    """
    lines = ["digraph {", "  node [shape=box, style=rounded];"]
    lines += [f"  {_quoted(name)};" for name in dag.names]
    lines += [f"  {_quoted(parent)} -> {_quoted(child)};" for parent, child in dag.edges()]
    return "\n".join([*lines, "}"])


def _quoted(name: str) -> str:
    # In a label of Graphviz \n and its like are orders; a backslash doubled is a backslash.
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
