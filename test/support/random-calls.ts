// Makes random calls of the queue's SQL functions, and between the calls updates like those of workers. The same seed
// gives the same calls.

/** Returns a whole number from 0 to `below` - 1. */
export type Random = (below: number) => number;

export interface Call {
  readonly name: string;
  readonly text: string;
  /**
   * Positions in a list of the existing jobs. The ids of the jobs at these positions are passed to `values`. The order
   * of the list does not depend on ids. After the end of the list, positions continue at its start.
   */
  readonly jobs: readonly number[];
  readonly values: (ids: readonly string[]) => unknown[];
}

/** Returns a generator of random numbers (mulberry32). */
export function random(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const NORMAL = "to_jsonb(pg_temp.normal(job)) as job, job is null as nothing";

function pick<T>(dice: Random, ...choices: readonly T[]): T {
  return choices[dice(choices.length)] as T;
}

const identifier = (dice: Random) =>
  dice(40) === 0 ? pick(dice, null, "x".repeat(129)) : pick(dice, "send", "resize", "näme '\"");
const payload = (dice: Random) =>
  pick(dice, null, "null", '{"a":1}', "[1, 2]", "[]", '["x"]', "7", '{"b": [1,  2.50]}');
const queue = (dice: Random) =>
  dice(40) === 0 ? "q".repeat(129) : pick(dice, null, null, "first", "second");
const runAt = (dice: Random) =>
  pick(dice, null, null, "2031-02-03T04:05:06.789Z", "2019-01-01T00:00:00Z", "infinity");
const limit = (dice: Random) =>
  dice(25) === 0 ? pick(dice, 0, -1, 40_000) : pick(dice, null, null, 1, 2, 25);
const key = (dice: Random) =>
  dice(40) === 0 ? pick(dice, "", "k".repeat(513)) : pick(dice, null, "one", "one", "two", "three");
const priority = (dice: Random) => (dice(40) === 0 ? 40_000 : pick(dice, null, null, -5, 0, 9));
const flags = (dice: Random) => pick(dice, null, null, [], ["f"], ["f", "g", "f"]);
const mode = (dice: Random) =>
  pick(
    dice,
    "replace",
    "replace",
    "preserve_run_at",
    "unsafe_dedupe",
    "unsafe_dedupe",
    null,
    "odd",
  );
const places = (dice: Random) => Array.from({ length: dice(4) }, () => dice(20));

function addJob(dice: Random): Call {
  const values = [
    identifier(dice),
    payload(dice),
    queue(dice),
    runAt(dice),
    limit(dice),
    key(dice),
    priority(dice),
    flags(dice),
  ];
  const withMode = dice(4) > 0;
  const chosen = withMode ? mode(dice) : undefined;
  return {
    name: `add_job ${chosen}`,
    text: `select ${NORMAL} from worker.add_job($1::text, $2::json, $3::text, $4::timestamptz,
      $5::int, $6::text, $7::int, $8::text[]${withMode ? ", $9::text" : ""}) as job`,
    jobs: [],
    values: () => (chosen === undefined ? values : [...values, chosen]),
  };
}

function addJobs(dice: Random): Call {
  const specs = Array.from({ length: dice(5) }, () => ({
    identifier: identifier(dice),
    payload: JSON.parse(payload(dice) ?? "null"),
    queue_name: queue(dice),
    run_at: runAt(dice),
    max_attempts: limit(dice),
    job_key: key(dice),
    priority: priority(dice),
    flags: flags(dice),
  }));
  const preserve = pick(dice, true, false, null);
  return {
    name: "add_jobs",
    text: `select ${NORMAL} from worker.add_jobs(
      array(select json_populate_recordset(null::worker.job_spec, $1::json)), $2::boolean) as job`,
    jobs: [],
    values: () => [JSON.stringify(specs), preserve],
  };
}

function onJobs(name: string, text: string, dice: Random, ...more: unknown[]): Call {
  return {
    name,
    text: `select ${NORMAL} from worker.${text} as job`,
    jobs: places(dice),
    values: (ids) => [ids, ...more],
  };
}

function onWorkers(dice: Random): Call {
  const ids = pick(dice, [], ["w1"], ["w1", "w2", "nobody"]);
  return {
    name: "force_unlock_workers",
    text: "select worker.force_unlock_workers($1::text[])::text",
    jobs: [],
    values: () => [ids],
  };
}

/**
 * Returns an update that locks one or two jobs, unlocks them, or sets their attempts and error; or an update that locks
 * all named queues.
 */
function work(dice: Random): Call {
  const [set, table] = pick(
    dice,
    ["locked_at = now(), locked_by = 'w1'", "_private_jobs"],
    ["locked_at = now() - interval '3 h', locked_by = 'w2'", "_private_jobs"],
    ["locked_at = now() - interval '5 h', locked_by = 'w1'", "_private_jobs"],
    ["attempts = max_attempts, last_error = 'enough'", "_private_jobs"],
    ["attempts = least(attempts + 1, max_attempts), last_error = 'once'", "_private_jobs"],
    ["attempts = 1, max_attempts = 25, last_error = 'retries'", "_private_jobs"],
    ["locked_at = null, locked_by = null", "_private_jobs"],
    ["locked_at = now() - interval '5 h', locked_by = 'w1'", "_private_job_queues"],
  );
  return {
    name: "work",
    text:
      table === "_private_jobs"
        ? `update worker.${table} set ${set} where id = any($1::bigint[])`
        : `update worker.${table} set ${set} where $1::bigint[] is not null`,
    jobs: [dice(20), dice(20)],
    values: (ids) => [ids],
  };
}

export function randomCall(dice: Random): Call {
  const chance = dice(100);
  if (chance < 35) return addJob(dice);
  if (chance < 50) return addJobs(dice);
  if (chance < 70) return work(dice);
  if (chance < 76) return onJobs("complete_jobs", "complete_jobs($1::bigint[])", dice);
  if (chance < 82) {
    return dice(2) === 0
      ? onJobs("permanently_fail_jobs", "permanently_fail_jobs($1::bigint[])", dice)
      : onJobs(
          "permanently_fail_jobs with a message",
          "permanently_fail_jobs($1::bigint[], $2::text)",
          dice,
          pick(dice, null, "", "no"),
        );
  }
  if (chance < 90) {
    return onJobs(
      "reschedule_jobs",
      "reschedule_jobs($1::bigint[], $2::timestamptz, $3::int, $4::int, $5::int)",
      dice,
      runAt(dice),
      priority(dice),
      pick(dice, null, 0, 3),
      limit(dice),
    );
  }
  if (chance < 96) {
    const name = key(dice);
    return {
      name: "remove_job",
      text: `select ${NORMAL} from worker.remove_job($1::text) as job`,
      jobs: [],
      values: () => [name],
    };
  }
  return onWorkers(dice);
}
