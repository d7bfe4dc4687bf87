"""What all contract tests share: how they find their adapter, skip, and hand their outcome to the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, NoReturn, cast

import pytest

from akbench.catalogue import Adapter, Catalogue
from akbench.descriptors.document import parse, read
from akbench.descriptors.header import Descriptor
from akbench.descriptors.kinds import KINDS
from akbench.descriptors.snapshot import Snapshot, kind_of, load_document
from akbench.discovery import Extension, discover
from akbench.spec import HostError, InputError, JsonValue, Probe, Support
from akbench.spec.hooks import Record
from akbench.testing.contract.recording import CANNOT_RUN, Recorder
from akbench.testing.contract.world import World, made_world

__all__ = ["Contract", "catalogue", "contract_tests", "raised_by"]


class Contract:
    """What all contract classes share.

    - `descriptor`: the adapter's descriptor: ``package:path/in/package.yaml``, or the path of a file.
    - `adapter`: the adapter's class; None for the one that is registered under the id that the descriptor names.
    - `trial`: takes the place of the descriptor's own ``trial`` section.
    """

    descriptor: ClassVar[str | Path | None] = None
    adapter: ClassVar[type[Any] | None] = None
    trial: ClassVar[Mapping[str, Any] | None] = None

    record_kind: ClassVar[type[Record]]
    contract_kind: ClassVar[type[Any]]
    _stack: ClassVar[ExitStack]
    _stage: ClassVar[Any]
    _snapshot: ClassVar[Snapshot[Any]]

    @classmethod
    def setup_class(cls) -> None:
        """Begin with nothing."""
        cls._stack, cls._stage = ExitStack(), None

    @classmethod
    def teardown_class(cls) -> None:
        """Give back what the tests of the class shared."""
        cls._stack.close()

    @pytest.fixture(autouse=True)
    def _recorded(self, request: pytest.FixtureRequest) -> None:
        """Have the outcome of the class kept as the adapter's verdict, where it is an installed one."""
        cls = type(self)
        node = request.node.getparent(pytest.Class)
        registered = cls.registered()
        if node is not None and registered is not None and not _altered(cls):
            Recorder.of(request.config).expect(node.nodeid, registered, contract_tests(cls))

    @classmethod
    def read_descriptor(cls) -> Snapshot[Any]:
        """Read the descriptor anew."""
        if cls.descriptor is None:
            raise pytest.UsageError(f"{cls.__name__}: say in `descriptor` where the adapter's descriptor lies")
        return _read(cls.descriptor)

    @classmethod
    def snapshot(cls) -> Snapshot[Any]:
        """The descriptor."""
        if "_snapshot" not in cls.__dict__:
            cls._snapshot = cls.read_descriptor()
        return cls._snapshot

    @classmethod
    def adapter_id(cls) -> str:
        """The id under which the adapter is registered."""
        model = cls.snapshot().model
        return str(getattr(model, cls.snapshot().kind).adapter)

    @classmethod
    def registered(cls) -> Adapter | None:
        """The installed adapter that is under test; None for one that is not installed."""
        adapter = catalogue().registered(cls.record_kind, cls.adapter_id())
        if adapter is None or cls.adapter is None:
            return adapter
        return adapter if type(adapter.load(cls.contract_kind)) is cls.adapter else None

    @classmethod
    def built(cls) -> Any:
        """An adapter of the class under test, as the core builds it."""
        if cls.adapter is not None:
            return cls.adapter()
        registered = cls.registered()
        if registered is None:
            raise pytest.UsageError(f"{cls.__name__}: no adapter {cls.adapter_id()!r} is installed; set `adapter`")
        return registered.load(cls.contract_kind)

    @classmethod
    def shared(cls, value: Any) -> Any:
        """Enter a context manager that lives as long as the class."""
        return cls._stack.enter_context(value)

    @classmethod
    def world(cls) -> World:
        """The world of the class."""
        return cast("World", cls.shared(made_world()))

    @classmethod
    def extension(cls) -> Extension | None:
        """The extension that registers the adapter; None if it is not installed."""
        if cls.registered() is None:
            return None
        wanted = (cls.record_kind, cls.adapter_id())
        found = (
            each
            for each in discover().extensions
            if any((type(record), getattr(record, "id", None)) == wanted for record in each.records)
        )
        return next(found, None)


_SETTINGS = ("config", "trial", "sandbox", "limits", "provider")


def _altered(cls: type[Contract]) -> bool:
    """Whether the class tries the adapter otherwise than its descriptor says, as with a stand-in: then no verdict."""
    own = [each for each in cls.__mro__ if not each.__module__.startswith("akbench.testing")]
    return any(name in vars(each) for each in own for name in _SETTINGS)


@cache
def catalogue() -> Catalogue:
    """What is installed."""
    return Catalogue.load()


def _read(where: str | Path) -> Snapshot[Descriptor]:
    if isinstance(where, str) and ":" in where:
        package, _, path = where.partition(":")
        document = parse(files(package).joinpath(path).read_text(encoding="utf-8"), where)
    else:
        document = read(Path(where))
    return load_document(document, KINDS[kind_of(document)], origin=str(where))


def contract_tests(cls: type[Contract]) -> frozenset[str]:
    """The names of all tests of a contract class."""
    return frozenset(name for name in dir(cls) if name.startswith("test_"))


def raised_by(call: Any) -> BaseException | None:
    """What the adapter's code raises; None if it raises nothing."""
    try:
        call()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - what an adapter raises is the question
        return error
    return None


def refused(error: BaseException | None) -> bool:
    """Whether it is a refusal made for the person who wrote the configuration."""
    return isinstance(error, InputError) and bool(str(error).strip())


def worded(error: BaseException | None) -> bool:
    """Whether it is no error, or one with a message for a person: a refusal, or something that this host lacks."""
    return error is None or refused(error) or (isinstance(error, HostError) and bool(str(error).strip()))


def skip_for(capability: str, support: Support) -> None:
    """Skip a test of what the adapter does not claim to have; what is unknown is tried."""
    if support is Support.NO:
        pytest.skip(f"the descriptor declares {capability}: no")


def skip_untold(what: str) -> NoReturn:
    """Skip a test that can say nothing because another one has failed."""
    pytest.skip(f"cannot be told: {what}")


def skip_without(what: str) -> NoReturn:
    """Skip a test for which the descriptor's trial gives nothing."""
    pytest.skip(f"the trial gives no {what}")


def skip_absent(probe: Probe) -> None:
    """Skip all that needs the real thing where that is not installed; no verdict is kept then."""
    if probe.problems:
        text = "; ".join(f"{problem.message} ({problem.mend})" for problem in probe.problems)
        pytest.skip(f"{CANNOT_RUN}: {text}")


WRONG_TYPES: Mapping[str, JsonValue] = {
    "string": 17,
    "integer": "seventeen",
    "float": "much",
    "boolean": "perhaps",
    "list": "word",
    "mapping": ["a"],
}
"""For each type of a configuration key, a value that is none of it."""


def wrong_values(schema: Mapping[str, Any], config: Mapping[str, JsonValue]) -> Iterator[dict[str, JsonValue]]:
    """The working configuration with one key of another type, or with a required key left out."""
    for key, declared in schema.items():
        yield {**config, key: WRONG_TYPES[declared.type]}
        if declared.required:
            yield {name: value for name, value in config.items() if name != key}


def allowed_values(schema: Mapping[str, Any], config: Mapping[str, JsonValue]) -> Iterator[dict[str, JsonValue]]:
    """The working configuration, and it with each value that the schema names."""
    yield dict(config)
    for key, declared in schema.items():
        for value in (*(declared.allowed or ()), *([declared.default] if declared.default is not None else [])):
            yield {**config, key: value}
