"""The server as the MCP inspector sees it: ``nox -s inspector`` installs its command line from npm."""

import json
import os
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("mcp")
INSPECTOR = os.environ.get("DEVFIX_INSPECTOR", "")
pytestmark = pytest.mark.skipif(not INSPECTOR, reason="DEVFIX_INSPECTOR is not set: nox -s inspector")


@pytest.fixture
def inspect(tmp_path):
    (tmp_path / "train.py").write_text("import torch\n\nprint(torch.ones(2, device='cuda') + torch.ones(2))\n")

    def call(method, *words):
        server = (sys.executable, "-m", "devfix", "mcp")
        command = [shutil.which("node") or "node", INSPECTOR, "--cli", *server, "--method", method, *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return call


def test_it_lists_tools_with_schemas(inspect):
    tools = inspect("tools/list")["tools"]

    assert [tool["name"] for tool in tools] == ["diagnose", "check", "apply", "port_plan", "verify", "explain"]
    assert all(tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object" for tool in tools)


def test_it_calls_a_tool(inspect):
    answer = inspect("tools/call", "--tool-name", "check", "--tool-arg", 'paths=["train.py"]')

    assert answer["structuredContent"]["findings"][0]["code"] == "DEV102"
    assert json.loads(answer["content"][0]["text"]) == answer["structuredContent"]


def test_it_sees_a_refusal_as_an_error_of_the_tool(inspect):
    answer = inspect("tools/call", "--tool-name", "check", "--tool-arg", 'paths=["../other.py"]')

    assert answer["isError"]
    assert "outside the served folders" in answer["content"][0]["text"]


def test_it_reads_the_resources(inspect):
    (listed,) = inspect("resources/list")["resources"]
    (template,) = inspect("resources/templates/list")["resourceTemplates"]
    (content,) = inspect("resources/read", "--uri", template["uriTemplate"].format(code="DEV201"))["contents"]

    assert (listed["uri"], content["mimeType"]) == ("devfix://rules", "text/markdown")
    assert "replaced-submodule" in content["text"]
