"""``bayeswater serve``: models behind HTTP, for programs that ask them."""

import warnings
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number


def serve(
    *models: Annotated[
        str,
        Parameter(name="MODEL", help="Model files; if there are several, the address has the name: /income/predict."),
    ],
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65535))] = 8000,
    host: str = "127.0.0.1",
    learn: Annotated[bool, Parameter(negative=())] = False,
    token: Annotated[str | None, Parameter(env_var="BAYESWATER_TOKEN")] = None,
    save_rows: Annotated[int, Parameter(validator=Number(gte=1))] = 10_000,
    body_bytes: Annotated[int, Parameter(validator=Number(gte=1))] = 2**20,
    rate: Annotated[float | None, Parameter(validator=Number(gt=0))] = None,
) -> None:
    """Serve models over HTTP until Ctrl-C: predict, explain, decide, next_best; with --learn also learn and forget.

    Parameters
    ----------
    port
        Port to listen on; 0 chooses a free one.
    host
        Address to listen on. At 127.0.0.1 only this machine can ask; 0.0.0.0 lets all others ask, too.
    learn
        Allow requests to add and to remove rows; they are kept in a journal beside the model.
    token
        Secret that requests to learn have to give. It is safer in the environment, as BAYESWATER_TOKEN.
    save_rows
        New rows after which the model file is written; it is written after a minute in any case.
    body_bytes
        Largest size of a request, in bytes.
    rate
        Most requests a second from one address; no limit by default.
    """
    from bayeswater.cli.terminal import say, warnings_once
    from bayeswater.errors import BayesWarning, ParameterError

    try:
        from bayeswater.web.served import Served
        from bayeswater.web.serving import Limits
        from bayeswater.web.serving import serve as run
    except ImportError as error:
        raise ParameterError(f"a server needs {error.name}; install it with: pip install 'bayeswater[serve]'") from None
    if not models:
        raise ParameterError("name a model file to serve")
    if learn and not token:
        raise ParameterError("--learn needs --token: clients without it may ask, but not add rows")
    names = [Path(model).stem for model in models]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"two models are called {twice!r}; give one of the files another name")
    with warnings_once():
        served = [Served(Path(model), learns=learn, save_rows=save_rows) for model in models]

    def ready(address: str) -> None:
        print(address, flush=True)
        say("Ctrl-C ends it.")

    warnings.simplefilter("ignore", BayesWarning)  # of single requests: counted in /metrics
    run(served, host=host, port=port, limits=Limits(token, body_bytes, rate), ready=ready)
