"""Unbalanced texts: where complement counts win (Rennie et al. 2003).

Eight topics, of 2000 texts down to 15, whose texts repeat their own words. Words of a small topic are counted seldom,
so its probabilities are rough, and rough ones lose against the smooth ones of a large topic. The complement of a small
topic, all the others, is large: its counts are not rough. All figures are leave-one-out.
"""

import numpy as np
import pyarrow as pa
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import balanced_accuracy_score

from bayeswater import ComplementNB, MultinomialNB, NaiveBayes

SIZES = (2000, 600, 200, 100, 60, 40, 25, 15)
VOCABULARY, TOPIC_WORDS = 2000, 60


def corpus(seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Texts by Zipf's law with words of their topic twelve times as frequent; half of the words are repetitions."""
    rng = np.random.default_rng(seed)
    texts, topics = [], []
    for topic, n_texts in enumerate(SIZES):
        share = 1 / np.arange(1, VOCABULARY + 1)
        share[rng.choice(np.arange(50, VOCABULARY), TOPIC_WORDS, replace=False)] *= 12
        share /= share.sum()
        for _ in range(n_texts):
            length = rng.integers(8, 20)
            words = rng.choice(VOCABULARY, length // 2, p=share)
            words = np.concatenate([words, rng.choice(words, length - length // 2)])
            texts.append(" ".join(f"w{word}" for word in words))
            topics.append(f"topic {topic}")
    return texts, np.array(topics)


def main() -> None:
    """Compare the drop-ins, and show which reading NaiveBayes takes."""
    texts, y = corpus()
    counts = CountVectorizer().fit_transform(texts)
    print("balanced accuracy, leaving one out")
    for model in (MultinomialNB(), ComplementNB()):
        model.fit(counts, y)
        predicted = model.classes_[model.loo_predict_log_proba(counts, y).argmax(axis=1)]
        print(f"  {type(model).__name__:14} {balanced_accuracy_score(y, predicted):.3f}")
    chosen = NaiveBayes().fit(pa.table({"text": texts}), y).columns_["text"]
    print(f"NaiveBayes reads the text as {chosen.family}:\n  {chosen.why}")


if __name__ == "__main__":
    main()
