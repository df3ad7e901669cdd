// Tests addJob(): the stored values, the refused jobs, the key modes, and the isolation level.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError } from "../../src/base/errors.ts";
import { rawJson } from "../../src/domain/payload.ts";
import { getJob } from "../../src/insight/pages/get-job.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { testPool } from "../support/test-pool.ts";
import { lockJob, testQueue } from "./queue-database.ts";

const queue = testQueue();

test("A job with nothing but an identifier gets the schema's defaults.", async () => {
  const before = Date.now();
  const job = await addJob(queue.db, { identifier: "send_email" });
  assert.equal(job.id, "1");
  assert.equal(job.taskIdentifier, "send_email");
  assert.equal(job.payloadText, "{}");
  assert.deepEqual(job.payload, {});
  assert.equal(job.priority, 0);
  assert.equal(job.attempts, 0);
  assert.equal(job.maxAttempts, 25);
  assert.equal(job.revision, 0);
  assert.equal(job.queueId, null);
  assert.equal(job.queueName, null);
  assert.equal(job.key, null);
  assert.equal(job.flagsText, null);
  assert.equal(job.lastError, null);
  assert.equal(job.lockedAt, null);
  assert.equal(job.isAvailable, true);
  assert.equal(job.state, "ready");
  assert.ok(Math.abs(job.runAt.getTime() - before) < 60_000);
  assert.deepEqual(await getJob(queue.db, "1"), job);
});

test("A job gets everything in its spec, and its task and queue are created with it.", async () => {
  const runAt = new Date(Date.now() + 3_600_000);
  const job = await addJob(queue.db, {
    identifier: "resize_image",
    payload: { width: 640 },
    spec: {
      queueName: "images",
      runAt,
      priority: -7,
      jobKey: "image:1",
      maxAttempts: 3,
      flags: ["gpu", "__proto__", 'q"uote'],
    },
  });
  assert.equal(job.taskIdentifier, "resize_image");
  assert.equal(job.queueName, "images");
  assert.equal(job.runAt.getTime(), runAt.getTime());
  assert.equal(job.priority, -7);
  assert.equal(job.key, "image:1");
  assert.equal(job.maxAttempts, 3);
  assert.equal(job.state, "scheduled");
  assert.equal(job.flagsText, '{"gpu": true, "q\\"uote": true, "__proto__": true}');
});

test("A payload's text survives byte for byte: key order, repeated keys, large integers.", async () => {
  const text = '{"b":1, "a" : 9223372036854775807123,\n"b":2,"ü":"\\u0000\\ud83d 😀 %_\\\\"}';
  const job = await addJob(queue.db, { identifier: "t", payload: rawJson(text) });
  assert.equal(job.payloadText, text);
  const bigint = await addJob(queue.db, { identifier: "t", payload: { n: 2n ** 63n } });
  assert.equal(bigint.payloadText, '{"n":9223372036854775808}');
  for (const payload of [null, false, 0, "", [], "it's"]) {
    const { payloadText } = await addJob(queue.db, { identifier: "t", payload });
    assert.equal(payloadText, JSON.stringify(payload));
  }
});

test("A payload of one megabyte and hostile names are returned unchanged.", async () => {
  const name = `'; drop table jobs; --"\\ %_\u{1f600}`;
  const job = await addJob(queue.db, {
    identifier: name,
    payload: { text: "x'\"\\".repeat(250_000) },
    spec: { queueName: name, jobKey: name },
  });
  assert.equal(job.payloadText.length, JSON.stringify({ text: "x'\"\\".repeat(250_000) }).length);
  assert.deepEqual([job.taskIdentifier, job.queueName, job.key], [name, name, name]);
});

test("Raw JSON must be valid JSON without half surrogates.", () => {
  for (const text of ["", "{", "{a:1}", "undefined", '"\ud83d"', '"a\0b"']) {
    assert.throws(() => rawJson(text), InputError);
  }
});

test("Invalid jobs are refused before the database is queried.", async () => {
  const closed = { ...queue.db, client: { query: () => assert.fail("queried the database") } };
  const refused: [Parameters<typeof addJob>[1], RegExp][] = [
    [{ identifier: "" }, /identifier: must have 1 to 128/],
    [{ identifier: "x".repeat(129) }, /identifier: must have 1 to 128/],
    [{ identifier: "a\0b" }, /identifier: must not contain a NUL/],
    [
      { identifier: "\ud83d" },
      /identifier: must not contain a NUL character or half a surrogate pair/,
    ],
    [{ identifier: "t", payload: () => 1 }, /payload: a function is not JSON/],
    [{ identifier: "t", spec: { queueName: "q".repeat(129) } }, /spec.queueName/],
    [{ identifier: "t", spec: { jobKey: "k".repeat(513) } }, /spec.jobKey/],
    [{ identifier: "t", spec: { jobKey: "" } }, /spec.jobKey/],
    [{ identifier: "t", spec: { priority: 32_768 } }, /spec.priority/],
    [{ identifier: "t", spec: { priority: -32_769 } }, /spec.priority/],
    [{ identifier: "t", spec: { priority: 1.5 } }, /spec.priority/],
    [{ identifier: "t", spec: { maxAttempts: 0 } }, /spec.maxAttempts/],
    [{ identifier: "t", spec: { maxAttempts: 32_768 } }, /spec.maxAttempts/],
    [{ identifier: "t", spec: { runAt: new Date(Number.NaN) } }, /spec.runAt/],
    [{ identifier: "t", spec: { runAt: "tomorrow" } }, /spec.runAt/],
    [{ identifier: "t", spec: { runAt: "2030-01-01" } }, /spec.runAt/],
    [{ identifier: "t", spec: { runAt: "2030-01-01T00:00:00+16:00" } }, /spec.runAt/],
    [{ identifier: "t", spec: { runAt: new Date(8.64e15) } }, /spec.runAt/],
    [{ identifier: "t", spec: { runAt: new Date(-1e14) } }, /spec.runAt/],
    [{ identifier: "t", spec: { runAt: new Date("0000-06-01") } }, /spec.runAt/],
    [{ identifier: "t", spec: { jobKeyMode: "replace" } }, /spec.jobKeyMode: needs a jobKey/],
    [{ identifier: "t", spec: { flags: ["a\0"] } }, /spec.flags\[0\]/],
    [{ identifier: "t", spec: { queuName: "q" } as object }, /did you mean "queueName"/],
    [{ identifier: "t", paylod: 1 } as never, /paylod: unknown field, did you mean "payload"/],
    [null as never, /must be an object/],
  ];
  for (const [job, message] of refused) {
    const error = await addJob(closed, job).then(
      () => assert.fail(`accepted ${JSON.stringify(job)}`),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof InputError, String(error));
    assert.match(error.message, message);
  }
});

test("The key mode replace overwrites the waiting job with the key, and resets its attempts and last error.", async () => {
  const first = await addJob(queue.db, {
    identifier: "a",
    payload: { n: 1 },
    spec: { jobKey: "k", runAt: "2030-01-01T00:00:00Z", queueName: "q" },
  });
  await queue.sql("update worker._private_jobs set attempts = 3, last_error = 'x'");
  const second = await addJob(queue.db, {
    identifier: "b",
    payload: { n: 2 },
    spec: { jobKey: "k", runAt: "2031-01-01T00:00:00Z" },
  });
  assert.equal(second.id, first.id);
  assert.equal(second.taskIdentifier, "b");
  assert.equal(second.queueName, null);
  assert.equal(second.payloadText, '{"n":2}');
  assert.equal(second.runAt.toISOString(), "2031-01-01T00:00:00.000Z");
  assert.equal(second.revision, 1);
  assert.equal(second.attempts, 0);
  assert.equal(second.lastError, null);
});

test("The key mode preserve_run_at keeps the time of a job that has not been attempted.", async () => {
  const spec = { jobKey: "k", jobKeyMode: "preserve_run_at" } as const;
  await addJob(queue.db, { identifier: "a", spec: { ...spec, runAt: "2030-01-01T00:00:00Z" } });
  const unchanged = await addJob(queue.db, {
    identifier: "a",
    spec: { ...spec, runAt: "2031-01-01T00:00:00Z" },
  });
  assert.equal(unchanged.runAt.toISOString(), "2030-01-01T00:00:00.000Z");
  await queue.sql("update worker._private_jobs set attempts = 1");
  const moved = await addJob(queue.db, {
    identifier: "a",
    spec: { ...spec, runAt: "2031-01-01T00:00:00Z" },
  });
  assert.equal(moved.runAt.toISOString(), "2031-01-01T00:00:00.000Z");
});

test("With the key mode unsafe_dedupe, an add returns the existing job, even a locked one, and keeps its task, queue and payload.", async () => {
  const first = await addJob(queue.db, {
    identifier: "old",
    payload: { n: 1 },
    spec: { jobKey: "k", queueName: "q" },
  });
  await lockJob(queue, first.id);
  const second = await addJob(queue.db, {
    identifier: "new",
    payload: { n: 2 },
    spec: { jobKey: "k", jobKeyMode: "unsafe_dedupe" },
  });
  assert.equal(second.id, first.id);
  assert.equal(second.taskIdentifier, "old");
  assert.equal(second.queueName, "q");
  assert.equal(second.payloadText, '{"n":1}');
  assert.equal(second.revision, 1);
  assert.equal(second.lockedBy, "worker-1");
});

test("The array payloads of two adds with the same key are concatenated, and a running job loses its key to a new job.", async () => {
  const add = (payload: unknown) =>
    addJob(queue.db, { identifier: "t", payload, spec: { jobKey: "k" } });
  await add([1]);
  const joined = await add([2]);
  assert.deepEqual(joined.payload, [1, 2]);
  await lockJob(queue, joined.id);
  const fresh = await add([3]);
  assert.notEqual(fresh.id, joined.id);
  assert.deepEqual(fresh.payload, [3]);
  const running = await getJob(queue.db, joined.id);
  assert.equal(running?.key, null);
  assert.equal(running?.attempts, running?.maxAttempts);
});

test("Concurrent adds under one key leave one waiting job.", async () => {
  const jobs = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      addJob(queue.db, {
        identifier: `t${n}`,
        payload: n,
        spec: { jobKey: "k", queueName: `q${n}` },
      }),
    ),
  );
  assert.equal(new Set(jobs.map((job) => job.id)).size, 1);
  for (const [n, job] of jobs.entries()) {
    assert.equal(job.taskIdentifier, `t${n}`);
    assert.equal(job.queueName, `q${n}`);
    assert.equal(job.payload, n);
  }
});

test("An add that fails at the session's default isolation level, SERIALIZABLE, is repeated at READ COMMITTED.", async () => {
  await queue.sql(`create function worker.refuse() returns trigger language plpgsql as $$ begin
      if current_setting('transaction_isolation') = 'serializable' then
        raise 'conflict' using errcode = '40001';
      end if;
      return new;
    end $$;
    create trigger refuse before insert on worker._private_jobs
      for each row execute function worker.refuse()`);
  const options = "-c default_transaction_isolation=serializable";
  try {
    await using of = testPool({ connectionString: queue.url, options });
    const db = { ...queue.db, client: of.pool };
    const keyed = await addJob(db, { identifier: "t", spec: { jobKey: "k" } });
    const plain = await addJob(db, { identifier: "t" });
    assert.deepEqual(await getJob(queue.db, keyed.id), keyed);
    assert.deepEqual(await getJob(queue.db, plain.id), plain);
  } finally {
    await queue.sql("drop function worker.refuse() cascade");
  }
});
