"""Rates with their Wilson intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Rate"]

_Z = 1.959963984540054  # two-sided 95 %


@dataclass(frozen=True)
class Rate:
    """``hits`` of ``total``."""

    hits: int
    total: int

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % Wilson (1927) interval within [0, 1]; (0, 1) if the total is 0."""
        if not self.total:
            return 0.0, 1.0
        n, part = self.total, self.hits / self.total
        middle = part + _Z * _Z / (2 * n)
        spread = _Z * math.sqrt(part * (1 - part) / n + _Z * _Z / (4 * n * n))
        scale = 1 + _Z * _Z / n
        return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)

    def __str__(self) -> str:
        if not self.total:
            return "–"
        low, high = self.interval
        return f"{self.hits}/{self.total} = {100 * self.hits / self.total:.1f} % ({100 * low:.0f}–{100 * high:.0f})"
