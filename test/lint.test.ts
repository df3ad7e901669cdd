// The linter's rules on promises need type information. A change of the linter or its configuration can disable
// these rules without an error, so this test checks that they still report two misuses of promises.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");

test("The linter finds a promise that is not awaited, and a promise that is used as a condition.", () => {
  const project = mkdtempSync(join(tmpdir(), "worker-lint-"));
  try {
    copyFileSync(join(root, "biome.json"), join(project, "biome.json"));
    writeFileSync(join(project, "work.ts"), "export async function work(): Promise<void> {}\n");
    const bad = 'import { work } from "./work.ts";\n\nwork();\nif (work()) console.log("done");\n';
    writeFileSync(join(project, "bad.ts"), bad);
    const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
    const args = [biome, "lint", "--reporter=github"];
    const { stdout } = spawnSync(process.execPath, args, { cwd: project, encoding: "utf8" });
    const found = [...stdout.matchAll(/title=lint\/\w+\/(\w+),.*?line=(\d+)/g)];
    assert.deepEqual(
      found.map(([, rule, line]) => `${rule} in line ${line}`),
      ["noFloatingPromises in line 3", "noMisusedPromises in line 4"],
    );
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
});
