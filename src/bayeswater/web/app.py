"""The application: files of the page, and answers under ``/api/``.

A question is a POST of a JSON document to ``/api/<place of the subject>/<view>/<question>``. What can be asked stands
in `web.views`, a module for each view of the page; each has a dict `ANSWERS` of functions of subject and document.
An answer is a JSON document; one that is a `Download` is a file.

Nothing is kept of a browser: each question brings all that it is about, so two browsers do not disturb each other.
"""

import json
from asyncio import wrap_future
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bayeswater.errors import BayesError
from bayeswater.web.plain import Download, QuestionError, as_json
from bayeswater.web.safety import Access, Guard

if TYPE_CHECKING:
    from bayeswater.web.network_subjects import Subject
    from bayeswater.web.views import Answer

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}

MOST_DIGITS = 308
"""Digits of a whole number, at most: what is longer may be no double any more."""


def application(coming: "Future[Sequence[Subject]]", access: Access, lang: str | None = None) -> ASGIApp:
    """Make the application that shows subjects as soon as they have come.

    `lang` is the language the page starts in, by default that of the browser.
    """
    page = _files_of_the_page()

    async def file(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in page:
            return PlainTextResponse("there is no such file", 404)
        return page[name]

    async def overview(request: Request) -> Response:
        subjects = await wrap_future(coming)
        told = await run_in_threadpool(lambda: [as_json(subject.facts()) for subject in subjects])
        return JSONResponse({"lang": lang, "subjects": told})

    async def answer(request: Request) -> Response:
        place, view, question = (request.path_params[name] for name in ("subject", "view", "question"))
        from bayeswater.web.views import answer_of  # the models: the page itself is there before them

        subjects = await wrap_future(coming)
        found = answer_of(subjects[place], view, question) if place < len(subjects) else None
        if found is None:
            return JSONResponse({"error": "there is no such question"}, 404)
        try:
            asked = document_of(await request.body())
            return await run_in_threadpool(answered, found, subjects[place], asked)
        except (BayesError, QuestionError) as error:
            return JSONResponse({"error": str(error)}, 422)

    routes = [
        Route("/", file),
        Route("/static/{name}", file),
        Route("/api/subjects", overview),
        Route("/api/{subject:int}/{view}/{question}", answer, methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes), access)


def answered(answer: "Answer", subject: "Subject", asked: Mapping[str, Any]) -> Response:
    """Give the response of a question."""
    told = answer(subject, asked)
    return told.response() if isinstance(told, Download) else JSONResponse(as_json(told))


def document_of(body: bytes) -> dict[str, Any]:
    """Read a question; numbers that JSON does not have, or no computer can calculate with, are refused."""

    def refuse(constant: str) -> None:
        raise QuestionError(f"{constant} is no number of JSON")

    def whole(digits: str) -> int:
        if len(digits) > MOST_DIGITS:
            raise QuestionError(f"{digits[:9]}... has {len(digits):,} digits; a number has {MOST_DIGITS} at most")
        return int(digits)

    try:
        asked = json.loads(body, parse_constant=refuse, parse_int=whole)
        if b"\\ud" in body or b"\\uD" in body:
            json.dumps(asked, ensure_ascii=False).encode()  # half of a pair of characters is no text
    except QuestionError:
        raise
    except (ValueError, RecursionError):
        raise QuestionError("the question is no JSON document") from None
    if not isinstance(asked, dict):
        raise QuestionError("the question is no JSON object")
    return asked


def _files_of_the_page() -> dict[str, Response]:
    """Read the files of the page once: no name that a browser sends is ever looked up on the disk."""
    found = {}
    for file in files("bayeswater.web").joinpath("static").iterdir():
        suffix = file.name[file.name.rfind(".") :]
        if suffix in KINDS:
            found[file.name] = Response(file.read_bytes(), media_type=KINDS[suffix])
    return found
