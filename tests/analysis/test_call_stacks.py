"""Call stacks of program points: frames outside the current one are shared, and always those of the running calls."""

from __future__ import annotations

import ast

from devfix import analysis

TEXT = """\
import torch


def inner(x):
    a = x.cpu()
    b = x.cpu()
    return a + b


def outer(x):
    inner(x)
    inner(x)


outer(torch.ones(3))
outer(torch.ones(3))
"""


def test_points_of_one_call_share_the_frames_outside_it() -> None:
    points = []

    def watch(interp, node, value) -> None:  # type: ignore[no-untyped-def]
        if isinstance(node, ast.Call) and ast.unparse(node) == "x.cpu()":
            points.append(interp.point(node))

    analysis.analyse("train.py", {"train.py": TEXT}.get, ".", watch=watch)
    routes = [[frame.stmt.lineno for frame in point.call_stack] for point in points]

    assert routes[:8] == [[*calls, line] for calls in ([15, 11], [15, 12], [16, 11], [16, 12]) for line in (5, 6)]
    first, second, third, *_ = (point.call_stack[:-1] for point in points)
    assert all(one is other for one, other in zip(first, second, strict=True))
    assert third[0] is first[0]
    assert third[1] is not first[1]
    assert points[0].call_frame is not points[1].call_frame
