"""Work that takes longer than one waits for: started once, whoever asks for it, and asked how far it is."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any

from bayeswater.errors import BayesError


@dataclass(eq=False)
class Background:
    """One piece of work: how far it is, and what came of it."""

    n_done: int = 0
    n_all: int = 0
    step: str = ""
    found: Any = None
    failure: str | None = None
    _has_begun: bool = False
    _lock: Lock = field(default_factory=Lock, repr=False)

    def begin(self, work: Callable[[Callable[[int, int, str], None]], Any]) -> None:
        """Start it, unless that has been done; `work` takes a function to tell how far it is."""
        with self._lock:
            if self._has_begun:
                return
            self._has_begun = True
        Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: Callable[[Callable[[int, int, str], None]], Any]) -> None:
        try:
            self.found = work(self._progress)
        except (BayesError, MemoryError) as error:
            self.failure = str(error) or type(error).__name__

    def _progress(self, n_done: int, n_all: int, step: str) -> None:
        self.n_done, self.n_all, self.step = n_done, n_all, step
