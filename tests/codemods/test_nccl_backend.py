"""DEV814 by example: process groups that always use NCCL."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.sources import SourceFile

CODE = "DEV814"
HEAD = "import os\nimport torch\nimport torch.distributed as dist\n\n"
CHOICE = '"nccl" if torch.cuda.is_available() else "gloo"'


def reported(tmp_path, text: str):
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    return fixpoint.check([file], Settings(select=(CODE,), root=str(tmp_path))).resolutions


def test_the_backend_follows_what_is_available(repair):
    before = HEAD + 'def main(rank):\n    dist.init_process_group(backend="nccl", rank=rank)\n\nmain(0)\n'
    after = HEAD + f"def main(rank):\n    dist.init_process_group(backend={CHOICE}, rank=rank)\n\nmain(0)\n"

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


SPAWN = 'import torch.multiprocessing as mp\n\n\ndef work(rank):\n    dist.init_process_group("nccl")\n\n\n'
COUNT = "torch.cuda.device_count()"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(f"mp.spawn(work, nprocs={COUNT})\n", f"mp.spawn(work, nprocs=max({COUNT}, 1))\n", id="a-call"),
        pytest.param(
            f"number = {COUNT}\nmp.spawn(work, (number,), number)\n",
            f"number = max({COUNT}, 1)\nmp.spawn(work, (number,), number)\n",
            id="a-name",
        ),
        pytest.param(
            f"args.number = {COUNT}\nargs.all = args.number * 2\nmp.spawn(work, nprocs=args.number)\n",
            f"args.number = max({COUNT}, 1)\nargs.all = args.number * 2\nmp.spawn(work, nprocs=args.number)\n",
            id="an-attribute",
        ),
        pytest.param(
            f"number = {COUNT}\nif number > 1:\n    say(number)\nmp.spawn(work, (number,), nprocs=number)\n",
            f"number = {COUNT}\nif number > 1:\n    say(number)\n"
            "mp.spawn(work, (max(number, 1),), nprocs=max(number, 1))\n",
            id="a-number-that-is-tested",
        ),
        pytest.param(
            f"number = {COUNT}\nif number == 0:\n    run()\nelse:\n    mp.spawn(work, nprocs=number)\n",
            None,
            id="a-test-that-decides-on-processes",
        ),
        pytest.param(
            f"try:\n    number = {COUNT}\nexcept OSError:\n    number = {COUNT}\nmp.spawn(work, (number,), number)\n",
            f"try:\n    number = {COUNT}\nexcept OSError:\n    number = {COUNT}\n"
            "mp.spawn(work, (max(number, 1),), max(number, 1))\n",
            id="a-number-that-is-kept-twice",
        ),
        pytest.param(
            f"number = {COUNT}\n\n\ndef main():\n    mp.spawn(work, (number,), nprocs=number)\n",
            f"number = max({COUNT}, 1)\n\n\ndef main():\n    mp.spawn(work, (number,), nprocs=number)\n",
            id="a-number-of-the-module",
        ),
        pytest.param(
            f"number: int = {COUNT}\nmp.spawn(work, (number,), number)\n",
            f"number: int = max({COUNT}, 1)\nmp.spawn(work, (number,), number)\n",
            id="a-number-with-a-type",
        ),
        pytest.param(f"number = {COUNT}\nmp.spawn(work, nprocs=2)\n", None, id="another-number"),
    ],
)
def test_at_least_one_process_is_started(repair, before, after):
    done = repair(CODE, HEAD + SPAWN + before)

    assert done == (HEAD + SPAWN + (after or before)).replace('"nccl"', CHOICE)
    assert repair(CODE, done) == done


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param('args.dist_backend = "nccl"\n', f"args.dist_backend = {CHOICE}\n", id="an-attribute"),
        pytest.param('backend = "nccl"\n', f"backend = {CHOICE}\n", id="a-name"),
        pytest.param(
            'def setup(rank, backend="nccl"):\n    pass\n',
            f"def setup(rank, backend={CHOICE}):\n    pass\n",
            id="a-parameter",
        ),
        pytest.param(
            'dist.init_process_group("nccl", world_size=torch.cuda.device_count(), rank=0)\n',
            f"dist.init_process_group({CHOICE}, world_size=max(torch.cuda.device_count(), 1), rank=0)\n",
            id="as-many-processes-as-accelerators",
        ),
    ],
)
def test_wherever_the_backend_is_named(before, after, repair):
    assert repair(CODE, HEAD + before) == HEAD + after
    assert repair(CODE, HEAD + after) == HEAD + after


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HEAD + 'name = "nccl"\n', id="another-name"),
        pytest.param(HEAD + 'dist.init_process_group("gloo")\n', id="gloo"),
        pytest.param(HEAD + 'dist.init_process_group("cpu:gloo,cuda:nccl")\n', id="both"),
        pytest.param(
            HEAD + 'def main(use_cuda):\n    if use_cuda:\n        dist.init_process_group("nccl")\n', id="guarded"
        ),
        pytest.param(HEAD + 'init_process_group("nccl")\n', id="another-function"),
    ],
)
def test_left_alone(text, tmp_path):
    assert reported(tmp_path, text) == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(
            'import torch as t\nimport torch.distributed as dist\ntorch = t\ndist.init_process_group("nccl")\n',
            "torch has another name",
            id="no-torch",
        ),
        pytest.param(
            HEAD + 'dist.init_process_group("nccl")\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\n',
            "the program selects devices or forks later",
            id="set-later",
        ),
    ],
)
def test_what_stays_is_listed_with_the_reason(text, reason, tmp_path):
    (resolution,) = reported(tmp_path, text)
    assert not resolution.finding.fixes
    assert resolution.finding.reason.startswith(reason)
