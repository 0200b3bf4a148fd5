/** The real server, started as the extension starts it. DEVFIX_PYTHON names an interpreter with devfix[lsp]. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  type CodeAction,
  CodeActionRequest,
  ConfigurationRequest,
  createProtocolConnection,
  DidOpenTextDocumentNotification,
  ExitNotification,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  PublishDiagnosticsNotification,
  type PublishDiagnosticsParams,
  RegistrationRequest,
  ShowMessageNotification,
  ShutdownRequest,
} from "vscode-languageserver-protocol/node";
import { launch, serverSettings } from "../src/launch";

const PYTHON = process.env["DEVFIX_PYTHON"] ?? "python3";
const BROKEN = `import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
x = torch.randn(8, 4)
print(model(x))
`;

/** The values that the editor sends if the user sets nothing: the defaults of package.json. */
function defaults(): Record<string, unknown> {
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  const properties: Record<string, { default: unknown }> = manifest.contributes.configuration.properties;
  return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key.split(".")[1] ?? key, value.default]));
}

async function ended(server: ChildProcess): Promise<unknown> {
  return server.exitCode ?? (await once(server, "exit"))[0];
}

test("the server reports a device mismatch, offers the fix, and ends cleanly", { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "devfix-"));
  const file = join(folder, "train.py");
  await writeFile(file, BROKEN);
  const uri = pathToFileURL(file).toString();
  const chosen = launch({ path: "", interpreter: PYTHON }, "");
  const server = spawn(chosen.command, [...chosen.args], { cwd: process.cwd(), stdio: ["pipe", "pipe", "inherit"] });
  try {
    const connection = createProtocolConnection(server.stdout, server.stdin);
    const messages: string[] = [];
    connection.onRequest(ConfigurationRequest.type, ({ items }) => items.map(() => serverSettings(defaults())));
    connection.onRequest(RegistrationRequest.type, () => undefined);
    connection.onNotification(ShowMessageNotification.type, ({ message }) => void messages.push(message));
    const published = new Promise<PublishDiagnosticsParams>((resolve) => {
      connection.onNotification(PublishDiagnosticsNotification.type, (params) => {
        if (params.diagnostics.length > 0) {
          resolve(params);
        }
      });
    });
    connection.listen();
    await connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri: null,
      workspaceFolders: [{ uri: pathToFileURL(folder).toString(), name: "project" }],
      capabilities: {
        workspace: { configuration: true, workspaceFolders: true, workspaceEdit: { documentChanges: true } },
        textDocument: { codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } } } },
      },
    });
    await connection.sendNotification(InitializedNotification.type, {});
    await connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: "python", version: 1, text: BROKEN },
    });

    const found = await published;
    const diagnostic = found.diagnostics[0];
    assert.ok(diagnostic);
    const context = { diagnostics: [diagnostic] };
    const range = diagnostic.range;
    const actions = await connection.sendRequest(CodeActionRequest.type, { textDocument: { uri }, range, context });
    const hover = await connection.sendRequest(HoverRequest.type, {
      textDocument: { uri },
      position: { line: 6, character: 6 },
    });
    await connection.sendRequest(ShutdownRequest.type);
    await connection.sendNotification(ExitNotification.type);

    assert.deepEqual(found.diagnostics.map(({ code, source }) => [code, source]), [["DEV102", "devfix"]]);
    const edits = (actions as CodeAction[]).map(({ edit }) => JSON.stringify(edit ?? null));
    assert.ok(edits.some((edit) => edit.includes("device")), edits.join("\n"));
    assert.match(JSON.stringify(hover), /accelerator/);
    assert.deepEqual(messages, []);
    assert.equal(await ended(server), 0);
  } finally {
    server.kill();
    await rm(folder, { recursive: true });
  }
});
