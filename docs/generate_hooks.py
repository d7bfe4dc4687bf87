"""Writes docs/HOOKS.md from the hookspecs themselves. With --check: fails if the file is not up to date."""

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

from akbench.spec import hooks

TARGET = Path(__file__).with_name("HOOKS.md")
HEAD = f"""\
# Hooks

Generated from `akbench.spec.hooks` by `docs/generate_hooks.py`. API version {hooks.API_VERSION}.

An extension is an installed distribution with one entry point in the group `akbench`:

```toml
[project.entry-points.akbench]
akbench-agent-foo = "akbench_agent_foo.hooks"
```

Its value is a module that imports `akbench.spec` and nothing else of AK-Bench, and nothing of other distributions:
it is imported at every start. Functions in it that are marked with `@hookimpl` and named as below register what the
extension brings. A function may leave out arguments that it does not need, and must not have others.

`akbench new agent NAME` (`runtime`, `plugin`, `evaluator`) writes a whole extension. `akbench extension check NAME`
says whether an installed one keeps to this page. An extension that cannot be loaded is named with its version and the
cause and stops no other; `AKBENCH_DISABLE=NAME,...` leaves extensions out, `AKBENCH_STRICT=1` raises what they raise.
"""


def specifications() -> list[tuple[str, Callable[..., Any]]]:
    """The hooks in the order of the source."""
    marked = [(name, each) for name, each in vars(hooks).items() if hasattr(each, f"{hooks.PROJECT}_spec")]
    return sorted(marked, key=lambda pair: pair[1].__code__.co_firstlineno)


def heading(name: str, hook: Callable[..., Any]) -> str:
    """The name with its exact argument list."""
    return f"## `{name}({', '.join(inspect.signature(hook).parameters)})`"


def returned(hook: Callable[..., Any]) -> type[Any] | None:
    """The record of which it returns an iterable, or None for a hook that returns nothing."""
    inner = get_args(get_type_hints(hook).get("return"))
    return inner[0] if inner else None


def sections() -> Iterator[str]:
    """One section for each hook, then what the records hold."""
    for name, hook in specifications():
        record = returned(hook)
        returns = f"\nReturns an iterable of `{record.__name__}`.\n" if record else ""
        yield f"{heading(name, hook)}\n\n{inspect.getdoc(hook)}\n{returns}"
    yield "# Records\n\nFrozen dataclasses of `akbench.spec`, built by keyword.\n"
    for record in dict.fromkeys([hooks.Record, *filter(None, (returned(hook) for _, hook in specifications()))]):
        yield f"## {record.__name__}\n\n{fields(record)}\n\n{inspect.getdoc(record)}\n"


def fields(record: type[Any]) -> str:
    """What it is built from; most add nothing to `Record`."""
    if record is not hooks.Record and issubclass(record, hooks.Record):
        return "The fields of `Record`."
    return f"`{record.__name__}{inspect.signature(record)}`".replace("'", "").replace(" -> None", "")


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *sections()])


if __name__ == "__main__":
    text = page()
    if "--check" in sys.argv:
        sys.exit(0 if TARGET.read_text() == text else "docs/HOOKS.md is not up to date: python docs/generate_hooks.py")
    TARGET.write_text(text)
