"""What is copied is what the repository shows, from a wheel as well."""

import sys
from pathlib import Path

from devfix.init._templates import PACKAGED, template

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]


def test_a_template_is_the_file_of_the_repository():
    for name, source in PACKAGED.items():
        assert template(name) == (ROOT / source).read_bytes()


def test_the_wheel_brings_each_of_them():
    target = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]

    included = {source: at for source, at in target["wheel"]["force-include"].items() if "/templates/" in at}
    assert included == {source: f"devfix/init/templates/{name}" for name, source in PACKAGED.items()}
