import assert from "node:assert/strict";
import { test } from "node:test";
import { launch, serverSettings, startFailure } from "../src/launch";

const NOTHING = { path: "", interpreter: "" };

test("an explicit path comes first", () => {
  const found = launch({ path: "~/bin/devfix", interpreter: "/a/python", environment: "/b/python" }, "/home/u");

  assert.deepEqual(found, { command: "/home/u/bin/devfix", args: ["lsp"], source: "devfix.path" });
});

test("an explicit interpreter comes before the selected environment", () => {
  const found = launch({ ...NOTHING, interpreter: "/a/python", environment: "/b/python" }, "/home/u");

  assert.deepEqual(found, { command: "/a/python", args: ["-m", "devfix", "lsp"], source: "devfix.interpreter" });
});

test("the selected environment comes before PATH", () => {
  assert.equal(launch({ ...NOTHING, environment: "/b/python" }, "/home/u").command, "/b/python");
});

test("without any of them, PATH", () => {
  assert.deepEqual(launch(NOTHING, "/home/u"), { command: "devfix", args: ["lsp"], source: "PATH" });
});

test("a tilde inside a path is kept", () => {
  assert.equal(launch({ ...NOTHING, path: "/opt/~/devfix" }, "/home/u").command, "/opt/~/devfix");
});

test("settings of the extension are not sent to the server", () => {
  const section = { path: "x", interpreter: "", trace: { server: "off" }, severity: "latent", select: ["DEV1"] };

  assert.deepEqual(serverSettings(section), { severity: "latent", select: ["DEV1"] });
});

test("a section that is not set stays as it is", () => {
  assert.equal(serverSettings(null), null);
});

test("a failure names the program, where it comes from, and what to do", () => {
  const message = startFailure(launch(NOTHING, "/home/u"), "spawn devfix ENOENT");

  assert.match(message, /\(devfix, from PATH\): spawn devfix ENOENT\. Install it with pip install 'devfix\[lsp\]'/);
});
