"""The first process inside every sandbox: starts the agent, carries its model endpoint, ends all it started.

Run as a script, ``python -I -S warden.py SOURCE``, by an interpreter that can import nothing of AK-Bench; so this
file uses the standard library only, and the harness never imports it. `SOURCE` is the number of a descriptor that
holds the order; or, where none can be inherited, the path of a unix socket through which the order and all
descriptors come (see `hand_over` in `akbench.sandbox.process`, which also writes the order, a JSON object):

- ``argv``, ``environ``, ``cwd``: the program; ``stdin``, ``stdout``, ``stderr``: its descriptors; ``report``
  and ``report_fd``: a further descriptor and the number the program gets it under, or null.
- ``file_bytes``, ``processes``: the program's RLIMIT_FSIZE and RLIMIT_NPROC; ``processes`` null: not limited.
- ``interrupt``, ``grace_seconds``: the signal sent when told to stop, and how long to wait before SIGKILL.
- ``model_port``, ``model_socket``: TCP 127.0.0.1:port is carried to this unix socket; null: nothing is.
- ``control``: a pipe; one byte, or its end because the harness died, means stop.
- ``status``: a pipe; JSON lines ``{"started": true}``, then ``{"exit_code": …, "signal": …, "out_of_memory": …}``,
  or one ``{"start_error": …}``.

In a PID namespace this process is its PID 1; elsewhere it is a subreaper. Either way every process started
here stays its descendant, however it forks, and is killed and reaped before this process ends.
"""
# ruff: noqa: PTH123, PTH208
# Without pathlib, whose import doubles the time this script takes to start.

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import socket
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38

_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

_RELAY_BYTES = 1 << 16
_RELAY_CONNECTIONS = 128

type Order = dict[str, Any]


class StartError(Exception):
    """The program could not be started; the message says why."""


_libc = ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def main(source: str) -> None:
    """Carry out the order that comes from `source`."""
    order = _inherited(int(source)) if source.isdigit() else _received(source)
    _guard_self()
    warden = _Warden(order)
    try:
        warden.start()
    except StartError as error:
        warden.tell(start_error=str(error))
        return
    warden.tell(started=True)
    exit_code, signal_number = warden.watch()
    warden.tell(exit_code=exit_code, signal=signal_number, out_of_memory=_oom_kills() > 0)
    warden.kill_descendants()


def _inherited(descriptor: int) -> Order:
    with open(descriptor, "rb") as source:
        order: Order = json.load(source)
    return order


def _received(path: str) -> Order:
    """The order, with the numbers that its descriptors have here.

    The connection stays open for as long as this process lives: its end tells the harness that all is over.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(path)
    names, descriptors, _, _ = socket.recv_fds(connection, 4096, 16)
    found = dict(zip(names.decode().split(), descriptors, strict=True))
    connection.detach()
    os.dup2(found.pop("diagnostic"), 2)
    return {**_inherited(found.pop("order")), **found}


def _oom_kills() -> int:
    """How many processes the kernel killed for want of memory, where this one has a control group of its own."""
    if os.getpid() != 1:
        return 0
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        if os.path.exists(path):  # noqa: PTH110
            with open(path, encoding="ascii") as source:
                counts = dict(line.split() for line in source)
            return int(counts.get("oom_kill", 0))
    return 0


def _guard_self() -> None:
    """Adopt orphans; keep descriptors, memory and life of this process out of the program's hands."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    # Not dumpable: /proc/<this>/fd and /proc/<this>/mem are closed even to processes of the same user, so
    # nobody else can write a status.
    _prctl(_PR_SET_DUMPABLE, 0)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the listing's own descriptor is closed by now
            os.set_inheritable(int(name), False)  # noqa: FBT003


class _Warden:
    """One program and everything it starts."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._child = 0
        self._child_status: int | None = None
        self._wake, wake_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # a handler, so that the wake-up descriptor is written

    def tell(self, **status: Any) -> None:
        """Write one line of status; a harness that is gone need not know."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._order["status"], json.dumps(status).encode() + b"\n")

    def start(self) -> None:
        """Start the program, and the relay if a model endpoint is asked for."""
        listener = self._listen()
        self._child = _spawn(self._order)
        for name in ("stdin", "stdout", "stderr", "report"):
            if self._order[name] is not None:
                os.close(self._order[name])
        if listener is not None:
            path = self._order["model_socket"]
            threading.Thread(target=_serve, args=(listener, path), daemon=True).start()

    def _listen(self) -> socket.socket | None:
        if self._order["model_socket"] is None:
            return None
        port = self._order["model_port"]
        try:
            return socket.create_server(("127.0.0.1", port), backlog=_RELAY_CONNECTIONS)
        except OSError as error:
            raise StartError(f"port {port} for the model endpoint: {os.strerror(error.errno or 0)}") from error

    def watch(self) -> tuple[int | None, int | None]:
        """Wait for the program's end, stopping it when told to. Returns its exit code or its signal."""
        watched = [self._wake, self._order["control"]]
        kill_at: float | None = None
        while self._child_status is None:
            left = None if kill_at is None else max(0.0, kill_at - time.monotonic())
            ready, _, _ = select.select(watched, [], [], left)
            if self._wake in ready:
                os.read(self._wake, 4096)
                self._reap()
            elif ready:
                watched = [self._wake]
                kill_at = time.monotonic() + self._interrupt()
            elif kill_at is not None:
                self.kill_descendants()
        code = os.waitstatus_to_exitcode(self._child_status)
        return (code, None) if code >= 0 else (None, -code)

    def _interrupt(self) -> float:
        """Send the interrupt signal to the program's process group, as a terminal would; the grace."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child, self._order["interrupt"])
        return float(self._order["grace_seconds"])

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while self._reap_one(os.WNOHANG):
                pass

    def _reap_one(self, options: int) -> bool:
        pid, status = os.waitpid(-1, options)
        if pid == self._child:
            self._child_status = status
        return pid != 0

    def kill_descendants(self) -> None:
        """SIGKILL and reap every descendant; afterwards there is none."""
        with contextlib.suppress(ChildProcessError):
            while True:
                killed = _kill_namespace() if os.getpid() == 1 else _kill_children()
                self._reap_one(0 if killed else os.WNOHANG)


def _kill_namespace() -> bool:
    """SIGKILL all that live in this PID namespace, in one step of the kernel; whether there was any."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
        return True
    return False


def _kill_children() -> bool:
    """SIGKILL every child; whether there was any. Their own children become ours, for the next round.

    One generation a round, not a walk through all of /proc: that is too slow to catch one which forks and
    exits without end.
    """
    children = [pid for thread in os.listdir("/proc/self/task") for pid in _children_of(thread)]
    for pid in children:
        os.kill(pid, signal.SIGKILL)  # ours to reap, so it exists
    return bool(children)


def _children_of(thread: str) -> list[int]:
    try:
        with open(f"/proc/self/task/{thread}/children", "rb") as source:
            return [int(pid) for pid in source.read().split()]
    except FileNotFoundError:
        return []  # this thread has ended; its children are another's now


def _spawn(order: Order) -> int:
    """Fork and execute the program; its pid. Raises StartError with the reason of a failed start."""
    failure, failure_end = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _run_child(order, parent, failure_end)
    os.close(failure_end)
    with open(failure, "rb") as source:
        reason = source.read()
    if reason:
        os.waitpid(pid, 0)
        raise StartError(reason.decode(errors="replace"))
    return pid


def _run_child(order: Order, parent: int, failure_end: int) -> None:
    try:
        _become_program(order, parent)
    except BaseException as error:  # noqa: BLE001 (handed to the parent through the pipe)
        os.write(failure_end, _reason(error).encode(errors="replace"))
    finally:
        os._exit(127)


def _reason(error: BaseException) -> str:
    return str(error) if isinstance(error, StartError) else f"{type(error).__name__}: {error}"


def _become_program(order: Order, parent: int) -> None:
    os.setsid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise StartError("the warden died")
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)  # no set-uid program may get out of the warden's reach
    _reset_signals()
    _place_descriptors(order)
    _set_limits(order)
    try:
        os.chdir(order["cwd"])
    except OSError as error:
        raise StartError(f"working directory {order['cwd']}: {error.strerror}") from error
    _execute(order["argv"], order["environ"])


def _execute(argv: list[str], environ: dict[str, str]) -> None:
    try:
        os.execvpe(argv[0], argv, environ)  # noqa: S606 (the point of this script)
    except OSError as error:
        raise StartError(f"{argv[0]}: {error.strerror}") from error


def _reset_signals() -> None:
    """Undo what Python and this script ignore; ignored signals would survive the exec."""
    for number in (*_IGNORED, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _place_descriptors(order: Order) -> None:
    wanted = {0: order["stdin"], 1: order["stdout"], 2: order["stderr"]}
    if order["report"] is not None:
        wanted[order["report_fd"]] = order["report"]
    # Out of the way first: a source may have the number of another's target.
    moved = {target: fcntl.fcntl(source, fcntl.F_DUPFD_CLOEXEC, 256) for target, source in wanted.items()}
    for target, source in moved.items():
        os.dup2(source, target)


def _set_limits(order: Order) -> None:
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, order["file_bytes"])
    if order["processes"] is not None:
        _limit(resource.RLIMIT_NPROC, order["processes"])


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (bound, bound))


def _serve(listener: socket.socket, path: str) -> None:
    """Carry each connection to the unix socket at `path`, for as long as this process lives."""
    free = threading.BoundedSemaphore(_RELAY_CONNECTIONS)
    while True:
        free.acquire()
        client, _ = listener.accept()
        threading.Thread(target=_carry, args=(client, path, free), daemon=True).start()


def _carry(client: socket.socket, path: str, free: threading.BoundedSemaphore) -> None:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with client, server:
            server.connect(path)
            back = threading.Thread(target=_copy, args=(server, client), daemon=True)
            back.start()
            _copy(client, server)
            back.join()
    except OSError:  # the endpoint is closed: so is this connection, which is all a client can be told
        return
    finally:
        free.release()


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Copy until the source's end and pass that on; when the target takes no more, read no more."""
    try:
        while data := source.recv(_RELAY_BYTES):
            target.sendall(data)
    except OSError:
        _end(source, socket.SHUT_RD)  # not more: the other direction may still be delivering an answer
    _end(target, socket.SHUT_WR)


def _end(end: socket.socket, how: int) -> None:
    with contextlib.suppress(OSError):  # already disconnected
        end.shutdown(how)


if __name__ == "__main__":
    main(sys.argv[1])
