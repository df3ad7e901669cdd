// Tests that on a Node.js that is too old, `worker` fails with a message that has the required version, and that the
// library's files do not fail there with another error first.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sources } from "./command.ts";

const root = join(import.meta.dirname, "../..");
const { libraryFiles } = await import(join(root, "build/library-files.mjs"));

/** Runs `worker --version` in a process whose `process.versions.node` is `version`. */
function runAs(version: string) {
  const versions = `{ ...process.versions, node: ${JSON.stringify(version)} }`;
  const preload = `Object.defineProperty(process, "versions", { value: ${versions} })`;
  const args = ["--import", `data:text/javascript,${encodeURIComponent(preload)}`, ...sources];
  return spawnSync(process.execPath, [...args, "--version"], { encoding: "utf8" });
}

test("On a Node.js that is too old, the command fails with a message that has this version and the required one.", () => {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const needed = engines.node.replace(">=", "");
  for (const version of ["18.20.4", "20.19.0", "22.14.9"]) {
    const result = runAs(version);
    assert.equal(
      result.stderr,
      `worker: this is Node.js ${version}, and worker needs ${needed} or later\n`,
    );
    assert.deepEqual([result.status, result.stdout], [1, ""]);
  }
  for (const version of [`${needed}.0`, "24.0.0"]) assert.equal(runAs(version).status, 0);
});

const newer = /import\s*{[^}]*\bgetCACertificates\b[^}]*}\s*from\s*"node:tls"/;

test("The library's files do not import getCACertificates: on Node.js 20, which lacks it, the import would fail before the library can name the required version.", () => {
  const current = [...(libraryFiles() as Set<string>)].map((name) => `library/${name}`);
  for (const name of ["index.js", ...current]) {
    assert.doesNotMatch(readFileSync(join(root, "dist", name), "utf8"), newer, name);
  }
});
