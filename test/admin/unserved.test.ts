// Tests that requests which the admin could not serve appear in the metrics and in the log, and that even many of them
// cause only a few lines in the log.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createDegradationLog } from "../../src/admin/live/degradation-log.ts";
import { recordingLogger, startAdmin } from "./admin-harness.ts";

test("In each minute, the first case of each cause is logged, and at the end of the minute the number of its further cases. Aborted requests are only counted.", () => {
  const { logger, lines } = recordingLogger();
  const counted: string[] = [];
  let endMinute = () => {};
  const { log: report, close } = createDegradationLog(
    logger,
    (cause) => counted.push(cause),
    (_ms, callback) => {
      endMinute = callback;
      return () => {};
    },
  );
  for (let n = 0; n < 1_000; n++) report("database_timeout", { path: `/${n}` });
  report("busy", { path: "/busy" });
  report("aborted", { path: "/left" });
  assert.deepEqual(
    lines.map(({ level, fields }) => [level, fields.cause, fields.path]),
    [
      ["warn", "database_timeout", "/0"],
      ["warn", "busy", "/busy"],
    ],
  );
  assert.equal(counted.length, 1_002);
  endMinute();
  assert.deepEqual(lines.at(-1)?.fields.more, { database_timeout: 999 });
  report("busy", { path: "/again" });
  assert.equal(lines.at(-1)?.fields.path, "/again");
  close();
  assert.equal(lines.length, 4, "close() adds no line to the log");
});

test("A request that is answered with 503 is logged and counted.", async () => {
  const { logger, lines } = recordingLogger();
  const admin = await startAdmin({ logger });
  const lock = await admin.pool.connect();
  await lock.query("begin; lock table worker._private_jobs in access exclusive mode");
  try {
    const { status, body } = await admin.client.get("/api/jobs");
    assert.equal(status, 503);
    const [line] = lines.filter(({ level }) => level === "warn");
    assert.deepEqual([line?.fields.cause, line?.fields.path], [body.code, "/api/jobs"]);
    assert.match(String(line?.fields.error), /lock/);
  } finally {
    await lock.query("rollback");
    lock.release();
  }
  const { text } = await admin.client.get("/metrics");
  assert.match(text, /^worker_admin_degraded_total\{cause="database_busy"\} 1$/m);
});
