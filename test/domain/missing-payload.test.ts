// The compiler's message for a call without a required payload.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const root = join(import.meta.dirname, "../..");
const directory = mkdtempSync(join(tmpdir(), "worker-types-"));
after(() => rmSync(directory, { recursive: true }));

/** Returns the compiler's messages for each call of addJob. Each call is in a file of its own. */
function compilerErrors(calls: readonly string[]): string[] {
  const files = calls.map((call, at) => {
    const file = join(directory, `call-${at}.mts`);
    writeFileSync(
      file,
      `import type { AddJob, TaskLike } from "${join(root, "src/domain/typed-job.ts")}";
      declare const addJob: AddJob<string>;
      declare const mail: TaskLike<{ to: string }>;
      declare const sync: TaskLike<undefined>;
      export const added: Promise<string> = ${call};
      export const tasks = [mail, sync];\n`,
    );
    return file;
  });
  const options = ["--strict", "--noEmit", "--allowImportingTsExtensions", "--skipLibCheck"];
  const target = ["--target", "esnext", "--module", "nodenext", "--types", "", "--pretty", "false"];
  const { stdout } = spawnSync(
    join(root, "node_modules/.bin/tsc"),
    [...options, ...target, ...files],
    {
      cwd: directory,
      encoding: "utf8",
    },
  );
  const blocks = stdout.split(/^(?=\S)/m);
  return files.map((_, at) => blocks.filter((one) => one.includes(`call-${at}.mts`)).join(""));
}

test("If a call lacks a required payload, the compiler's message names the missing payload.", () => {
  const [missing = "", ...others] = compilerErrors([
    "addJob(mail)",
    "addJob(mail, { too: 1 })",
    'addJob(mail, { to: "ada" })',
    "addJob(sync)",
    'addJob("mail")',
  ]);
  assert.match(missing, /"the payload of this task is missing: addJob\(task, payload\)"/);
  const [wrong = "", ...right] = others;
  assert.match(wrong, /'too' does not exist/);
  assert.deepEqual(right, ["", "", ""]);
});
