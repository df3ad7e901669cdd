// Graphile Worker's scheduler: the statement of one tick, and the whole scheduler.
import { EventEmitter, once } from "node:events";
import { Logger, run } from "graphile-worker";
import type pg from "pg";

// The statement that graphile-worker 0.18 sends for a tick (cron.js), without the jobs' other columns. The conflict
// clause is the part under test.
const tickSql = `
  with specs as (
    select index, json->>'identifier' as identifier, json->'payload' as payload
    from json_array_elements($1::json) with ordinality as entries (json, index)
  ), locks as (
    insert into worker._private_known_crontabs as known_crontabs
      (identifier, known_since, last_execution)
    select specs.identifier, $2::timestamptz, $2::timestamptz from specs
    on conflict (identifier) do update set last_execution = excluded.last_execution
    where known_crontabs.last_execution is null
      or known_crontabs.last_execution < excluded.last_execution
    returning known_crontabs.identifier
  )
  select worker.add_job(specs.identifier, specs.payload, run_at => $2::timestamptz)
  from specs inner join locks on locks.identifier = specs.identifier
  order by specs.index`;

/** Schedules tick `ts` as a Graphile worker does. Each of `identifiers` is that of a cron entry and of its task. */
export async function stockSchedule(
  pool: pg.Pool,
  identifiers: readonly string[],
  ts: string,
): Promise<void> {
  const payload = { _cron: { ts, backfilled: false } };
  const specs = identifiers.map((identifier) => ({ identifier, payload }));
  await pool.query(tickSql, [JSON.stringify(specs), ts]);
}

export interface StockRun {
  /** Resolves after the backfill of the Graphile worker, to the time of its start. */
  readonly started: Promise<Date>;
  stop(): Promise<void>;
}

/** Starts a Graphile worker that schedules `crontab` and runs no job. */
export function runStock(
  url: string,
  { crontab, schema = "worker" }: { readonly crontab: string; readonly schema?: string },
): StockRun {
  const events = new EventEmitter();
  const started = once(events, "cron:started").then(
    ([event]: { readonly start: Date }[]) => event?.start ?? new Date(Number.NaN),
  );
  const runner = run({
    connectionString: url,
    schema,
    crontab,
    events,
    logger: new Logger(() => () => {}),
    noHandleSignals: true,
    taskList: { "a task without jobs": async () => {} },
    pollInterval: 600_000,
  });
  return {
    started: runner.then(() => started),
    stop: async () => {
      await (await runner).stop();
    },
  };
}
