"""What holds for every test: nothing is kept between runs in the folders of whoever runs the tests."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

import pytest
from repair_fixtures import before_and_after, files_before_and_after, repair, unchanged

from devfix import sources

__all__ = ["before_and_after", "files_before_and_after", "repair", "unchanged"]


def pytest_configure(config):
    """Lift the time limit on a property's examples: it depends on the machine's load.

    A shell has what it runs in the background ignore interrupts; tests of them, and what those start, need the default.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with suppress(ImportError):  # the tests on a GPU do without hypothesis
        from hypothesis import settings

        settings.register_profile("devfix", deadline=None)
        settings.load_profile("devfix")


def pytest_addoption(parser):
    """Add the option of `nox -s thorough`."""
    parser.addoption("--thorough", action="store_true", help="run also the tests that the suite leaves out for time")


def pytest_collection_modifyitems(config, items):
    """Leave out thorough tests, and all but some parameters of sampled ones, unless they are asked for.

    Tests of positions may fail where Python has none: https://peps.python.org/pep-0657/.
    """
    if sys.version_info < (3, 11):
        for item in items:
            if item.get_closest_marker("positions"):
                item.add_marker(pytest.mark.xfail(reason="expressions have no positions", strict=False))
    if config.getoption("--thorough") or any("::" in each for each in config.args):
        return
    left_out = {item for item in items if item.get_closest_marker("thorough")}
    for kind in (pytest.Function, pytest.Module):  # the parameters of a test first
        groups: dict[str, list[pytest.Item]] = {}
        for item in items:
            for node, mark in item.iter_markers_with_node("sample") if item not in left_out else ():
                if isinstance(node, kind):
                    groups.setdefault(f"{mark.args[0]} of {node.nodeid.partition('[')[0]}", []).append(item)
        for key, group in groups.items():
            wanted = int(key.split()[0])
            kept = {round(index * (len(group) - 1) / max(wanted - 1, 1)) for index in range(wanted)}
            left_out.update(item for index, item in enumerate(group) if index not in kept)
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Let a worker that has nothing left take tests from another one, unless the command line says otherwise."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Return one worker more than cores: many tests wait for processes that they start."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEVFIX_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("DEVFIX_CONFIG_DIR", str(tmp_path_factory.mktemp("configuration")))
        patch.setenv("DEVFIX_AGENT", "0")  # the tests may run in the shell of an agent
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)  # each process would compile devfix again
        yield


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write texts, and give them as read files, under the names that a user would give."""
    monkeypatch.chdir(tmp_path)

    def call(**texts: str):
        for name, text in texts.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return [sources.read(f"{name.replace('__', '/')}.py") for name in texts]

    return call
