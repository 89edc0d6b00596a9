"""A short program as a user writes one: `make dist` runs it on the installed wheel, and both type checkers read it."""

import tempfile
from pathlib import Path

import bayeswater
from bayeswater import BayesianNetwork, CategoricalNB, Loss, NaiveBayes, load, save
from bayeswater.demo.loans import loans

table = loans()
rows, outcome = table.drop_columns(["outcome", "application_id"]), table["outcome"].to_pylist()

model: NaiveBayes = NaiveBayes(calibrate=True).fit(rows, outcome)
loss: Loss = Loss({"lend": {"late": 5, "repaid": 0}, "refuse": {"late": 0, "repaid": 1}})
actions = model.decide(rows, loss=loss)
assert len(actions) == table.num_rows
assert "log-odds" in str(model.explain(rows.slice(0, 1))[0])

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "loans.bayes"
    save(model, path)
    again = load(path)
assert (again.predict_proba(rows) == model.predict_proba(rows)).all()

halves = CategoricalNB().fit([["a"], ["b"]], [0, 1]) + CategoricalNB().fit([["a"], ["a"]], [0, 0])
assert halves.predict([["a"]]).tolist() == [0]

network: BayesianNetwork = BayesianNetwork("rain -> wet", {"rain": [0.2, 0.8], "wet": [[0.9, 0.1], [0.1, 0.9]]})
assert abs(float(network.query("rain", {"wet": network.states("wet")[0]}).probabilities[0]) - 0.18 / 0.26) < 1e-12

print(f"bayeswater {bayeswater.__version__}: the installed package works")
