"""What the page of a network with numbers is told is what the network says."""

from base64 import b64decode

import numpy as np
import pytest
from scipy.stats import norm
from tests.web.people_page import people

from bayeswater import MixedNetwork, load
from bayeswater.models.mixed_networks.mixed_answers import NumberDistribution
from bayeswater.web.mixed_answers import ANSWERS, CURVE_PLACES
from bayeswater.web.plain import QuestionError, as_json
from bayeswater.web.subjects import subject_of
from bayeswater.web.views import answer_of

PEOPLE = people()
SEX, HEIGHT, WEIGHT = map(PEOPLE.dag.node, ("sex", "height", "weight"))
SUBJECT = subject_of(PEOPLE)


def told(question, **asked):
    return as_json(ANSWERS[question](SUBJECT, asked))


def test_states_and_numbers_given_what_is_observed_softly_known_and_set_are_those_of_the_library():
    asked = {"observed": [[WEIGHT, 90.0]], "soft": [[SEX, [1.0, 0.5]]], "does": [[HEIGHT, 181.5]]}
    for known in ({}, {"observed": asked["observed"]}, asked):
        network = PEOPLE.do(height=181.5) if "does" in known else PEOPLE
        evidence = {"weight": 90.0} if known else {}
        soft = {"sex": [1.0, 0.5]} if "soft" in known else {}
        found = told("posteriors", **known)["posteriors"]
        assert found[SEX] == pytest.approx(network.query("sex", evidence, soft_evidence=soft).probabilities)
        height = network.query("height", evidence, soft_evidence=soft)
        assert (found[HEIGHT]["mean"], found[HEIGHT]["sd"]) == pytest.approx((height.mean, height.std))
        if "does" not in known:
            places = np.linspace(found[HEIGHT]["low"], found[HEIGHT]["high"], CURVE_PLACES)
            assert found[HEIGHT]["curve"] == pytest.approx(height.pdf(places))
    assert found[HEIGHT]["curve"] is None and found[HEIGHT]["sd"] == found[WEIGHT]["sd"] == 0
    many = NumberDistribution("x", np.full(5000, 1 / 5000), np.linspace(-1, 1, 5000), np.full(5000, 0.5))
    assert many.pdf([0.3, 2.0]) == pytest.approx([norm(many.means, 0.5**0.5).pdf(x).mean() for x in (0.3, 2.0)])


def test_arcs_trails_and_laws_are_those_of_the_graph_and_its_regressions():
    assert sorted(told("arcs", observed=[[WEIGHT, 90.0]])["arcs"]) == [[SEX, WEIGHT, 0.0], [HEIGHT, WEIGHT, 0.0]]
    assert told("trail", start=SEX, end=HEIGHT, does=[[HEIGHT, 170.0]])["open"] is False
    assert told("trail", start=SEX, end=HEIGHT)["arrows"] == ["->"]
    law = told("table", node=WEIGHT)["rows"][1]
    regression = PEOPLE.regression("weight", sex="m")
    assert (law["given"], law["intercept"], law["slopes"]) == ([1], regression.intercept, [[HEIGHT, 1.0]])
    assert law["sd"] ** 2 == pytest.approx(regression.variance)
    assert told("table", node=SEX)["rows"][0]["p"] == [0.6, 0.4]
    likelihood = told("likelihood", node=SEX, state=0, value=0.25, observed=[[WEIGHT, 90.0]])["likelihood"]
    moved = told("posteriors", observed=[[WEIGHT, 90.0]], soft=[[SEX, likelihood]])["posteriors"][SEX]
    assert moved[0] == pytest.approx(0.25)


def test_saved_evidence_is_read_again():
    known = {"observed": [[WEIGHT, 90.5]], "soft": [[SEX, [1.0, 0.5]]], "does": [[HEIGHT, 170.0]]}
    text = b64decode(told("save", **known, **{"as": "evidence"})["content"]).decode()
    assert told("read_evidence", text=text) == known
    for wrong, said in (('{"do": {"height": "tall"}}', "height"), ('{"soft_evidence": {"height": {}}}', "states")):
        with pytest.raises(QuestionError, match=said):
            told("read_evidence", text=wrong)


def test_it_is_drawn_saved_and_refuses_what_no_page_asks(tmp_path):
    drawing = told("drawing", all=True)
    assert drawing["numbers"] == [HEIGHT, WEIGHT] and drawing["states"][HEIGHT] == []
    assert "± " in b64decode(told("save", **{"as": "svg"})["content"]).decode()
    (tmp_path / "again.bayes").write_bytes(b64decode(told("save", **{"as": "bayes"})["content"]))
    assert isinstance(load(tmp_path / "again.bayes"), MixedNetwork)
    for asked in ({"observed": [[WEIGHT, "90"]]}, {"observed": [[SEX, 2]]}, {"soft": [[WEIGHT, [1.0]]]}):
        with pytest.raises(QuestionError):
            told("posteriors", **asked)
    assert answer_of(SUBJECT, "network", "explanation") is None and answer_of(SUBJECT, "row", "posterior") is not None
