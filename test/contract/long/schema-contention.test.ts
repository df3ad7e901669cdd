// Tests concurrent calls of the SQL function add_jobs(). While callers add jobs with the same keys and other sessions
// lock and delete jobs as workers do, no job may be lost silently. Graphile Worker's own function can lose jobs in this
// case. Callers that add the same new tasks and queues must not deadlock. Two more tests check the order of the ids in
// a batch, and an empty batch.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type pg from "pg";
import { codeOf } from "../../../src/base/errors.ts";
import { migratedDatabase } from "../../support/database.ts";
import { type TestPool, testPool } from "../../support/test-pool.ts";

const KEYS = 8;
const CALLS = 60;
let own: TestPool;
let pool: pg.Pool;

const addSql = `
  select count(id)::int as added from worker.add_jobs(
    array(select json_populate_recordset(null::worker.job_spec, $1::json))
  )`;

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Adds the jobs, with up to 50 retries after serialization failures and deadlocks. Returns the number of retries. */
async function add(specs: readonly object[]): Promise<number> {
  for (let retries = 0; ; retries++) {
    try {
      const { rows } = await pool.query(addSql, [JSON.stringify(specs)]);
      assert.deepEqual(rows, [{ added: specs.length }]);
      return retries;
    } catch (error) {
      if (!["40001", "40P01"].includes(codeOf(error) ?? "") || retries === 50) throw error;
    }
  }
}

describe("add_jobs with concurrent sessions", () => {
  before(async () => {
    own = testPool((await migratedDatabase()).url, 6);
    pool = own.pool;
  });
  after(() => own.close());

  test("No job is lost if callers add jobs with the same keys while workers lock and delete some.", async (t) => {
    let adding = true;
    const keys = Array.from({ length: KEYS }, (_, n) => `key ${n}`);
    const worker = async () => {
      while (adding) {
        await pool.query(`
          update worker._private_jobs set locked_at = now(), locked_by = 'w', attempts = attempts + 1
          where id in (
            select id from worker._private_jobs where is_available
            order by random() limit 2 for update skip locked
          )`);
        await pool.query(`
          delete from worker._private_jobs where id in (
            select id from worker._private_jobs where locked_by is not null for update skip locked
          )`);
      }
    };
    const caller = async () => {
      let retries = 0;
      for (let call = 0; call < CALLS; call++) {
        retries += await add(
          shuffled(keys).map((key) => ({ identifier: `task of ${key}`, job_key: key })),
        );
      }
      return retries;
    };
    const workers = Promise.all([worker(), worker()]);
    const retries = await Promise.all([caller(), caller(), caller()]).finally(() => {
      adding = false;
    });
    await workers;
    t.diagnostic(`calls that had to be repeated: ${retries.join(", ")} of ${CALLS}`);
    await add(keys.map((key) => ({ identifier: "last", job_key: key })));
    const { rows } = await pool.query("select key from worker.jobs order by 1");
    assert.deepEqual(
      rows,
      keys.map((key) => ({ key })),
    );
  });

  test("Callers that add the same new tasks and queues in different orders do not deadlock.", async () => {
    for (let round = 0; round < 20; round++) {
      const names = Array.from({ length: 12 }, (_, n) => `new ${round}.${n}`);
      const specs = names.map((name) => ({ identifier: name, queue_name: name }));
      const retries = await Promise.all([
        add(specs),
        add(specs.toReversed()),
        add(shuffled(specs)),
        add(shuffled(specs)),
      ]);
      assert.deepEqual(retries, [0, 0, 0, 0]);
    }
  });

  test("The jobs of a batch without keys get ids in the order of the batch.", async () => {
    const specs = Array.from({ length: 500 }, (_, n) => ({
      identifier: `ordered ${n % 7}`,
      queue_name: n % 3 === 0 ? `queue ${n % 11}` : null,
      payload: n,
    }));
    const { rows } = await pool.query<{ n: number }>(
      `select (payload::text)::int as n from worker.add_jobs(
        array(select json_populate_recordset(null::worker.job_spec, $1::json))
      ) order by id`,
      [JSON.stringify(specs)],
    );
    assert.deepEqual(
      rows.map(({ n }) => n),
      specs.map(({ payload }) => payload),
    );
  });

  test("A batch without jobs adds nothing.", async () => {
    const { rows } = await pool.query("select * from worker.add_jobs('{}')");
    assert.deepEqual(rows, []);
  });
});
