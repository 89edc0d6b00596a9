"""Questions as people write them: what is read, and where what is wrong stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswater import ParameterError
from bayeswater.cli.question_text import Term, read_independence, read_question


def plain(terms: tuple[Term, ...]) -> list[tuple[str, str | None]]:
    return [(term.name.text, None if term.state is None else term.state.text) for term in terms]


@pytest.mark.parametrize(
    ("text", "targets", "evidence"),
    [
        ("P(A)", [("A", None)], []),
        ("  P ( A , B )  ", [("A", None), ("B", None)], []),
        ("P(A|B=b)", [("A", None)], [("B", "b")]),
        ("P(A=a, B | C=c, D='odd label')", [("A", "a"), ("B", None)], [("C", "c"), ("D", "odd label")]),
        ('P("lung cancer" | age="<5")', [("lung cancer", None)], [("age", "<5")]),
        (
            "P(Disease | CO2=Asy/Patch, x=<7.5, y=-3)",
            [("Disease", None)],
            [("CO2", "Asy/Patch"), ("x", "<7.5"), ("y", "-3")],
        ),
        (r"P(A | B='it\'s', C='a\\b', D='')", [("A", None)], [("B", "it's"), ("C", "a\\b"), ("D", "")]),
        ("P(P | '|'='=')", [("P", None)], [("|", "=")]),
        ("P(血压 | 心率=高)", [("血压", None)], [("心率", "高")]),
    ],
)
def test_questions_are_read_as_they_are_meant(text, targets, evidence):
    question = read_question(text)
    assert (plain(question.targets), plain(question.evidence)) == (targets, evidence)


def test_what_is_set_from_outside_stands_apart_from_what_is_seen():
    question = read_question("P(lung | do(smoke=yes, asia='no'), xray=yes, do=it)")
    assert plain(question.evidence) == [("xray", "yes"), ("do", "it")]
    assert plain(question.done) == [("smoke", "yes"), ("asia", "no")]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", 0, r"begins with P\(.*, and the text ends"),
        ("A | B=b", 0, r"begins with P\("),
        ("P A", 2, r"begins with P\(.*, and 'A' stands here"),
        ("P()", 2, "a variable is asked for, and '\\)' stands here"),
        ("P(A", 3, r"a , a \| or a \) is needed, and the text ends here"),
        ("P(A B)", 4, "is needed, and 'B' stands here; names and states with blanks stand in quotes"),
        ("P(A,)", 4, "a variable is asked for"),
        ("P(A |)", 5, "a variable and its state are given"),
        ("P(A | B)", 7, "what is given has a state: write B=..."),
        ("P(A | B=)", 8, "a state of 'B' is needed"),
        ("P(A | B=b c=d)", 10, r"a , or a \) is needed, and 'c' stands here"),
        ("P(A | B='b)", 8, "a quote is opened and not closed"),
        ("P(A) + 1", 5, "the question has ended, and '\\+' stands here"),
        ("P(A, A)", 5, "'A' occurs twice in the question"),
        ("P(A | B=b, A=a)", 11, "'A' occurs twice in the question"),
        ("P(A | B=b, do(A=a))", 14, "'A' occurs twice in the question"),
        ("P(A | do(B))", 10, "what is given has a state: write B=..."),
        ("P(A | do())", 9, r"are set, as in do\(smoke=yes\)"),
        ("P(A | do(B=b)", 13, r"a , or a \) is needed"),
    ],
)
def test_what_is_wrong_is_shown_where_it_stands(text, place, message):
    with pytest.raises(ParameterError, match=message) as refused:
        read_question(text)
    first, line, caret = str(refused.value).split("\n")
    assert first.endswith(f"at line 1, column {place + 1}:")
    assert line == f"  {text}" and caret == " " * (place + 2) + "^"


def test_independences_are_read():
    question = read_independence("a, 'b c' ; d | e")
    assert [[word.text for word in part] for part in (question.left, question.right, question.given)] == [
        ["a", "b c"],
        ["d"],
        ["e"],
    ]
    assert read_independence("a;b").given == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "a , or a ; is needed between the two sides"),
        ("a ; ", "the name of a variable is needed, and the text ends here"),
        ("a ; b |", "the name of a variable is needed"),
        ("a ; b ; c", r"a , or a \| is needed, and ';' stands here"),
        ("a ; b | c | d", r"a , is needed, and '\|' stands here"),
        ("a ; b | a", "'a' occurs twice in the question"),
    ],
)
def test_what_is_no_independence_is_refused(text, message):
    with pytest.raises(ParameterError, match=message):
        read_independence(text)


QUOTE = str.maketrans({"'": r"\'", "\\": r"\\"})


@given(st.lists(st.tuples(st.text(), st.text()), min_size=2, max_size=5, unique_by=lambda pair: pair[0]))
def test_any_names_and_states_can_be_asked_for_in_quotes(pairs):
    terms = [(f"'{name.translate(QUOTE)}'", f"'{state.translate(QUOTE)}'") for name, state in pairs]
    question = read_question(f"P({terms[0][0]} | " + ", ".join("=".join(term) for term in terms[1:]) + ")")
    assert question.targets[0].name.text == pairs[0][0]
    assert plain(question.evidence) == pairs[1:]


@given(st.text(alphabet="P(AB,|=;'\"\\ )\n", max_size=30))
def test_any_text_is_read_or_refused(text):
    for read in (read_question, read_independence):
        try:
            read(text)
        except ParameterError as error:
            assert "^" in str(error)
