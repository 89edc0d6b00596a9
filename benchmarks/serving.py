"""1-row requests from 16 clients on 127.0.0.1, beside scikit-learn's GaussianNB behind FastAPI; and a soak.

FastAPI is looked for in this environment, or in that of the interpreter BAYESWATER_PEER; where it is not, it is left
out. The soak asks and teaches, has a second model replaced every few seconds, kills the server with SIGKILL every
minute in the midst of it, and counts what was acknowledged and is not there: nothing may be.
"""

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
from contextlib import suppress
from pathlib import Path
from time import perf_counter, sleep

import httpx
import numpy as np

from bayeswater import GaussianNB, load, save

CLIENTS, COLUMNS = 16, 10

PEER_PYTHON = os.environ.get("BAYESWATER_PEER", sys.executable)
"""The interpreter of both servers, one that has FastAPI, and what bayeswater[serve] brings: httptools, uvloop."""

PEER = """
    import pickle, sys, warnings
    warnings.simplefilter("ignore")
    import numpy as np, uvicorn
    from fastapi import FastAPI
    from pydantic import BaseModel
    model = pickle.load(open(sys.argv[1], "rb"))
    class Rows(BaseModel):
        rows: list[dict[str, float]]
    app = FastAPI()
    names = [f"x{j}" for j in range(model.n_features_in_)]
    @app.post("/predict")
    def predict(asked: Rows):
        X = np.array([[row[name] for name in names] for row in asked.rows])
        return {"predictions": model.predict_proba(X).tolist()}
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="error", access_log=False)
"""


def rows(rng):
    import pandas as pd

    y = np.arange(2000) % 2
    X = pd.DataFrame(rng.normal(size=(2000, COLUMNS)) + y[:, None], columns=[f"x{j}" for j in range(COLUMNS)])
    return X, np.where(y, "yes", "no")


def started(command, port):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    for _ in range(3000):  # a busy machine takes long
        try:
            httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=1)
            return process
        except httpx.HTTPError:
            assert process.poll() is None, "the server did not start"
            sleep(0.1)
    raise TimeoutError("the server did not start")


def request_of(port, path, document, token=None):
    """Write a POST of JSON as bytes."""
    body = json.dumps(document).encode()
    key = f"authorization: Bearer {token}\r\n" if token else ""
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n{key}"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


async def asked(reader, writer, request):
    """Send a request over a connection that stays open; give the status of the answer."""
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
    return int(head.split(b" ", 2)[1])


async def load_of(port, request, seconds):
    """Ask from many clients for some time; give latencies in seconds. Clients cost little: bytes on sockets."""
    found = []

    async def client():
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        end = perf_counter() + seconds
        while (start := perf_counter()) < end:
            status = await asked(reader, writer, request)
            assert status == 200, status
            found.append(perf_counter() - start)
        writer.close()

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return np.array(found)


def processor_seconds(pid):
    """Processor time that a process has taken."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


TURNS = 3


def serving_speed(seconds):
    """Measure both servers turn by turn: requests a second, latencies, and processor time of a request."""
    with tempfile.TemporaryDirectory() as folder:
        return _serving_speed(Path(folder), seconds)


def _serving_speed(folder, seconds):
    X, y = rows(np.random.default_rng(0))
    save(GaussianNB().fit(X, y), folder / "ours.bayes")
    ours = [PEER_PYTHON, "-m", "bayeswater", "serve", str(folder / "ours.bayes"), "--port", "8741"]
    servers = {"bayeswater": (8741, ours)}
    if subprocess.run([PEER_PYTHON, "-c", "import fastapi"], stderr=subprocess.DEVNULL).returncode == 0:
        from sklearn.naive_bayes import GaussianNB as Peer

        (folder / "peer.pickle").write_bytes(pickle.dumps(Peer().fit(X.to_numpy(), y)))
        (folder / "peer.py").write_text(textwrap.dedent(PEER))
        command = [PEER_PYTHON, str(folder / "peer.py"), str(folder / "peer.pickle"), "8742"]
        servers["scikit-learn behind FastAPI"] = (8742, command)
    running = {name: started(command, port) for name, (port, command) in servers.items()}
    figures = {name: [] for name in servers}
    try:
        for turn in range(TURNS + 1):
            for name, (port, _) in servers.items():
                request = request_of(port, "/predict", {"rows": [dict(X.iloc[0])]})
                before = processor_seconds(running[name].pid)
                found = asyncio.run(load_of(port, request, seconds if turn else 1.0))
                spent = processor_seconds(running[name].pid) - before
                p50, p99 = np.quantile(found, [0.5, 0.99]) * 1e3
                if turn:  # the first one warms up
                    figures[name].append((len(found) / seconds, p50, p99, spent / len(found) * 1e6))
    finally:
        for process in running.values():
            process.terminate()
            process.wait()
    titles = ("requests a second", "p50 ms", "p99 ms", "processor us a request")
    given = subprocess.run([PEER_PYTHON, "-c", "import httptools, uvloop"], stderr=subprocess.DEVNULL).returncode == 0
    beside = {"uvicorn with": "httptools, uvloop" if given else "h11, asyncio"}
    return [
        {"server": name} | beside | dict(zip(titles, np.median(own, axis=0), strict=True))
        for name, own in figures.items()
    ]


KILL_SECONDS, REPLACE_SECONDS = 60, 7
WATCHED = ("learner after its start", "learner before its kill", "server that goes on")


def soak(seconds):
    """Ask, teach, replace and kill; say how many acknowledged rows were lost, and what else there was."""
    with tempfile.TemporaryDirectory() as folder:
        return _soak(Path(folder), seconds)


def _soak(folder, seconds):
    X, y = rows(np.random.default_rng(1))
    learner, other = folder / "learner.bayes", folder / "other.bayes"
    save(GaussianNB().fit(X, y), learner)
    save(GaussianNB().fit(X, y), other)
    command = [sys.executable, "-m", "bayeswater", "serve", str(learner), "--port", "8743", "--learn"]
    asking = [sys.executable, "-m", "bayeswater", "serve", str(other), "--port", "8744"]
    os.environ["BAYESWATER_TOKEN"] = "of-the-soak"
    kinds = ("acknowledged", "forgotten", "asked", "refused", "of 500 or more", "replaced")
    found = dict.fromkeys([*kinds, "learned without an answer", "forgotten without an answer"], 0)
    steady, memory = started(asking, 8744), []
    for at in range(0, round(seconds), KILL_SECONDS):  # of load: how long a start takes does not count
        process = started(command, 8743)
        first = resident(process.pid)
        before_kill = asyncio.run(mixed(X, other, min(KILL_SECONDS, seconds - at), found, process))
        process.wait()
        memory.append((first, before_kill, resident(steady.pid)))
    process = started(command, 8743)
    for one in (process, steady):
        one.terminate()  # saves
        one.wait()
    counted = int(load(learner).class_count_.sum()) - len(X)
    # A call whose answer the kill cut off may be counted or not: it was never acknowledged.
    least = found["acknowledged"] - found["forgotten"] - found["forgotten without an answer"]
    most = found["acknowledged"] - found["forgotten"] + found["learned without an answer"]
    of_each = dict(zip(WATCHED, np.array(memory).T, strict=True))
    return [
        {"kills": len(memory)}
        | found
        | {"acknowledged and not there": max(0, least - counted), "never sent and there": max(0, counted - most)}
        | {f"MB of the {what}": f"{min(own)} - {max(own)}" for what, own in of_each.items()}
    ]


def resident(pid):
    """Memory of a process, in MB."""
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0]) // 1024


async def mixed(X, other, seconds, found, process):
    """Ask both servers and teach the learner until it is killed, while the file of the other is replaced.

    Gives the memory of the learner before its kill.
    """
    end, rng = perf_counter() + seconds, np.random.default_rng()

    async def client(port, requests, label=None):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while port == 8743 or perf_counter() < end:  # the learner is asked until it is killed
            found["learned without an answer"] += label is not None
            status = await asked(reader, writer, requests[int(rng.integers(len(requests)))])
            found["learned without an answer"] -= label is not None
            if label is not None and status == 200:
                found["acknowledged"] += 1
            found["asked"] += label is None
            found["refused"] += 400 <= status < 500
            found["of 500 or more"] += status >= 500
            await asyncio.sleep(float(rng.exponential(0.02)))
        writer.close()

    async def forgetting():
        reader, writer = await asyncio.open_connection("127.0.0.1", 8743)
        row = {"rows": [dict(X.iloc[5])], "labels": ["yes"]}
        while True:
            for do, kind, open_kind in (("learn", "acknowledged", "learned"), ("forget", "forgotten", "forgotten")):
                found[f"{open_kind} without an answer"] += 1
                status = await asked(reader, writer, request_of(8743, f"/{do}", row, "of-the-soak"))
                found[f"{open_kind} without an answer"] -= 1
                found[kind] += status == 200
                found["of 500 or more"] += status >= 500
            await asyncio.sleep(0.1)

    async def until_killed(work):
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await work

    async def killing():
        await asyncio.sleep(seconds)
        memory = resident(process.pid)
        process.send_signal(signal.SIGKILL)
        return memory

    async def replacing():
        while perf_counter() < end:
            await asyncio.sleep(REPLACE_SECONDS)
            save(load(other), other)
            found["replaced"] += 1

    some = [dict(X.iloc[i]) for i in range(50)]
    asks = [("/predict", {}), ("/explain", {}), ("/decide", {})]
    for port in (8743, 8744):
        bad = [request_of(port, "/predict", {"rows": [{"x0": "seven"}]}), request_of(port, "/predict", {"rows": 7})]
        asks_of = [request_of(port, path, {"rows": [row], **more}) for path, more in asks for row in some] + bad
        asks.append(("/next_best", {}))
        if port == 8743:
            first = asks_of
    teaching = [request_of(8743, "/learn", {"rows": [row], "labels": ["yes"]}, "of-the-soak") for row in some]
    of_learner = [client(8743, first) for _ in range(3)] + [client(8743, teaching, "yes") for _ in range(3)]
    work = [until_killed(one) for one in (*of_learner, forgetting())]
    memory, *_ = await asyncio.gather(killing(), *work, *(client(8744, asks_of) for _ in range(3)), replacing())
    return memory
