"""The sandbox ``docker``: a container without network for each process tree."""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from akbench.sandbox import layout
from akbench.sandbox.process import SUPERVISED, WARDEN, Handover, hand_over, supervise
from akbench.spec import (
    TASK_IMAGES,
    Bind,
    HostError,
    InputError,
    Leftover,
    Limits,
    Problem,
    ProcessEvidence,
    Sandbox,
    SandboxImage,
    SandboxProbe,
    SandboxRequest,
)
from akbench.workspace.scratch import scratch_folder
from akbench_sandbox_docker import carried
from akbench_sandbox_docker.where import lack

if TYPE_CHECKING:
    import docker

    from akbench_sandbox_docker.engine import Container

__all__ = ["DockerSandbox"]

_WARDEN_SOCKET = "/ak/warden.sock"
_WARDEN_PROCESSES = 1
_RELAY_PROCESSES = 258
"""The warden and the threads of its relay to the model, which the engine counts as the container's processes too."""
_NOT_ENFORCED = "traffic of the disk; the kernel is the host's"
_ROOTS_HOME = "/root"
_START = "Start an engine (systemctl start docker) or name one in DOCKER_HOST, and be allowed to use it (group docker)."
_ELSEWHERE = "The engine must run on this machine: the sandbox shows folders of it."

_SELF_REPORT = """
import json, os, socket, ssl, sqlite3, sys
def reads(path):
    try:
        return bool(open(path, "rb").read())
    except OSError:
        return False
def writes(folder):
    try:
        open(folder + "/written", "w").close()
        return True
    except OSError:
        return False
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
print(json.dumps({
    "uid": os.getuid(),
    "groups": [group for group in os.getgroups() if group != os.getgid()],
    "interfaces": [name for _, name in socket.if_nameindex()],
    "environment": sorted(set(os.environ) - {"LC_CTYPE"}),
    "environment of the first process": reads("/proc/1/environ"),
    "capabilities": status["CapEff"].strip() + status["CapBnd"].strip(),
    "no new privileges": status["NoNewPrivs"].strip(),
    "writable": [folder for folder in ("/", "/usr", "/etc", "/ak", "/dev/shm", "/tmp", "/workspace") if writes(folder)],
}))
"""


def _expected() -> dict[str, Any]:
    return {
        "uid": layout.host_uid(),
        "groups": [],
        "interfaces": ["lo"],
        "environment": [],
        "environment of the first process": False,
        "capabilities": "0" * 32,
        "no new privileges": "1",
        "writable": ["/dev/shm", "/tmp", "/workspace"],  # noqa: S108 (the sandbox's own)
    }


class DockerSandbox(Sandbox):
    """Confines a process with a container of a Docker engine on this machine.

    Inside there are an image (AK-Bench's own or a given one) read-only, the harness's Python at its own path without
    installed packages, a private /tmp of at most 1 GiB, and the request's binds. The user is never root. The kernel is
    the host's.
    """

    bounded = True
    honours = SUPERVISED | {"cpus", "image", "memory_bytes", "processes", TASK_IMAGES}

    def __init__(self) -> None:
        self._tried: set[str] = set()

    def probe(self, image: str | None = None) -> SandboxProbe:
        """Run a process inside and compare what it finds with what is promised."""
        if (reason := lack()) is not None:
            return SandboxProbe(problems=(Problem(message=reason, mend=_START),))
        from akbench_sandbox_docker.engine import MissingImageError, connected

        try:
            with connected() as api:
                problems, facts = _engine(api)
                identity = _image(api, image)
                problems += _image_problems(api, identity)
        except MissingImageError as error:
            return SandboxProbe(problems=(Problem(message=str(error), mend=error.mend),))
        except HostError as error:
            return SandboxProbe(problems=(Problem(message=str(error), mend=_START),))
        facts |= {"image": identity, "uid": str(layout.host_uid()), "not_enforced": _NOT_ENFORCED}
        return SandboxProbe(problems=tuple(problems) or self._try(image, (layout.interpreter(),)), facts=facts)

    def find_image(self, name: str) -> SandboxImage:
        """The image that a task names; see `Sandbox.find_image`."""
        from akbench_sandbox_docker.engine import MissingImageError, connected, image_id

        with connected() as api:
            try:
                identity = image_id(api, name)
            except MissingImageError as error:
                raise HostError(f"{error}. {error.mend}") from error
            return self._task_image(api, identity)

    def build_image(self, context: Path, dockerfile: str) -> SandboxImage:
        """The image that a task describes; see `Sandbox.build_image`."""
        from akbench_sandbox_docker.building import built_image
        from akbench_sandbox_docker.engine import connected

        with connected() as api:
            return self._task_image(api, built_image(api, context, dockerfile))

    def _task_image(self, api: docker.APIClient, identity: str) -> SandboxImage:
        from akbench_sandbox_docker.engine import inspected

        if identity not in self._tried:
            problems = [*_image_problems(api, identity), *_foreign(api, identity)]
            problems = problems or [*self._try(identity, carried.words())]
            if problems:
                raise InputError("; ".join(f"{each.message} ({each.mend})" for each in problems))
            self._tried.add(identity)
        config = inspected(api, identity).get("Config") or {}
        return SandboxImage(
            id=identity,
            environ=dict(each.split("=", 1) for each in config.get("Env") or () if "=" in each),
            workdir=config.get("WorkingDir") or "/",
            interpreter=carried.words(),
        )

    def _try(self, image: str | None, python: tuple[str, ...]) -> tuple[Problem, ...]:
        with scratch_folder() as folder:
            request = _self_report_request(folder, image, python)
            self.own(request.binds[0].host)
            evidence = self.run(request)
            if evidence.exit_code != 0:
                return (_cannot_run(evidence, image),)
            found: dict[str, Any] = json.loads(evidence.stdout.read_bytes())
        wrong = [f"{key} is {found[key]!r}" for key, expected in _expected().items() if found[key] != expected]
        mend = "Use another sandbox or image, or report this as a fault of AK-Bench."
        return tuple(Problem(message=f"docker does not confine as promised: {text}", mend=mend) for text in wrong)

    def inside(self, name: str, host: Path) -> str:  # noqa: ARG002 (where it lies on the host plays no role)
        """A fixed path for each name."""
        return layout.inside(name)

    def program_root(self) -> str | None:
        """Programs appear under /opt."""
        return layout.PROGRAM_ROOT

    def model_port(self) -> int:
        """Always the same: each sandbox has a loopback of its own."""
        return layout.MODEL_PORT

    def own(self, path: Path) -> None:
        """Give the tree to the user that processes are inside; links are given, not followed."""
        layout.own(path)

    def run(self, request: SandboxRequest) -> ProcessEvidence:
        """Run the process. Raises `HostError` if the engine is gone before its end; nothing of it lives then either."""
        from akbench_sandbox_docker.engine import connected

        model = None if request.model_socket is None else Path(layout.SOCKET)

        with ExitStack() as whole:

            def start(handover: Handover, stack: ExitStack) -> Container:
                api = whole.enter_context(connected())
                # For the whole run: what is removed on the host disappears inside as well.
                folder = whole.enter_context(scratch_folder())
                container = _started(api, request, handover, folder, stack)
                whole.callback(container.close)
                return container

            return supervise(replace(request, model_socket=model), start, processes=None)

    def leftovers(self) -> tuple[Leftover, ...]:
        """Containers and networks with AK-Bench's label, of harnesses that are gone. Nothing if no engine answers."""
        if lack() is not None:
            return ()
        from akbench_sandbox_docker import remains

        return remains.find()

    def remove(self, leftover: Leftover) -> None:
        """Remove one of these."""
        from akbench_sandbox_docker import remains

        remains.remove(leftover)


def _started(
    api: docker.APIClient, request: SandboxRequest, handover: Handover, folder: Path, stack: ExitStack
) -> Container:
    from akbench_sandbox_docker.engine import Container

    listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    listener.bind(str(folder / "warden.sock"))
    (folder / "warden.sock").chmod(0o666)  # the user inside is another; the folder is closed to all others
    listener.listen(1)
    container = Container(api, _options(api, request, folder))
    try:
        hand_over(handover, container.start(listener))
    except BaseException:
        container.kill()
        container.close()
        raise
    return container


def _options(api: docker.APIClient, request: SandboxRequest, folder: Path) -> dict[str, Any]:
    from akbench_sandbox_docker.engine import labels

    group = layout.HOST_UID if os.geteuid() == 0 else os.getegid()
    return {
        "image": _image(api, request.image),
        "entrypoint": list(_wardens_python(request)),
        "command": ["-I", "-S", layout.WARDEN_PLACE, _WARDEN_SOCKET],
        "user": f"{layout.host_uid()}:{group}",
        "hostname": "sandbox",
        "working_dir": "/",
        "labels": labels(),
        "healthcheck": {"test": ["NONE"]},
        "host_config": _host_config(api, request, folder),
    }


def _host_config(api: docker.APIClient, request: SandboxRequest, folder: Path) -> Any:
    from docker.types import LogConfig

    limits = request.limits
    own = _RELAY_PROCESSES if request.model_socket is not None else _WARDEN_PROCESSES
    return api.create_host_config(
        auto_remove=True,
        network_mode="none",
        read_only=True,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        ipc_mode="private",
        init=False,
        pids_limit=limits.processes + own,
        mem_limit=limits.memory_bytes,
        memswap_limit=limits.memory_bytes,
        nano_cpus=None if limits.cpus is None else round(limits.cpus * 1e9),
        shm_size=layout.SHM_BYTES,
        tmpfs=_own_folders(request),
        mounts=[_mount(bind) for bind in _binds(request, folder)],
        log_config=LogConfig(type="none"),
    )


def _own_folders(request: SandboxRequest) -> dict[str, str]:
    """Private folders: the temporary one, and an empty one over each in which the harness's Python has packages."""
    folders = {layout.TMP: f"rw,exec,nosuid,nodev,mode=1777,size={layout.TMP_BYTES}"}
    if request.image is not None:
        packages = (*_packages_of_harness(), *carried.package_places())
        folders |= dict.fromkeys(packages, "rw,nosuid,nodev,noexec,mode=755,size=64k")
    return folders


def _packages_of_harness() -> list[str]:
    prefixes = layout.interpreter_prefixes()
    return [path for path in layout.package_directories() if any(Path(path).is_relative_to(one) for one in prefixes)]


def _wardens_python(request: SandboxRequest) -> tuple[str, ...]:
    """In a given image nothing can be relied on: a loader and libraries come along."""
    return (layout.interpreter(),) if request.image is None else carried.words()


def _binds(request: SandboxRequest, folder: Path) -> list[Bind]:
    binds = [
        *request.binds,
        Bind(host=WARDEN, inside=layout.WARDEN_PLACE, writable=False),
        Bind(host=folder / "warden.sock", inside=_WARDEN_SOCKET, writable=False),
        Bind(host=_nameservers(folder), inside="/etc/resolv.conf", writable=False),
    ]
    if request.model_socket is not None:
        binds.append(Bind(host=request.model_socket, inside=layout.SOCKET, writable=False))
    if request.image is not None:
        binds = [*carried.binds(), *_interpreter_binds(request), *binds]
        binds.insert(0, _cover_of_root(binds, folder / "root"))
    return binds


def _nameservers(folder: Path) -> Path:
    """A file that names none, in the place of the engine's, which names the host's."""
    place = folder / "resolv.conf"
    place.touch(mode=0o644)
    return place


def _cover_of_root(binds: list[Bind], cover: Path) -> Bind:
    """A folder in the place of root's, which is closed to the user inside, with a place for each bind below it."""
    cover.mkdir()
    for bind in binds:
        inside = PurePosixPath(bind.inside)
        if inside.is_relative_to(_ROOTS_HOME):
            place = cover / inside.relative_to(_ROOTS_HOME)
            (place if bind.host.is_dir() else place.parent).mkdir(parents=True, exist_ok=True)
            if not bind.host.is_dir():
                place.touch()
    return Bind(host=cover, inside=_ROOTS_HOME, writable=True)


def _interpreter_binds(request: SandboxRequest) -> tuple[Bind, ...]:
    """The harness's Python at its own path: prepared environments and programs of the host may refer to it.

    Where that is the system's, it would hide the image's: only prepared environments are worth that.
    """
    places = layout.interpreter_places() if request.shows_python else layout.interpreter_prefixes()
    return tuple(Bind(host=path, inside=str(path), writable=False) for path in places)


def _mount(bind: Bind) -> Any:
    from docker.types import Mount

    source = os.path.abspath(bind.host)  # noqa: PTH100 (links stay: the place inside may depend on them)
    return Mount(bind.inside, source, type="bind", read_only=not bind.writable)


def _image(api: docker.APIClient, name: str | None) -> str:
    from akbench_sandbox_docker.engine import ensure_own_image, image_id

    return ensure_own_image(api, layout.host_uid()) if name is None else image_id(api, name)


def _engine(api: docker.APIClient) -> tuple[list[Problem], dict[str, str]]:
    info = api.info()
    lacks = [
        name
        for key, name in (("MemoryLimit", "memory"), ("PidsLimit", "processes"), ("CpuCfsQuota", "processor time"))
        if not info.get(key)
    ]
    mend = "Give the engine control groups (cgroups) for these, or use another sandbox."
    problems = [Problem(message=f"the Docker engine cannot bound {name} here", mend=mend) for name in lacks]
    return problems, {"version": str(info.get("ServerVersion")), "storage": str(info.get("Driver"))}


def _image_problems(api: docker.APIClient, identity: str) -> list[Problem]:
    from akbench_sandbox_docker.engine import inspected

    volumes = (inspected(api, identity).get("Config") or {}).get("Volumes")
    if not volumes:
        return []
    message = f"the image declares volumes ({', '.join(sorted(volumes))}), which would be writable without a bound"
    return [Problem(message=message, mend="Use an image without VOLUME.")]


def _foreign(api: docker.APIClient, identity: str) -> list[Problem]:
    """Whether its programs are for another kind of processor, which the carried Python would not notice."""
    from akbench_sandbox_docker.engine import inspected

    there, here = inspected(api, identity).get("Architecture"), api.version().get("Arch")
    if not there or there == here:
        return []
    return [Problem(message=f"the image is for {there}, this machine is {here}", mend=f"Use an image for {here}.")]


def _self_report_request(folder: Path, image: str | None, python: tuple[str, ...]) -> SandboxRequest:
    workspace = folder / "workspace"
    workspace.mkdir()
    return SandboxRequest(
        argv=(*python, "-I", "-S", "-c", _SELF_REPORT),
        environ={},
        cwd="/workspace",
        binds=(Bind(host=workspace, inside="/workspace", writable=True),),
        stdin=b"",
        stdout=folder / "stdout",
        stderr=folder / "stderr",
        limits=Limits(timeout_seconds=60.0),
        cancelled=threading.Event(),
        image=image,
    )


def _cannot_run(evidence: ProcessEvidence, image: str | None) -> Problem:
    said = evidence.start_error or evidence.stderr.read_text(errors="replace").strip()
    if image is None:
        return Problem(message=f"docker does not run here: {said}", mend=_ELSEWHERE)
    mend = (
        f"The image must be able to run this machine's {layout.interpreter()} (the same C library, not older, and "
        "libssl, libffi and libsqlite3): take one of the host's own distribution."
    )
    return Problem(message=f"the image {image!r} cannot run the harness's Python: {said}", mend=mend)
