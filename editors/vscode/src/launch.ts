/** Selection of the program that serves, and of the settings that it knows. Imports nothing of the editor. */

/** What the user's settings and environment offer. */
export interface Offer {
  /** `devfix.path`; empty if unset. */
  readonly path: string;
  /** `devfix.interpreter`; empty if unset. */
  readonly interpreter: string;
  /** The interpreter of the Python extension, if devfix is installed for it. */
  readonly environment?: string;
}

/** A program, its arguments, and the setting or the place that it comes from. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly source: string;
}

/** Settings that concern the extension only; the server refuses unknown keys. */
const OWN_SETTINGS: ReadonlySet<string> = new Set(["path", "interpreter", "trace"]);

/** Return the program that serves: an explicit setting, else the selected environment, else `PATH`. */
export function launch(offer: Offer, home: string): Launch {
  if (offer.path) {
    return { command: expandHome(offer.path, home), args: ["lsp"], source: "devfix.path" };
  }
  if (offer.interpreter) {
    return { ...withInterpreter(expandHome(offer.interpreter, home)), source: "devfix.interpreter" };
  }
  if (offer.environment) {
    return { ...withInterpreter(offer.environment), source: "the selected Python environment" };
  }
  return { command: "devfix", args: ["lsp"], source: "PATH" };
}

function withInterpreter(interpreter: string): Omit<Launch, "source"> {
  return { command: interpreter, args: ["-m", "devfix", "lsp"] };
}

function expandHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? home + path.slice(1) : path;
}

/** Return the settings under `devfix` without those of the extension. */
export function serverSettings(section: unknown): unknown {
  if (typeof section !== "object" || section === null || Array.isArray(section)) {
    return section;
  }
  return Object.fromEntries(Object.entries(section).filter(([key]) => !OWN_SETTINGS.has(key)));
}

/** Return the message for a server that did not start. */
export function startFailure(launch: Launch, reason: string): string {
  return `devfix did not start (${launch.command}, from ${launch.source}): ${reason}. Install it with pip install 'devfix[lsp]', or set devfix.path.`;
}
