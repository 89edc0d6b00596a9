"""`explore`: starts the server beside the program, opens the browser, and is the page inside a cell of a notebook."""

import socket
import sys
import webbrowser
from collections.abc import Sequence
from concurrent.futures import Future
from html import escape
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Self

from bayeswater.errors import ParameterError
from bayeswater.markup import html_table
from bayeswater.phrases import Language, translated

if TYPE_CHECKING:
    from bayeswater.web.network_subjects import Subject

LANGUAGES = ("en", "zh")

START_SECONDS = 10.0
"""Time in which the server has to be there."""

FRAME_HEIGHT = 720

FRAME_WORDS = {
    "en": {
        "heads": "column|family|why",
        "absent": "The page itself is not there: the kernel runs on another machine, or has ended. From a terminal:",
        "machine": "that-machine",
    },
    "zh": {
        "heads": "列|分布族|原因",
        "absent": "页面本身不在：内核运行在另一台机器上，或已结束。在终端中：",
        "machine": "那台机器",
    },
}
"""What a frame says before the page has come."""


class Exploration:
    """A page that is being served; print it for its address, end it with `close`, show it as the end of a cell."""

    def __init__(self, subjects: "Sequence[Subject]" = (), *, port: int = 0, lang: str | None = None) -> None:
        try:
            import uvicorn

            from bayeswater.web.app import application
            from bayeswater.web.safety import Access
        except ImportError as error:
            what = f"the page needs {error.name}; install it with: pip install 'bayeswater[web]'"
            raise ParameterError(what) from None
        if lang is not None and lang not in LANGUAGES:
            raise ParameterError(f"lang is {lang!r}; it can be one of {list(LANGUAGES)}")
        self.subjects: tuple[Subject, ...] = ()
        self.lang = lang
        self._coming: Future[Sequence[Subject]] = Future()
        self._socket = listening(port)
        self.access = Access(self._socket.getsockname()[1], in_frames=in_notebook())
        app = application(self._coming, self.access, lang)
        config = uvicorn.Config(
            app, log_level="critical", access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=0
        )
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        end = monotonic() + START_SECONDS
        while not self._server.started and self._thread.is_alive() and monotonic() < end:
            sleep(0.005)
        if subjects:
            self.show(subjects)

    def show(self, subjects: "Sequence[Subject]") -> Self:
        """Fill a page that was opened before its subjects were there."""
        self.subjects = tuple(subjects)
        self._coming.set_result(self.subjects)
        return self

    @property
    def address(self) -> str:
        """The address to open, with the key; whoever has it can ask the model, from this machine."""
        return f"http://127.0.0.1:{self.access.port}/?key={self.access.key}"

    def open(self) -> Self:
        """Open the page in the browser."""
        webbrowser.open(self.address)
        return self

    def wait(self) -> None:
        """Serve until the program is interrupted, or the page is closed by `close`."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.2)
        finally:
            self.close()

    def close(self) -> None:
        """End the server."""
        self._coming.cancel()
        self._server.should_exit = True
        self._thread.join(5)
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __str__(self) -> str:
        return f"{', '.join(subject.name for subject in self.subjects)}: {self.address}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Show the page in a frame, and what is known without it where the kernel is on another machine."""
        return notebook_frame(self)


def explore(
    model: Any,
    rows: Any = None,
    y: Any = None,
    *,
    target: str | None = None,
    name: str | None = None,
    port: int = 0,
    lang: str | None = None,
    open_browser: bool | None = None,
) -> Exploration:
    """Open a fitted classifier or a network as a local page in the browser.

    The page is served from this process on 127.0.0.1, and works without a network. In a notebook it stands in the cell.

    Parameters
    ----------
    model : fitted classifier, BayesianNetwork or MixedNetwork
        What the page shows.
    rows : table in memory, or an array of the columns of the model, optional
        Rows to look at; the first 50,000 are shown.
    y : labels of shape (n_rows,), optional
        True classes of the rows.
    target : str, optional
        Column of `rows` that holds them; by default the one that the model does not read and that holds its classes.
    name : str, optional
        What the page calls the model.
    port : int, default 0
        Port to listen on; 0 takes a free one.
    lang : {"en", "zh"}, optional
        Language that the page starts in; by default that of the browser.
    open_browser : bool, optional
        Whether to open a browser; by default unless this is a notebook.

    Returns
    -------
    Exploration
        ``.address`` is the page, ``.close()`` ends it, ``.wait()`` serves until Ctrl-C.

    See Also
    --------
    look : Look at a table before anything is learned from it.
    audit : Compare a classifier between groups of rows: errors, calibration, and which columns make the difference.

    Examples
    --------
    >>> from bayeswater import GaussianNB, explore
    >>> page = explore(GaussianNB().fit([[0], [1], [8], [9]], ["a", "a", "b", "b"]), open_browser=False)
    >>> page.address.startswith("http://127.0.0.1:")
    True
    >>> page.close()
    """
    from bayeswater.web.subjects import subject_of

    page = Exploration([subject_of(model, rows, y, target=target, name=name)], port=port, lang=lang)
    return page.open() if (not in_notebook() if open_browser is None else open_browser) else page


def listening(port: int, host: str = "127.0.0.1") -> socket.socket:
    """Open a port; by default no other machine reaches it."""
    if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port < 2**16:
        raise ParameterError(f"port is {port!r}; give a number from 0, for any free one, to 65535")
    # Named as TCP, its answers are sent at once: else asyncio lets them wait for the other side, some 40 ms each.
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform != "win32":  # there, it would let another program take the same port
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise ParameterError(
            f"{host}, port {port} cannot be opened ({error.strerror}); name another address of this machine or another "
            "port; 0 is any free one"
        ) from None
    return found


def in_notebook() -> bool:
    """Tell whether this runs in the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return running is not None and type(running).__name__ == "ZMQInteractiveShell"


def notebook_frame(page: Exploration) -> str:
    """Write the frame of a notebook: what is known at once, and in its place the page as soon as that says it is there.

    A kernel on another machine has its server there, too: the page cannot come, and the frame says so.
    """
    lang, port = page.lang or "en", page.access.port
    words, here = FRAME_WORDS[lang], "".join(_static_view(subject, lang) for subject in page.subjects)
    source = f"http://127.0.0.1:{page.access.port}/#key={page.access.key}"
    inner = (
        "<style>body{font:14px system-ui,sans-serif;margin:8px}table{border-collapse:collapse}"
        "td,th{text-align:left;padding:2px 10px 2px 0}iframe{border:0;width:100%;height:97vh;display:none}</style>"
        f"<div id='here'>{here}<p id='note'></p></div>"
        f"<iframe id='page' src='{escape(source, quote=True)}'></iframe><script>"
        f"let there=false;addEventListener('message',e=>{{if(e.origin==='http://127.0.0.1:{page.access.port}'"
        "&&e.data==='bayeswater'){there=true;document.getElementById('here').hidden=true;"
        "document.getElementById('page').style.display='block'}});"
        "setTimeout(()=>{if(!there)document.getElementById('note').textContent="
        f"'{words['absent']} ssh -L {port}:127.0.0.1:{port} {words['machine']}'}},3000)</script>"
    )
    return (
        f'<iframe srcdoc="{escape(inner, quote=True)}" width="100%" height="{FRAME_HEIGHT}" style="border:0"></iframe>'
    )


def _static_view(subject: "Subject", lang: str) -> str:
    """Say of a subject what needs no server."""
    from bayeswater.web.classifier_subject import ClassifierSubject

    title = f"<h3>{escape(subject.name)}</h3>"
    if not isinstance(subject, ClassifierSubject):
        return f"{title}<p>{escape(repr(subject.model))}</p>"
    language = Language.of(lang)
    heads = FRAME_WORDS[lang]["heads"].split("|")
    rows = [
        (own.name, translated(own.family or own.kind, language), translated(own.why, language))
        for own in subject.fields.values()
    ]
    shares = zip(subject.labels, subject.frequencies, strict=True)
    classes = ", ".join(f"{label} {100 * share:.1f} %" for label, share in shares)
    return f"{title}<p>{escape(f'{type(subject.model).__name__}: {classes}')}</p>{html_table(heads, rows)}"
