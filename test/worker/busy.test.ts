// Statements that PostgreSQL refuses at once because something is locked: a trigger does not wait for its lock.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { recordingTask, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

/** Refuses to change the job with this id, and counts how often. */
async function refuse(when: "update" | "delete", id: string) {
  await queue.sql(`create sequence public.refusals;
    create function public.refuse() returns trigger language plpgsql as $$ begin
      if old.id = ${id} then
        perform nextval('public.refusals');
        raise 'it is locked' using errcode = 'lock_not_available';
      end if;
      return coalesce(new, old);
    end $$;
    create trigger refuse before ${when} on worker._private_jobs
    for each row execute function public.refuse()`);
  return async () =>
    (await queue.sql<{ n: number }>("select last_value::int as n from public.refusals"))[0]?.n ?? 0;
}

const end = () =>
  queue.sql("drop function if exists public.refuse cascade; drop sequence public.refusals");

describe("A refused statement is sent again, twice a second for each connection,", () => {
  test("if it is a fetch.", async (t) => {
    const { id } = await queue.utils.addJob("task");
    const refusals = await refuse("update", id);
    t.after(end);
    const task = recordingTask("task");
    await queue.startWorker({ tasks: [task], connections: 2 });
    await waitUntil("it is refused", async () => (await refusals()) > 1);
    const before = await refusals();
    await queue.sql("select pg_sleep(1)");
    const more = (await refusals()) - before;
    assert.ok(more >= 1 && more <= 8, `${more} times in a second`);
    await queue.sql("drop trigger refuse on worker._private_jobs");
    await waitUntil("it has run", async () => (await queue.remaining()).length === 0);
  });

  test("if it is a result; other jobs run.", async (t) => {
    const { id } = await queue.utils.addJob("task");
    const refusals = await refuse("delete", id);
    t.after(end);
    const task = recordingTask("task");
    await queue.startWorker({ tasks: [task], connections: 2 });
    await waitUntil("it is refused", async () => (await refusals()) > 1);
    const before = await refusals();
    const startMs = performance.now();
    for (let n = 2; performance.now() - startMs < 2_000; n++) {
      await queue.utils.addJob("task");
      await waitUntil("another one has run", () => task.seen.length === n);
    }
    const more = (await refusals()) - before;
    assert.ok(more >= 1, "it is sent again");
    assert.ok(more <= 16, `${more} times in two seconds`);
    await queue.sql("drop trigger refuse on worker._private_jobs");
    await waitUntil("all are written", async () => (await queue.remaining()).length === 0);
  });
});
