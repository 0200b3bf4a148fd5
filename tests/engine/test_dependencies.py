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
