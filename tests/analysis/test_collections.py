"""Containers of the standard library keep where their items are."""

from __future__ import annotations

import pytest

PROGRAM = """
import asyncio
import collections
import multiprocessing
import queue
import typing

net = nn.Linear(4, 2).cuda()
{made}
net({item})
"""

ITEMS = {
    "deque": ("d = collections.deque(maxlen=9)\nd.append({x})", "d.popleft()"),
    "deque-left": ("d = collections.deque([{y}])\nd.appendleft({x})", "d[0]"),
    "deque-from-the-left": ("d = collections.deque([{x}, {y}])", "d.popleft()"),
    "deque-from-the-right": ("d = collections.deque([{y}, {x}])", "d.pop()"),
    "deque-of-unknown-length": (
        "d = collections.deque()\nfor _ in range(int(input())):\n    d.append({x})",
        "d.popleft()",
    ),
    "insert": ("d = [{y}]\nd.insert(0, {x})", "d[0]"),
    "insert-at-an-unknown-place": ("d = []\nd.insert(int(input()), {x})", "d[0]"),
    "pop-at-an-index": ("d = [{y}, {x}]", "d.pop(-1)"),
    "slice": ("d = [None]\nd[:] = [{x}]", "d[0]"),
    "part-of-a-list": ("d = [{x}, {x}]\nd[1:] = [{x}]", "d[1]"),
    "queue": ("d = queue.Queue()\nd.put({x})", "d.get()"),
    "queue-without-waiting": ("d = multiprocessing.Queue()\nd.put_nowait({x})", "d.get_nowait()"),
    "queue-that-waits": ("d = queue.Queue()\nd.put({x}, True)", "d.get(True)"),
    "queue-with-a-timeout": ("d = asyncio.Queue()\nd.put({x})\nd.put({y})", "d.get(timeout=3)"),
    "queue-of-processes": ("d = torch.multiprocessing.SimpleQueue()\nd.put({x})\nd.put({y})", "d.get()"),
    "last-in-first-out": ("d = queue.LifoQueue()\nd.put({y})\nd.put({x})", "d.get()"),
    "defaultdict": ("d = collections.defaultdict(list)\nd['a'].append({x})", "d['a'][0]"),
    "defaultdict-by-variable": ("d = collections.defaultdict(list)\nd[input()].append({x})", "d[input()][0]"),
    "defaultdict-of-a-function": ("d = collections.defaultdict(lambda: {x})", "d['a']"),
    "defaultdict-of-items": ("d = collections.defaultdict(list, a={x})", "d['a']"),
    "fromkeys": ("d = dict.fromkeys(['a', 'b'], {x})", "d['b']"),
    "fromkeys-of-unknown-keys": ("d = dict.fromkeys(open('names'), {x})", "d['b']"),
    "popitem": ("d = {{'a': {y}, 'b': {x}}}", "d.popitem()[1]"),
    "union": ("d = {{'a': {y}}} | {{'a': {x}}}", "d['a']"),
    "union-in-place": ("d = {{'a': {y}}}\nd |= {{'a': {x}}}", "d['a']"),
    "typed-dictionary": ("class D(typing.TypedDict):\n    a: torch.Tensor\nd = D(a={x})", "d['a']"),
    "first-and-rest": ("d, *rest = [{x}, {y}, {y}]", "d"),
    "rest": ("a, *d, b = [{y}, {x}, {y}]", "d[0]"),
    "rest-of-unknown-length": ("a, *d = [{x} for _ in open('names')]", "d[0]"),
    "sum": ("d = sum([{x}, {x}])", "d"),
    "largest": ("d = max([{x}, {x}], key=lambda each: each.sum())", "d"),
}


@pytest.mark.parametrize(("made", "item"), ITEMS.values(), ids=ITEMS)
def test_an_item_is_where_it_was_put(met, made, item):
    cpu, cuda = "torch.ones(3, 4)", "torch.ones(3, 4).cuda()"

    assert met(PROGRAM.format(made=made.format(x=cpu, y=cuda), item=item)) == [f"net({item})"]
    assert met(PROGRAM.format(made=made.format(x=cuda, y=cuda), item=item)) == []


def test_a_mapping_without_a_default_has_no_missing_items(met):
    program = """
        import collections

        d = collections.defaultdict(None, a=torch.ones(3).cuda())
        print(d["a"] + torch.ones(3), d["b"])
        """

    assert met(program) == ['print(d["a"] + torch.ones(3), d["b"])']


OBJECTS = {
    "chained": ("d = collections.ChainMap({{'b': {y}}}, {{'a': {x}}})", "d['a']"),
    "heap": ("d = []\nheapq.heappush(d, (1, {x}))", "heapq.heappop(d)[1]"),
    "pickled": ("d = pickle.loads(pickle.dumps([{x}]))", "d[0]"),
    "list-of-a-class": ("class L(list):\n    pass\nd = L()\nd.append({x})", "d[0]"),
    "list-of-a-class-with-items": ("class L(list):\n    pass\nd = L([{x}])", "d[0]"),
    "tuple-of-a-class": ("class T(tuple):\n    pass\nd = T(({x}, {y}))", "d[0]"),
    "fields": ("d = dataclasses.asdict(Data({x}))", "d['a']"),
    "other-fields": ("d = dataclasses.replace(Data({y}), a={x})", "d.a"),
    "replaced": ("d = Row({x}, 1)._replace(b=2)", "d.a"),
    "as-dictionary": ("d = Row({x}, 1)._asdict()", "d['a']"),
    "made-of-a-sequence": ("d = Row._make([{x}, 1])", "d.a"),
}


@pytest.mark.parametrize(("made", "item"), OBJECTS.values(), ids=OBJECTS)
def test_objects_that_stand_for_others_hold_the_same(met, made, item):
    classes = "Row = collections.namedtuple('Row', 'a b')\n\n@dataclasses.dataclass\nclass Data:\n    a: object\n"
    imports = f"import dataclasses\nimport heapq\nimport pickle\n{PROGRAM.partition('net =')[0]}{classes}\nnet ="
    program = imports + PROGRAM.partition("net =")[2]
    cpu, cuda = "torch.ones(3, 4)", "torch.ones(3, 4).cuda()"

    assert met(program.format(made=made.format(x=cpu, y=cuda), item=item)) == [f"net({item})"]
    assert met(program.format(made=made.format(x=cuda, y=cuda), item=item)) == []


STORE = """
from collections.abc import MutableMapping

class Store(MutableMapping):
    def __init__(self, store):
        self.store = store

    def __getitem__(self, key):
        return self.store[key]

    def __setitem__(self, key, value):
        self.store[key] = value

    def __delitem__(self, key):
        del self.store[key]

    def __iter__(self):
        return iter(self.store)

    def __len__(self):
        return len(self.store)

    def to(self, device):
        for LOOP

net = nn.Linear(4, 2)
Store({"a": net}).to("cuda")
net(torch.ones(3, 4).cuda())
"""


@pytest.mark.parametrize(
    ("loop", "lines"),
    [
        ("value in self.values(): value.to(device)", []),
        ("_, value in self.items(): value.to(device)", []),
        ("key in self.keys(): self[key].to(device)", []),
        ("value in self.values(): print(value)", ["net(torch.ones(3, 4).cuda())"]),
        ("key in self.keys(): key.to(device)", ["net(torch.ones(3, 4).cuda())"]),
    ],
)
def test_the_views_of_an_abstract_mapping_are_made_of_its_class(met, loop, lines):
    assert met(STORE.replace("LOOP", loop)) == lines


@pytest.mark.parametrize("call", ["collections.ChainMap(input())", "dataclasses.replace(input(), a=1)"])
def test_what_stands_for_something_unknown_is_unknown(met, call):
    assert met(f"import collections\nimport dataclasses\nprint({call}['a'] + torch.ones(3).cuda())\n") == []
