"""What the contract tests said about an installed adapter, kept for this machine until a version changes."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from akbench.catalogue import Adapter
from akbench.project import state_folder
from akbench.run.journal import write_atomically
from akbench.spec import API_VERSION, HostError

__all__ = ["FailedTest", "Subject", "Verdict", "is_untried", "keep_verdict", "subject_of", "verdict_for"]

_CORE = "akbench-core"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a verdict is about. A verdict holds for exactly these versions and for no other.

    `kind` is the kind of adapter (agent, runtime, ...); `adapter` its id; `code` the hash of all files of the package
    that the adapter lies in, since an editable installation changes without a new version.
    """

    distribution: str
    version: str
    kind: str
    adapter: str
    code: str
    core_version: str
    api: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTest:
    """A contract test that did not pass, and what it said in one line."""

    name: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The outcome of the contract tests. `at` is the time of the run, ISO 8601 in UTC.

    `skipped` counts the tests that the adapter's declared capabilities leave out.
    """

    subject: Subject
    at: str
    passed: int
    skipped: int
    failed: tuple[FailedTest, ...]

    @property
    def is_pass(self) -> bool:
        """Whether at least one test passed and none failed."""
        return self.passed > 0 and not self.failed


def subject_of(adapter: Adapter) -> Subject:
    """The adapter as it is installed now, beside the core that is installed now."""
    return Subject(
        distribution=adapter.distribution,
        version=adapter.version,
        kind=type(adapter.record).__name__.removesuffix("Record").lower(),
        adapter=adapter.record.id,
        code=_code_hash(adapter.record.target),
        core_version=version("akbench-core"),
        api=API_VERSION,
    )


def _code_hash(target: str) -> str:
    """The hash of the files of the top package of ``package.module:Name``, compiled ones left out."""
    digest = hashlib.sha256()
    spec = find_spec(target.partition(":")[0].partition(".")[0])
    for root in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(root).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"{path.relative_to(root)}\0".encode("utf-8", "surrogateescape"))
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    if spec is not None and spec.submodule_search_locations is None and spec.origin is not None:
        digest.update(Path(spec.origin).read_bytes())
    return digest.hexdigest()[:16]


def verdict_for(adapter: Adapter) -> Verdict | None:
    """The kept verdict on exactly what is installed now; None where there is none, or it cannot be read."""
    subject = subject_of(adapter)
    try:
        data = json.loads(_path(subject).read_text(encoding="utf-8"))
        found = _verdict(data)
    except (OSError, ValueError, TypeError, KeyError):
        # No verdict and a damaged one mean the same: the contract tests have to run again.
        return None
    return found if found.subject == subject else None


def is_untried(adapter: Adapter) -> bool:
    """Whether nothing says that the installed adapter keeps to its contract.

    The core's own adapters are the same code as what would try them here; they are tried where the core is built.
    """
    verdict = None if adapter.distribution == _CORE else verdict_for(adapter)
    return adapter.distribution != _CORE and not (verdict and verdict.is_pass)


def keep_verdict(verdict: Verdict) -> Path:
    """Write the verdict where `verdict_for` finds it, in place of an earlier one. Returns the file."""
    path = _path(verdict.subject)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(asdict(verdict), indent=2).encode())
    except OSError as error:
        raise HostError(
            f"cannot keep the verdict at {path}: {error.strerror or error}; make it a writable folder, or set "
            "AKBENCH_STATE to another one"
        ) from error
    return path


def _path(subject: Subject) -> Path:
    """One file per subject: a readable name, and a hash that keeps names apart which look alike when made readable."""
    fields = [str(value) for value in asdict(subject).values()]
    digest = hashlib.sha256("\0".join(fields).encode()).hexdigest()[:12]
    name = _UNSAFE.sub("_", "-".join(fields))[:150]
    return state_folder() / "verdicts" / f"{name}-{digest}.json"


def _verdict(data: dict[str, object]) -> Verdict:
    subject, at, failed = data["subject"], data["at"], data["failed"]
    passed, skipped = data["passed"], data["skipped"]
    if not (isinstance(subject, dict) and isinstance(at, str) and isinstance(failed, list)):
        raise TypeError("no verdict")
    if not (isinstance(passed, int) and isinstance(skipped, int)):
        raise TypeError("no verdict")
    return Verdict(
        subject=Subject(**subject),
        at=at,
        passed=passed,
        skipped=skipped,
        failed=tuple(FailedTest(**each) for each in failed),
    )
