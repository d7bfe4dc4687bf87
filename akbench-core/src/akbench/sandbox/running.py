"""A sandboxed process that goes on while its starter does something else."""

from __future__ import annotations

import threading
from dataclasses import replace

from akbench.spec import ProcessEvidence, RunningProcess, Sandbox, SandboxRequest

__all__ = ["SandboxedProcess"]


class SandboxedProcess(RunningProcess):
    """Runs a request in a sandbox, followed by a thread of its own.

    The sandbox keeps the deadline; `stop` and the request's own `cancelled` both end it.
    """

    def __init__(self, sandbox: Sandbox, request: SandboxRequest) -> None:
        self._stop = _Either(request.cancelled)
        self._ended = threading.Event()
        self._evidence: ProcessEvidence | None = None
        self._error: BaseException | None = None
        self._sandbox, self._request = sandbox, replace(request, cancelled=self._stop)
        self._thread = threading.Thread(target=self._run, name="sandboxed process", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._evidence = self._sandbox.run(self._request)
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
            self._error = error
        finally:
            self._ended.set()

    def wait(self, seconds: float) -> ProcessEvidence | None:
        """The evidence once all is over. Raises what the sandbox raised."""
        if not self._ended.wait(seconds):
            return None
        if self._error is not None:
            raise self._error
        return self._evidence

    def stop(self) -> None:
        """Have the sandbox end it."""
        self._stop.set()


class _Either(threading.Event):
    """Set when it is set itself, or when the other is."""

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or self._other.is_set()
