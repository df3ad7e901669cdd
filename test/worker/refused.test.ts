// Rows that PostgreSQL does not let go: an application's foreign key, trigger or constraint refuses the end
// of a job. That job fails or stays locked, all others go on.
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { recorder, recording, until, within, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

const trigger = (when: string, body: string) =>
  queue.sql(`create function public.history() returns trigger language plpgsql as $$ begin ${body}
    return coalesce(new, old); end $$;
    create trigger history before ${when} on worker._private_jobs
    for each row execute function public.history()`);

/** What refuses the end of the job with this id, and what its error says. */
const REFUSALS: Record<string, [(id: string) => Promise<unknown>, RegExp]> = {
  "a foreign key": [
    (id) =>
      queue.sql(`create table public.orders (job bigint references worker._private_jobs (id));
        insert into public.orders values (${id})`),
    /violates foreign key constraint "orders_job_fkey"/,
  ],
  "a foreign key that is checked at the commit": [
    (id) =>
      queue.sql(`create table public.orders (job bigint references worker._private_jobs (id)
        deferrable initially deferred); insert into public.orders values (${id})`),
    /violates foreign key constraint "orders_job_fkey"/,
  ],
  "an exception of a trigger": [
    (id) => trigger("delete", `if old.id = ${id} then raise exception 'not this one'; end if;`),
    /not this one \(PL\/pgSQL function (public\.)?history\(\)/,
  ],
  "a trigger whose table is gone": [
    (id) => trigger("delete", `if old.id = ${id} then insert into public.gone values (1); end if;`),
    /relation "public.gone" does not exist \(PL\/pgSQL function/,
  ],
};

for (const fastLane of [false, true]) {
  describe(fastLane ? "With a fast lane" : "In the safe mode", () => {
    beforeEach(() =>
      queue.sql(`drop table if exists public.orders; drop table if exists public.gone;
      drop function if exists public.history cascade`),
    );

    for (const [name, [refuse, sentence]] of Object.entries(REFUSALS)) {
      test(`a job whose end ${name} refuses fails alone, and all others are done.`, async (t) => {
        t.after(() =>
          queue.sql(
            "drop table if exists public.orders; drop function if exists public.history cascade",
          ),
        );
        const task = recording<number>("task");
        const { lines, logger } = recorder();
        const added = await queue.utils.addJobs(
          Array.from({ length: 20 }, (_, n) => ({ identifier: "task", payload: n })),
        );
        const { id } = added[7] as { id: string };
        await refuse(id);
        const options = { tasks: [task], fastLane, logger, pollIntervalMs: 50, concurrency: 5 };
        const worker = await queue.started(options);
        await until("it has failed", async () => {
          const left = await queue.left();
          return left.length === 1 && left[0]?.locked_by === null && left[0].last_error !== null;
        });
        const [left] = await queue.left();
        assert.deepEqual([left?.id, left?.attempts], [id, 1]);
        assert.match(left?.last_error ?? "", sentence);
        assert.ok(
          lines.some((line) => line.level === "error" && sentence.test(`${line.fields["error"]}`)),
        );
        assert.ok(!lines.some(({ message }) => /is away/.test(message)), "no outage is told");
        await queue.utils.addJob("task", 100);
        await until("another one runs", () => task.seen.includes(100));
        await within("it stops", worker.stop(), 12_000);
      });
    }
  });
}

test("A job whose failure is refused as well stays locked after three tries, and is named.", async (t) => {
  t.after(() => queue.sql("drop function if exists public.history cascade"));
  const task = recording<number>("task", (n) => {
    if (n === 0) throw new Error("fails");
  });
  const { lines, logger } = recorder();
  const { id } = await queue.utils.addJob("task", 0);
  await trigger("update", `if old.locked_by is not null then raise exception 'never'; end if;`);
  const recovery = { heartbeatIntervalMs: 100, thresholdMs: 3_000, resilientThresholdMs: 3_000 };
  const worker = await queue.started({ tasks: [task], logger, recovery, pollIntervalMs: 50 });
  const said = (text: RegExp) => lines.filter(({ message }) => text.test(message));
  await until("it stays locked", () => said(/stays locked/).length === 1);
  assert.equal(said(/is sent again/).length, 2);
  assert.equal(said(/stays locked/)[0]?.fields["job_id"], id);
  await queue.utils.addJob("task", 1);
  await until("another one runs", () => task.seen.includes(1));
  await until("its lease names it", async () => {
    const text = "select metadata #>> '{unsettled,0,id}' as id from worker._private_workers";
    return (await queue.sql<{ id: string }>(text))[0]?.id === id;
  });
  assert.equal(task.seen.filter((n) => n === 0).length, 1);
  await within("it stops", worker.stop(), 12_000);
  assert.equal((await queue.left())[0]?.id, id);
});
