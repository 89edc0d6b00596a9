"""Two boxes of balls: from which box did the ball come?

One box holds 4 blue and 1 green ball, the other 2 blue and 3 green. A box is picked (the first twice as often
as the second) and a blue ball drawn. Bayes' rule turns P(ball | box) into P(box | ball).
"""

from bayeswater import CategoricalNB

balls = [["blue"]] * 4 + [["green"]] + [["blue"]] * 2 + [["green"]] * 3
boxes = ["first"] * 5 + ["second"] * 5

model = CategoricalNB(alpha=0, class_prior=[2 / 3, 1 / 3]).fit(balls, boxes)
first, second = model.predict_proba([["blue"]])[0]
print(f"P(first box | blue) = {first:.3f} = (2/3 x 4/5) / (2/3 x 4/5 + 1/3 x 2/5) = 4/5")
print(f"P(second box | blue) = {second:.3f}")
