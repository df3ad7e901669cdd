// Tests of loadTasks(): which files are tasks, which identifiers and options the tasks have, and how the end of a
// function or program decides the result of its job.
import assert from "node:assert/strict";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { InputError } from "../../src/base/errors.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { loadTasks } from "../../src/worker/files/load-tasks.ts";
import { Lines, Tail } from "../../src/worker/files/program-output.ts";
import { runJobInline } from "../../src/worker/testing.ts";
import { filesOf, putFile } from "../cli/run-harness.ts";

const scratch = mkdtempSync(join(tmpdir(), "worker-files-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

test("Tasks have the same identifiers as in Graphile Worker. Files that are not tasks are ignored, some of them with a log line.", async () => {
  const deepest = "d/".repeat(33);
  const directory = filesOf({
    [`${deepest}x.js`]: "throw 1;",
    "a.js": "module.exports = () => {};",
    "a.js.map": "{}",
    "deep/er/b-c.mts": "export default () => {};",
    "deep/er/b-d.d.ts": "export {};",
    "p.tar.sh": "#!/bin/sh\n",
    "with space.js": "throw 1;",
    "has.dot/x.js": "throw 1;",
    ".hidden/x.js": "throw 1;",
    ".env": "A=1",
    "node_modules/x/index.js": "throw 1;",
    "data.json": "{}",
    "view.tsx": "x",
  });
  putFile(scratch, "elsewhere.cjs", "module.exports = () => {};");
  symlinkSync(join(scratch, "elsewhere.cjs"), join(directory, "linked.cjs"));
  symlinkSync(scratch, join(directory, "folder"));
  const text = new Map<string, string>();
  const info = (fields: object) => {
    const { file, reason } = fields as { file: string; reason: string };
    text.set(file, reason);
  };
  const tasks = await loadTasks(directory, { logger: { ...silentLogger, info } });
  const names = tasks.map(({ identifier }) => identifier);
  assert.deepEqual(names.sort(), ["a", "deep/er/b-c", "linked", "p"]);
  const left = ["data.json", "deep/er/b-d.d.ts", "folder", "has.dot/", "view.tsx", "with space.js"];
  assert.deepEqual([...text.keys()].sort(), [deepest, ...left]);
  assert.equal(text.get(deepest), "it is more than 32 folders deep");
  assert.match(text.get("has.dot/") ?? "", /^its name must have only letters/);
  assert.match(text.get("view.tsx") ?? "", /JSX is not compiled/);
});

test("Even if every file is executable, a file that belongs to a task, such as a source map, is not a task itself.", async () => {
  const directory = filesOf({
    "send.js": "module.exports = () => {};",
    "send.js.map": "{}",
    "send.d.ts": "export {};",
    "send.d.ts.map": "{}",
    "send.json": "{}",
    "send.test.js": "throw 1;",
    "send.js.LICENSE.txt": "",
    "sub/run.sh": "#!/bin/sh\n",
    "sub/run.md": "How it runs",
  });
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    chmodSync(join(directory, name), 0o777);
  }
  const tasks = await loadTasks(directory);
  assert.deepEqual(tasks.map(({ identifier }) => identifier).sort(), ["send", "sub/run"]);
});

test("If a program is a symbolic link, each run uses the link's current target.", async () => {
  const directory = filesOf({ "..1/prog": "#!/bin/sh\necho one\n", "..2/prog": "#!/bin/sh\n" });
  symlinkSync("..1", join(directory, "..data"));
  symlinkSync("..data/prog", join(directory, "prog"));
  const ran: string[] = [];
  const [task] = await loadTasks(directory, {
    runProgram: async ({ file }) => {
      ran.push(realpathSync(file));
      return { code: 0, signal: null };
    },
  });
  assert.ok(task);
  await runJobInline(task, {});
  symlinkSync("..2", join(directory, "..new"));
  renameSync(join(directory, "..new"), join(directory, "..data"));
  rmSync(join(directory, "..1"), { recursive: true });
  await runJobInline(task, {});
  const real = realpathSync(directory);
  assert.deepEqual(ran, [join(real, "..1/prog"), join(real, "..2/prog")]);
});

test("An import that Node cannot resolve in TypeScript is reported with advice.", async () => {
  const directory = filesOf({
    "js.ts": 'import { a } from "./lib/x.js"; export default () => a;',
    "bare.ts": 'import { a } from "./lib/x"; export default () => a;',
    "alias.ts": 'import { a } from "@/lib/x"; export default () => a;',
    "type.ts": 'import { T } from "./lib/x.ts"; export default (one: T) => one;',
    "lib/x.ts": "export type T = 1; export const a = 1; export default () => a;",
  });
  await assert.rejects(loadTasks(directory), (error: InputError) => {
    const messageOf = (name: string) =>
      error.problems.find(({ path }) => path === name)?.message ?? "";
    for (const name of ["js.ts", "bare.ts"]) {
      assert.match(messageOf(name), /; import the file by its own name, such as "\.\/x\.ts"$/);
    }
    assert.match(messageOf("alias.ts"), /; path aliases of tsconfig\.json are not read/);
    assert.match(messageOf("type.ts"), /; if T is a type, import it with "import type \{ T \}"/);
    return true;
  });
});

test("Files with the same identifier and files that cannot be loaded are reported together.", async () => {
  const directory = filesOf({
    "twice.js": "module.exports = () => {};",
    "twice.sh": "#!/bin/sh\n",
    "broken.mjs": "export default (;",
    "none.mjs": "export const a = 1;",
  });
  await assert.rejects(loadTasks(directory), (error: InputError) => {
    const text = error.problems.map(({ path, message }) => `${path}: ${message}`).join("\n");
    assert.match(text, /tasks: several files are the task "twice": twice\.js, twice\.sh/);
    assert.match(text, /broken\.mjs: cannot be loaded/);
    assert.match(text, /none\.mjs: has no default export/);
    return true;
  });
});

test("A function fails its job only by throwing or by rejecting items of a batch, as in Graphile Worker.", async () => {
  const directory = filesOf({
    "text.mjs": 'export default () => "a text";',
    "error.mjs": "export default async () => new Error('only returned');",
    "thrown.mjs": "export default async () => { throw new Error('thrown'); };",
    "some.mjs": `export default (items) => items.map((n) => n % 2 ? Promise.reject(new Error("odd")) : "x");`,
    "short.mjs": "export default () => [Promise.reject(new Error('not as many'))];",
    "exports.cjs": 'exports.default = async () => { throw new Error("from exports"); };',
    "compiled.js": `Object.defineProperty(exports, "__esModule", { value: true });
      exports.default = async () => { throw new Error("compiled"); };`,
  });
  const tasks = new Map((await loadTasks(directory)).map((task) => [task.identifier, task]));
  const run = async (name: string, payload: unknown = {}) => {
    const task = tasks.get(name);
    assert.ok(task);
    const { error, remainingPayload } = await runJobInline(task, payload);
    return [error?.split("\n")[0] ?? null, remainingPayload];
  };
  assert.deepEqual(await run("text"), [null, null]);
  assert.deepEqual(await run("error"), [null, null]);
  assert.deepEqual(await run("exports"), ["Error: from exports", null]);
  assert.deepEqual(await run("thrown"), ["Error: thrown", null]);
  assert.deepEqual(await run("compiled"), ["Error: compiled", null]);
  assert.deepEqual(await run("some", [1, 2, 3]), ["2 of 3 items failed: odd", "[1,3]"]);
  assert.deepEqual(await run("short", [1, 2, 3]), [null, null]);
});

test("If a file exports a task that defineTask() returned, the options of the task apply, and a text that the task returns fails the job.", async () => {
  const src = join(import.meta.dirname, "../../src/worker/task/task.ts");
  const directory = filesOf({
    "own.mts": `import { defineTask } from ${JSON.stringify(src)};
      export default defineTask("own", () => "it failed", { timeoutMs: 50 });`,
  });
  const [task] = await loadTasks(directory);
  assert.equal(task?.timeoutMs, 50);
  assert.equal((await runJobInline(task, {})).error, "it failed");
});

test("A program that cannot be started fails its job with the reason.", async () => {
  const directory = filesOf({
    nowhere: "#!/no/such/interpreter\n",
    "fine.sh": "#!/bin/sh\nexit 0\n",
    "killed.sh": "#!/bin/sh\nkill -9 $$\n",
  });
  const [fine, killed, nowhere] = await loadTasks(directory);
  assert.ok(fine && nowhere && killed);
  assert.equal((await runJobInline(fine, {})).error, null);
  assert.equal((await runJobInline(killed, {})).error, "killed by SIGKILL");
  assert.match(
    (await runJobInline(nowhere, {})).error ?? "",
    /^nowhere cannot be started \(ENOENT: the file, or the interpreter in its first line, does not exist\)$/,
  );
});

test("A missing directory is refused.", async () => {
  await assert.rejects(loadTasks("/no/such/place"), InputError);
});

test("A program's output is split into lines of limited length, and only the end of a long output is kept.", () => {
  const lines = new Lines();
  const bytes = Buffer.from("é\r\ntwo\nthr");
  assert.deepEqual(lines.add(bytes.subarray(0, 1)), []);
  assert.deepEqual(lines.add(bytes.subarray(1)), ["é", "two"]);
  assert.deepEqual(lines.add(Buffer.from(`ee${"x".repeat(20_000)}`)).length, 2);
  assert.equal(lines.end().length, 1);
  const tail = new Tail();
  for (let n = 0; n < 10_000; n++) tail.add([`line ${n}`]);
  assert.ok(tail.text.length <= 8_193);
  assert.match(tail.text, /^…line \d+\n.*line 9999$/s);
});

test("A file can set the options of its task with the exports `retry` and `timeoutMs`.", async () => {
  const directory = filesOf({
    "es.mjs": "export const retry = () => 7; export const timeoutMs = 50; export default () => {};",
    "common.cjs":
      "exports.retry = () => false; exports.default = () => {}; exports.__esModule = true;",
    "own.cjs": "module.exports = () => {}; module.exports.timeoutMs = 60;",
  });
  const tasks = await loadTasks(directory);
  const optionsOf = (name: string) => tasks.find(({ identifier }) => identifier === name);
  const job = undefined as never;
  assert.equal(optionsOf("es")?.retry?.(1, new Error(""), job), 7);
  assert.equal(optionsOf("es")?.timeoutMs, 50);
  assert.equal(optionsOf("common")?.retry?.(1, new Error(""), job), false);
  assert.equal(optionsOf("own")?.timeoutMs, 60);
});

test("An invalid option of a module is reported with its file.", async () => {
  const directory = filesOf({ "a.mjs": "export const retry = 5; export default () => {};" });
  await assert.rejects(loadTasks(directory), /a\.mjs: its export retry must be exponential\(\)/);
});

for (const [title, script, next] of [
  ["65 fails the job for good", "echo no such user >&2; exit 65", { kind: "never" }],
  ["75 retries the job by its policy", "exit 75", { kind: "retry", delayMs: null }],
  [
    "75 retries the job after the seconds on the last line",
    "echo busy; echo retry-after=90; exit 75",
    { kind: "retry", delayMs: 90_000 },
  ],
  [
    "any other code ignores the seconds on the last line",
    "echo retry-after=90; exit 1",
    { kind: "retry", delayMs: null },
  ],
] as const) {
  test(`A program's exit code: ${title}.`, async () => {
    const [task] = await loadTasks(filesOf({ "p.sh": `#!/bin/sh\n${script}\n` }));
    assert.ok(task);
    const { next: actual, error } = await runJobInline(task, {});
    assert.deepEqual(actual, next);
    assert.match(error ?? "", /^exited with code /);
  });
}
