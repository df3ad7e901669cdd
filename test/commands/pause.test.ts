// Tests the command `pause` for the case that the pause is committed, but later statements of the command fail.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { pauseCommand } from "../../src/commands/pauses/pause.ts";
import { perform } from "../../src/commands/perform.ts";
import { testQueue } from "../queue/queue-database.ts";
import { migratedDatabase } from "../support/database.ts";

const queue = testQueue(() => migratedDatabase("worker", ["controls"]));

test("If the workers cannot be read and running jobs cannot be cancelled, the pause is stored, and the command reports a partial success instead of an error.", async () => {
  await queue.sql("select worker.add_job('t', '{}', 'mail')");
  await queue.sql("alter table worker._private_workers rename column metadata to hidden");
  const input = { scope: "queue", name: "mail", cancel_running: true };
  const { message, isPartial } = await perform(pauseCommand, queue.db, input, {
    pool: queue.pool,
    logger: silentLogger,
    signal: new AbortController().signal,
  });
  assert.match(message, /^Paused the queue mail; the workers could not be read: .*metadata/);
  assert.match(message, /; its running jobs could not be cancelled: .*metadata/);
  assert.ok(isPartial);
  const pauses = await queue.sql("select name from worker._private_pauses");
  assert.deepEqual(pauses, [{ name: "mail" }]);
});
