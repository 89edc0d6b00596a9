"""Every word of the page stands in one place, in both languages."""

import re
from importlib.resources import files

STATIC = files("bayeswater.web").joinpath("static")
ENTRY = re.compile(r'^  (\w+): \["((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"\],$', re.MULTILINE)
PUT_IN = re.compile(r"\{(\w+)\}")


def strings() -> dict[str, tuple[str, str]]:
    text = STATIC.joinpath("strings.js").read_text(encoding="utf-8")
    return {name: (english, chinese) for name, english, chinese in ENTRY.findall(text)}


def test_every_word_that_a_view_asks_for_is_there():
    known = strings()
    for file in STATIC.iterdir():
        if file.name.endswith(".js") and file.name != "strings.js":
            for name in re.findall(r'\bt\("(\w+)"', file.read_text(encoding="utf-8")):
                assert name in known, (file.name, name)


def test_both_languages_say_something_and_put_the_same_in():
    known = strings()
    assert len(known) > 100
    for name, (english, chinese) in known.items():
        assert english and chinese, name
        assert set(PUT_IN.findall(english)) == set(PUT_IN.findall(chinese)), name


def test_sentences_of_the_library_are_put_into_chinese_with_the_same_places():
    text = STATIC.joinpath("strings.js").read_text(encoding="utf-8")
    said = re.findall(r'^  \["((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"\],$', text, re.MULTILINE)
    assert len(said) > 20
    for english, chinese in said:
        assert set(PUT_IN.findall(chinese)) <= set(PUT_IN.findall(english)), english
