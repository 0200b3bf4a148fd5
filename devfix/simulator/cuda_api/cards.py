"""The cards that the simulated devices answer for: a script that reads the name must behave as on a real one.

https://docs.nvidia.com/cuda/cuda-c-programming-guide/#compute-capabilities (an A100 with 40 GB, as CUDA reports it),
https://docs.pytorch.org/docs/stable/generated/torch.xpu.get_device_properties.html (a Data Center GPU Max 1550).
``torch.mps`` has neither names nor properties, only ``recommended_max_memory``.
"""

from __future__ import annotations

from typing import Any

from ..state import state

__all__ = ["Properties", "total_memory"]

_A100 = {
    "name": "NVIDIA A100-SXM4-40GB",
    "major": 8,
    "minor": 0,
    "total_memory": 42_298_834_944,
    "multi_processor_count": 108,
    "is_integrated": 0,
    "is_multi_gpu_board": 0,
    "max_threads_per_multi_processor": 2048,
    "max_threads_per_block": 1024,
    "regs_per_multiprocessor": 65536,
    "shared_memory_per_block": 49152,
    "shared_memory_per_block_optin": 166912,
    "shared_memory_per_multiprocessor": 167936,
    "warp_size": 32,
    "gcnArchName": "NVIDIA A100-SXM4-40GB",
    "clock_rate": 1410000,
    "memory_clock_rate": 1215000,
    "memory_bus_width": 5120,
    "L2_cache_size": 41_943_040,
    "pci_bus_id": 7,
    "pci_device_id": 0,
    "pci_domain_id": 0,
}

_MAX_1550 = {
    "name": "Intel(R) Data Center GPU Max 1550",
    "platform_name": "Intel(R) oneAPI Unified Runtime over Level-Zero",
    "vendor": "Intel(R) Corporation",
    "driver_version": "1.6.33578",
    "version": "12.60.7",
    "type": "gpu",
    "total_memory": 68_719_476_736,
    "max_compute_units": 512,
    "gpu_eu_count": 512,
    "gpu_subslice_count": 64,
    "max_work_group_size": 1024,
    "max_num_sub_groups": 64,
    "sub_group_sizes": [16, 32],
    "has_fp16": True,
    "has_fp64": True,
    "has_atomic64": True,
}

_CARDS: dict[str, dict[str, Any]] = {
    "cuda": _A100,
    "xpu": _MAX_1550,
    "npu": {"name": "Ascend910B1", "total_memory": 64 << 30},
    "mps": {"name": "Apple M2", "total_memory": 16 << 30},
}


def total_memory() -> int:
    """Return the bytes of memory of one device."""
    return int(_CARDS[state.kind]["total_memory"])


class Properties:
    """Result of ``torch.cuda.get_device_properties`` and ``torch.xpu.get_device_properties``."""

    def __init__(self, index: int) -> None:
        vars(self).update(_CARDS[state.kind])
        self.uuid = f"6f1cb5d4-2a7e-8c39-51b0-d3e94c7a82{index:02x}"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'torch._C._{state.kind.capitalize()}DeviceProperties' object has no attribute '{name}'")

    def __repr__(self) -> str:
        if state.kind != "cuda":
            total = f"{self.total_memory >> 20}MB"
            return f"_{state.kind.capitalize()}DeviceProperties(name='{self.name}', total_memory={total})"
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory >> 20}MB, multi_processor_count={self.multi_processor_count}, "
            f"uuid={self.uuid}, pci_bus_id={self.pci_bus_id}, pci_device_id={self.pci_device_id}, "
            f"pci_domain_id={self.pci_domain_id}, L2_cache_size={self.L2_cache_size >> 20}MB)"
        )
