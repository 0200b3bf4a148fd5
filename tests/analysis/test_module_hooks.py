"""Hooks run with the module, its arguments and its result."""

from __future__ import annotations

import pytest

PROGRAM = """
import torchvision

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        return self.inner(x)

kept = {{}}

def hook(module, given, result=None):
    {body}

def named(name):
    def keep(module, given, result):
        kept[name] = result.detach()
    return keep

net = Net()
{register}
net.cuda()
y = net(torch.ones(3, 4).cuda())
{use}
"""


@pytest.mark.parametrize(
    ("body", "register", "use", "lines"),
    [
        pytest.param(
            "return result + torch.ones(4)",
            "net.register_forward_hook(hook)",
            "",
            ["return result + torch.ones(4)"],
            id="forward",
        ),
        pytest.param(
            "return result.cpu()",
            "net.register_forward_hook(hook)",
            "y + torch.ones(4).cuda()",
            ["y + torch.ones(4).cuda()"],
            id="new-result",
        ),
        pytest.param(
            "print(result)",
            "net.register_forward_hook(hook)",
            "y + torch.ones(4)",
            ["y + torch.ones(4)"],
            id="same-result",
        ),
        pytest.param(
            "given[0] + torch.ones(4)",
            "net.register_forward_pre_hook(hook)",
            "",
            ["given[0] + torch.ones(4)"],
            id="before",
        ),
        pytest.param(
            "return (given[0] * torch.ones(4),)",
            "net.register_full_backward_hook(hook)",
            "",
            ["return (given[0] * torch.ones(4),)"],
            id="backward",
        ),
        pytest.param(
            "pass",
            "net.inner.register_forward_hook(named('a'))",
            "kept['a'] + torch.ones(4)",
            ["kept['a'] + torch.ones(4)"],
            id="kept",
        ),
        pytest.param(
            "return result * 2", "net.register_forward_hook(hook)", "y + torch.ones(4).cuda()", [], id="right"
        ),
        pytest.param(
            "pass", "net.register_forward_hook(print)", "y + torch.ones(4).cuda()", [], id="of-another-package"
        ),
    ],
)
def test_a_hook_runs_where_its_module_is_called(met, body, register, use, lines):
    assert met(PROGRAM.format(body=body, register=register, use=use)) == lines


@pytest.mark.parametrize(("place", "lines"), [("cuda", ["return result + torch.ones(4)"]), ("cpu", [])])
def test_a_hook_of_a_part_that_cannot_be_read_runs_at_once(met, place, lines):
    program = f"""
        import torchvision

        def hook(module, given, result):
            return result + torch.ones(4)

        net = torchvision.models.resnet18().to("{place}")
        net.layer4.register_forward_hook(hook)
        """

    assert met(program) == lines
