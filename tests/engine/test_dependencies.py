"""What scans depend on: one object for all that depend on the same."""

from __future__ import annotations

import gc
import pickle

from devfix import sources
from devfix.config import Settings
from devfix.engine import dependencies as module
from devfix.engine.cache import Cache
from devfix.engine.dependencies import dependencies
from devfix.engine.parallel_scan import Workers, scan_all
from devfix.engine.workspace import Workspace


def test_equal_dependencies_are_one_object_as_long_as_one_needs_it():
    one = dependencies(["/p/a.py", "/p/b.py"], {"/p": {"a.py", "b"}})
    other = dependencies({"/p/b.py", "/p/a.py"}, {"/p": ["b", "a.py"]})
    more = dependencies(["/p/a.py"], {"/p": {"a.py", "b"}, "/p/src": {"b"}})

    assert one is other is pickle.loads(pickle.dumps(one))
    assert more is not one
    assert more.lookups["/p"] is one.lookups["/p"]
    assert more.key != one.key

    del one, other, more
    gc.collect()

    assert not any("/p/a.py" in each.files for each in module._known.values())


def test_large_dependencies_share_what_most_of_them_have():
    package = {f"/p/pkg/m{number}.py" for number in range(200)}
    names = {f"m{number}" for number in range(200)}
    made = [
        dependencies({*package, f"/p/run{number}.py"}, {"/p/pkg": names, "/p": {"pkg", f"run{number}"}})
        for number in range(5)
    ]
    other = dependencies({f"/q/m{number}.py" for number in range(150)}, {"/q": {"m1"}})

    assert made[0].base is None
    assert len({id(each.base) for each in made[1:]}) == 1
    assert {len(each.own_files) for each in made[1:]} == {1}
    assert other.base is None
    for number, each in enumerate(made):
        assert each.files == {*package, f"/p/run{number}.py"}
        assert each.lookups == {"/p/pkg": names, "/p": {"pkg", f"run{number}"}}
        assert pickle.loads(pickle.dumps(each)) is each


def test_the_scans_of_a_package_share_what_they_depend_on_also_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "pkg"
    folder.mkdir()
    numbers = range(9)
    for number in numbers:
        imports = "".join(f"from . import m{other}\n" for other in numbers if other != number)
        (folder / f"m{number}.py").write_text(f"import torch\n{imports}\n\ndef f(x):\n    return x + torch.zeros(3)\n")
    (folder / "__init__.py").write_text("".join(f"from . import m{number}\n" for number in numbers))
    files, _ = sources.load(["pkg"])
    cache = Cache(str(tmp_path / "cache"))

    def scans(jobs):
        space = Workspace(files, Settings(root="."))
        with Workers(space, jobs) as workers:
            found = scan_all(space, [file.path for file in files if "/m" in file.path], workers, cache)
        return [scan for scan in found if len(scan.files) > len(numbers)]

    made = scans(1)
    kept = scans(2)

    assert len(made) == len(kept) == len(numbers)
    assert len({id(scan.dependencies) for scan in (*made, *kept)}) == 1
    assert str(folder / "m3.py") in made[0].files
    assert "m3.py" in made[0].lookups[str(folder)]
    keys = cache.get([made[0].dependencies.key])
    assert keys[made[0].dependencies.key].count("m3.py") == 2  # the path, and the name that was looked for
    cache.close()


def test_a_cached_scan_depends_on_its_base(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "pkg"
    folder.mkdir()
    numbers = range(module._LARGE + 5)
    for number in numbers:
        (folder / f"m{number}.py").write_text(f"import torch\n\n\ndef f{number}(x):\n    return x\n")
    (folder / "__init__.py").write_text("".join(f"from .m{number} import f{number}\n" for number in numbers))
    for name in "abc":
        (tmp_path / f"{name}.py").write_text("import torch\nimport pkg\n\n\ndef f(x):\n    return pkg.f3(x)\n")
    entries = [f"{name}.py" for name in "abc"]
    cache = Cache(str(tmp_path / "cache"))

    def made():
        files, _ = sources.load(["."])
        space, done = Workspace(files, Settings(root=".")), set()

        def told(doing, number, total, path):
            done.add(path)

        with Workers(space, 1, progress=told) as workers:
            return scan_all(space, entries, workers, cache), done

    first, scanned = made()
    bases = [scan.dependencies.base for scan in first if scan.dependencies.base is not None]

    assert scanned == {*entries}
    assert bases
    assert made()[1] == set()

    (folder / "m7.py").write_text("import torch\n\n\ndef f7(x):\n    return x + torch.zeros(3)\n")

    assert made()[1] >= {"b.py", "c.py"}
    cache.close()
