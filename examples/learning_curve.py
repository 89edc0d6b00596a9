"""How few rows naive Bayes needs: accuracy on 797 handwritten digits after learning from 10, 20, 50, ... others.

The model is never fitted again: each step adds rows to the same sums. Logistic regression is fitted anew at
every size, for comparison.
"""

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from bayeswater import BernoulliNB

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
X, y = (X[order] > 7).astype(np.uint8), y[order]
X_test, y_test = X[1000:], y[1000:]
X, y = X[:1000], y[:1000]

print("  rows   naive Bayes          logistic regression")
model, seen = BernoulliNB(alpha=0.5, class_alpha=1.0), 0
for n in (10, 20, 50, 100, 200, 500, 1000):
    start = time.perf_counter()
    model.partial_fit(X[seen:n], y[seen:n], classes=np.arange(10))
    learned = time.perf_counter() - start
    start = time.perf_counter()
    peer = LogisticRegression(max_iter=1000).fit(X[:n], y[:n])
    fitted = time.perf_counter() - start
    seen = n
    print(
        f"{n:6}   {model.score(X_test, y_test):.3f} in {1e3 * learned:5.2f} ms    "
        f"{peer.score(X_test, y_test):.3f} in {1e3 * fitted:6.1f} ms"
    )
