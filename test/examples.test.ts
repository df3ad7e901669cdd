// Every program in examples/ runs unchanged on an empty database, and prints the output expected here.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { emptyDatabase } from "./support/database.ts";

const directory = join(import.meta.dirname, "../examples");
const MAX_RUN_MS = 30_000;
// With the cache of register.mjs, Node compiles the library once, not once for each program.
const NODE_COMPILE_CACHE = join(import.meta.dirname, "../node_modules/.cache/compiled");

const prints: Record<string, RegExp> = {
  "batch.ts": /left: \[\{"user": 2\},\{"user": 4\}\]\n.*2 of 4 items failed: mailbox full/,
  "beside-http.ts": /200\n(?:.*\n)*closed\n$/,
  "cron.ts": /left: \d/,
  "embedded-admin.ts": /overview: 200/,
  "exact-payloads.ts": /\{"id": 9007199254740993, "b":1, "a":2\}\n\{"id":9223372036854775807\}/,
  "extensions.ts": /mail to ada@example\.com\nrows: 1/,
  "failures.ts": /failed: Error: an amount cannot be negative\nscheduled: declined: over the limit/,
  "hooks.ts":
    /(?=.*done: parent in time)(?=.*child got \{"n":1,"tenant":"acme"\})(?=.*written: child skipped)(?=.*in the queue: true)/s,
  "job-keys.ts": /same job: true, payload: \{"version":2\}\nrun at: 2030-.*\nremoved/,
  "mounted-express.mjs": /\/: the application\n.*added/i,
  "mounted-fastify.mjs": /\/: the application\n.*added/i,
  "mounted-http.mjs": /\/: the application\n.*healthz: 200\n.*without a token: 401/,
  "named-queue.ts": /in order: 1 2 3 4 5/,
  "quickstart.ts": /hello Ada \(attempt 1\)\n.*total: 0/s,
  "recovery.ts": /alive: true\nworkers: 0/,
  "run-and-stop.ts": /slept 20 ms\nleft: 0/,
  "testing.ts": /completed: 1, failed: 1, skipped: 0.*finished/s,
  "throughput.ts": /ran 10000, left 0/,
  "transaction.ts": /refused: duplicate key.*jobs: 1/s,
  "utilities.ts": /failed: the file is gone/,
};

test("Every example has an expected output.", () => {
  const names = readdirSync(directory).filter((name) => /\.(ts|mjs)$/.test(name));
  assert.deepEqual(names.sort(), Object.keys(prints).sort());
});

for (const [name, expected] of Object.entries(prints)) {
  test(`The example ${name} runs and prints the expected output.`, async () => {
    const { url } = await emptyDatabase();
    const { stdout } = await promisify(execFile)(process.execPath, [join(directory, name)], {
      env: { ...process.env, NODE_COMPILE_CACHE, DATABASE_URL: url },
      timeout: MAX_RUN_MS,
    });
    assert.match(stdout, expected);
  });
}
