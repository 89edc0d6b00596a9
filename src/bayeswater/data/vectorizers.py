"""Settings of scikit-learn's text vectorisers, as far as what they count is a sum over rows.

Sums can be merged, so nothing may depend on all rows at once. Left out are therefore a vocabulary cut down to the
frequent words (hash the words instead), and rows divided by their length: the sum of such rows is no sum of words.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.typing import Array

FINDING_WORDS = (
    "analyzer",
    "lowercase",
    "ngram_range",
    "preprocessor",
    "stop_words",
    "strip_accents",
    "token_pattern",
    "tokenizer",
)
"""Settings that say what the words of a text are."""

ALL_ROWS = "which words that leaves out depends on all rows at once (n_hash bounds the vocabulary)"

REQUIRED = {
    "input": ("content", "a column holds the texts themselves"),
    "norm": (None, "rows divided by their length do not add up to sums of words"),
    "sublinear_tf": (False, "logarithms of counts do not add up to counts"),
    "smooth_idf": (True, "the weight of a word that no row has any more would be infinite"),
    "alternate_sign": (False, "counts are not negative"),
    "max_df": (1.0, ALL_ROWS),
    "min_df": (1, ALL_ROWS),
    "max_features": (None, ALL_ROWS),
    "vocabulary": (None, "the vocabulary is that of the rows"),
}
"""What a vectoriser has to be set to, and why."""

WordSettings = tuple[tuple[str, Any], ...]
"""Settings of a CountVectorizer that are not the usual ones, in pairs of name and value."""


def countable_settings(vectorizer: Any) -> dict[str, Any]:
    """Give all settings of a CountVectorizer, TfidfVectorizer or HashingVectorizer.

    Raises
    ------
    ParameterError
        If it is none of these, or is set to something that is not a sum over rows.
    """
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

    kind = type(vectorizer).__name__
    if not isinstance(vectorizer, CountVectorizer | HashingVectorizer):
        raise ParameterError(
            f"{vectorizer!r} is no vectoriser of text; give a CountVectorizer, TfidfVectorizer or HashingVectorizer of "
            "scikit-learn"
        )
    settings: dict[str, Any] = vectorizer.get_params(deep=False)
    for name, (required, why) in REQUIRED.items():
        given = settings.get(name, required)
        if type(given) is not type(required) or given != required:  # 1 row is not 1.0, all rows
            raise ParameterError(f"{kind} has {name}={given!r}, but {why}; give it {name}={required!r}")
    return settings


def word_settings(settings: dict[str, Any]) -> WordSettings:
    """Pick the settings that say what the words of a text are, and are not the usual ones."""
    from sklearn.feature_extraction.text import CountVectorizer

    usual = CountVectorizer().get_params(deep=False)
    return tuple((name, _plain(settings[name])) for name in FINDING_WORDS if settings[name] != usual[name])


def require_word_settings(settings: WordSettings) -> None:
    """Refuse settings that are none, or that no words can be found by."""
    from sklearn.feature_extraction.text import HashingVectorizer

    for name, _ in settings:
        if name not in FINDING_WORDS:  # not even where it would be a setting: input='filename' reads files
            raise ParameterError(f"{name!r} says nothing of words; give settings among {', '.join(FINDING_WORDS)}")
    try:
        HashingVectorizer(**_unpacked(settings)).fit([""])  # this learns nothing: it looks at the settings alone
    except ValueError as error:
        raise ParameterError(f"no words can be found by the settings {dict(settings)}: {error}") from None


def word_finder(settings: WordSettings) -> Callable[[str], list[str]]:
    """Give scikit-learn's function that lists the words of a text."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(**_unpacked(settings)).build_analyzer()


def hash_codes(words: Sequence[str], n_hash: int) -> Array:
    """Give each word the code, from 0 to n_hash - 1, that HashingVectorizer gives it.

    >>> hash_codes(["free", "money"], 8)
    array([6, 2], dtype=int32)
    """
    from sklearn.feature_extraction import FeatureHasher

    if not words:  # which scikit-learn refuses
        return np.zeros(0, dtype=np.int32)
    hasher = FeatureHasher(n_hash, input_type="string", alternate_sign=False)
    return hasher.transform([word] for word in words).indices


def _plain(setting: Any) -> Any:
    """Give a list of words as a tuple, equal to every other of the same words."""
    return tuple(sorted(setting)) if isinstance(setting, list) else setting


def _unpacked(settings: WordSettings) -> dict[str, Any]:
    """Give settings as scikit-learn takes them: stop words as a list."""
    return {
        name: list(value) if name == "stop_words" and isinstance(value, tuple) else value for name, value in settings
    }
