"""Environment variables of scripts that ``torchrun`` starts.

https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
"""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devfix.verify.records import Run

__all__ = ["expects_torchrun", "torchrun_environment"]

_FIXED = {
    "RANK": "0",
    "LOCAL_RANK": "0",
    "GROUP_RANK": "0",
    "ROLE_RANK": "0",
    "ROLE_NAME": "default",
    "WORLD_SIZE": "1",
    "LOCAL_WORLD_SIZE": "1",
    "GROUP_WORLD_SIZE": "1",
    "ROLE_WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1",
    "TORCHELASTIC_RUN_ID": "none",
    "TORCHELASTIC_RESTART_COUNT": "0",
    "TORCHELASTIC_MAX_RESTARTS": "0",
}

_NAMES = re.compile(r"\b(RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|MASTER_ADDR|MASTER_PORT)\b")

#: Exceptions of ``os.environ["RANK"]``, ``init_process_group()`` and ``int(os.environ.get("RANK"))`` without torchrun.
_ERRORS_IF_UNSET = ("KeyError", "ValueError", "TypeError")


def torchrun_environment(local_rank: int = 0) -> dict[str, str]:
    """Return the variables of the single process of ``torchrun --nproc_per_node=1``, with a free port.

    With another ``local_rank``, the process selects the accelerator of that rank.
    """
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return {**_FIXED, "LOCAL_RANK": str(local_rank), "MASTER_PORT": str(listener.getsockname()[1])}


def expects_torchrun(run: Run) -> bool:
    """Whether a run failed because torchrun's variables were not set."""
    failure = run.failure
    if failure is None or failure.type not in _ERRORS_IF_UNSET:
        return False
    return any(_NAMES.search(text) for text in (failure.text, failure.code or ""))
