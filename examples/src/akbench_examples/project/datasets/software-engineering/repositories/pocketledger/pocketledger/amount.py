"""Money: exact quantities of one currency, and sums over several."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from pocketledger.errors import LedgerError

_AMOUNT = re.compile(r"(?P<quantity>[+-]?\d+(?:\.\d+)?) (?P<currency>[A-Z]{3})")


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity of one currency; decimals are kept as they were written."""

    quantity: Decimal
    currency: str

    @classmethod
    def parse(cls, text: str) -> Amount:
        """Read ``12.40 EUR``; raises LedgerError for anything else."""
        match = _AMOUNT.fullmatch(text)
        if match is None:
            raise LedgerError(f"not an amount: {text!r}")
        return cls(Decimal(match["quantity"]), match["currency"])

    def __neg__(self) -> Amount:
        return Amount(-self.quantity, self.currency)

    def __str__(self) -> str:
        return f"{self.quantity} {self.currency}"


class Balance:
    """An immutable sum of amounts, one quantity per currency; currencies that cancel out are not part of it."""

    __slots__ = ("_quantities",)

    def __init__(self, amounts: Iterable[Amount] = ()) -> None:
        quantities: dict[str, Decimal] = {}
        for amount in amounts:
            quantities[amount.currency] = quantities.get(amount.currency, Decimal(0)) + amount.quantity
        self._quantities = {currency: quantity for currency, quantity in quantities.items() if quantity}

    def __iter__(self) -> Iterator[Amount]:
        """The amounts, by currency in alphabetical order."""
        return (Amount(quantity, currency) for currency, quantity in sorted(self._quantities.items()))

    def __add__(self, other: Balance | Amount) -> Balance:
        return Balance([*self, *([other] if isinstance(other, Amount) else other)])

    def __neg__(self) -> Balance:
        return Balance(-amount for amount in self)

    def __bool__(self) -> bool:
        return bool(self._quantities)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Balance):
            return NotImplemented
        return self._quantities == other._quantities

    def __hash__(self) -> int:
        return hash(frozenset(self._quantities.items()))

    def __repr__(self) -> str:
        return f"Balance({list(self)!r})"

    def __str__(self) -> str:
        return ", ".join(map(str, self)) or "0"
