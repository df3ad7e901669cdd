// The README's programs, each as a reader would copy it: a file of its own in a project that has
// the package, type-checked, and run on a database with nothing in it until it ends by itself.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { emptyDatabase } from "./support/database.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");
const LONGEST_RUN_MS = 30_000;

const project = mkdtempSync(join(tmpdir(), "worker-readme-"));
after(() => rmSync(project, { recursive: true, force: true }));
mkdirSync(join(project, "node_modules"));
for (const name of ["pg", "@types"]) {
  symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name));
}
symlinkSync(root, join(project, "node_modules/pg-job-worker"));

const readme = readFileSync(join(root, "README.md"), "utf8");
const programs = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text]) => String(text));
const files = programs.map((text, place) => {
  const file = join(project, `program-${place + 1}.mts`);
  writeFileSync(file, text);
  return file;
});

/** What each prints, in the order of the README. */
const prints = [
  /^mail to ada@example\.com\ncompleted\n$/,
  /^http:\/\/127\.0\.0\.1:\d+\/ [\w-]{20,}\n$/,
];

test("The README's programs pass the strict type check.", async () => {
  const compilerOptions = { strict: true, noEmit: true, module: "nodenext", target: "es2024" };
  const config = JSON.stringify({
    compilerOptions: { ...compilerOptions, types: ["node"] },
    files,
  });
  writeFileSync(join(project, "tsconfig.json"), config);
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  await run(process.execPath, [tsc, "-p", project]).catch(({ stdout }) => assert.fail(stdout));
});

test("There is an expectation for every program of the README.", () => {
  assert.equal(programs.length, prints.length);
});

for (const [place, expected] of prints.entries()) {
  test(`Program ${place + 1} of the README runs on an empty database and ends by itself.`, async () => {
    const { url } = await emptyDatabase();
    const { stdout, stderr } = await run(process.execPath, [files[place] ?? ""], {
      env: { ...process.env, DATABASE_URL: url },
      timeout: LONGEST_RUN_MS,
    });
    assert.match(stdout, expected, stderr);
  });
}
