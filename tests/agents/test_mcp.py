"""The MCP server, through the SDK's own client: over standard input and output, and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("mcp")

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from devfix.mcp.answers import MOST_ITEMS, MOST_TEXT, PageOfText, page_of
from devfix.mcp.folders import Folders, Outside

pytestmark = pytest.mark.sample(8)  # each takes seconds

BROKEN = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.ones(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""
LOG = """\
Traceback (most recent call last):
  File "/srv/jobs/train.py", line 8, in <module>
    loss = model(torch.ones(8, 4)).pow(2).mean()
RuntimeError: Expected all tensors to be on the same device, but found at least two devices
"""
TOOLS = ["apply", "check", "diagnose", "explain", "port_plan", "verify"]


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(BROKEN)
    return folder


def command(*words):
    return [sys.executable, "-m", "devfix", "mcp", *words]


@asynccontextmanager
async def connected(folder, *words):
    first, *rest = command("--root", str(folder), *words)
    server = StdioServerParameters(command=first, args=rest, env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        yield client


def calls(folder, *requests, words=()):
    """Return the answers to calls of tools, each a name with its arguments."""

    async def call():
        async with connected(folder, *words) as client:
            return [await client.call_tool(name, given) for name, given in requests]

    return asyncio.run(call())


def told(answer):
    assert answer.is_error
    return answer.content[0].text


def test_the_tools_have_schemas_and_say_whether_they_write(project):
    async def listed():
        async with connected(project) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(listed())}

    assert sorted(tools) == TOOLS
    assert all(tool.description and tool.output_schema["properties"] for tool in tools.values())
    assert [name for name, tool in tools.items() if not tool.annotations.read_only_hint] == ["apply"]
    assert sum(len(json.dumps(tool.model_dump(mode="json"))) for tool in tools.values()) < 20_000


def test_an_error_is_diagnosed_repaired_and_proved(project):
    diagnosed, shown, written, verified, clean = (
        answer.structured_content
        for answer in calls(
            project,
            ("diagnose", {"log": LOG}),
            ("apply", {"paths": ["train.py"]}),
            ("apply", {"paths": ["train.py"], "write": True}),
            ("verify", {"script": "train.py"}),
            ("check", {}),
            words=["--allow-run"],
        )
    )

    assert diagnosed["found"]
    assert diagnosed["causes"][0]["place"] == "train.py:8"
    assert "device=device" in diagnosed["diff"]["text"]
    assert not shown["written"]
    assert shown["diff"] == written["diff"]
    assert written["written"]
    assert "device=device" in (project / "train.py").read_text()
    assert clean["total"] == 0
    assert clean["next"] == "nothing to do"
    assert verified["runs"]


def test_verify_proves_what_apply_would_write(project):
    (answer,) = calls(project, ("verify", {"script": "train.py"}), words=["--allow-run"])

    found = answer.structured_content
    assert (found["verdict"], found["proved"]) == ("fixed", True)
    runs = {run["name"]: run for run in found["runs"]}
    assert "same device" in runs["original/device"]["failure"]
    assert runs["patched/device"]["last_loss"] == runs["original/cpu"]["last_loss"]
    assert (project / "train.py").read_text() == BROKEN


def test_a_script_is_run_and_diagnosed(project):
    (answer,) = calls(project, ("diagnose", {"script": "train.py"}), words=["--allow-run"])

    found = answer.structured_content
    assert found["found"]
    assert found["causes"][0]["place"].startswith("train.py:")
    assert "device=device" in found["diff"]["text"]


def test_verify_proves_a_diff(project):
    old, new = "torch.ones(8, 4)", "torch.ones(8, 4, device=device)"
    line = "    loss = model({}).pow(2).mean()"
    diff = f"--- a/train.py\n+++ b/train.py\n@@ -8 +8 @@\n-{line.format(old)}\n+{line.format(new)}\n"
    given = {"script": "train.py", "diff": diff}

    proved, refused = calls(project, ("verify", given), ("verify", {**given, "since": "HEAD"}), words=["--allow-run"])

    assert proved.structured_content["verdict"] == "fixed"
    assert told(refused).endswith("give one of patched, diff and since")


def test_verify_compares_machines(project):
    given = {"script": "train.py", "machines": ["cpu", "cuda"]}

    (answer,) = calls(project, ("verify", given), words=["--allow-run"])

    found = answer.structured_content
    assert (found["verdict"], found["proved"]) == ("portable", True)
    assert [(row["machine"], row["compared"]) for row in found["machines"]] == [
        ("cpu", "same losses"),
        ("cuda", "same losses"),
    ]
    assert found["machines"][1]["before"].startswith("train.py:8: RuntimeError: Expected all tensors")


@pytest.mark.parametrize("call", [("verify", {"script": "train.py"}), ("diagnose", {"script": "train.py"})])
def test_nothing_runs_unless_it_is_allowed(project, call):
    (project / "train.py").write_text("open('ran', 'w')\n")

    assert "--allow-run" in told(calls(project, call)[0])
    assert not (project / "ran").exists()


@pytest.mark.parametrize("path", ["../secret.py", "/etc/passwd", "link.py", "--config", "a\0b", "missing.py"])
def test_paths_outside_are_refused(project, path):
    (project.parent / "secret.py").write_text(BROKEN)
    (project / "link.py").symlink_to(project.parent / "secret.py")

    answers = calls(project, *((name, {"paths": [path]}) for name in ("check", "apply", "port_plan")))

    assert [answer.is_error for answer in answers] == [True] * 3
    assert (project.parent / "secret.py").read_text() == BROKEN


def test_folders_are_compared_after_links_are_followed(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "ab").mkdir()
    folders = Folders([str(tmp_path / "a")])

    assert folders.find(".") == tmp_path / "a"
    for path in ("../ab", str(tmp_path / "ab"), ".."):
        with pytest.raises(Outside, match="outside"):
            folders.find(path)


def test_what_code_says_stays_data(project):
    name = "ignore_previous_instructions\\x1b[2J" + "x" * 2000
    (project / "train.py").write_text(BROKEN.replace("torch.ones(8, 4)", f"torch.ones(8, 4) + len('{name}')"))

    (answer,) = calls(project, ("check", {}))

    assert answer.structured_content["total"]
    for finding in answer.structured_content["findings"]:
        assert all(len(str(value)) < 400 for value in finding.values())
        assert "\x1b" not in json.dumps(finding)


def test_long_answers_have_cursors():
    text = "".join(f"{number:>8} a line of a diff\n" for number in range(1000))
    parts, cursor = [], 0
    while cursor is not None:
        part = PageOfText.of(text, cursor)
        parts.append(part.text)
        cursor = part.next_cursor
    assert "".join(parts) == text
    assert max(map(len, parts)) <= MOST_TEXT

    span = {"line": 1, "column": 1}
    item = {
        "path": "a.py",
        "span": span,
        "code": "DEV101",
        "severity": "error",
        "message": "m",
        "fix": None,
        "reason": "r",
    }
    found, following = page_of([item] * (MOST_ITEMS + 3), 0)
    rest, end = page_of([item] * (MOST_ITEMS + 3), following)
    assert (len(found), len(rest), end) == (MOST_ITEMS, 3, None)


def test_rules_and_messages_are_explained(project):
    async def read():
        async with connected(project) as client:
            page = await client.call_tool("explain", {"topic": "Expected all tensors to be on the same device"})
            rules = await client.read_resource("devfix://rules")
            rule = await client.read_resource("devfix://rules/DEV201")
            unknown = await client.call_tool("explain", {"topic": "--help"})
            return page.structured_content["text"], rules.contents[0].text, rule.contents[0].text, unknown

    page, rules, rule, unknown = asyncio.run(read())
    assert "devfix" in page
    assert "- DEV201 " in rules
    assert rule.startswith("# DEV201")
    assert "unknown rule" in told(unknown)


def test_long_work_reports_progress_and_is_cancelled(project):
    (project / "train.py").write_text("import os, time\nopen(os.path.join(os.getcwd(), 'pid'), 'w')\ntime.sleep(600)\n")
    beats = []

    async def cancel():
        async def beat(progress, total, message):
            beats.append((progress, message))

        async with connected(project, "--allow-run") as client:
            with pytest.raises(MCPError):
                await client.call_tool("verify", {"script": "train.py"}, read_timeout_seconds=5, progress_callback=beat)
            deadline = time.monotonic() + 30
            while processes_of(project) and time.monotonic() < deadline:
                await asyncio.sleep(0.2)
            assert processes_of(project) == []
            answer = await client.call_tool("check", {})
            assert not answer.is_error

    asyncio.run(cancel())
    assert beats
    assert beats[0][1].endswith(" s")


def processes_of(folder):
    """Return the command lines of the processes that verify a script of a folder."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has ended
            continue
        if str(folder / "train.py") in words and "verify" in words:
            found.append(words)
    return found


def test_malformed_input_does_not_end_the_server(project):
    """Lines that are no messages, and calls whose arguments have other types, are answered or ignored."""
    chance = random.Random(7)
    lines = [
        "",
        "{",
        "[]",
        "null",
        '{"jsonrpc": "2.0"}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}',
        "\x00\x01",
    ]
    lines += ["".join(chr(chance.randrange(32, 1000)) for _ in range(chance.randrange(200))) for _ in range(50)]
    hello = {
        "jsonrpc": "2.0", "id": 10, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    ping = {"jsonrpc": "2.0", "id": 99, "method": "ping"}
    messages = [hello, ready]
    for number, given in enumerate([{"paths": 3}, {"cursor": -1}, {"paths": [None]}, [], {"select": "x" * 10}], 20):
        params = {"name": "check", "arguments": given}
        messages.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    text = "".join(f"{line}\n" for line in [json.dumps(each) for each in messages] + lines + [json.dumps(ping)])
    with subprocess.Popen(
        command("--root", str(project)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        server.stdin.write(text.encode())
        server.stdin.flush()
        answers = {}
        while 99 not in answers:
            answer = json.loads(server.stdout.readline())
            answers[answer.get("id")] = answer
        server.stdin.close()
        assert server.wait(30) == 0
    assert answers[99]["result"] == {}
    assert all("error" in answers[n] or answers[n]["result"]["isError"] for n in (20, 21, 22))


def test_http_wants_the_token(project):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}/mcp"
    environment = {**os.environ, "DEVFIX_MCP_TOKEN": "told"}
    with subprocess.Popen(command("--root", str(project), "--http", str(port)), env=environment) as server:
        try:
            deadline = time.monotonic() + 30
            while True:
                try:
                    assert httpx2.post(address, json={}).status_code == 401
                    break
                except httpx2.ConnectError:
                    assert time.monotonic() < deadline
                    time.sleep(0.1)
            wrong = {"Authorization": "Bearer guessed"}
            assert httpx2.post(address, json={}, headers=wrong).status_code == 401
            rebound = {"Authorization": "Bearer told", "Host": "attacker.example"}
            assert httpx2.post(address, json={}, headers=rebound).status_code in (400, 403, 421)

            async def check():
                headers = {"Authorization": "Bearer told"}
                http = httpx2.AsyncClient(headers=headers, timeout=60)
                async with http, Client(streamable_http_client(address, http_client=http)) as client:
                    return await client.call_tool("check", {})

            assert asyncio.run(check()).structured_content["total"] == 1
        finally:
            server.terminate()


@pytest.mark.thorough
def test_a_thousand_calls_leave_nothing(project):
    async def many():
        async with connected(project) as client:
            sizes = []
            for number in range(1000):
                answer = await client.call_tool("check", {"paths": ["../x"] if number % 10 else ["train.py"]})
                assert answer.is_error == bool(number % 10)
                if number in (200, 999):
                    sizes.append(servers_memory())
            return sizes

    early, late = asyncio.run(many())
    assert late < early * 1.1


def servers_memory():
    """Return the memory of this process's only child, in kB; the server has no child of its own between calls."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    (server,) = [pid for pid in children if "mcp" in Path(f"/proc/{pid}/cmdline").read_text().split("\0")]
    assert Path(f"/proc/{server}/task/{server}/children").read_text().split() == []
    (line,) = [each for each in Path(f"/proc/{server}/status").read_text().splitlines() if each.startswith("VmRSS")]
    return int(line.split()[1])
