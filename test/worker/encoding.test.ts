// Tests a queue in a database with the encoding LATIN1, which cannot store all characters of errors, queries and jobs.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { silentLogger } from "../../src/base/logger.ts";
import { migrate } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { rawJson } from "../../src/domain/payload.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { emptyDatabase } from "../support/database.ts";
import { latch, recordingTask, waitUntil, workerQueue } from "./worker-queue.ts";

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
  test(`An error with a character that the database cannot store is stored with escapes (fast lane: ${fastLane}).`, async () => {
    const quick = recordingTask("quick");
    const gate = latch();
    const failing = defineTask("failing", async () => {
      await gate.opened;
      return "a \u{1f600} caf\u00e9";
    });
    const options = { tasks: [quick, failing], pollIntervalMs: 60_000 };
    const worker = await queue.startWorker({
      ...options,
      fastLane: fastLane && { limitMs: 5_000 },
    });
    const { id } = await queue.utils.addJob(failing);
    // The job that is added next has a key, so the safe mode runs it. Once its result is written, no fetch of the safe
    // mode is under way. When the database refuses the error of the failing job, the transaction of the fast lane is
    // rolled back, and the row of the job is unlocked. A fetch of the safe mode could lock the job at that moment.
    let ended = 0;
    worker.hooks.on("job:complete", () => void ended++);
    await queue.utils.addJob("quick", {}, { jobKey: "quick" });
    await waitUntil("the result of the job quick is written", () => ended === 1);
    gate.open();
    const job = async () => (await queue.remaining()).find((one) => one.id === id);
    await waitUntil(
      "the error of the failing job is written",
      async () => (await job())?.last_error != null,
    );
    assert.equal((await job())?.last_error, "a \\ud83d\\ude00 caf\\u00e9");
    assert.equal((await job())?.attempts, 1);
    await queue.utils.addJob("quick");
    await waitUntil("the next job runs", () => quick.seen.length === 2);
  });
}

test("A query or job with a character that the database cannot store is refused; the error shows the character.", async () => {
  const message =
    'the character "\u0416" cannot be stored in this database, whose encoding is LATIN1: leave it out, or write \\u0416 in JSON';
  const refused = { code: "bad_input", message };
  for (const q of ["task:\u0416", "payload.a:\u0416", "\u0416 is:ready"]) {
    await assert.rejects(queue.utils.listJobs({ q }), refused, q);
  }
  await assert.rejects(queue.utils.addJob("\u0416"), refused);
  await assert.rejects(queue.utils.removeJob("\u0416"), refused);
  const { id } = await queue.utils.addJob("mail", rawJson('{"a":"\\u0416"}'));
  assert.equal((await queue.utils.getJob(id))?.payloadText, '{"a":"\\u0416"}');
});
