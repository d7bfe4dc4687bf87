"""Addresses that repositories and archives are fetched from."""

from __future__ import annotations

from urllib.parse import urlsplit

__all__ = ["SCHEMES", "url_flaw"]

SCHEMES = ("https", "ssh", "file")
"""What a repository can be fetched by: encrypted, or from this machine."""


def url_flaw(url: str) -> str | None:
    """Why `url` is no address that a repository is fetched from; None if it is one."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        return f"is no URL: {error}"
    if parts.scheme not in SCHEMES:
        return "is no https://, ssh:// or file:// URL"
    if any(char.isspace() or not char.isprintable() for char in url) or parts.query or parts.fragment:
        return "holds white space, a query or a fragment"
    if parts.password is not None or (parts.username is not None and parts.scheme != "ssh"):
        return "holds a user or password; give git access by ssh or a public address"
    if (parts.scheme == "file") == bool(host) or host.startswith("-") or (parts.username or "").startswith("-"):
        return "has no host that it could be fetched from (file:// takes an absolute path)"
    return None if parts.path.strip("/") else "has no path"
