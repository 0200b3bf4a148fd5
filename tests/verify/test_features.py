"""Right programs with less common features of PyTorch run under the probe as they do without it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from devfix.verify import Run, run

FEATURES = sorted(path.stem for path in (Path(__file__).parent / "features").glob("*.py"))


def once(tmp_path: Path, feature: str, device: str, **options: bool) -> Run:
    program = (Path(__file__).parent / "features" / f"{feature}.py").read_text(encoding="utf-8")
    (tmp_path / "train.py").write_text(program, encoding="utf-8")
    return run("train.py", [], device, tmp_path, **options)


def printed(found: Run) -> list[str]:
    return [line for line in found.output.splitlines() if "Warning" not in line]


@pytest.mark.sample(7)
@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_works_on_every_device(feature: str, tmp_path: Path) -> None:
    plain = once(tmp_path, feature, "cpu", unobserved=True)
    here, there = once(tmp_path, feature, "cpu"), once(tmp_path, feature, "sim")
    traced = once(tmp_path, feature, "sim", device_map=True)

    assert [each.outcome for each in (plain, here, there)] == ["completed"] * 3
    assert traced.ok, traced.outcome
    assert here.unsupported == there.unsupported == ()
    assert here.losses == there.losses
    assert (here.steps, here.digest) == (there.steps, there.digest)
    assert here.returned == there.returned


UNREADABLE = """\
import torch


class Opaque(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func not in (torch.ops.aten.detach.default, torch.ops.aten.ones_like.default):
            raise NotImplementedError(func)
        return func(*(torch.Tensor._make_subclass(torch.Tensor, each) for each in args), **(kwargs or {}))


weight = torch.Tensor._make_subclass(Opaque, torch.ones(2)).requires_grad_()
torch.autograd.backward(weight, torch.ones(2))
print("done")
"""


def test_a_tensor_that_answers_no_operator_is_unsupported(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(UNREADABLE, encoding="utf-8")

    found = run("train.py", [], "cpu", tmp_path)

    assert (found.outcome, found.output.strip()) == ("completed", "done")
    assert [each.partition(" (")[0] for each in found.unsupported] == ["losses that cannot be recorded"]
