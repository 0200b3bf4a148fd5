"""Find the misplaced modules and tensors of a device map, with the reason.

Only known conflicts count.  Not misplaced are: values that PyTorch accepts on the CPU (zero-dimensional tensors, step
counters), intended placements (an averaged copy, a second device of a pipeline), and values that were copied to the
expected device.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["MisplacementCheck", "main_device"]

_Data = Mapping[str, Any]


def main_device(devices: Mapping[str, Any]) -> str | None:
    """Return the device of most tensors; on a tie, the accelerator; None if there are no tensors."""
    return max(devices, key=lambda device: (devices[device][0], device != "cpu", device), default=None)


def _type(device: str) -> str:
    return device.partition(":")[0]


def _main_devices(devices: Mapping[str, Any]) -> list[str]:
    """Return the main device and the other devices of its type, which may be stages of a pipeline."""
    main = main_device(devices) or ""
    return [device for device in devices if _type(device) == _type(main)]


class MisplacementCheck:
    """The reasons for which values of one map are misplaced; each method returns None if they are not.

    Args:
        data: the map in the probe's JSON.

    """

    def __init__(self, data: _Data) -> None:
        self._moment = data["moment"]
        modules = [each for each in data["modules"] if not each["criterion"] and each["places"]]
        trained = [each for each in modules if each["trained"]]
        self._main_devices = {device for each in trained or modules for device in _main_devices(each["places"])}
        self._main_module = next((each for each in trained or modules if main_device(each["places"]) != "cpu"), None)

    def module(self, tree: _Data) -> str | None:
        """Check a module that is not part of another one."""
        device, holder = main_device(tree["places"]), tree["keeper"]
        if device is None:
            return None
        if holder is not None:
            expected = main_device(holder["places"])
            if expected is not None and _type(device) != _type(expected) and device == "cpu":
                kind = f"in a {holder['container']}" if holder["container"] else "a plain attribute"
                return f"{kind}, so not moved with {holder['name']}, which is on {expected}"
            return None
        if device == "cpu" and self._main_module is not None and (tree["trained"] or tree["criterion"]):
            return f"{self._main_module['name']} is on {main_device(self._main_module['places'])}"
        return None

    def part(self, part: _Data, root: _Data) -> str | None:
        """Check a submodule whose tensors are all on one device."""
        expected = main_device(root["places"])
        if len(part["places"]) != 1 or expected is None:
            return None
        (device,) = part["places"]
        return f"most of {root['name']} is on {expected}" if _type(device) != _type(expected) else None

    def tensor(self, tensor: _Data, node: _Data, root: _Data) -> str | None:
        """Check a parameter or buffer of a module."""
        if tensor["kind"] == "buffer" and not tensor["shape"]:
            return None
        expected = main_device(root["places"])
        if expected is not None and _type(tensor["place"]) != _type(expected):
            return f"most of {root['name']} is on {expected}"
        siblings: dict[str, list[int]] = {}
        for each in node["tensors"]:
            siblings.setdefault(each["place"], [0])[0] += 1
        device = main_device(siblings)
        return f"its siblings are on {device}" if device is not None and device != tensor["place"] else None

    def attribute(self, attribute: _Data) -> str | None:
        """Check a tensor that a module stores without registering it."""
        expected = main_device(attribute["places"])
        if not attribute["shape"] or expected is None or attribute["sent"] == expected:
            return None
        if attribute["place"] != "cpu" or _type(expected) == "cpu":
            return None
        return f"not a registered buffer, so not moved with its module, which is on {expected}"

    def field(self, tensor: _Data) -> str | None:
        """Check a field of a batch, or an operand of the failed call.

        One-dimensional integers are misplaced only as operands of the failed call, because lengths belong on the CPU.
        """
        device = tensor["place"]
        if (
            self._moment == "end"
            or not self._main_devices
            or device in self._main_devices
            or tensor["sent"] in self._main_devices
        ):
            return None
        if not tensor["operand"] and (not tensor["shape"] or (len(tensor["shape"]) == 1 and _integer(tensor))):
            return None
        return f"the model is on {', '.join(sorted(self._main_devices))}"


def _integer(tensor: _Data) -> bool:
    return str(tensor["dtype"]).startswith(("int", "uint"))
