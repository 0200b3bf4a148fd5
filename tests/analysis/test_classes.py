"""Classes: attributes across methods, bases, properties, dataclasses, special methods."""

from __future__ import annotations

import pytest

PROGRAMS = [
    pytest.param(
        """
        from typing import Generic, TypeVar

        T = TypeVar("T")
        U = TypeVar("U")

        class Loop(Generic[T, U]):
            def __init__(self):
                self.x = torch.ones(3).cuda()

        class Trainer(Loop[int, U]):
            pass

        x = Trainer().x
        """,
        id="generic-base-with-parameters",
    ),
    pytest.param(
        """
        class Trainer:
            def __init__(self):
                self.setup()

            def setup(self):
                self.x = torch.ones(3).cuda()

        x = Trainer().x
        """,
        id="set-in-another-method",
    ),
    pytest.param(
        """
        class Base:
            device = "cuda"

        class Child(Base):
            def make(self):
                return torch.ones(3, device=self.device)

        x = Child().make()
        """,
        id="class-attribute-of-the-base",
    ),
    pytest.param(
        """
        class Base:
            def __init__(self, device):
                self.device = device

        class Child(Base):
            def __init__(self, device):
                super().__init__(device)
                self.x = torch.ones(3).to(self.device)

        x = Child("cuda").x
        """,
        id="super-init",
    ),
    pytest.param(
        """
        class Base:
            def __init__(self, device):
                self.device = device

        class Child(Base):
            def __init__(self, device):
                Base.__init__(self, device)

        x = torch.ones(3, device=Child("cuda").device)
        """,
        id="base-init-by-name",
    ),
    pytest.param(
        """
        class Base:
            def make(self):
                return torch.ones(3)

        class Child(Base):
            def make(self):
                return super().make().cuda()

        x = Child().make()
        """,
        id="super-method",
    ),
    pytest.param(
        """
        class Base:
            def run(self):
                return self.make()

            def make(self):
                raise NotImplementedError

        class Child(Base):
            def make(self):
                return torch.ones(3).cuda()

        x = Child().run()
        """,
        id="overridden-method",
    ),
    pytest.param(
        """
        class Holder:
            @property
            def device(self):
                return torch.device("cuda")

        x = torch.ones(3, device=Holder().device)
        """,
        id="property",
    ),
    pytest.param(
        """
        from functools import cached_property

        class Holder:
            @cached_property
            def x(self):
                return torch.ones(3).cuda()

        x = Holder().x
        """,
        id="cached-property",
    ),
    pytest.param(
        """
        class Holder:
            @staticmethod
            def make():
                return torch.ones(3).cuda()

        x = Holder.make()
        """,
        id="static-method",
    ),
    pytest.param(
        """
        class Holder:
            device = "cuda"

            @classmethod
            def make(cls):
                return torch.ones(3, device=cls.device)

        x = Holder.make()
        """,
        id="class-method",
    ),
    pytest.param(
        """
        class Holder:
            def __init__(self, x):
                self.x = x

            @classmethod
            def there(cls):
                return cls(torch.ones(3).cuda())

        x = Holder.there().x
        """,
        id="alternative-constructor",
    ),
    pytest.param(
        """
        from dataclasses import dataclass, field

        @dataclass
        class Batch:
            x: torch.Tensor
            names: list = field(default_factory=list)

            def to(self, device):
                return Batch(self.x.to(device), self.names)

        x = Batch(torch.ones(3)).to("cuda").x
        """,
        id="dataclass-with-to",
    ),
    pytest.param(
        """
        from typing import NamedTuple

        class Batch(NamedTuple):
            x: torch.Tensor
            y: torch.Tensor

        batch = Batch(x=torch.ones(3).cuda(), y=torch.ones(3))
        x = batch.x
        """,
        id="named-tuple",
    ),
    pytest.param(
        """
        class Move:
            def __init__(self, device):
                self.device = device

            def __call__(self, x):
                return x.to(self.device)

        x = Move("cuda")(torch.ones(3))
        """,
        id="callable-object",
    ),
    pytest.param(
        """
        class Table:
            def __getitem__(self, index):
                return torch.ones(3).cuda()

        x = Table()[0]
        """,
        id="getitem",
    ),
    pytest.param(
        """
        class Session:
            def __enter__(self):
                return torch.ones(3).cuda()

            def __exit__(self, *args):
                return False

        with Session() as x:
            pass
        """,
        id="context-manager",
    ),
    pytest.param(
        """
        class Mixin:
            def move(self, x):
                return x.to(self.device)

        class Base:
            def __init__(self):
                self.device = "cuda"

        class Both(Mixin, Base):
            pass

        x = Both().move(torch.ones(3))
        """,
        id="mixin",
    ),
    pytest.param(
        """
        class Holder:
            def __init__(self):
                self.parts = {}

            def add(self, name, x):
                self.parts[name] = x.cuda()

        holder = Holder()
        holder.add("a", torch.ones(3))
        x = holder.parts["a"]
        """,
        id="container-attribute",
    ),
    pytest.param(
        """
        class Holder:
            pass

        holder = Holder()
        holder.x = torch.ones(3).cuda()
        x = holder.x
        """,
        id="attribute-from-outside",
    ),
    pytest.param(
        """
        class Holder:
            pass

        holder = Holder()
        setattr(holder, "x", torch.ones(3).cuda())
        x = holder.x
        """,
        id="setattr",
    ),
    pytest.param(
        """
        from abc import ABC, abstractmethod

        class Base(ABC):
            @abstractmethod
            def device(self):
                ...

            def make(self):
                return torch.ones(3, device=self.device())

        class There(Base):
            def device(self):
                return "cuda"

        x = There().make()
        """,
        id="abstract-base",
    ),
    pytest.param(
        """
        class Node:
            def __init__(self, x, parent=None):
                self.x, self.parent = x, parent

        node = Node(torch.ones(3), Node(torch.ones(3).cuda()))
        x = node.parent.x
        """,
        id="linked-objects",
    ),
    pytest.param(
        """
        class Lazy(nn.Module):
            @property
            def device(self):
                return next(self.parameters()).device

            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 3)

        x = torch.ones(3, device=Lazy().cuda().device)
        """,
        id="device-property-of-a-module",
    ),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_tensor_is_followed_to_the_accelerator(place, program):
    assert place(program, "x") == "accelerator"


def test_two_objects_of_one_class_are_two(place):
    program = """
        class Holder:
            def __init__(self, device):
                self.x = torch.ones(3, device=device)

        here, there = Holder("cpu"), Holder("cuda")
        """

    assert place(program, "here.x") == "cpu"
    assert place(program, "there.x") == "accelerator"


def test_a_class_of_a_foreign_base_keeps_what_its_own_code_says(place):
    program = """
        from somewhere import Base

        class Holder(Base):
            def __init__(self):
                super().__init__()
                self.x = torch.ones(3).cuda()

        holder = Holder()
        """

    assert place(program, "holder.x") == "accelerator"


def test_options_that_are_not_known_may_set_every_field(met):
    text = """
    import argparse
    from dataclasses import dataclass

    @dataclass
    class Options:
        device: str = None
        fill: float = 1.0

    parser = argparse.ArgumentParser()
    for name in names():
        parser.add_argument(name)
    options = Options(**{**vars(parser.parse_args()), "fill": 2.0})
    model = nn.Linear(3, 3)
    model.to(options.device)
    model(torch.ones(3, device="cuda"))
    model.cpu()(torch.ones(3, device="cuda"))
    """
    assert met(text) == ['model.cpu()(torch.ones(3, device="cuda"))']


def test_a_class_of_a_library_or_what_stands_in_for_it_is_the_library_class(met):
    text = """
    import sys

    def library():
        try:
            found = sys.modules.get("torch")
            if found is not None:
                return found
            import torch
            return torch
        except ImportError:
            return Stub()

    class Stub:
        class nn:
            class Module:
                def to(self, device):
                    return self

    nn = library().nn

    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)

        def project(self, x):
            return self.fc(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = Table()

        def forward(self, x):
            return self.table.project(x)

    net = Net()
    MOVE
    net(torch.ones(3, device="cuda"))
    """
    assert met(text.replace("MOVE", "net.to('cuda')")) == []
    assert met(text.replace("MOVE", "pass")) == ["return self.fc(x)"]


def test_one_of_many_classes_is_each_of_them(met):
    classes = "".join(
        f"""
class Net{number}(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x.cuda())

"""
        for number in range(9)
    )
    kinds = "kinds = {" + ", ".join(f"'{number}': Net{number}" for number in range(9)) + "}\n"
    program = f"import sys\n{classes}{kinds}net = kinds[sys.argv[1]]().cuda()\nnet(torch.ones(3))\n"

    assert met(program) == []
    assert met(program.replace("x.cuda()", "x")) == ["return self.fc(x)"]
