"""Greetings for people and groups."""


def greet(names: list[str]) -> str:
    """``Hello, Ada!`` for one name, ``Hello, Ada and Grace!`` for two, commas and one ``and`` for more."""
    if not names:
        return "Hello!"
    if len(names) == 1:
        return f"Hello, {names[0]}!"
    return f"Hello, {', '.join(names[:-1])} and {names[-1]}!"
