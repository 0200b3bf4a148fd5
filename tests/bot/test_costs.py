"""What a stranger can send costs the job that holds a token little time."""

from __future__ import annotations

import hashlib
import json
import time

import pytest
from bot.conftest import CONFIGURATION
from bot.github_server import BOT

from devfix.bot import patch as patches
from devfix.bot.settings import parse_settings
from devfix.config import ConfigError
from devfix.model import FileChange

LIMIT_S = 10.0
PLACE = {"path": "net.py", "line": 1}
NOISE = "?token" * 300  # as long as a message may be


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def post(bot, job, github, repository, tmp_path):
    """Post an artifact with a patch of files, and return the seconds of this process, which also plays GitHub."""

    def call(before, after, **changes):
        repository.commit(pyproject__toml=CONFIGURATION)
        repository.branch("topic")
        for name, text in before.items():
            (repository.tree / name).write_bytes(text)
        head = repository.commit()
        number = github.add_pull("topic")
        patch = patches.diff([FileChange(name, before[name], after[name]) for name in before])
        document = {
            "schema_version": 2,
            "tool": "devfix",
            "repository": "lab/nets",
            "number": number,
            "base": github.commit("main"),
            "head": head,
            "patch": {"sha256": sha256(patch), "size": len(patch)},
            "files": [
                {"path": name, "before": sha256(before[name]), "after": sha256(after[name])} for name in sorted(before)
            ],
            "parts": [],
            "findings": [],
            "problems": [],
            "evidence": None,
            "not_verified": NOISE,
            **changes,
        }
        folder = tmp_path / "artifact"
        folder.mkdir()
        (folder / "devfix.patch").write_bytes(patch)
        manifest = json.dumps(document).encode()
        (folder / "manifest.json").write_bytes(manifest)
        job(None, event="workflow_run", payload={"workflow_run": {"head_sha": head}})
        started = time.process_time()
        result = bot("post", folder, "--digest", sha256(manifest))
        return result, time.process_time() - started, number

    return call


def finding(**changes):
    texts = {"message": NOISE, "title": "`@" * 500, "reason": "a" * 40 + "!1 " * 600}
    known = {"code": "DEV101", "name": "x", "status": "fixed", "applicability": "safe"}
    return {**known, **PLACE, "lines": [PLACE] * 50, **texts, **changes}


@pytest.mark.thorough
def test_a_full_artifact_is_posted_in_seconds(post, github):
    lines = range(2 * patches.MAX_HUNKS)
    before = b"".join(b"%d\n" % number for number in lines) + b"1, 2,\n" * 200_000
    after = b"".join(b"x = 1\n" if number % 2 else b"%d\n" % number for number in lines) + b"1, 2,\n" * 200_000
    findings = [finding(status=status) for status in ("fixed", "not-fixed") for _ in range(250)]
    problems = [{**PLACE, "message": "?token" * 160}] * 200

    result, seconds, number = post({"net.py": before}, {"net.py": after}, findings=findings, problems=problems)

    assert result.code == 0, result.stderr
    assert len(github.reviews[number]) == 1
    assert seconds < LIMIT_S


def test_lines_that_are_slow_to_compare_are_posted_in_seconds(post):
    before, after = b"x = 1\n" * 1200, b"x = 1 / y\n" * 1200

    result, seconds, _ = post({"net.py": before}, {"net.py": after}, findings=[finding()])

    assert result.code == 0, result.stderr
    assert seconds < LIMIT_S


@pytest.mark.parametrize(("count", "code"), [pytest.param(50, 0, marks=pytest.mark.thorough), (51, 2)])
def test_many_files_are_posted_in_seconds_or_refused(post, count, code):
    before = {f"net{number}.py": b"1\n" * 20_000 for number in range(count)}
    after = {name: text + b"x = 1\n" for name, text in before.items()}

    result, seconds, _ = post(before, after, findings=[finding(path=name) for name in before])

    assert result.code == code, result.stderr
    assert code == 0 or "the patch changes 51 files, which is more than a review can show" in result.stderr
    assert seconds < LIMIT_S


def test_many_comments_are_read_in_seconds(post, github, monkeypatch):
    monkeypatch.setattr("bot.github_server._PER_PAGE", 100)
    number = 101
    for _ in range(400):
        github.say(number, "<!-- devfix:review -->" * 1000)
        github.say(number, "<!-- devfix:suggestion=" * 1000, BOT)
    github.next = 100

    result, seconds, made = post({"net.py": b"x\n"}, {"net.py": b"y\n"}, findings=[finding()])

    assert (result.code, made) == (0, number), result.stderr
    assert seconds < LIMIT_S


def test_a_configuration_that_is_nested_too_deeply_is_told():
    with pytest.raises(ConfigError, match="too deeply nested"):
        parse_settings(b"[tool.devfix.bot]\nlabels = " + b"[" * 100_000)
