"""The pages that are made from the code."""

import json
from pathlib import Path

import pytest
import reference_pages
from reference_pages import rules, schemas

from devfix.rules import registry

SCHEMAS = Path(__file__).parents[2] / "devfix" / "schema"


def test_every_rule_has_a_page_with_its_documentation_and_its_examples():
    made = rules.pages()

    for rule in registry.all_rules():
        page = made[f"reference/rules/{rule.code}.md"]
        assert page.startswith(f"# {rule.code} {rule.name}\n")
        assert rule.documentation.strip() in page
        assert page.count("```diff") >= len(rule.invalid)
        for program in rule.valid:
            assert program.rstrip() in page
        assert f"[{rule.code}]({rule.code}.md) | {rule.name}" in made["reference/rules/index.md"]


def test_an_example_is_shown_as_a_diff_of_the_whole_program():
    rule = next(rule for rule in registry.all_rules() if rule.code == "DEV201")
    shown = rules.pages()["reference/rules/DEV201.md"].split("```diff\n")[1].split("```")[0].splitlines()

    assert [line[1:] for line in shown if line[0] in " -"] == rule.invalid[0].before.splitlines()
    assert [line[1:] for line in shown if line[0] in " +"] == rule.invalid[0].after.splitlines()


@pytest.mark.parametrize("name", sorted(path.stem for path in SCHEMAS.glob("*.json")))
def test_every_key_of_a_schema_is_in_its_table(name):
    page = schemas.pages()[f"reference/schemas/{name}.md"]
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))

    def keys(part):
        if isinstance(part, dict):
            yield from part.get("properties", {}) if isinstance(part.get("properties"), dict) else ()
            for value in part.values():
                yield from keys(value)
        if isinstance(part, list):
            for value in part:
                yield from keys(value)

    for key in set(keys(schema)):
        assert f"`{key}`" in page or f".{key}`" in page


def test_references_lead_to_tables_and_keys():
    schema = {
        "title": "a line",
        "$defs": {"line": {"oneOf": [{"properties": {"a": {"$ref": "#/$defs/span"}}}, {"type": "null"}]}},
        "properties": {"b": {"$ref": "#/properties/c"}, "c": {"enum": [1, None]}},
        "additionalProperties": {"type": "array", "items": {"properties": {"d": {"type": ["string", "null"]}}}},
    }

    page = schemas._page("line-1", schema)

    rows = [line.split(" | ")[:2] for line in page.splitlines() if line.startswith("| `")]
    assert rows == [
        ["| `b`", "as `c`"],
        ["| `c`", "`1` or `null`"],
        ["| `NAME[].d`", "string or null"],
        ["| `a`", "[span](#span)"],
    ]


def test_pages_are_written_once_and_old_ones_go(tmp_path):
    def written():
        return {path.relative_to(tmp_path).as_posix(): path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")}

    reference_pages.write(tmp_path)
    first = written()
    assert sorted(first) == sorted(reference_pages.pages())
    (tmp_path / "reference" / "rules" / "DEV999.md").write_text("# a rule that is no more\n", encoding="utf-8")

    reference_pages.write(tmp_path)

    assert written() == first
