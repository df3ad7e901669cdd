// A database whose encoding has not every character.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { silentLogger } from "../../src/base/logger.ts";
import { migrate } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { emptyDatabase } from "../support/database.ts";
import { recording, until, workerQueue } from "./worker-queue.ts";

async function latin1() {
  const { name, url } = await emptyDatabase();
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  await owner.query(`create database ${name}_latin1 template template0 encoding 'LATIN1'
    lc_collate 'C' lc_ctype 'C' locale_provider libc`);
  await owner.end();
  const pool = new pg.Pool({ connectionString: url.replace(name, `${name}_latin1`) });
  const { signal } = new AbortController();
  await migrate(pool, schemaName("worker"), { logger: silentLogger, signal });
  await pool.end();
  return { url: url.replace(name, `${name}_latin1`) };
}

const queue = workerQueue(latin1);

for (const fastLane of [false, true]) {
  test(`An error that the database cannot store as it is harms nobody (fast: ${fastLane}).`, async () => {
    const quick = recording("quick");
    const failing = defineTask("failing", () => "a \u{1f600} caf\u00e9");
    await queue.started({ tasks: [quick, failing], pollIntervalMs: 50, fastLane });
    const { id } = await queue.utils.addJob(failing);
    const job = async () => (await queue.left()).find((one) => one.id === id);
    await until("it is written", async () => (await job())?.last_error != null);
    assert.equal((await job())?.last_error, "a \\ud83d\\ude00 caf\\u00e9");
    assert.equal((await job())?.attempts, 1);
    await queue.utils.addJob("quick");
    await until("the next one runs", () => quick.seen.length === 1);
  });
}
