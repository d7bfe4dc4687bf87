"""Titles as parts of URLs."""


def slug(title: str) -> str:
    """The title in small letters, with hyphens between its words."""
    return "-".join(title.lower().split())
