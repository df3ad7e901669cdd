// Tests the function that coalescedAdd() returns. Concurrent calls of the function share inserts, but each call has its
// own job or error.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Database, Queryable } from "../../src/database/database.ts";
import type { JobToAdd } from "../../src/domain/job-spec.ts";
import { coalescedAdd } from "../../src/queue/add/coalesced-add.ts";
import { testQueue } from "./queue-database.ts";

const queue = testQueue();

const numbered = (count: number): JobToAdd[] =>
  Array.from({ length: count }, (_, n) => ({
    identifier: `t${n % 3}`,
    payload: { n },
    spec: { priority: n % 5, ...(n % 4 === 0 ? { queueName: `q${n % 7}` } : {}) },
  }));

/** Returns the queue's database. `statements`: how many statements were sent through the returned object. */
function counting(): Database & { readonly statements: number } {
  let statements = 0;
  const client: Queryable = {
    query: (config) => {
      statements++;
      return queue.pool.query(config);
    },
  };
  const counted = { ...queue.db, client };
  return Object.defineProperty(counted as typeof counted & { statements: number }, "statements", {
    get: () => statements,
  });
}

async function payloads(): Promise<unknown[]> {
  const rows = await queue.sql<{ payload: unknown }>(
    "select payload from worker._private_jobs order by id",
  );
  return rows.map(({ payload }) => payload);
}

describe("Calls that are made together", () => {
  test("share one insert, and each gets its own job.", async () => {
    const db = counting();
    const add = coalescedAdd(db);
    const given = numbered(500);
    const added = await Promise.all(given.map(add));
    assert.equal(db.statements, 1);
    for (const [n, job] of added.entries()) {
      assert.deepEqual(job.payload, { n });
      assert.equal(job.taskIdentifier, given[n]?.identifier);
      assert.equal(job.priority, given[n]?.spec?.priority);
      assert.equal(job.queueName, given[n]?.spec?.queueName ?? null);
    }
    assert.equal(new Set(added.map(({ id }) => id)).size, 500);
    assert.deepEqual(
      await payloads(),
      given.map(({ payload }) => payload),
    );
  });

  test("store each payload as it was at the time of the call.", async () => {
    const add = coalescedAdd(queue.db);
    const payload = { n: 0 };
    const calls: Promise<unknown>[] = [];
    for (; payload.n < 5; payload.n++) calls.push(add({ identifier: "t", payload }));
    await Promise.all(calls);
    assert.deepEqual(await payloads(), [{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
  });

  test("are sent a thousand at a time; calls that are made during an insert wait for a later insert.", async () => {
    const db = counting();
    const add = coalescedAdd(db);
    const first = numbered(2_500).map(add);
    await Promise.race(first);
    const second = numbered(200).map(add);
    const added = await Promise.all([...first, ...second]);
    assert.equal(new Set(added.map(({ id }) => id)).size, 2_700);
    assert.ok(db.statements <= 5, `${db.statements} statements`);
  });

  test("are sent in at most two inserts at once.", async () => {
    let sent = 0;
    let running = 0;
    let most = 0;
    const held: (() => void)[] = [];
    const client: Queryable = {
      query: async (config) => {
        sent++;
        most = Math.max(most, ++running);
        const result = await queue.pool.query(config);
        await new Promise<void>((release) => held.push(release));
        running--;
        return result;
      },
    };
    const add = coalescedAdd({ ...queue.db, client });
    const [first, ...next] = numbered(4);
    const added = [add(first as JobToAdd)];
    while (held.length < 1) await new Promise(setImmediate);
    const [second, third, fourth] = next as [JobToAdd, JobToAdd, JobToAdd];
    // The second add schedules a second loop of inserts. The first insert ends before the second loop begins, so the
    // first loop also sends the second job.
    added.push(add(second));
    setImmediate(() => added.push(add(fourth)));
    held.pop()?.();
    while (sent < 2) await Promise.resolve();
    added.push(add(third));
    while (held.length < 2) await new Promise(setImmediate);
    const ids = new Set<string>();
    for (const one of added) void one.then(({ id }) => ids.add(id));
    while (ids.size < 4) {
      held.pop()?.();
      await new Promise(setImmediate);
    }
    assert.equal(most, 2);
  });

  test("are sent in several inserts if their payloads are large.", async () => {
    const db = counting();
    const add = coalescedAdd(db);
    const payload = "x".repeat(999_998); // a megabyte with its two quotes
    const added = await Promise.all(
      Array.from({ length: 40 }, () => add({ identifier: "t", payload })),
    );
    assert.equal(new Set(added.map(({ id }) => id)).size, 40);
    assert.equal(db.statements, 3);
  });

  test("with a job key do not share inserts, and two calls with the same key add one job.", async () => {
    const add = coalescedAdd(queue.db);
    const [plain, ...keyed] = await Promise.all(
      [undefined, "k", "k"].map((jobKey, n) =>
        add({ identifier: "t", payload: n, spec: { jobKey } }),
      ),
    );
    assert.equal(new Set(keyed.map(({ id }) => id)).size, 1);
    assert.notEqual(plain?.id, keyed[0]?.id);
    assert.equal((await payloads()).length, 2);
  });
});

describe("One bad call among many", () => {
  const settled = (jobs: JobToAdd[]) => Promise.allSettled(jobs.map(coalescedAdd(queue.db)));

  async function othersAreAdded(bad: JobToAdd, message: RegExp): Promise<void> {
    const jobs = numbered(40);
    jobs[17] = bad;
    const answers = await settled(jobs);
    for (const [n, answer] of answers.entries()) {
      if (n === 17) assert.match(String((answer as PromiseRejectedResult).reason), message);
      else assert.equal(answer.status, "fulfilled", String(n));
    }
    assert.equal((await payloads()).length, 39);
  }

  test("that the schema cannot store is refused alone.", () =>
    othersAreAdded(
      { identifier: "t", spec: { queueName: "q".repeat(129) } },
      /spec\.queueName: must have 1 to 128/,
    ));

  for (const state of ["P0001", "55000", "42883"]) {
    test(`that only the database refuses, with ${state}, is refused alone.`, async () => {
      await queue.sql(`
        create function refuse() returns trigger language plpgsql as $$
        begin
          if new.payload->>'poison' is not null then
            raise exception 'poisoned' using errcode = '${state}';
          end if;
          return new;
        end $$;
        create trigger refuse before insert on worker._private_jobs
        for each row execute function refuse()`);
      try {
        await othersAreAdded({ identifier: "t", payload: { poison: true } }, /poisoned/);
      } finally {
        await queue.sql("drop function refuse cascade");
      }
    });
  }

  test("that a trigger skips is refused alone.", async () => {
    await queue.sql(`
      create function skip_bad() returns trigger language plpgsql as
        'begin return case when new.payload->>''bad'' is null then new end; end';
      create trigger skip_bad before insert on worker._private_jobs
        for each row execute function skip_bad()`);
    try {
      await othersAreAdded(
        { identifier: "t", payload: { bad: true } },
        /the job was not stored: a trigger on the table _private_jobs skips rows/,
      );
    } finally {
      await queue.sql("drop function skip_bad cascade");
    }
  });

  test("is not singled out if the connection is lost: then all calls fail.", async () => {
    const away = { query: () => Promise.reject(new Error("Connection terminated unexpectedly")) };
    const add = coalescedAdd({ ...queue.db, client: away as Queryable });
    const answers = await Promise.allSettled(numbered(5).map(add));
    const reasons = answers.map((answer) => (answer as PromiseRejectedResult).reason);
    assert.ok(reasons.every(({ code }) => code === "outcome_unknown"));
    assert.equal(new Set(reasons).size, 5, "each call has its own error");
  });
});
