"""1-row requests from 16 clients on 127.0.0.1, beside scikit-learn's GaussianNB behind FastAPI; and a soak.

``python -m benchmarks.serving --seconds 10`` measures throughput, p50 and p99 of both (FastAPI is left out, with a
line, where it is not installed). ``--soak 60`` teaches rows and kills the server with SIGKILL every ten seconds,
and counts what was acknowledged and is not there: nothing may be.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from time import perf_counter, sleep

import httpx
import numpy as np

from bayeswater import GaussianNB, load, save

CLIENTS, COLUMNS = 16, 10

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
    for _ in range(600):
        try:
            httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=1)
            return process
        except httpx.HTTPError:
            assert process.poll() is None, "the server did not start"
            sleep(0.1)
    raise TimeoutError("the server did not start")


async def load_of(port, body, seconds):
    """Ask from many clients for some time; give latencies in seconds."""
    found = []

    async def client():
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
            end = perf_counter() + seconds
            while perf_counter() < end:
                start = perf_counter()
                answer = await http.post("/predict", content=body, headers={"content-type": "application/json"})
                assert answer.status_code == 200, answer.text
                found.append(perf_counter() - start)

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return np.array(found)


def measured(name, command, port, body, seconds):
    process = started(command, port)
    try:
        asyncio.run(load_of(port, body, 1.0))
        found = asyncio.run(load_of(port, body, seconds))
    finally:
        process.terminate()
        process.wait()
    p50, p99 = np.quantile(found, [0.5, 0.99]) * 1e3
    print(f"| {name} | {len(found) / seconds:,.0f} | {p50:.1f} | {p99:.1f} |", flush=True)


def throughput(folder, seconds):
    rng = np.random.default_rng(0)
    X, y = rows(rng)
    save(GaussianNB().fit(X, y), folder / "ours.bayes")
    body = json.dumps({"rows": [dict(X.iloc[0])]}).encode()
    print("| server | requests a second | p50 ms | p99 ms |\n|---|---|---|---|")
    ours = [sys.executable, "-m", "bayeswater", "serve", str(folder / "ours.bayes"), "--port", "8741"]
    measured("bayeswater", ours, 8741, body, seconds)
    try:
        import fastapi  # noqa: F401
    except ImportError:
        print("FastAPI is not installed: left out")
        return
    import pickle

    from sklearn.naive_bayes import GaussianNB as Peer

    (folder / "peer.pickle").write_bytes(pickle.dumps(Peer().fit(X.to_numpy(), y)))
    (folder / "peer.py").write_text(textwrap.dedent(PEER))
    peer = [sys.executable, str(folder / "peer.py"), str(folder / "peer.pickle"), "8742"]
    measured("scikit-learn behind FastAPI", peer, 8742, body, seconds)


def soak(folder, seconds):
    """Teach, ask, reload and kill; give how many acknowledged rows were lost."""
    rng = np.random.default_rng(1)
    X, y = rows(rng)
    learner = folder / "learner.bayes"
    save(GaussianNB().fit(X, y), learner)
    command = [sys.executable, "-m", "bayeswater", "serve", str(learner), "--port", "8743", "--learn"]
    os.environ["BAYESWATER_TOKEN"] = "of the soak"
    headers = {"authorization": "Bearer of the soak"}
    n_acknowledged, n_other, n_kills, end = 0, 0, 0, perf_counter() + seconds
    memory = []
    while perf_counter() < end:
        process = started(command, 8743)
        until = perf_counter() + 10
        with httpx.Client(base_url="http://127.0.0.1:8743", timeout=30) as http:
            while perf_counter() < until:
                row = [dict(X.iloc[int(rng.integers(len(X)))])]
                answer = http.post("/learn", json={"rows": row, "labels": ["yes"]}, headers=headers)
                n_acknowledged += answer.status_code == 200
                n_other += answer.status_code >= 500
                n_other += http.post("/predict", json={"rows": row}).status_code >= 500
        status = Path(f"/proc/{process.pid}/status")
        if status.exists():
            memory.append(int(status.read_text().split("VmRSS:")[1].split()[0]) // 1024)
        process.send_signal(signal.SIGKILL)
        process.wait()
        n_kills += 1
    process = started(command, 8743)
    process.terminate()  # saves
    process.wait()
    counted = int(load(learner).class_count_.sum()) - len(X)
    print(
        f"{n_kills} kills, {n_acknowledged} rows acknowledged, {counted} counted, {n_other} answers of 500 or more, "
        f"memory {memory} MB"
    )
    assert counted >= n_acknowledged


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--soak", type=float, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if asked.seconds:
            throughput(Path(folder), asked.seconds)
        if asked.soak:
            soak(Path(folder), asked.soak)


if __name__ == "__main__":
    main()
