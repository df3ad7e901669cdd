// Tests the command `add` with a throttle: the answer for a dropped job, and which combinations of fields are
// refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { addCommand } from "../../src/commands/jobs/add.ts";
import { perform } from "../../src/commands/perform.ts";
import { migratedDatabase } from "../support/database.ts";
import { testQueue } from "./queue-database.ts";

const queue = testQueue(() => migratedDatabase("worker", ["limits"]));
const add = (input: Record<string, unknown>) =>
  perform(addCommand as never, queue.db, input, {
    pool: queue.pool,
    logger: silentLogger,
    signal: AbortSignal.timeout(10_000),
  });

test("The answer for a dropped job contains no job, but the time at which the next one can be added.", async () => {
  const input = {
    identifier: "t",
    payload: '{"user":7}',
    throttle_secs: 3600,
    throttle_by: ["args.user"],
  };
  const first = JSON.parse((await add(input)).json);
  assert.deepEqual([first.jobs.length, first.outcome, first.is_throttled], [1, "added", false]);
  const { message, json } = await add(input);
  const second = JSON.parse(json);
  assert.match(
    message,
    /^Dropped: an equal job for task t was added within the period; the next can be added at 2[-\d]{9}T[\d:]{8}Z$/,
  );
  assert.deepEqual(second.jobs, []);
  assert.deepEqual(
    [second.outcome, second.is_throttled, second.until],
    ["dropped", true, first.until],
  );
});

test("A throttle without a period, or together with a key, is refused; the error names the field `throttle_secs`.", async () => {
  await assert.rejects(add({ identifier: "t", throttle_by: ["args"] }), /throttle_secs/);
  await assert.rejects(
    add({ identifier: "t", throttle_secs: 5, key: "k" }),
    /throttle_secs: use either this/,
  );
});
