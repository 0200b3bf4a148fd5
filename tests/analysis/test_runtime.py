"""PyTorch's settings belong to a path: what one branch sets does not reach the other."""

from __future__ import annotations

import pytest

X = "x = torch.ones(3).cuda()\n"


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("if f():\n    torch.set_default_device('cuda')\nelse:\n    x + torch.ones(3)", id="other-branch"),
        pytest.param(
            "match f():\n    case 1:\n        torch.set_default_device('cuda')\n    case 2:\n        x + torch.ones(3)",
            id="other-case",
        ),
        pytest.param(
            "try:\n    torch.set_default_device('cuda')\nexcept OSError:\n    y = x + torch.ones(3)", id="handler"
        ),
        pytest.param(
            "def f():\n    with torch.device('cuda'):\n        return torch.ones(3)\nf()\nx + torch.ones(3)",
            id="return",
        ),
        pytest.param("for i in f():\n    with torch.device('cuda'):\n        break\nx + torch.ones(3)", id="break"),
        pytest.param(
            "for i in f():\n    x + torch.ones(3)\n    with torch.device('cuda'):\n        continue", id="continue"
        ),
        pytest.param(
            "try:\n    with torch.device('cuda'):\n        raise OSError\nexcept OSError:\n    y = x + torch.ones(3)",
            id="raise",
        ),
    ],
)
def test_a_default_device_ends_with_its_path_or_block(met, program):
    assert [line.split(" = ")[-1] for line in met(X + program)] == ["x + torch.ones(3)"]


def test_of_two_default_devices_none_is_known(place):
    assert place("if f():\n    torch.set_default_device('cuda')\nx = torch.ones(3)", "x") == "unknown"


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("if f():\n    pass\ntorch.set_default_device('cuda')", id="behind-a-branch"),
        pytest.param(
            "if f():\n    torch.set_default_device('cuda')\nelse:\n    torch.set_default_device('cuda')", id="both"
        ),
        pytest.param("def set_up():\n    torch.set_default_device('cuda')\nset_up()", id="in-a-function"),
        pytest.param("with open('f'):\n    torch.set_default_device('cuda')", id="in-the-block-of-another-context"),
        pytest.param("for i in f():\n    torch.set_default_device('cuda')", id="in-a-loop"),
    ],
)
def test_a_default_device_lasts(place, program):
    assert place(f"{program}\nx = torch.ones(3)\ntorch.set_default_device('cpu')", "x") == "accelerator"


READ = "net = nn.Linear(3, 3).cuda()\nx = torch.ones(3).cuda()\n"


@pytest.mark.parametrize(
    ("program", "grad"),
    [
        pytest.param("with torch.no_grad():\n    net(x).numpy()", False, id="within"),
        pytest.param("with torch.no_grad():\n    pass\nnet(x).numpy()", True, id="after"),
        pytest.param("def f():\n    with torch.no_grad():\n        return 1\nf()\nnet(x).numpy()", True, id="return"),
        pytest.param("@torch.no_grad()\ndef f():\n    return net(x)\nf().numpy()", False, id="decorated"),
        pytest.param("@torch.no_grad()\ndef f():\n    return 1\nf()\nnet(x).numpy()", True, id="after-decorated"),
    ],
)
def test_gradients_are_recorded_again_after_no_grad(analyse, program, grad):
    accesses = analyse(READ + program).host_accesses.values()

    assert [tensor.grad for access in accesses for tensor in access.tensors] == [grad]


REDUCE = "import torch.distributed as dist\n"


@pytest.mark.parametrize(
    ("program", "count"),
    [
        pytest.param("if f():\n    dist.init_process_group('nccl')\nelse:\n    {}", 0, id="other-branch"),
        pytest.param("if f():\n    dist.init_process_group('nccl')\n    {}", 1, id="same-branch"),
        pytest.param("if f():\n    dist.init_process_group('nccl')\n{}", 1, id="reduced-so-initialised"),
        pytest.param("dist.init_process_group('nccl' if f() else 'gloo')\n{}", 0, id="either-backend"),
        pytest.param(
            "if f():\n    dist.init_process_group('nccl')\nelse:\n    dist.init_process_group('gloo')\n{}",
            0,
            id="a-backend-per-branch",
        ),
        pytest.param("if dist.is_initialized():\n    dist.init_process_group('nccl')\n    {}", 0, id="not-initialised"),
        pytest.param("if f():\n    dist.init_process_group('nccl')\nif dist.is_initialized():\n    {}", 1, id="asked"),
    ],
)
def test_a_process_group_is_that_of_its_path(analyse, program, count):
    assert len(analyse(REDUCE + program.format("dist.all_reduce(torch.ones(3))")).mismatches) == count


@pytest.mark.parametrize(
    ("program", "count"),
    [
        pytest.param("torch.cuda.set_device(1)\n{}", 1, id="set"),
        pytest.param("if f():\n    torch.cuda.set_device(1)\nelse:\n    {}", 0, id="other-branch"),
        pytest.param("if f():\n    torch.cuda.set_device(1)\n{}", 0, id="on-one-path"),
    ],
)
def test_the_current_accelerator_is_that_of_its_path(analyse, program, count):
    use = "torch.ones(3, device='cuda') + torch.ones(3, device='cuda:0')"
    observations = analyse(program.format(use)).multi_accelerator

    assert observations is None or len(observations.mismatches) == count
    assert (observations is not None) or not count


@pytest.mark.parametrize(
    ("hidden", "sees"),
    [
        pytest.param('os.environ["CUDA_VISIBLE_DEVICES"] = "-1"', False, id="hidden"),
        pytest.param('os.environ["CUDA_VISIBLE_DEVICES"] = ""', False, id="empty"),
        pytest.param('os.environ["CUDA_VISIBLE_DEVICES"] = "1"', True, id="another-one"),
        pytest.param('os.environ["CUDA_VISIBLE_DEVICES"] = args.gpu', True, id="an-option"),
        pytest.param('os.environ["TOKENIZERS_PARALLELISM"] = ""', True, id="another-variable"),
        pytest.param('if f():\n    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"', True, id="on-one-path"),
    ],
)
@pytest.mark.parametrize(
    "device",
    [
        'torch.device("cuda" if torch.cuda.is_available() else "cpu")',
        'torch.device("cuda" if torch.cuda.device_count() > 0 else "cpu")',
        'torch.device("cuda" if torch.cuda.device_count() else "cpu")',
    ],
)
def test_a_program_may_hide_the_accelerators_from_itself(place, hidden, sees, device):
    program = f"import os\n{hidden}\ndevice = {device}\nx = torch.ones(3).to(device)"

    assert (place(program, "x") == "accelerator") is sees
