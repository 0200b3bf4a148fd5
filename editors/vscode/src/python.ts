/** The environment that is selected in the Python extension, if that extension is installed. */

import { execFile } from "node:child_process";
import * as vscode from "vscode";

const PYTHON_EXTENSION = "ms-python.python";
const TIMEOUT_MS = 10_000;

/** The part of the Python extension's API that is used here. */
interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(environment: {
      readonly path: string;
    }): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

async function pythonApi(): Promise<PythonApi | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>(PYTHON_EXTENSION);
  return extension && (extension.isActive ? extension.exports : await extension.activate());
}

/** Return the selected interpreter if devfix is installed for it. */
export async function selectedInterpreter(cwd: string): Promise<string | undefined> {
  const environments = (await pythonApi())?.environments;
  if (!environments) {
    return undefined;
  }
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const found = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
  const interpreter = found?.executable.uri?.fsPath;
  return interpreter && (await hasDevfix(interpreter, cwd)) ? interpreter : undefined;
}

/** Call a listener whenever another environment is selected. */
export async function onEnvironmentChange(listener: () => void): Promise<vscode.Disposable | undefined> {
  return (await pythonApi())?.environments.onDidChangeActiveEnvironmentPath(listener);
}

function hasDevfix(interpreter: string, cwd: string): Promise<boolean> {
  return new Promise((resolve) => {
    const program = "import importlib.util, sys; sys.exit(importlib.util.find_spec('devfix') is None)";
    execFile(interpreter, ["-c", program], { cwd, timeout: TIMEOUT_MS }, (error) => resolve(error === null));
  });
}
