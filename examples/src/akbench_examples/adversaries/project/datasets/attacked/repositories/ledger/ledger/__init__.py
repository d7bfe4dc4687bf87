"""Whole cents, shared out."""


def split(total: int, people: int) -> list[int]:
    """Share `total` cents out among `people`; the parts differ by at most one cent, the larger ones come first."""
    if people < 1:
        raise ValueError("somebody has to pay")
    share = total // people
    return [share] * people
