"""The index of models: what it finds for a name, and that the built-in stubs say what is there."""

from __future__ import annotations

import importlib
import textwrap
from pathlib import Path

import pytest

from devfix import models
from devfix.analysis.transfer.external_calls import OVERLAYS, overlay_of
from devfix.models.index import (
    ModelIndex,
    built_in,
    has_weights,
    is_module,
    lookup,
    model_index,
    root_of,
    using,
)
from devfix.models.names import MANAGED
from devfix.models.stub_language import parse_stub, read_folder

STUBS = read_folder(Path(models.__file__).parent / "stubs")
NAMES = sorted(name for name in STUBS.entries if not name.endswith("__getattr__"))
WILDCARDS = sorted(name for name in STUBS.entries if name.endswith("__getattr__"))
ALIASES = sorted(name for name, entry in STUBS.entries.items() if entry.kind == "alias")
# names of extensions of PyTorch, and a base class that only the stubs have
ELSEWHERE = ("torch.hpu.", "torch.npu.", "torch.nn._Loss")
OF_TORCH = [name for name in NAMES if name.startswith("torch.") and not name.startswith(ELSEWHERE)]


def index(*texts, module="acme", table=None):
    stubs = parse_stub(textwrap.dedent("\n".join(texts)), module, "acme.pyi")
    assert stubs.problems == []
    return ModelIndex(stubs, table or {})


# --- the built-in stubs -----------------------------------------------------------------------------------------------
def test_every_stub_is_in_the_language():
    assert [str(problem) for problem in STUBS.problems] == []


def test_every_declaration_names_its_source():
    declared = (name for name, entry in STUBS.entries.items() if entry.kind != "alias")

    assert [name for name in declared if not STUBS.entries[name].source.startswith("https://")] == []


@pytest.mark.parametrize("name", OF_TORCH)
def test_a_name_of_torch_exists_in_torch(name):
    if name.endswith(".__call__"):  # a module is called through a wrapper
        name = name.removesuffix(".__call__")
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            value = getattr(value, part)
        return
    pytest.fail(name)


@pytest.mark.parametrize("name", ALIASES)
def test_another_name_leads_to_a_declaration(name):
    assert built_in().lookup(name) is not None


def test_modules_that_are_other_names_lead_to_modules():
    assert [target for target in STUBS.module_aliases.values() if target not in STUBS.modules] == []


def test_every_overlay_has_code():
    declared = [built_in().lookup(name) for name in NAMES] + [
        built_in().lookup(f"{name[:-11]}Any") for name in WILDCARDS
    ]
    overlays = [model for model in declared if model is not None and "Overlay" in (model.result, model.root)]

    assert [model.name for model in overlays if overlay_of(model) is None] == []
    assert len(overlays) > 100


def test_all_code_belongs_to_a_declaration():
    declared = {name: built_in().exact(name) for name in OVERLAYS}

    assert [name for name, model in declared.items() if model is None] == []


def test_frameworks_that_place_things_are_whole_packages_or_names():
    assert all(name.endswith(".") or name[0].islower() for name in MANAGED)


# --- finding names ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "root"),
    [
        ("torch.nn.Linear", "Module"),
        ("torch.nn.modules.linear.Linear", "Module"),
        ("torch.nn.ReLU", "Module"),
        ("torch.nn.CrossEntropyLoss", "Loss"),
        ("torch.optim.AdamW", "Optimizer"),
        ("torch.optim.lr_scheduler.StepLR", "Scheduler"),
        ("torch.distributions.Normal", "Distribution"),
        ("torchmetrics.Accuracy", "Metric"),
        ("lightning.LightningModule", "Placed"),
        ("torch.utils.data.dataloader.DataLoader", "Overlay"),
        ("torch.add", ""),
        ("somewhere.Else", ""),
    ],
)
def test_a_class_has_a_root(name, root):
    assert root_of(name) == root


def test_modules_and_their_weights():
    assert [is_module(name) for name in ("torch.nn.Linear", "torchvision.models.resnet18", "torch.add")] == [
        True,
        True,
        False,
    ]
    assert [has_weights(name) for name in ("torch.nn.Linear", "torch.nn.ReLU", "torch.nn.Module", "acme.Net")] == [
        True,
        False,
        True,
        False,
    ]


def test_a_function_has_a_result_and_a_source():
    found = lookup("torch.gradient")

    assert (found.kind, found.result, found.bases) == ("function", "list", ())
    assert found.source == "https://docs.pytorch.org/docs/stable/generated/torch.gradient.html"


def test_the_stubs_come_before_the_table():
    both = index("def add(a: Host): ...", module="torch", table={"functions": {"torch.add": ["(a: On) -> On"]}})

    assert [each.word.name for each in both.lookup("torch.add").signatures[0].parameters] == ["Host"]


def test_the_table_has_other_names():
    table = {"functions": {"torch.abs": ["(input: On) -> On"]}, "aliases": {"torch.absolute": "torch.abs"}}
    found = index("", table=table).lookup("torch.absolute")

    assert found.result == "On"
    assert set(index("def f(): ...", table=table).names()) == {"acme.f", "torch.abs"}


def test_a_wildcard_stands_for_what_has_no_entry():
    found = index("def __getattr__(*args) -> Any: ...", "def one(a: On) -> On: ...")

    assert found.lookup("acme.one").result == "On"
    assert (found.lookup("acme.deep.two").name, found.lookup("acme.deep.two").key) == (
        "acme.deep.two",
        "acme.__getattr__",
    )
    assert found.exact("acme.two") is None
    assert found.lookup("other.two") is None


def test_a_star_import_is_another_name_of_a_module():
    stubs = parse_stub("def one(a: On) -> On: ...", "acme.core", "core.pyi")
    stubs.update(parse_stub("from acme.core import *", "acme", "acme.pyi"))

    assert ModelIndex(stubs, {}).lookup("acme.one").name == "acme.core.one"


def test_names_that_lead_to_each_other_lead_nowhere():
    assert index("one = two", "from acme import one as two").lookup("acme.one") is None


def test_a_method_is_that_of_the_nearest_class():
    found = index(
        """
        class Base(Module, weights=False):
            def __call__(self, x: On) -> On: ...
            def reset(self) -> None: ...
        class Deep(Base):
            def __call__(self, x: On, y: On) -> On: ...
        """
    ).lookup("acme.Deep")

    assert (found.root, found.bases) == ("Module", ("acme.Base",))
    assert len(found.method("__call__").signatures[0].operands) == 2
    assert found.method("reset").name == "acme.Base.reset"
    assert found.method("nothing") is None
    assert (found.option("weights", True), found.option("eager", None)) == (False, None)


def test_classes_that_derive_from_each_other_have_no_root_of_their_own():
    stubs = parse_stub("class One(Two): ...\nclass Two(One): ...", "acme", "acme.pyi")

    assert ModelIndex(stubs, {}).lookup("acme.One").root == "Object"


# --- stubs of projects ------------------------------------------------------------------------------------------------
def test_later_folders_come_first_and_what_devfix_knows_last(tmp_path):
    for name, word in (("one", "Host"), ("two", "Any")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "torch.pyi").write_text(f"def add(a: {word}) -> None: ...\n", encoding="utf-8")
    (tmp_path / "one" / "acme.pyi").write_text("def mix(a: On) -> On: ...\nnonsense()\n", encoding="utf-8")

    found = model_index((str(tmp_path / "one"), str(tmp_path / "two")), "content")

    assert found.lookup("torch.add").signatures[0].parameters[0].word.name == "Any"
    assert found.lookup("acme.mix").result == "On"
    assert found.lookup("torch.argmax").result == "Integral"
    assert found.content == "content"
    assert [Path(problem.path).name for problem in found.problems] == ["acme.pyi"]
    assert built_in().lookup("acme.mix") is None


def test_an_index_is_used_within_a_context():
    with using(index("class Net(Module): ...")):
        assert has_weights("acme.Net")

    assert not has_weights("acme.Net")
