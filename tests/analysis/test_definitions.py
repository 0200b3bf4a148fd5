"""Classes that decorators of the project put into tables."""

from __future__ import annotations

import pytest

PART = """
class Part(nn.Module):
    def forward(self, x):
        return x + torch.ones(3)
"""
REGISTRIES = [
    pytest.param(
        "PARTS = {}\n\ndef part(cls):\n    PARTS[cls.__name__] = cls\n    return cls\n\n@part" + PART,
        "PARTS['Part']()",
        id="plain-decorator",
    ),
    pytest.param(
        "PARTS = {}\n\ndef part(name):\n    def keep(cls):\n        PARTS[name] = cls\n        return cls\n"
        "    return keep\n\n@part('p')" + PART,
        "PARTS[{'name': 'p'}.pop('name')]()",
        id="decorator-with-a-name",
    ),
    pytest.param(
        "class Registry:\n    def __init__(self):\n        self.held = {}\n\n    def register(self, name=None):\n"
        "        def keep(cls):\n            self.held[name or cls.__name__] = cls\n            return cls\n"
        "        return keep\n\n    def build(self, kind, **kwargs):\n        return self.held[kind](**kwargs)\n\n"
        "PARTS = Registry()\n\n@PARTS.register()" + PART,
        "PARTS.build(kind='Part')",
        id="registry-object",
    ),
    pytest.param("@unknown.registered" + PART, "Part()", id="decorator-that-cannot-be-read"),
]


@pytest.mark.parametrize(("program", "made"), REGISTRIES)
def test_a_registered_class_is_found_in_its_table(met, program, made):
    text = program + f"\npart = {made}\npart(torch.zeros(3).cuda())\n"

    assert met(text) == ["return x + torch.ones(3)"]


@pytest.mark.parametrize(
    ("decorator", "lines"),
    [
        pytest.param('@app.route("/")', ["return net(torch.ones(3, 4))"], id="called-for-requests"),
        pytest.param("@app.automain", ["return net(torch.ones(3, 4))"], id="without-arguments"),
        pytest.param("@web.route", [], id="function-of-a-module"),
        pytest.param("", [], id="not-registered"),
    ],
)
def test_a_function_that_an_object_of_a_library_gets_is_called_after_the_last_line(met, decorator, lines):
    program = f"""
        import web

        app = web.App()

        {decorator or "# nobody calls it"}
        def predict(request=None):
            return net(torch.ones(3, 4))

        net = nn.Linear(4, 2).cuda()
        """

    assert met(program) == lines


def test_a_registered_function_that_the_program_calls_is_not_called_again(met):
    program = """
        import web

        app = web.App()

        @app.command()
        def predict(x):
            return net(x)

        net = nn.Linear(4, 2).cuda()
        predict(torch.ones(3, 4).cuda())
        """

    assert met(program) == []


@pytest.mark.parametrize("member", ["Place.GPU.value", "Place('cuda').value", "Place.GPU"])
def test_a_member_of_an_enumeration_has_its_value(met, member):
    program = f"""
        import enum

        class Place(str, enum.Enum):
            GPU = "cuda"

        print(torch.ones(3).to({member}) + torch.ones(3))
        """

    assert met(program) == [f"print(torch.ones(3).to({member}) + torch.ones(3))"]


@pytest.mark.parametrize(
    ("text", "lines"), [('"Net"', ["return x + torch.ones(3)"]), ("input()", []), ('"1 + 2"', []), ('"class"', [])]
)
def test_eval_of_a_name_is_its_value(met, text, lines):
    program = f"""
        class Net(nn.Module):
            def forward(self, x):
                return x + torch.ones(3)

        eval({text})()(torch.ones(3).cuda())
        """

    assert met(program) == lines


OPERATORS = {
    "add": ("__add__", "total + {x}"),
    "reflected": ("__radd__", "3 + total"),
    "in-place": ("__iadd__", "total += {x}"),
    "in-place-without-its-method": ("__add__", "total += {x}"),
    "matmul": ("__matmul__", "total @ {x}"),
    "or": ("__or__", "total | {x}"),
}


@pytest.mark.parametrize(("method", "code"), OPERATORS.values(), ids=OPERATORS)
def test_an_operator_calls_the_method_of_its_class(met, method, code):
    program = f"""
        class Total:
            def {method}(self, other):
                print(torch.ones(3).cuda() + torch.ones(3))
                return self

        total = Total()
        {code.format(x="torch.ones(3)")}
        """

    assert met(program) == ["print(torch.ones(3).cuda() + torch.ones(3))"]


def test_members_that_are_numbered_differ_and_are_no_modules(met):
    program = """
        import enum

        class Mode(enum.Enum):
            ONE = enum.auto()
            TWO = enum.auto()

            @property
            def size(self):
                return 4

        class Net(nn.Module):
            def __init__(self, mode):
                super().__init__()
                self.size = mode.size
                self.layer = nn.Linear(self.size, 2)
                self.scale = torch.ones(2) if mode == Mode.TWO else torch.ones(2).cuda()

            def forward(self, x):
                return self.layer(x) * self.scale

        Net(Mode.ONE).cuda()(torch.ones(3, 4).cuda())
        Net(Mode.TWO)(torch.ones(3, 4))
        Net(Mode.TWO).cuda()(torch.ones(3, 4).cuda())
        """

    assert met(program) == ["return self.layer(x) * self.scale"]


def test_a_class_that_is_derived_is_registered_by_its_base(met):
    program = """
        class Part:
            known = {}

            def __init_subclass__(cls, name="", **options):
                super().__init_subclass__(**options)
                Part.known[name] = cls

        class Adder(Part, name="adder"):
            def run(self, x):
                return x + torch.ones(3)

        Part.known["adder"]().run(torch.ones(3).cuda())
        """

    assert met(program) == ["return x + torch.ones(3)"]


@pytest.mark.parametrize("maker", ["super().__new__(cls)", "object.__new__(cls)"])
def test_the_only_instance_of_a_class_has_its_attributes(met, maker):
    program = f"""
        class Settings:
            instance = None

            def __new__(cls, *args):
                if cls.instance is None:
                    cls.instance = {maker}
                return cls.instance

            def __init__(self, scale):
                self.scale = scale

        print(Settings(torch.ones(3)).scale + torch.ones(3).cuda())
        """

    assert met(program) == ["print(Settings(torch.ones(3)).scale + torch.ones(3).cuda())"]


def test_what_a_class_makes_instead_of_itself_is_not_constructed(met):
    program = """
        class Other:
            scale = torch.ones(3).cuda()

        class Settings:
            def __new__(cls):
                return Other()

            def __init__(self):
                self.scale = torch.ones(3)

        print(Settings().scale + torch.ones(3).cuda())
        """

    assert met(program) == []


@pytest.mark.parametrize("base", ["threading.Thread", "multiprocessing.Process"])
def test_the_work_of_a_thread_is_followed_where_it_starts(met, base):
    program = f"""
        import multiprocessing
        import threading

        class Work({base}):
            def run(self):
                print(torch.ones(3).cuda() + torch.ones(3))

        work = Work()
        work.start()
        """

    assert met(program) == ["print(torch.ones(3).cuda() + torch.ones(3))"]


ASYNCHRONOUS = {
    "iterator": ("async for item in Items():", "def __aiter__(self):\n        return self"),
    "context": ("async with Items() as item:", "def unused(self):\n        pass"),
}


@pytest.mark.parametrize(("header", "method"), ASYNCHRONOUS.values(), ids=ASYNCHRONOUS)
def test_asynchronous_loops_and_contexts_bind_what_their_methods_return(met, header, method):
    program = f"""
import asyncio

class Items:
    {method}

    async def __anext__(self):
        return torch.ones(3)

    async def __aenter__(self):
        return torch.ones(3)

    async def __aexit__(self, *args):
        pass

async def main():
    {header}
        print(item + torch.ones(3).cuda())

asyncio.run(main())
"""

    assert met(program) == ["print(item + torch.ones(3).cuda())"]
