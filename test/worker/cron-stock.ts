// Runs Graphile Worker's scheduler in tests: only its statement for one tick, or the whole scheduler.
import { EventEmitter, once } from "node:events";
import { Logger, run } from "graphile-worker";
import type pg from "pg";

// The statement that graphile-worker 0.18 sends for a tick (cron.js). It is shortened: of the options of a job, it sets
// only the time. The tests are about the `on conflict` clause, which decides whether the tick is still to be scheduled.
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

/** Schedules tick `ts` as a Graphile worker does. Each of `identifiers` names both a cron entry and its task. */
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
  /** Resolves after the backfill of the Graphile worker, to the time at which its scheduler started. */
  readonly started: Promise<Date>;
  stop(): Promise<void>;
}

/** Starts a Graphile worker that adds the jobs of `crontab` but runs none of them. */
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
