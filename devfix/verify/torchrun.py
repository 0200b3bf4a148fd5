"""Scripts that ``torchrun`` starts read its variables.

https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
"""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devfix.verify.records import Run

__all__ = ["expects_torchrun", "variables"]

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

#: ``os.environ["RANK"]``, ``init_process_group()``, and ``int(os.environ.get("RANK"))`` where the variable is not set.
_ABSENT = ("KeyError", "ValueError", "TypeError")


def variables(local_rank: int = 0) -> dict[str, str]:
    """The variables of the one process of ``torchrun --nproc_per_node=1``, with a port that is free now.

    With another ``local_rank`` it takes itself for a later process of its machine, which has an accelerator of its own.
    """
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return {**_FIXED, "LOCAL_RANK": str(local_rank), "MASTER_PORT": str(listener.getsockname()[1])}


def expects_torchrun(run: Run) -> bool:
    """Whether a run failed because it was not started by torchrun."""
    failure = run.failure
    if failure is None or failure.type not in _ABSENT:
        return False
    return any(_NAMES.search(text) for text in (failure.text, failure.code or ""))
