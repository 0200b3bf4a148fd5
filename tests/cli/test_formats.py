"""Every format: real findings in files with odd names, encodings and line ends, against its schema."""

from __future__ import annotations

import importlib.resources
import json
import pathlib
import re
import shutil
import subprocess
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema
from in_process import run_in_process

from devfix import config, sources
from devfix.engine import fixpoint
from devfix.report.formats import FORMATS

ROOT = pathlib.Path(__file__).parents[2]
SCHEMAS = ROOT / "tests" / "data" / "schemas"
CORPUS = ROOT / "corpus"
PROGRAMS = FORMATS.keys() - {"text"}

#: Programs whose edits stand beside each other, and such whose edits depend on each other.
CASES = (
    "batch_not_moved/dict_of_targets",
    "batch_not_moved/nested_tuple",
    "optimizer_order/gan_two_adagrads",
    "flag_for_device/mask_forgotten_too",
)

WIDE = """\
import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 2).to(device)
loader = torch.utils.data.DataLoader(torch.zeros(8, 4), 4)
for batch in loader:
    name = "naïve 😀"; out = net(batch)
    print(name, out)
"""
SUPPRESSED = WIDE.replace("in loader:", "in loader:  # devfix: ignore[DEV101] moved by the caller, see #7")


def written(folder):
    """A repository with what makes formats stumble; the findings lie in files of these names."""
    subprocess.run(["git", "init", "-q", folder], check=True)
    files = {
        "a b/100%,c:d/naïve é.py": WIDE.encode(),
        "crlf.py": WIDE.replace("\n", "\r\n").encode(),
        "bom.py": b"\xef\xbb\xbf" + WIDE.replace(" 😀", "").encode(),
        "latin.py": b"# coding: latin-1\n" + WIDE.replace(" 😀", "").encode("latin-1"),
        "no_end.py": WIDE.rstrip("\n").encode(),
        "quiet.py": SUPPRESSED.encode(),
        "broken.py": b"import torch\ndef (:\n",
    }
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    for case in (
        "batch_not_moved/dict_of_targets",
        "optimizer_order/gan_two_adagrads",
        "flag_for_device/mask_forgotten_too",
        "batch_not_moved/nested_tuple",
    ):
        shutil.copytree(CORPUS / case / "broken", folder / "corpus" / case)
    return folder


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return written(tmp_path_factory.mktemp("repository"))


@pytest.fixture(scope="module")
def reports(repository):
    """What `check` prints in each format, by format."""
    made = {name: run_in_process("check", ".", "--output-format", name, cwd=repository) for name in FORMATS}
    assert {name: done.code for name, done in made.items()} == dict.fromkeys(FORMATS, 1)
    return {name: done.stdout.decode() for name, done in made.items()}


@pytest.fixture(scope="module")
def expected(repository):
    """What `apply` would write, by the file's name in the repository."""
    files, _ = sources.load([str(repository)], (), str(repository))
    settings = config.load([str(repository)], {}, None, True)
    outcome = fixpoint.apply(files, settings)
    assert len(outcome.patch.files) > 7
    return {sources.display(change.path, str(repository)): change for change in outcome.patch.files}


def schema(name):
    return json.loads((SCHEMAS / name).read_text(encoding="utf-8"))


def own_schema(name):
    return json.loads(importlib.resources.files("devfix").joinpath("schema", name).read_text("utf-8"))


def validate(document, against):
    jsonschema.Draft202012Validator.check_schema(against)
    jsonschema.Draft202012Validator(against).validate(document)


# --- json and jsonl -------------------------------------------------------------------------------------------------
def test_json_follows_its_schema(reports):
    validate(json.loads(reports["json"]), own_schema("report-2.json"))


def test_jsonl_says_what_json_says(reports):
    whole, lines = json.loads(reports["json"]), [json.loads(line) for line in reports["jsonl"].splitlines()]
    of_line = {**own_schema("report-2.json"), "$ref": "#/$defs/line"}
    for key in ("type", "required", "additionalProperties"):
        del of_line[key]  # of the one document
    for line in lines:
        validate(line, of_line)

    assert [line["finding"] for line in lines if "finding" in line] == whole["findings"]
    assert [line["problem"] for line in lines if "problem" in line] == whole["problems"]
    assert lines[0]["report"]["summary"] == whole["summary"]


# --- SARIF ----------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def run(reports):
    log = json.loads(reports["sarif"])
    validate(log, schema("sarif-2.1.0.json"))
    assert len(log["runs"]) == 1
    return log["runs"][0]


def place_of(result):
    physical = result["locations"][0]["physicalLocation"]
    return unquote(physical["artifactLocation"]["uri"]), physical["region"]


def text_of(repository, name):
    return sources.read(str(repository / name)).text


def utf16_slice(text, region):
    """What stands in a region: lines as Python counts them, columns in UTF-16 code units."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    start, end = (
        sum(len(line) for line in lines[: line - 1])
        + len(lines[line - 1].encode("utf-16-le")[: 2 * (column - 1)].decode("utf-16-le"))
        for line, column in (
            (region["startLine"], region["startColumn"]),
            (region["endLine"], region["endColumn"]),
        )
    )
    return start, end


def test_sarif_has_what_json_has(run, reports):
    findings = json.loads(reports["json"])["findings"]

    assert len(run["results"]) == len(findings)
    assert sorted((place_of(one)[0], place_of(one)[1]["startLine"], one["ruleId"]) for one in run["results"]) == sorted(
        (finding["path"], finding["span"]["line"], finding["code"]) for finding in findings
    )


def test_sarif_columns_are_utf16_and_every_snippet_is_what_stands_there(run, repository):
    assert run["columnKind"] == "utf16CodeUnits"
    seen = 0
    for result in run["results"]:
        steps = [step["location"] for flow in result["codeFlows"] for step in flow["threadFlows"][0]["locations"]]
        for where in (*result["locations"], *steps, *result["relatedLocations"]):
            name = unquote(where["physicalLocation"]["artifactLocation"]["uri"])
            region = where["physicalLocation"]["region"]
            text = text_of(repository, name)
            start, end = utf16_slice(text, region)
            assert text[start:end] == region["snippet"]["text"]
            seen += "😀" in text.split("\n")[region["startLine"] - 1]
    assert seen > 2


def test_sarif_fixes_together_are_what_apply_writes(run, repository, expected):
    changed = {}
    for result in run["results"]:
        for suggestion in result.get("fixes", ()):
            for change in suggestion["artifactChanges"]:
                name = unquote(change["artifactLocation"]["uri"])
                changed.setdefault(name, []).extend(change["replacements"])
    assert changed.keys() == expected.keys()
    for name, replacements in changed.items():
        source = sources.read(str(repository / name))
        text = source.text
        placed = [(*utf16_slice(text, one["deletedRegion"]), one["insertedContent"]["text"]) for one in replacements]
        for start, end, new in sorted(placed, reverse=True):
            text = text[:start] + new + text[end:]
        assert sources.encode(source, text) == expected[name].new, name


def test_sarif_fixes_stand_alone_where_they_can(run):
    fixed = [result for result in run["results"] if "fixes" in result]
    along = [result for result in run["results"] if "fixedBy" in result["properties"]]

    assert len(fixed) > len(along) > 0
    assert not any("fixes" in result for result in along)


def test_sarif_suppressions_carry_their_reason(run):
    suppressed = [result for result in run["results"] if result.get("suppressions")]

    assert [place_of(result)[0] for result in suppressed] == ["quiet.py"]
    [suppression] = suppressed[0]["suppressions"]
    assert suppression == {"kind": "inSource", "status": "accepted", "justification": "moved by the caller, see"}
    assert "fixes" not in suppressed[0]


def test_sarif_rules_are_documented_and_referred_to(run):
    rules = run["tool"]["driver"]["rules"]

    assert len(rules) > 20
    for rule in rules:
        assert rule["help"]["markdown"].startswith("## What it does")
        assert rule["helpUri"].startswith("https://") and "##" not in rule["help"]["text"]
        assert len(rule["properties"]["tags"]) <= 10
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_sarif_tells_of_the_file_that_could_not_be_read(run):
    [invocation] = run["invocations"]

    [told] = [note for note in invocation["toolExecutionNotifications"] if note["level"] == "error"]
    assert told["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "broken.py"
    assert told["locations"][0]["physicalLocation"]["region"] == {"startLine": 2}
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (True, 1)


def test_sarif_uris_are_encoded_and_relative(run):
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]]

    assert "a%20b/100%25%2Cc%3Ad/na%C3%AFve%20%C3%A9.py" in uris
    assert not any(uri.startswith(("/", ".")) or "\\" in uri for uri in uris)
    [latin] = [one for one in run["artifacts"] if one["location"]["uri"] == "latin.py"]
    assert latin["encoding"] == "iso8859-1"


def test_fingerprints_are_unique_and_stay_where_lines_move(run, reports, tmp_path):
    folder = written(tmp_path)
    for file in folder.rglob("*.py"):
        raw = file.read_bytes()
        if b"coding" not in raw and not raw.startswith(b"\xef\xbb\xbf"):
            file.write_bytes(b"# moved\n\n" + raw)

    moved = json.loads(run_in_process("check", ".", "--output-format", "sarif", cwd=folder).stdout)["runs"][0][
        "results"
    ]
    marks = json.loads(run_in_process("check", ".", "--output-format", "gitlab", cwd=folder).stdout)

    for key in ("devfix/v1", "primaryLocationLineHash"):
        before = [(place_of(one)[0], one["partialFingerprints"][key]) for one in run["results"]]
        assert sorted(before) == sorted((place_of(one)[0], one["partialFingerprints"][key]) for one in moved)
    own = [one["partialFingerprints"]["devfix/v1"] for one in run["results"]]
    assert len(own) == len(set(own))
    told = {one["fingerprint"] for one in json.loads(reports["gitlab"]) if one["check_name"] != "problem"}
    assert told == {one["fingerprint"] for one in marks if one["check_name"] != "problem"}


def test_a_proof_is_in_the_log_and_the_text_beside_it(tmp_path):
    shutil.copytree(CORPUS / "batch_not_moved/nested_tuple/broken", tmp_path, dirs_exist_ok=True)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)

    arguments = ("apply", "siamese.py", "--diff", "--verify", "--output-format", "sarif", "--output-file", "log")
    done = run_in_process(*arguments, cwd=tmp_path)

    assert done.stdout.startswith(b"diff --git ") and "fixed: " in done.stderr
    log = json.loads((tmp_path / "log").read_text(encoding="utf-8"))
    validate(log, schema("sarif-2.1.0.json"))
    verdict = log["runs"][0]["properties"]["verdict"]
    assert (verdict["verdict"], verdict["script"]) == ("fixed", "siamese.py")
    assert verdict["runs"]["patched/device"]["losses"] == verdict["runs"]["original/cpu"]["losses"]
    assert log["runs"][0]["results"][0]["properties"]["verdict"] == "fixed"


# --- GitHub, GitLab, JUnit ------------------------------------------------------------------------------------------
def commands(text):
    """Workflow commands as the runner reads them: command, properties, message."""
    found = []
    for line in text.splitlines():
        command, properties, message = re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups()
        pairs = dict(pair.split("=", 1) for pair in properties.split(","))
        found.append((command, {key: _unescaped(value) for key, value in pairs.items()}, _unescaped(message)))
    return found


def _unescaped(text):
    for code, character in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, character)
    return text


def test_github_annotations_escape_names_and_drop_columns_of_long_spans(reports):
    found = commands(reports["github"])

    odd = next(properties for _, properties, _ in found if "100%" in properties["file"])
    assert odd["file"] == "a b/100%,c:d/naïve é.py" and odd["col"] == "5" and odd["endColumn"] == "10"
    long = next(properties for _, properties, _ in found if properties.get("line") != properties.get("endLine"))
    assert "col" not in long and "endColumn" not in long
    assert all(command in ("error", "warning", "notice") for command, _, _ in found)


def test_gitlab_follows_its_schema(reports):
    issues = json.loads(reports["gitlab"])

    validate(issues, schema("gitlab.json"))
    marks = [issue["fingerprint"] for issue in issues]
    assert len(marks) == len(set(marks))
    assert "a b/100%,c:d/naïve é.py" in {issue["location"]["path"] for issue in issues}


def test_junit_follows_its_schema_with_a_suite_for_each_file(reports):
    xmlschema.XMLSchema(str(SCHEMAS / "junit-10.xsd")).validate(reports["junit"])
    root = ElementTree.fromstring(reports["junit"])

    names = [suite.get("name") for suite in root]
    assert names == sorted(set(names)) and "a b/100%,c:d/naïve é.py" in names and "broken.py" in names
    assert int(root.get("failures")) == len(root.findall(".//failure")) == len(root.findall(".//testcase"))


# --- reviewdog ------------------------------------------------------------------------------------------------------
def test_rdjson_follows_its_schema_and_its_suggestions_give_what_apply_writes(reports, repository, expected):
    result = json.loads(reports["rdjson"])
    validate(result, schema("rdjson.json"))
    alone = {}
    for diagnostic in result["diagnostics"]:
        alone.setdefault(diagnostic["location"]["path"], []).append(diagnostic)
    tried = 0
    for name, diagnostics in alone.items():
        if len(diagnostics) == 1 and diagnostics[0].get("suggestions"):
            [suggestion] = diagnostics[0]["suggestions"]
            source = sources.read(str(repository / name))
            lines = re.split(r"(?<=\n)", source.text)
            start, end = suggestion["range"]["start"], suggestion["range"]["end"]
            assert start["column"] == 1
            last = lines[end["line"] - 1]
            rest = last.encode()[end["column"] - 1 :].decode()
            assert rest in ("", "\n", "\r\n"), "whole lines"
            text = "".join([*lines[: start["line"] - 1], suggestion["text"], rest, *lines[end["line"] :]])
            assert sources.encode(source, text) == expected[name].new
            tried += 1
    assert tried > 5


def test_rdjson_columns_are_bytes(repository, reports):
    for diagnostic in json.loads(reports["rdjson"])["diagnostics"]:
        where = diagnostic["location"]
        if where["path"].endswith("é.py"):
            line = (repository / where["path"]).read_bytes().split(b"\n")[where["range"]["start"]["line"] - 1]
            begin, end = where["range"]["start"]["column"] - 1, where["range"]["end"]["column"] - 1
            assert line[begin:end] == b"batch"


# --- all of them ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_an_empty_report_is_a_valid_document(name, tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")

    done = run_in_process("check", ".", "--output-format", name, cwd=tmp_path)

    assert (done.code, done.stderr) == (0, "")
    text = done.stdout.decode()
    if name in ("concise", "github"):
        assert text == ""
    elif name == "agent":
        assert text == "devfix: no findings, 1 file checked; next: nothing to do\n"
    elif name == "junit":
        xmlschema.XMLSchema(str(SCHEMAS / "junit-10.xsd")).validate(text)
        assert ElementTree.fromstring(text).get("failures") == "0"
    elif name == "html":
        assert text.startswith("<!doctype html>") and "No findings" in text
    else:
        against = {"sarif": "sarif-2.1.0.json", "gitlab": "gitlab.json", "rdjson": "rdjson.json"}
        validate(json.loads(text), schema(against[name]) if name in against else {})


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_without_findings_the_exit_code_is_0_in_each_format(name, repository):
    done = run_in_process("check", "quiet.py", "--output-format", name, "--output-file", ".git/report", cwd=repository)

    assert done.code == 0, done.stderr
    assert (repository / ".git" / "report").is_file()
