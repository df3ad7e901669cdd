// Tests `worker run` of the executable without Node on the PATH: tasks in TypeScript, tasks that import packages, tasks
// that are programs, the size of the heap for new objects, and --watch.
import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { filesOf, putFile, type RunProcess, startRun } from "../../cli/run-harness.ts";
import { migratedDatabase } from "../../support/database.ts";
import { installedProgram, run } from "../program.ts";

const program = await installedProgram();
// This PATH lacks the directory of the Node that runs the tests.
const BARE = { PATH: "/usr/bin:/bin", HOME: "/nonexistent" };

let env: Record<string, string>;
beforeEach(async () => {
  env = { ...BARE, DATABASE_URL: (await migratedDatabase()).url };
});

async function add(task: string): Promise<void> {
  const { status, stderr } = await run(program, ["add", task], { env });
  assert.equal(status, 0, stderr);
}

const started = (args: readonly string[], more: Record<string, string> = {}): RunProcess =>
  startRun(args, { ...env, ...more }, [program]);

test("The executable strips types, finds packages next to the tasks, runs programs, and empties the queue.", async () => {
  const project = filesOf({
    "node_modules/es/package.json": '{"name":"es","type":"module","exports":"./index.js"}',
    "node_modules/es/index.js": "export default 'from a package';",
    "node_modules/cjs/index.js": "module.exports = 'from an old package';",
    "lib/word.ts": "export const word: string = 'from a file';",
    "tasks/typed.ts": `import es from "es";
      import type { Nothing } from "nowhere";
      import { word } from "../lib/word.ts";
      export default async (_: Nothing, { query }: { query: Function }): Promise<void> => {
        const { rows } = await query("select 'from the database' as it");
        console.log([es, word, rows[0].it].join(", "));
      };`,
    "tasks/old.cjs": "module.exports = () => console.log(require('cjs'));",
    "tasks/program": '#!/bin/sh\necho "from a program"\n',
    "tasks/enum.ts": "enum A { B }\nexport default () => A.B;",
  });
  const refused = await started(["--tasks", join(project, "tasks"), "--once"]).ended;
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /enum\.ts: contains TypeScript syntax that cannot be stripped/);
  chmodSync(project, 0o755);
  putFile(project, "tasks/enum.ts", "export default () => {};");
  for (const task of ["typed", "old", "program", "enum"]) await add(task);
  const { status, stdout, stderr } = await started(["--tasks", join(project, "tasks"), "--once"])
    .ended;
  assert.equal(status, 0, stderr);
  assert.match(stdout, /from a package, from a file, from the database\n/);
  assert.match(stdout, /from an old package\n/);
  assert.match(stdout, /4 done, 0 failed\n$/);
  assert.match(stderr, /"msg":"from a program"/);
});

test("The executable's heap for new objects has less than 9 MB, even if many objects stay alive.", async () => {
  const tasks = filesOf({
    "keep.ts": `import { getHeapSpaceStatistics } from "node:v8";
      export default (): void => {
        const kept = Array.from({ length: 500_000 }, (_, index) => ({ text: \`number \${index}\` }));
        const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
        console.log(\`\${kept.length} kept, \${young?.space_size} bytes\`);
      };`,
  });
  await add("keep");
  const { status, stdout, stderr } = await started(["--tasks", tasks, "--once"]).ended;
  assert.equal(status, 0, stderr);
  const bytes = Number(/500000 kept, (\d+) bytes/.exec(stdout)?.[1]);
  assert.ok(bytes < 9_000_000, stdout);
});

const printing = (word: string) =>
  `export default (_: unknown, { logger }: any): void => logger.info("the word is ${word}");`;

test("With --watch, the worker restarts when the file of a task changes.", async () => {
  const tasks = filesOf({ "print.ts": printing("one") });
  const watched = started(["--tasks", tasks, "--watch"]);
  await watched.logged("the worker has started");
  const seen = watched.count;
  putFile(tasks, "print.ts", printing("two"));
  await watched.logged("the worker has started", seen);
  await add("print");
  await watched.logged("the word is two");
  watched.send("SIGTERM");
  assert.equal((await watched.ended).status, 0);
});
