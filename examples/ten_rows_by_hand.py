"""Ten rows worked by hand: every probability as a fraction, without and with smoothing.

Four yes/no traits of ten suitors and a decision. The question: tall, rich, plain and gentle, will it be yes?
Maximum likelihood gives 27/640 for yes against 1/120 for no; with one imagined row for each state and each
class 10/243 against 7/512. Lesson 1 of the course goes through it step by step (docs/learn/ten_rows.md).
"""

from fractions import Fraction

import numpy as np

from bayeswater import CategoricalNB

ROWS = """
tall  rich handsome gentle yes
tall  poor plain    gentle no
short poor handsome rough  no
short poor plain    gentle no
short rich handsome rough  no
tall  poor handsome gentle yes
short poor handsome gentle no
short rich plain    gentle yes
tall  poor plain    rough  no
tall  rich handsome rough  yes
"""

table = np.array([line.split() for line in ROWS.strip().splitlines()], dtype=object)
X, y = table[:, :4], table[:, 4]
question = [["tall", "rich", "plain", "gentle"]]

for smoothing in (0, 1):
    model = CategoricalNB(alpha=smoothing, class_alpha=smoothing).fit(X, y)
    joint = np.exp(model.predict_joint_log_proba(question)[0])
    print(f"\nsmoothing {smoothing}:")
    for label, probability in zip(model.classes_, joint, strict=True):
        print(f"  P(row, {label:3}) = {Fraction(probability).limit_denominator(1000)!s:7} = {probability:.5f}")
    print(f"  prediction: {model.predict(question)[0]}, with probability {model.predict_proba(question).max():.3f}")

joint_cells = 2**4
print(f"\nA full table of the traits has {joint_cells} cells in each class; naive Bayes needs 4 x 2 = 8.")
print(f"Free parameters: {2 * joint_cells - 1} for the joint, {model.n_parameters} for naive Bayes.")
