// Tests WorkerUtils.with() and completeIn() with the clients of several drivers.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql as drizzleSql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { drizzle as drizzlePostgres } from "drizzle-orm/postgres-js";
import createKnex, { type Knex } from "knex";
import { CompiledQuery, Kysely, PostgresDialect } from "kysely";
import pg, { type QueryConfig } from "pg";
import postgres from "postgres";
import { DataSource } from "typeorm";
import type { WorkerError } from "../../src/base/errors.ts";
import { silentLogger } from "../../src/base/logger.ts";
import type { Queryable } from "../../src/database/database.ts";
import type { Job } from "../../src/domain/job.ts";
import { makeWorkerUtils, type WorkerUtils } from "../../src/utils/worker-utils.ts";
import { runOnce } from "../../src/worker/run.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { testQueue } from "../queue/queue-database.ts";
import { migratedDatabase } from "../support/database.ts";
import { members } from "../support/rounds.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";

const queue = testQueue(() => migratedDatabase("worker", ["limits", "schedules"]));

interface Driver {
  /** Passes the transaction's client to `work`, and rolls back if `work` throws. */
  transaction(work: (client: Queryable) => Promise<void>): Promise<void>;
  end(): Promise<unknown>;
}

const client = (query: (text: string, values: unknown[]) => Promise<unknown>) =>
  ({ query: ({ text, values }: QueryConfig) => query(text, values ?? []) }) as unknown as Queryable;

/** Passes the parts of the URL, because the URL parser of postgres.js does not support unix sockets. */
function postgresJs(url: string) {
  const { host, port, database = "", user = "", password = "" } = new pg.Client(url);
  const where = host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  return postgres({ ...where, database, user, password: password ?? "", onnotice: () => {} });
}

/** With a listener for errors, a lost connection does not end the process. */
function pgPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString });
  return pool.on("connect", (one) => one.on("error", () => {}));
}

function drizzleChunks(text: string, values: unknown[]) {
  const chunks = text
    .split(/\$(\d+)/)
    .map((part, n) =>
      n % 2 === 0 ? drizzleSql.raw(part) : drizzleSql.param(values[Number(part) - 1]),
    );
  return drizzleSql.join(chunks);
}

function knexRaw(trx: Knex.Transaction, text: string, values: unknown[]) {
  const bindings: unknown[] = [];
  const withMarks = text.replaceAll("?", "\\?").replace(/\$(\d+)/g, (_, n: string) => {
    bindings.push(values[Number(n) - 1]);
    return "?";
  });
  return trx.raw(withMarks, bindings as never);
}

const drivers: Record<string, (url: string) => Promise<Driver>> = {
  pg: async (url) => {
    const pool = pgPool(url);
    return {
      async transaction(work) {
        const one = await pool.connect();
        try {
          await one.query("begin");
          await work(one);
          await one.query("commit");
        } catch (error) {
          await one.query("rollback");
          throw error;
        } finally {
          one.release();
        }
      },
      end: () => pool.end(),
    };
  },
  "postgres.js": async (url) => {
    const sql = postgresJs(url);
    return {
      transaction: (work) =>
        sql.begin(async (tx) => {
          await work(
            client(async (text, values) => ({ rows: await tx.unsafe(text, values as never) })),
          );
        }) as Promise<void>,
      end: () => sql.end({ timeout: 0 }),
    };
  },
  "Drizzle on pg": async (url) => {
    const pool = pgPool(url);
    const db = drizzle(pool);
    return {
      transaction: (work) =>
        db.transaction((tx) =>
          work(client((text, values) => tx.execute(drizzleChunks(text, values)))),
        ),
      end: () => pool.end(),
    };
  },
  "Drizzle on postgres.js": async (url) => {
    const sql = postgresJs(url);
    const db = drizzlePostgres(sql);
    return {
      transaction: (work) =>
        db.transaction((tx) =>
          work(
            client(async (text, values) => ({
              rows: await tx.execute(drizzleChunks(text, values)),
            })),
          ),
        ),
      end: () => sql.end({ timeout: 0 }),
    };
  },
  Kysely: async (url) => {
    const db = new Kysely<object>({
      dialect: new PostgresDialect({ pool: pgPool(url) }),
    });
    return {
      transaction: (work) =>
        db
          .transaction()
          .execute((trx) =>
            work(client((text, values) => trx.executeQuery(CompiledQuery.raw(text, values)))),
          ),
      end: () => db.destroy(),
    };
  },
  Knex: async (url) => {
    const knex = createKnex({ client: "pg", connection: url });
    return {
      transaction: (work) =>
        knex.transaction((trx) => work(client(async (text, values) => knexRaw(trx, text, values)))),
      end: () => knex.destroy(),
    };
  },
  TypeORM: async (url) => {
    const source = await new DataSource({ type: "postgres", url }).initialize();
    return {
      async transaction(work) {
        await source.transaction((manager) =>
          work(client(async (text, values) => ({ rows: await manager.query(text, values) }))),
        );
      },
      end: () => source.destroy(),
    };
  },
};

const BIG = "9007199254740993";
const TEXT = 'é \u2028 "quoted" \\ $1 ? {}';
const PAYLOAD_TEXT = `{"to":"ada","big":${BIG},"text":${JSON.stringify(TEXT)}}`;
const payload = { to: "ada", big: BigInt(BIG), text: TEXT };
const RUN_AT = "2031-01-01T00:00:00.123456Z";
const spec = { queueName: "q", runAt: RUN_AT, flags: ["f"], priority: -3, maxAttempts: 5 };

/** Returns the values that must be the same with every driver. */
const seen = (job: Job | null | undefined) => ({
  id: job?.id,
  task: job?.taskIdentifier,
  queue: job?.queueName,
  payload: job?.payloadText,
  runAt: job?.runAtText,
  flags: job?.flagsText,
  attempts: [job?.attempts, job?.maxAttempts, job?.priority],
  state: job?.state,
});

const EXPECTED = {
  id: BIG,
  task: "t",
  queue: "q",
  payload: PAYLOAD_TEXT,
  runAt: RUN_AT,
  flags: '{"f": true}',
  attempts: [0, 5, -3],
  state: "scheduled",
};

const storedPayloads = async () =>
  (
    await queue.sql<{ text: string }>(
      "select payload::text as text from worker._private_jobs order by id",
    )
  ).map(({ text }) => text);

const all = Object.entries(drivers);
const few = all.filter(([name]) => ["pg", "Drizzle on postgres.js", "Knex"].includes(name));

for (const [name, open] of members(all, few)) {
  describe(`Inside a transaction of ${name}`, () => {
    let driver: Driver;
    let own: WorkerUtils;
    before(async () => {
      driver = await open(queue.url);
      own = await makeWorkerUtils({ pool: queue.pool });
    });
    after(() => driver.end());

    const inside = async (work: (utils: WorkerUtils) => Promise<void>) => {
      await queue.sql(`alter sequence worker.jobs_id_seq1 restart with ${BIG}`);
      await driver.transaction((one) => work(own.with(one)));
    };

    test("a job is stored byte for byte, and returned exactly.", async () => {
      await inside(async (utils) => {
        assert.deepEqual(seen(await utils.addJob("t", payload, spec)), EXPECTED);
        assert.deepEqual(seen(await utils.getJob(BIG)), EXPECTED);
      });
      assert.deepEqual(await storedPayloads(), [PAYLOAD_TEXT]);
    });

    test("jobs of one call are stored byte for byte, and returned exactly, with job keys and without.", async () => {
      await inside(async (utils) => {
        const jobs = [{ identifier: "t", payload, spec }, { identifier: "u" }];
        assert.deepEqual(seen((await utils.addJobs(jobs))[0]), EXPECTED);
        const [keyed] = await utils.addJobs([
          { identifier: "t", payload, spec: { ...spec, jobKey: "k" } },
        ]);
        assert.equal(keyed?.payloadText, PAYLOAD_TEXT);
      });
      assert.deepEqual(await storedPayloads(), [PAYLOAD_TEXT, "{}", PAYLOAD_TEXT]);
    });

    test("jobs are rescheduled, failed, listed, completed and removed.", async () => {
      await inside(async (utils) => {
        await utils.addJob("t", payload, { ...spec, jobKey: "k" });
        const [moved] = await utils.rescheduleJobs([BIG], { runAt: RUN_AT, priority: -3 });
        assert.deepEqual(seen(moved), EXPECTED);
        const { jobs } = await utils.listJobs({ sort: "due" });
        assert.deepEqual(seen(jobs[0]), EXPECTED);
        assert.equal((await utils.countJobs()).scheduled, 1);
        assert.equal((await utils.listQueues())[0]?.queueName, "q");
        assert.equal((await utils.permanentlyFailJobs([BIG], "no"))[0]?.lastError, "no");
        assert.equal((await utils.removeJob("k")).job?.payloadText, PAYLOAD_TEXT);
        const { id } = await utils.addJob("t", payload);
        assert.equal((await utils.completeJobs([id]))[0]?.payloadText, PAYLOAD_TEXT);
        assert.deepEqual(await utils.listLockedWorkers(), []);
        assert.deepEqual(await utils.listActiveWorkers(), []);
        assert.deepEqual(await utils.forceUnlockWorkers(["w"]), { jobs: 0, queues: 0 });
      });
      assert.deepEqual(await storedPayloads(), []);
    });

    test("schedules, pauses and limits are stored and returned exactly.", async () => {
      await inside(async (utils) => {
        const options = {
          identifier: "s",
          payload: { big: BigInt(BIG), text: TEXT },
          priority: -3,
        };
        const added = await utils.addSchedule("0 4 * * *", "t", options);
        await utils.pauseSchedule("s");
        const resumed = await utils.resumeSchedule("s");
        const changed = await utils.changeSchedule("s", { pattern: "0 5 1 1 *" });
        for (const one of [added, resumed, changed, await utils.getSchedule("s")]) {
          assert.equal(one.payloadText, `{"big":${BIG},"text":${JSON.stringify(TEXT)}}`);
          assert.equal(one.priority, -3);
        }
        assert.equal(changed.nextAt?.getUTCMonth(), 0);
        assert.equal((await utils.runSchedule("s")).priority, -3);
        await utils.removeSchedule("s");
        const resumeAt = new Date("2031-01-01T00:00:00.123Z");
        await utils.pauseTask("t", { reason: TEXT, resumeAt });
        const [pause] = await utils.listPauses();
        assert.deepEqual([pause?.reason, pause?.resumeAt], [TEXT, resumeAt]);
        await utils.resumeTask("t");
        const rate = { limit: 5, perMs: 60_000, burst: 7 };
        await utils.setLimit({ name: "l", task: "t", concurrency: 2, rate });
        const [limit] = await utils.listLimits();
        assert.deepEqual([limit?.name, limit?.concurrency, limit?.rate], ["l", 2, rate]);
        await utils.removeLimit("l");
      });
    });

    test("a task completes its job, unless the lock of the job was lost.", async () => {
      await queue.sql("create table effects (id text)");
      const task = defineTask("t", async (payload: { isLost: boolean }, { job, completeIn }) => {
        await driver.transaction(async (one) => {
          await one.query({ text: "insert into effects values ($1::text)", values: [job.id] });
          if (payload.isLost) {
            await queue.sql("update worker._private_jobs set locked_by = 'another'");
          }
          await completeIn(one);
        });
      });
      const { id } = await own.addJob("t", { isLost: false });
      const lost = await own.addJob("t", { isLost: true });
      const { completed } = await runOnce({
        ...{ pool: queue.pool, logger: silentLogger, tasks: [task], concurrency: 1 },
      });
      assert.equal(completed, 1);
      assert.deepEqual(await queue.sql("select id from effects"), [{ id }]);
      assert.equal((await own.getJob(lost.id))?.lockedBy, "another");
      await queue.sql("drop table effects");
    });

    test("an add whose answer is lost has an unknown outcome, except on pg, whose client reports the open transaction.", async () => {
      await using proxy = await tcpProxy(queue.url);
      const cut = await open(proxy.url);
      const lost = Promise.withResolvers<WorkerError>();
      const add = async (one: Queryable) => {
        const utils = own.with(one);
        await utils.addJob("t");
        // The second add is sent before the client notices that the proxy passes no more answers.
        proxy.halfClose("answers");
        await utils.addJob("t").catch(lost.resolve);
        // If the callback ended, postgres.js would send a statement over the closed connection.
        await new Promise(() => {});
      };
      cut.transaction(add).catch(() => {});
      const { code } = await lost.promise;
      cut.end().catch(() => {});
      // An open transaction proves that the add was not committed.
      assert.equal(code, name === "pg" ? "database_unreachable" : "outcome_unknown");
    });

    test("a rollback removes the job, and an add that violates a constraint fails with the code bad_input.", async () => {
      const stop = new Error("rolled back");
      await assert.rejects(
        inside(async (utils) => {
          await utils.addJob("t", payload);
          throw stop;
        }),
        /rolled back/,
      );
      await assert.rejects(
        inside(async (utils) => {
          await queue.sql(
            "alter table worker._private_tasks add constraint no_x check (identifier <> 'x')",
          );
          await utils.addJob("x");
        }),
        (error: Error & { code?: string }) =>
          (error.code ?? (error.cause as { code?: string })?.code) === "bad_input",
      );
      await queue.sql("alter table worker._private_tasks drop constraint if exists no_x");
      assert.deepEqual(await storedPayloads(), []);
    });
  });
}

test("If the connection fails during the statement that tests a client, the next call tests the client again; a refused client stays refused.", async () => {
  await using own = await makeWorkerUtils({ pool: queue.pool });
  let statements = 0;
  const failing = client(async (text, values) => {
    if (statements++ === 0) {
      const cause = Object.assign(new Error("reset"), { code: "ECONNRESET" });
      throw new Error("Failed query", { cause });
    }
    return queue.pool.query(text, values as never);
  });
  const utils = own.with(failing);
  // The add was not sent, because the statement that tests the client failed.
  await assert.rejects(utils.addJob("t", payload), { code: "database_unreachable" });
  assert.equal((await utils.addJob("t", payload)).payloadText, PAYLOAD_TEXT);
  let answers = 0;
  const refused = own.with(client(async () => answers++));
  for (let n = 0; n < 2; n++) await assert.rejects(refused.addJob("t"), { code: "configuration" });
  assert.equal(answers, 1);
});

test("A client that converts names or values is refused before anything is stored.", async () => {
  await using own = await makeWorkerUtils({ pool: queue.pool });
  const camel = client(async (text, values) => {
    const { rows } = await queue.pool.query(text, values as never);
    const renamed = (key: string) =>
      key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return {
      rows: rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([key, value]) => [renamed(key), value])),
      ),
    };
  });
  const bare = client(async (text, values) => (await queue.pool.query(text, values as never)).rows);
  const parsing = client(async (text, values) => {
    const { rows } = await queue.pool.query(text, values as never);
    return {
      rows: rows.map((row) => ({ ...row, exact_json: JSON.parse(row.exact_json ?? "{}") })),
    };
  });
  for (const [one, why] of [
    [camel, /exact_id it returned/],
    [bare, /resolve to \{ rows/],
    [parsing, /exact_json/],
  ] as const) {
    await assert.rejects(own.with(one).addJob("t", payload), {
      code: "configuration",
      message: why,
    });
  }
  await assert.rejects(
    own
      .with(client(async (text, values) => queue.pool.query(text, values as never)))
      .copyJobs([{ identifier: "t" }]),
    { code: "configuration", message: /COPY/ },
  );
  assert.deepEqual(await storedPayloads(), []);
});
