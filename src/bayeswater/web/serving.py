"""`bayeswater serve`: models behind HTTP: rows in JSON in, probabilities, reasons and decisions out.

A question is a POST of ``{"rows": [{column: cell, ...}, ...]}`` to ``/predict``, ``/explain``, ``/decide`` or
``/next_best``, with several models to ``/NAME/predict`` and so on. A column that a row does not name is not known. What
cannot be answered is refused with the words of the error. ``/learn`` and ``/forget`` need the token.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bayeswater.decision.loss import Loss
from bayeswater.errors import BayesError
from bayeswater.records import record
from bayeswater.version import __version__
from bayeswater.web.app import document_of
from bayeswater.web.fields import DATE, NOT_READ, NUMBER
from bayeswater.web.metering import Meter, Rate
from bayeswater.web.plain import QuestionError, as_json, language_of, written
from bayeswater.web.safety import bounded_body
from bayeswater.web.served import MOST_ROWS, Loaded, Served

LOOK_SECONDS = 1.0
"""How often the model files are looked at."""


@record
class Limits:
    """What is asked of a request: the token for teaching, the largest body, and how many a second from one address."""

    token: str | None = None
    body_bytes: int = 2**20
    per_second: float | None = None


# ---------------------------------------------------------------------- answers


def _explained(asked: Mapping[str, Any]) -> Callable[[Loaded, list[dict[str, Any]]], Any]:
    def answer(loaded: Loaded, rows: list[dict[str, Any]]) -> Any:
        told = loaded.model.explain(rows, lang=language_of(asked).code)
        return [
            {
                "prediction": one.prediction,
                "against": one.against,
                "log_odds": one.log_odds,
                "intercept": one.intercept,
                "reasons": [{"column": c.column, "contribution": c.contribution} for c in one.contributions],
                "missing": list(one.missing),
                "unseen": list(one.unseen),
                "summary": one.summary,
            }
            for one in (told[i] for i in range(len(rows)))
        ]

    return answer


def _loss_of(loaded: Loaded, asked: Mapping[str, Any]) -> Loss | None:
    """Read ``{action: {truth: cost}}``; classes are named as they are written."""
    given = asked.get("loss")
    if given is None:
        return None
    if not isinstance(given, dict) or not all(isinstance(costs, dict) for costs in given.values()):
        raise QuestionError('a loss is an object {"action": {"truth": cost}}')
    label = {written(own): own for own in loaded.labels}
    return Loss({label.get(a, a): {label.get(t, t): cost for t, cost in costs.items()} for a, costs in given.items()})


def _decided(asked: Mapping[str, Any]) -> Callable[[Loaded, list[dict[str, Any]]], Any]:
    def answer(loaded: Loaded, rows: list[dict[str, Any]]) -> Any:
        loss = _loss_of(loaded, asked)
        found = loaded.model.decide(rows, loss=loss, return_risk=True)
        names = [written(action) for action in (loaded.labels if loss is None else loss.table.actions)]
        risks = [dict(zip(names, risk, strict=True)) for risk in found.risk.tolist()]
        return [{"action": action, "risk": risk} for action, risk in zip(found.action, risks, strict=True)]

    return answer


def _asked_next(asked: Mapping[str, Any]) -> Callable[[Loaded, list[dict[str, Any]]], Any]:
    def answer(loaded: Loaded, rows: list[dict[str, Any]]) -> Any:
        costs = asked.get("costs")
        if costs is not None and not isinstance(costs, dict | int | float):
            raise QuestionError("costs are a number, or an object of numbers by column")
        told = []
        for row in rows:
            found = loaded.model.next_best(row, _loss_of(loaded, asked), costs, lang=language_of(asked).code)
            questions = [
                {"column": q.column, "worth": q.value.worth, "cost": q.value.cost, "net": q.value.net}
                for q in found.questions
            ]
            told.append({"risk_now": found.risk_now, "ask": found.best is not None, "questions": questions})
        return told

    return answer


QUESTIONS: Mapping[str, Callable[[Mapping[str, Any]], Callable[[Loaded, list[dict[str, Any]]], Any]]] = {
    "explain": _explained,
    "decide": _decided,
    "next_best": _asked_next,
}

TEACHING = ("learn", "forget")


def _rows_of(asked: Mapping[str, Any]) -> list[Any]:
    rows = asked.get("rows")
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_ROWS:
        raise QuestionError(f'a request is {{"rows": [...]}} with 1 to {MOST_ROWS:,} rows')
    return rows


async def _answer(served: Served, question: str, asked: Mapping[str, Any]) -> Any:
    rows = _rows_of(asked)
    if question == "predict":
        log_proba, classes = await served.log_proba(rows)
        names = [written(label) for label in classes]
        best = [classes[k] for k in log_proba.argmax(axis=1)]
        return {
            "classes": classes,
            "predictions": [
                {"prediction": own, "proba": dict(zip(names, p, strict=True))}
                for own, p in zip(best, np.exp(log_proba).tolist(), strict=True)
            ],
        }
    if question in TEACHING:
        labels = asked.get("labels")
        if not isinstance(labels, list) or len(labels) != len(rows):
            raise QuestionError('teaching takes "labels", one for each row')
        return {"n_rows": await served.on_thread(served.teach, question, rows, labels)}
    return {"answers": await served.on_thread(served.ask, QUESTIONS[question](asked), rows)}


# ---------------------------------------------------------------------- the application


def serving_application(models: Sequence[Served], limits: Limits) -> ASGIApp:
    """Make the application that answers for some models."""
    by_name = {one.name: one for one in models}
    meter = Meter()

    async def answer(path: str, headers: Headers, body: bytes) -> Response:
        start, parts = perf_counter(), path.strip("/").split("/")
        name, question = parts if len(parts) == 2 else (None, parts[0])
        if len(parts) > 2 or question not in ("predict", *QUESTIONS, *TEACHING):
            return JSONResponse({"error": "there is no such question"}, 404)
        response = await _responded(name, question, headers, body)
        meter.count(question, response.status_code, perf_counter() - start)
        return response

    async def _responded(name: str | None, question: str, headers: Headers, body: bytes) -> Response:
        served = by_name.get(name) if name is not None else models[0] if len(models) == 1 else None
        if served is None:
            return JSONResponse({"error": f"name a model in the path, one of {sorted(by_name)}"}, 404)
        if question in TEACHING and not _has_token(headers, limits.token):
            return JSONResponse({"error": "this needs the token, as Authorization: Bearer TOKEN"}, 401)
        try:
            return JSONResponse(as_json(await _answer(served, question, document_of(body))))
        except (BayesError, QuestionError) as error:
            return JSONResponse({"error": str(error)}, 422)
        except AttributeError as error:
            return JSONResponse({"error": f"this model has no answer: {error}"}, 422)

    async def health(request: Request) -> Response:
        told = {
            one.name: {
                "kind": type(one.loaded.model).__name__,
                "problem": one.problem,
                "learns": one.journal is not None,
            }
            for one in models
        }
        return JSONResponse({"status": "ok" if not any(one.problem for one in models) else "old model", "models": told})

    async def metrics(request: Request) -> Response:
        return PlainTextResponse(meter.text(models), media_type="text/plain; version=0.0.4")

    async def openapi(request: Request) -> Response:
        return JSONResponse(openapi_document(models))

    async def other(request: Request) -> Response:
        if request.path_params["path"].rpartition("/")[2] in ("predict", *QUESTIONS, *TEACHING):
            return JSONResponse({"error": "a question is a POST of JSON"}, 405, {"Allow": "POST"})
        return JSONResponse({"error": "there is nothing of this name"}, 404)

    routes = [
        Route("/healthz", health),
        Route("/metrics", metrics),
        Route("/openapi.json", openapi),
        Route("/{path:path}", other),
    ]
    return Gate(Starlette(routes=routes), answer, limits)


def _has_token(headers: Headers, token: str | None) -> bool:
    given = headers.get("authorization", "").removeprefix("Bearer ")
    return token is not None and secrets.compare_digest(given.encode(), token.encode())


class Gate:
    """What is told of a server, and its answers, behind limits of body and rate.

    Only JSON is let in, which no page of another site can send. A question goes the shortest way to its answer: what
    an application of many routes does beside would take longer than the answer itself.
    """

    def __init__(
        self, app: ASGIApp, answer: Callable[[str, Headers, bytes], Awaitable[Response]], limits: Limits
    ) -> None:
        self.app, self.answer, self.limits = app, answer, limits
        self.rate = None if limits.per_second is None else Rate(limits.per_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        refused = self._refused(scope, headers)
        body = None if refused is not None else await bounded_body(receive, self.limits.body_bytes)
        if refused is None and body is None:
            refused = JSONResponse({"error": f"a request has at most {self.limits.body_bytes:,} bytes"}, 413)
        response = refused
        if refused is None and scope["method"] == "POST":
            response = await self._answered(scope, headers, body or b"")
        if response is not None:
            await response(scope, receive, send)
            return

        async def read() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, read, send)

    async def _answered(self, scope: Scope, headers: Headers, body: bytes) -> Response:
        try:
            return await self.answer(scope["path"], headers, body)
        except Exception:
            logging.getLogger("bayeswater").exception("a question was not answered")
            return JSONResponse({"error": "the server has failed to answer"}, 500)

    def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        client = scope.get("client")
        if self.rate is not None and not self.rate.allows(client[0] if client else ""):
            return JSONResponse({"error": f"at most {self.limits.per_second:g} requests a second"}, 429)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["method"] == "POST" and kind != "application/json":
            return JSONResponse({"error": "a request is JSON: say Content-Type: application/json"}, 415)
        return None


async def watch(models: Sequence[Served]) -> None:
    """Look at the model files from time to time, and save what was learned."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        for one in models:
            with suppress(BayesError, OSError):  # told by /healthz
                await one.on_thread(one.look_at_file)
                await one.on_thread(one.save_if_due)


# ---------------------------------------------------------------------- what can be asked


def openapi_document(models: Sequence[Served]) -> dict[str, Any]:
    """Describe all questions, with the columns and states of each model."""
    paths: dict[str, Any] = {}
    for one in models:
        row = {"type": "object", "additionalProperties": False, "properties": _properties(one.loaded)}
        of_rows: dict[str, Any] = {"rows": {"type": "array", "items": row}}
        of_labels: dict[str, Any] = {"labels": {"type": "array", "items": {"examples": as_json(one.loaded.labels)}}}
        body = {"type": "object", "required": ["rows"], "properties": of_rows}
        taught = {"type": "object", "required": ["rows", "labels"], "properties": of_rows | of_labels}
        for question in ("predict", *QUESTIONS, *(TEACHING if one.journal is not None else ())):
            path = f"/{question}" if len(models) == 1 else f"/{one.name}/{question}"
            schema = taught if question in TEACHING else body
            content = {"application/json": {"schema": schema}}
            answers = {"200": {"description": "answers"}, "422": {"description": "refused, with the reason"}}
            paths[path] = {"post": {"requestBody": {"required": True, "content": content}, "responses": answers}}
    return {"openapi": "3.1.0", "info": {"title": "Bayeswater", "version": __version__}, "paths": paths}


def _properties(loaded: Loaded) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, own in loaded.fields.items():
        if own.kind == NUMBER:
            found[name] = {"type": ["number", "null"]}
        elif own.kind != NOT_READ:
            found[name] = {"type": ["string", "null"]}
            if own.kind == DATE:
                found[name]["format"] = "date-time" if own.has_time else "date"
            if own.states:
                found[name]["examples"] = [written(state) for state in own.states[:500]]
    return found


def serve(models: Sequence[Served], *, host: str, port: int, limits: Limits, ready: Callable[[str], None]) -> None:
    """Serve until the process is told to stop; then answer what is under way, and save what was learned."""
    import uvicorn

    from bayeswater.web.exploring import listening

    socket = listening(port, host)
    app = serving_application(models, limits)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(config)

    async def run() -> None:
        watching = asyncio.create_task(watch(models))
        try:
            await server.serve([socket])
        finally:
            watching.cancel()

    ready(f"http://{host}:{socket.getsockname()[1]}")
    try:
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:  # uvloop's, where it is installed
            runner.run(run())
    finally:
        socket.close()
        for one in models:
            one.close()
