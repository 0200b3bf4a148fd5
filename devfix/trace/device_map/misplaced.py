"""What is out of place on a map, and why.

A known conflict or nothing: what PyTorch lets lie on the CPU (numbers without dimensions, step counters), what may have
been put there on purpose (an averaged copy, a second device of a pipeline) and what a copy was made of in time is in
its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Judge", "home"]

_Told = Mapping[str, Any]


def home(places: Mapping[str, Any]) -> str | None:
    """Where most of the tensors live; of two places with as many, the accelerator.  None where there is no tensor."""
    return max(places, key=lambda place: (places[place][0], place != "cpu", place), default=None)


def _type(place: str) -> str:
    return place.partition(":")[0]


def _homes(places: Mapping[str, Any]) -> list[str]:
    """Where most of the tensors live, and the other devices of that type: parts of a pipeline."""
    main = home(places) or ""
    return [place for place in places if _type(place) == _type(main)]


class Judge:
    """Knows where the modules of a map live."""

    def __init__(self, told: _Told) -> None:
        self._moment = told["moment"]
        modules = [each for each in told["modules"] if not each["criterion"] and each["places"]]
        trained = [each for each in modules if each["trained"]]
        self._homes = {place for each in trained or modules for place in _homes(each["places"])}
        self._main = next((each for each in trained or modules if home(each["places"]) != "cpu"), None)

    def module(self, tree: _Told) -> str | None:
        """A module that is part of no other one."""
        own, keeper = home(tree["places"]), tree["keeper"]
        if own is None:
            return None
        if keeper is not None:
            target = home(keeper["places"])
            if target is not None and _type(own) != _type(target) and own == "cpu":
                kind = f"in a {keeper['container']}" if keeper["container"] else "a plain attribute"
                return f"{kind}, so not moved with {keeper['name']}, which is on {target}"
            return None
        if own == "cpu" and self._main is not None and (tree["trained"] or tree["criterion"]):
            return f"{self._main['name']} is on {home(self._main['places'])}"
        return None

    def part(self, part: _Told, root: _Told) -> str | None:
        """A part of an unfolded module that is in one place."""
        target = home(root["places"])
        if len(part["places"]) != 1 or target is None:
            return None
        (own,) = part["places"]
        return f"most of {root['name']} is on {target}" if _type(own) != _type(target) else None

    def tensor(self, tensor: _Told, node: _Told, root: _Told) -> str | None:
        """A parameter or buffer that an unfolded module keeps itself."""
        if tensor["kind"] == "buffer" and not tensor["shape"]:
            return None
        target = home(root["places"])
        if target is not None and _type(tensor["place"]) != _type(target):
            return f"most of {root['name']} is on {target}"
        siblings: dict[str, list[int]] = {}
        for each in node["tensors"]:
            siblings.setdefault(each["place"], [0])[0] += 1
        own = home(siblings)
        return f"its siblings are on {own}" if own is not None and own != tensor["place"] else None

    def attribute(self, attribute: _Told) -> str | None:
        """A tensor that a module keeps without registering it."""
        target = home(attribute["places"])
        if not attribute["shape"] or target is None or attribute["sent"] == target:
            return None
        if attribute["place"] != "cpu" or _type(target) == "cpu":
            return None
        return f"no buffer, so not moved with its module, which is on {target}"

    def field(self, tensor: _Told) -> str | None:
        """A field of a batch, or a value that the call that failed worked on.

        One-dimensional integers are marked only where they made a call fail: lengths belong on the CPU.
        """
        place = tensor["place"]
        if self._moment == "end" or not self._homes or place in self._homes or tensor["sent"] in self._homes:
            return None
        if not tensor["operand"] and (not tensor["shape"] or (len(tensor["shape"]) == 1 and _integer(tensor))):
            return None
        return f"the model is on {', '.join(sorted(self._homes))}"


def _integer(tensor: _Told) -> bool:
    return str(tensor["dtype"]).startswith(("int", "uint"))
