"""The configurations of docs/how-to/mcp-clients.md: the SDK's client starts each server and calls a tool."""

import asyncio
import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

PAGE = (Path(__file__).parents[2] / "docs/how-to/mcp-clients.md").read_text(encoding="utf-8")
LOG = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"


def configurations():
    """Yield each client with the command that its configuration starts."""
    for line in re.findall(r"^    (claude mcp add .*)$", PAGE, re.MULTILINE):
        yield pytest.param(shlex.split(line.partition(" -- ")[2]), id="Claude Code")
    for file, text in re.findall(r"`(\.\w+/mcp\.json)`.*?```json\n(.*?)```", PAGE, re.DOTALL):
        servers = next(iter(json.loads(text).values()))
        assert list(servers) == ["devfix"]
        yield pytest.param([servers["devfix"]["command"], *servers["devfix"]["args"]], id=file)


CONFIGURATIONS = list(configurations())


def test_three_clients_are_configured():
    assert [each.id for each in CONFIGURATIONS] == ["Claude Code", ".cursor/mcp.json", ".vscode/mcp.json"]


@pytest.mark.parametrize("words", CONFIGURATIONS)
def test_a_configured_server_answers(words, tmp_path):
    assert words[:2] == ["devfix", "mcp"]
    words = [word.replace("${workspaceFolder}", str(tmp_path)) for word in words]

    async def call():
        server = StdioServerParameters(
            command=sys.executable, args=["-m", *words], env=dict(os.environ), cwd=str(tmp_path)
        )
        async with Client(stdio_client(server)) as client:
            return await client.call_tool("diagnose", {"log": LOG})

    answer = asyncio.run(call()).structured_content

    assert (answer["found"], answer["causes"]) == (True, [])
