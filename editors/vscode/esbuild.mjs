// Bundles the extension into dist/; with --tests, the tests into build/test/.
import { build } from "esbuild";
import { copyFileSync, readdirSync } from "node:fs";

const common = { bundle: true, platform: "node", target: "node20", format: "cjs", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
  await build({ ...common, entryPoints: tests.map((name) => `test/${name}`), outdir: "build/test" });
} else {
  await build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    external: ["vscode"], // provided by the editor
    minify: true,
  });
  copyFileSync("../../LICENSE", "LICENSE"); // the package needs one
}
