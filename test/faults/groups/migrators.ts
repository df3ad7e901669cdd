// Tests twenty migrations that run at once while workers start, on a schema of Graphile Worker 0.16 and on an empty
// database. At the end, the schema must be complete, and no job may be lost.
import * as newest from "graphile-worker";
import { silentLogger } from "../../../src/base/logger.ts";
import { migrate } from "../../../src/database/schema/migrate.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import { olderGraphile } from "../../support/older-graphile.ts";
import { testPool } from "../../support/test-pool.ts";
import { stockTasks } from "../../worker/stock-crew.ts";
import { FORBIDDEN, record } from "../../worker/workload.ts";
import type { FaultGroup, Field } from "../field/field.ts";
import type { Server } from "../field/server.ts";
import type { Stand } from "../field/stand.ts";

const MIGRATORS = 20;
const WORKED_MS = 3_000;

export const group: FaultGroup = {
  name: "migrators",
  title: "20 migrators run at once while workers of Graphile Worker 0.16 to 0.18 run jobs",
  limitMinutes: 6,
  needs: ["graphile-worker 0.16 and 0.17"],
  async run(field: Field) {
    const server = await field.server();
    for (let round = 0; round < field.times(5, 1); round++) {
      await adopted(field, server, round);
      await created(field, server, round);
    }
  },
};

/** Migrates a schema that 0.16 has created, while a worker of 0.16 uses the schema. */
async function adopted(field: Field, server: Server, round: number): Promise<void> {
  const stands = await withoutSchema(field, server, `adopted ${round}`);
  await field.each(stands, async (stand) => {
    const oldest = await stockWorker(field, stand, "0.16");
    stand.load(20);
    const [, ...others] = await Promise.all([
      manyMigrators(stand),
      stockWorker(field, stand, "0.17"),
      stockWorker(field, stand, "0.18"),
      stockWorker(field, stand, "0.18"),
      stand.hire(1),
    ]);
    await field.outage(WORKED_MS);
    await ended(stand, [oldest, ...others.filter((one) => "stop" in one)]);
    field.say(`round ${round}: a schema of Graphile Worker 0.16 was migrated`);
  });
}

/** Creates a schema. No worker of 0.16 takes part, because 0.16 rejects a schema above level 18. */
async function created(field: Field, server: Server, round: number): Promise<void> {
  const stands = await withoutSchema(field, server, `created ${round}`);
  await field.each(stands, async (stand) => {
    const [, ...others] = await Promise.all([
      manyMigrators(stand),
      stockWorker(field, stand, "0.17"),
      stockWorker(field, stand, "0.18"),
      stand.hire(1),
    ]);
    stand.load(20);
    await field.outage(WORKED_MS);
    await ended(
      stand,
      others.filter((one) => "stop" in one),
    );
    field.say(`round ${round}: a schema was created`);
  });
}

async function withoutSchema(field: Field, server: Server, name: string): Promise<Stand[]> {
  const stands = await field.stands(server, { modes: ["safe"], name });
  for (const stand of stands) await stand.sql("drop schema worker cascade");
  return stands;
}

async function manyMigrators(stand: Stand): Promise<void> {
  const one = async () => {
    await using handle = testPool(stand.url, 2);
    await migrate(handle.pool, schemaName(), { logger: silentLogger });
  };
  const ends = await Promise.allSettled(Array.from({ length: MIGRATORS }, one));
  for (const end of ends) {
    if (end.status === "rejected") stand.problem(`a migrator failed: ${end.reason}`);
  }
}

interface StockWorker {
  /** Stops adding jobs; the worker still runs. */
  rest(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a Graphile worker, and adds about ten jobs a second with the addJob() of the same version. */
async function stockWorker(
  field: Field,
  stand: Stand,
  version: "0.16" | "0.17" | "0.18",
): Promise<StockWorker> {
  const { run, Logger } = version === "0.18" ? newest : olderGraphile(version);
  const handle = testPool(stand.url);
  const by = `graphile ${version} ${Math.random()}`;
  const runner = await run({
    ...{ pgPool: handle.pool, schema: "worker", concurrency: 3, pollInterval: 250 },
    ...{ noHandleSignals: true, forbiddenFlags: [FORBIDDEN] },
    logger: new Logger(() => () => {}),
    taskList: stockTasks(stand.log, by),
  });
  const over = new AbortController();
  const adding = (async () => {
    for (let made = 0; !over.signal.aborted; made++) {
      const payload = { n: `${by} ${made}`, ms: 1, failures: 0, children: 0 };
      const { id, max_attempts: maxAttempts } = await runner.addJob("single", payload);
      record({ id, maxAttempts, queueName: null, key: null, payload }, stand.log);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  adding.catch((error) => stand.problem(`${by} could not add a job: ${error}`));
  const rest = async () => {
    over.abort();
    await adding.catch(() => {});
  };
  let stopped: Promise<void> | undefined;
  const end = async () => {
    await rest();
    // A worker of 0.16 stops by itself once the level is above 18. runner.stop() may then reject.
    await runner.stop().catch(() => {});
    await runner.promise.catch(() => {});
    await handle.close();
  };
  const stop = () => {
    stopped ??= end();
    return stopped;
  };
  field.defer(stop);
  return { rest, stop };
}

async function ended(stand: Stand, workers: readonly StockWorker[]): Promise<void> {
  for (const one of workers) await one.rest();
  await migrateAgain(stand);
  await stand.end();
  // All jobs are done before the workers stop, because a worker of 0.17 that stops may leave an ended job locked.
  for (const one of workers) await one.stop();
  const versions = new Set(stand.runs().map(({ by }) => by.replace(/ [\d.]+$/, "")));
  stand.figure("kinds of workers that ran jobs", versions.size, { unit: "" });
}

const LEVELS = "select array_agg(id order by id)::text as levels from worker.migrations";
const EXPECTED = `{${Array.from({ length: 20 }, (_, level) => level + 1).join(",")}}`;

async function migrateAgain(stand: Stand): Promise<void> {
  await using handle = testPool(stand.url);
  const { kind } = await migrate(handle.pool, schemaName(), { logger: silentLogger });
  if (kind !== "current")
    stand.problem(`the schema was incomplete: another migrate() returned ${kind}`);
  const [row] = await stand.sql<{ levels: string }>(LEVELS);
  if (row?.levels !== EXPECTED)
    stand.problem(`the table worker.migrations has the levels ${row?.levels}, not ${EXPECTED}`);
}
