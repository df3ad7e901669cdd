// The message and the result of the sweep command if it cannot sweep every stale worker.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { sweepCommand } from "../../src/commands/maintenance/sweep.ts";
import { perform } from "../../src/commands/perform.ts";
import { heartbeat, lockJob, testQueue } from "../queue/queue-database.ts";

const queue = testQueue();

/** Adds stale workers with these ids. Each of them has locked one job. */
async function dead(...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const rows = await queue.sql<{ id: string }>("select id from worker.add_job('t')");
    await lockJob(queue, rows[0]?.id ?? "", id, "1 hour");
    await heartbeat(queue, id);
  }
  await queue.sql(
    "update worker._private_workers set last_heartbeat_at = now() - interval '1 hour'",
  );
}

async function sweep() {
  const { message, isPartial, json } = await perform(
    sweepCommand,
    queue.db,
    {},
    {
      pool: queue.pool,
      logger: silentLogger,
      signal: new AbortController().signal,
    },
  );
  const { unswept_workers: left, refused_jobs: refused } = JSON.parse(json);
  return { message, isPartial, left, refused };
}

test("A worker is not counted as swept while another session has locked the row of one of its jobs.", async () => {
  await dead("a", "b");
  const client = await queue.pool.connect();
  try {
    await client.query("begin");
    await client.query("select from worker._private_jobs where locked_by = 'b' for update");
    assert.deepEqual(await sweep(), {
      message: "Swept 1 of 2 workers; 1 job recovered",
      isPartial: true,
      left: ["b"],
      refused: [],
    });
    await client.query("rollback");
  } finally {
    client.release();
  }
  const { message, isPartial, left } = await sweep();
  assert.deepEqual([message, isPartial, left], ["Swept 1 worker; 1 job recovered", false, []]);
});

test("A worker is not counted as swept while PostgreSQL refuses to unlock one of its jobs.", async () => {
  await dead("a", "b");
  await queue.sql(`create function public.refuse() returns trigger language plpgsql as
      'begin if old.locked_by = ''b'' then raise exception ''refused''; end if; return new; end';
    create trigger refuse before update on worker._private_jobs
      for each row execute function public.refuse()`);
  try {
    const { message, isPartial, left, refused } = await sweep();
    assert.equal(
      message,
      "Swept 1 of 2 workers; 1 job recovered; PostgreSQL refuses to unlock job 2",
    );
    assert.deepEqual([isPartial, left, refused], [true, ["b"], ["2"]]);
  } finally {
    await queue.sql("drop function public.refuse cascade");
  }
});

test("A sweep that fails after it has recovered jobs reports their number, and the workers that it has not swept.", async () => {
  await dead("a", "b", "c");
  await queue.sql(`create sequence public.refusals;
    create function public.refuse() returns trigger language plpgsql as $$ begin
      if nextval('public.refusals') = 1 then raise exception 'refused'; end if;
      perform pg_terminate_backend(pg_backend_pid());
      return new;
    end $$;
    create trigger refuse before update on worker._private_jobs
      for each row when (old.locked_by = 'c') execute function public.refuse()`);
  try {
    const { message, isPartial, left } = await sweep();
    assert.equal(message, "Swept 2 of 3 workers; 2 jobs recovered");
    assert.deepEqual([isPartial, left], [true, ["c"]]);
    await assert.rejects(
      sweep(),
      { code: "database_unreachable" },
      "a sweep that loses its connection before it recovers a job fails",
    );
  } finally {
    await queue.sql("drop function public.refuse cascade; drop sequence public.refusals");
  }
});
