/** The extension: starts `devfix lsp`, and restarts it when the settings or the environment change. */

import { homedir } from "node:os";
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions, State } from "vscode-languageclient/node";
import { type Launch, launch, serverSettings, startFailure } from "./launch";
import { onEnvironmentChange, selectedInterpreter } from "./python";

const SECTION = "devfix";
const LAUNCH_SETTINGS = ["devfix.path", "devfix.interpreter"];
const OPEN_PROOF = "devfix.openProof";

/** What the extension's tests look at. */
export interface Api {
  readonly state: () => State | undefined;
}

/** Runs one server at a time. */
class Runner {
  private client: LanguageClient | undefined;
  private queue: Promise<void> = Promise.resolve();

  /** Take the folder of the extension, in which no module of a workspace is imported, and the log. */
  constructor(
    private readonly cwd: string,
    readonly output: vscode.LogOutputChannel,
  ) {}

  get state(): State | undefined {
    return this.client?.state;
  }

  /** Start the server, after the running one has stopped. Calls are processed one after the other. */
  restart(): Promise<void> {
    this.queue = this.queue.then(() => this.stopNow()).then(() => this.startNow());
    return this.queue;
  }

  stop(): Promise<void> {
    this.queue = this.queue.then(() => this.stopNow());
    return this.queue;
  }

  private async startNow(): Promise<void> {
    const chosen = await this.chooseLaunch();
    this.output.info(`starting ${[chosen.command, ...chosen.args].join(" ")} (from ${chosen.source})`);
    const server: ServerOptions = { command: chosen.command, args: [...chosen.args], options: { cwd: this.cwd } };
    const client = new LanguageClient(SECTION, "devfix", server, this.clientOptions());
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.tell(startFailure(chosen, error instanceof Error ? error.message : String(error)));
    }
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      this.output.warn(`the server did not stop cleanly: ${String(error)}`); // it had not started, or had ended
    }
  }

  private async chooseLaunch(): Promise<Launch> {
    const settings = vscode.workspace.getConfiguration(SECTION);
    // in a workspace that is not trusted, the environment may be the workspace's own
    const environment = vscode.workspace.isTrusted ? await selectedInterpreter(this.cwd) : undefined;
    const offer = { path: settings.get("path", ""), interpreter: settings.get("interpreter", ""), environment };
    return launch(offer, homedir());
  }

  private clientOptions(): LanguageClientOptions {
    return {
      documentSelector: ["file", "untitled"].map((scheme) => ({ scheme, language: "python" })),
      outputChannel: this.output,
      middleware: {
        executeCommand: async (command, args, next) => {
          if (command === OPEN_PROOF && !vscode.workspace.isTrusted) {
            void vscode.window.showWarningMessage("devfix: a proof runs the script; trust this workspace first.");
            return undefined;
          }
          return next(command, args);
        },
        workspace: {
          configuration: async (params, token, next) => {
            const found = await next(params, token);
            return Array.isArray(found) ? found.map(serverSettings) : found;
          },
        },
      },
    };
  }

  private tell(message: string): void {
    this.output.error(message);
    void vscode.window.showErrorMessage(message, "Open Settings", "Show Output").then((choice) => {
      if (choice === "Open Settings") {
        void vscode.commands.executeCommand("workbench.action.openSettings", "devfix.path");
      } else if (choice === "Show Output") {
        this.output.show();
      }
    });
  }
}

let runner: Runner | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<Api> {
  const output = vscode.window.createOutputChannel("devfix", { log: true });
  const running = new Runner(context.extensionUri.fsPath, output);
  runner = running;
  const restart = (): Promise<void> => running.restart();
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand("devfix.restart", restart),
    vscode.commands.registerCommand("devfix.showOutput", () => output.show()),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (LAUNCH_SETTINGS.some((name) => event.affectsConfiguration(name))) {
        void restart();
      }
    }),
  );
  if (vscode.workspace.isTrusted) {
    const listening = await onEnvironmentChange(restart);
    if (listening) {
      context.subscriptions.push(listening);
    }
  }
  await restart();
  return { state: () => running.state };
}

export async function deactivate(): Promise<void> {
  await runner?.stop();
}
