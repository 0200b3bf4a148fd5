"""Latency of the language server: from a keystroke to its diagnostics, in a file of 1,000 lines, over pipes.

Each keystroke changes the file so that a finding comes or goes; the time runs until the diagnostics of that version are
there, the server's rest included.  Exits with 1 where the median is above the limit.
Run: ``python benchmarks/lsp.py [rounds]``.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

LIMIT_MS = 150.0
LINES = 1_000

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""
STAGE = """

class Block{n}(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        hidden = self.second(hidden) * self.scale
        return x + hidden


def train{n}(epochs):
    model = Block{n}(8).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(TensorDataset(torch.randn(64, 8), torch.randn(64, 8)), batch_size=8)
    for epoch in range(epochs):
        for inputs, targets in loader:
            inputs, targets = inputs.to(device), targets.to(device)
            loss = nn.functional.mse_loss(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())
    return model
"""
LAST = """

model = train0(3)
print(model(torch.ones(3, 8, device=device)))
"""


def program() -> str:
    """Return a program of about a thousand lines: models and their training, without dead code."""
    stages = (LINES - HEAD.count("\n") - LAST.count("\n")) // (STAGE.count("\n") + 1)
    calls = "".join(f"train{n}({n + 1})\n" for n in range(stages))
    return HEAD + "".join(STAGE.format(n=n) for n in range(stages)) + "\n\n" + calls + LAST


async def measure(rounds: int) -> list[float]:
    """Return the latency of each keystroke in seconds."""
    text = program()
    line = text.count("\n") - 1
    column = text.splitlines()[line].index(", device=device")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.py").resolve()
        path.write_text(text)
        client, arrived = LanguageClient("bench", "1"), asyncio.Queue[types.PublishDiagnosticsParams]()

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish_diagnostics(params: types.PublishDiagnosticsParams) -> None:
            arrived.put_nowait(params)

        await client.start_io(sys.executable, "-m", "devfix", "lsp")
        publish = types.PublishDiagnosticsClientCapabilities(version_support=True)
        able = types.ClientCapabilities(text_document=types.TextDocumentClientCapabilities(publish_diagnostics=publish))
        root = types.WorkspaceFolder(path.parent.as_uri(), "bench")
        await client.initialize_async(types.InitializeParams(able, workspace_folders=[root]))
        client.initialized(types.InitializedParams())
        item = types.TextDocumentItem(path.as_uri(), "python", 0, text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await arrived.get()
        taken = [await _keystroke(client, arrived, path.as_uri(), n, line, column) for n in range(1, rounds + 1)]
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()
        return taken


async def _keystroke(
    client: LanguageClient,
    arrived: asyncio.Queue[types.PublishDiagnosticsParams],
    uri: str,
    version: int,
    line: int,
    column: int,
) -> float:
    away = version % 2 == 1  # first the argument is taken away, then it is put back
    start, end = types.Position(line, column), types.Position(line, column + (len(", device=device") if away else 0))
    change = types.TextDocumentContentChangePartial(types.Range(start, end), "" if away else ", device=device")
    began = time.perf_counter()
    identifier = types.VersionedTextDocumentIdentifier(version, uri)
    client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
    while True:
        shown = await arrived.get()
        if shown.version == version:
            break
    taken = time.perf_counter() - began
    assert bool(shown.diagnostics) is away, shown.diagnostics
    return taken


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    taken = [1000 * each for each in asyncio.run(measure(rounds))[2:]]  # the first ones are not warm
    median, worst = statistics.median(taken), max(taken)
    lines = program().count("\n")
    print(
        f"{lines} lines, {len(taken)} keystrokes: median {median:.0f} ms (limit {LIMIT_MS:.0f}), worst {worst:.0f} ms"
    )
    return int(median > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
