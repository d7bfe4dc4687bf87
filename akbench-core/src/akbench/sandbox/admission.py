"""Which requests of a sandboxed process may leave it: those to its model provider, with the run's token."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from email.message import Message

__all__ = ["Refusal", "refusal_of"]

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a request is not let through, as its sender is told."""

    status: HTTPStatus
    reason: str


def refusal_of(method: str, target: str, headers: Message, *, base_path: str, token: str) -> Refusal | None:
    """None if the request may pass: an origin-form target at or below `base_path` and the bearer `token`."""
    if method == "CONNECT" or not target.startswith("/"):
        return _forbidden("this endpoint is no proxy: send the path alone (origin-form)")
    if not _is_for_loopback(headers.get("Host")):
        return _forbidden("this endpoint answers for its own loopback address only")
    if not hmac.compare_digest(headers.get("Authorization", "").encode(), f"Bearer {token}".encode()):
        return Refusal(status=HTTPStatus.UNAUTHORIZED, reason="the Authorization header must carry this run's token")
    if not _is_below(target, base_path):
        return _forbidden(f"only paths below {base_path or '/'} are relayed")
    return _framing_refusal(headers)


def _forbidden(reason: str) -> Refusal:
    return Refusal(status=HTTPStatus.FORBIDDEN, reason=reason)


def _is_for_loopback(host: str | None) -> bool:
    if host is None:
        return False
    try:
        return urlsplit(f"//{host}").hostname in _LOOPBACK
    except ValueError:
        return False


def _is_below(target: str, base_path: str) -> bool:
    """Whether any reading of the target's path, decoded or not, stays at or below `base_path`."""
    raw = target.partition("?")[0].partition("#")[0]
    path = _decoded(raw)
    if not path.isascii() or not path.isprintable() or "\\" in path:
        return False
    if any(part in {".", ".."} for part in path.split("/")):
        return False
    return all(form == base_path or form.startswith(f"{base_path}/") for form in (raw, path))


def _decoded(path: str) -> str:
    """The path without percent-encoding, also where that is encoded itself."""
    while (decoded := unquote(path)) != path:
        path = decoded
    return path


def _framing_refusal(headers: Message) -> Refusal | None:
    """A body whose end two readers might see at different places is refused."""
    lengths = headers.get_all("Content-Length", [])
    coding = headers.get("Transfer-Encoding")
    if coding is not None and (lengths or coding.strip().lower() != "chunked"):
        return Refusal(status=HTTPStatus.BAD_REQUEST, reason="send either Content-Length or chunked coding")
    if len(lengths) > 1 or not all(length.isascii() and length.isdigit() for length in lengths):
        return Refusal(status=HTTPStatus.BAD_REQUEST, reason="the Content-Length is not one number")
    return None
