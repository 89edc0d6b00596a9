"""A page about the built-in loans, for the tests of its server and of its views."""

from concurrent.futures import Future
from functools import cache
from typing import Any

from bayeswater import NaiveBayes
from bayeswater.demo.loans import loans
from bayeswater.web.classifier_subject import ClassifierSubject
from bayeswater.web.subjects import subject_of


@cache
def loan_model() -> Any:
    table = loans(200)
    return NaiveBayes(calibrate=True, columns={"application_id": "ignored"}).fit(
        table.drop_columns(["outcome"]), table.column("outcome")
    )


@cache
def loan_subject() -> ClassifierSubject:
    found = subject_of(loan_model(), loans(200), name="loans")
    assert isinstance(found, ClassifierSubject)
    return found


def come(*subjects: Any) -> Future:
    """Give subjects as a server waits for them."""
    found: Future = Future()
    found.set_result(subjects)
    return found
