// Turns the facts about the queue (read-facts.ts) into findings: about tables, locks, timetables, incidents and so on.
import type { RelationFacts } from "../../../database/inspect/relations.ts";
import { strayMessage } from "../../../database/stray-functions.ts";
import { shellWord } from "../../../domain/portable/shell-word.ts";
import { positionals } from "../../../domain/portable/worker-line.ts";
import { countText, numberText } from "../../../domain/words.ts";
import { recoverQueues } from "../../../insight/why/causes.ts";
import { lineOfFix } from "../../operations/fix-line.ts";
import { type Finding, finding, inPsql, quoteName } from "./finding.ts";
import type { DoctorFacts } from "./read-facts.ts";

type Queue = NonNullable<DoctorFacts["queue"]>;

const MANY_DEAD = 50_000;
const MAX_NAMED = 20;
const MUCH_CHANGED = 50_000;
/** With more jobs than this, the recommended optional indexes are worth their cost. */
const MANY_JOBS = 1_000_000;

export function queueFindings({ queue, schemaName }: DoctorFacts): Finding[] {
  if (queue === null) return [];
  return [
    ...driftFindings(queue, schemaName),
    ...indexFindings(queue, schemaName),
    ...bloatFindings(queue, schemaName),
    ...lockFindings(queue),
    ...sequenceFindings(queue),
    ...timetableFindings(queue, schemaName),
    ...unsettledFindings(queue),
    ...lostNameFindings(queue, schemaName),
    ...(queue.limitsNote === null ? [] : [finding("warn", "limits", queue.limitsNote)]),
    ...incidentFindings(queue),
  ];
}

function driftFindings({ drift }: Queue, schema: string): Finding[] {
  if (drift === null) return [];
  const fresh = shellWord(`${schema}_fresh`);
  const found = drift.missing.map((what) => {
    const fix = [`worker migrate --schema=${fresh}`, `pg_dump --schema-only --schema=${fresh}`];
    return finding("bad", "drift", `${what} is missing; a fresh schema has it`, fix);
  });
  for (const stray of drift.strays) {
    const migrate = "worker migrate";
    found.push(finding("bad", "drift", strayMessage(schema, stray), migrate));
  }
  for (const { name, statement } of drift.missingIndexes) {
    const message = `the index ${name} is missing: every fetch reads all jobs`;
    found.push(finding("bad", "drift", message, inPsql(statement)));
  }
  for (const name of drift.triggers) {
    const fix = inPsql(
      `alter table ${quoteName(schema)}._private_jobs disable trigger ${quoteName(name)}`,
    );
    found.push(finding("warn", "drift", `the trigger ${name} runs for every job`, fix));
  }
  for (const { name, table } of drift.references) {
    const message = `the foreign key ${name} of ${table} blocks the deletion of each job that it references, so that a completed job fails`;
    const fix = inPsql(`alter table ${table} drop constraint ${quoteName(name)}`);
    found.push(finding("warn", "drift", message, fix));
  }
  if (found.length === 0) found.push(finding("ok", "drift", "no drift from the created schema"));
  return found;
}

function unsettledFindings({ unsettled }: Queue): Finding[] {
  return unsettled.map(({ id, error, isLocked }) => {
    const state = isLocked
      ? "stays locked"
      : "could not be locked, so the worker that tried skips it for 5 minutes";
    if (id.startsWith("-"))
      return finding("bad", "results", `the queue with id ${id.slice(1)} ${state}: ${error}`);
    return finding("bad", "results", `job ${id} ${state}: ${error}`, `worker why ${id}`);
  });
}

function indexFindings({ indexes, optional, tables }: Queue, schema: string): Finding[] {
  const building = new Set(
    optional.flatMap(({ state, index_name: name }) =>
      state === "building" || state === "broken" ? [name] : [],
    ),
  );
  const found: Finding[] = [];
  for (const { name, is_valid: isValid } of indexes) {
    if (isValid || building.has(name)) continue;
    const fix = inPsql(`reindex index concurrently ${quoteName(schema)}.${quoteName(name)}`);
    found.push(finding("bad", "indexes", `the index ${name} is invalid and not used`, fix));
  }
  for (const { name, state } of optional) {
    if (state !== "broken") continue;
    const message = `the build of the optional index ${name} was not completed`;
    found.push(finding("warn", "indexes", message, `worker build-index ${shellWord(name)}`));
  }
  const jobs = tables.find(({ name }) => name === "_private_jobs")?.live_rows ?? 0;
  const absent = optional.filter(
    ({ state, is_recommended: isRecommended }) => state === "absent" && isRecommended,
  );
  if (jobs > MANY_JOBS && absent.length > 0) {
    const names = absent.map(({ name }) => name).join(", ");
    const message = `with ${numberText(jobs)} jobs some reads of the admin are slow without ${names}`;
    found.push(finding("warn", "indexes", message, "worker migrate --with-indexes"));
  }
  if (found.length === 0) found.push(finding("ok", "indexes", "all valid"));
  return found;
}

function sequenceFindings({ laggingSequences }: Queue): Finding[] {
  if (laggingSequences.length === 0)
    return [finding("ok", "sequences", "none is behind its table")];
  return laggingSequences.map(({ name, table, nextId, lastId, statement }) => {
    const message = `the sequence ${name} is behind its table: it gives id ${nextId} next, and ${table} has ids up to ${lastId}; new rows fail with "duplicate key"`;
    return finding("bad", "sequences", message, inPsql(statement));
  });
}

function timetableFindings({ entriesOff, cronDifferences }: Queue, schema: string): Finding[] {
  if (entriesOff.length + cronDifferences.length === 0) {
    return [
      finding("ok", "timetable", "no entry is late, ahead of the clock or differs between workers"),
    ];
  }
  const differing = cronDifferences.map(({ name, text }) =>
    finding("warn", "timetable", `${lowerFirst(name)} ${text}`, "worker cron"),
  );
  const found = entriesOff.map((entry) => {
    const { identifier, source, lastExecutionMs, nextExecutionMs, isAhead, lateSinceMs } = entry;
    if (!isAhead) {
      const kind = source === "schedule" ? "schedule" : "cron entry";
      const since = new Date(lateSinceMs ?? 0).toISOString();
      const missed = `the ${kind} "${identifier}" has missed its ticks since ${since}`;
      if (source === "code") {
        const next = new Date(nextExecutionMs ?? 0).toISOString();
        const message = `${missed}: no worker added its jobs; the next is due at ${next}`;
        return finding("warn", "timetable", message, "worker cron");
      }
      const message = `${missed}: no worker that adds its jobs is alive`;
      return finding("warn", "timetable", message, "worker workers");
    }
    if (source === "schedule") {
      const next = new Date(nextExecutionMs ?? 0).toISOString();
      const message = `the next tick of the schedule "${identifier}" is stored as ${next}, which its pattern does not have: until then the schedule adds no jobs`;
      const name = positionals([identifier]);
      const fix = [`worker schedule pause ${name}`, `worker schedule resume ${name}`];
      return finding("bad", "timetable", message, fix);
    }
    const until = new Date(lastExecutionMs ?? 0).toISOString();
    const message = `the last tick of the cron entry "${identifier}" is stored as ${until}, ahead of the database's clock: until then the entry adds no jobs`;
    const update = `update ${quoteName(schema)}._private_known_crontabs set last_execution = null where identifier = '${identifier.replaceAll("'", "''")}'`;
    return finding("bad", "timetable", message, inPsql(update));
  });
  return [...found, ...differing];
}

function bloatFindings({ tables }: Queue, schema: string): Finding[] {
  const found = tables.flatMap((table): Finding[] => {
    const name = `${quoteName(schema)}.${quoteName(table.name)}`;
    if (isBloated(table)) {
      const message = `${table.name} has ${numberText(table.dead_rows)} dead rows and ${numberText(table.live_rows)} live ones; fetches read both`;
      return [finding("warn", "bloat", message, inPsql(`vacuum (analyze) ${name}`))];
    }
    if (table.changed_since_analyze > Math.max(MUCH_CHANGED, table.live_rows)) {
      const message = `the statistics of ${table.name} are ${numberText(table.changed_since_analyze)} changes old`;
      return [finding("warn", "bloat", message, inPsql(`analyze ${name}`))];
    }
    return [];
  });
  return found.length > 0 ? found : [finding("ok", "bloat", "few dead rows, fresh statistics")];
}

const isBloated = ({ dead_rows: dead, live_rows: live }: RelationFacts) =>
  dead > Math.max(MANY_DEAD, live / 2);

function lockFindings({ sweep }: Queue): Finding[] {
  if (sweep === null) return [];
  const { stale, unknown, message } = sweep;
  if (stale.length + unknown.length === 0) {
    return [finding("ok", "locks", "no stale worker has a lock")];
  }
  if (unknown.length === 0) {
    return [finding("warn", "locks", `a sweep ${lowerFirst(message)}`, "worker sweep")];
  }
  // Workers without heartbeats may still be running. A sweep could start their jobs a second time, so no fix is
  // suggested.
  const names = `${unknown.slice(0, MAX_NAMED).join(", ")}${unknown.length > MAX_NAMED ? ", …" : ""}`;
  const text = `${countText(unknown.length, "worker")} without heartbeats locked jobs or queues over 5 minutes ago: ${names}; check whether each still runs, because "worker sweep" and "worker unlock" start its jobs again`;
  return [finding("warn", "locks", text)];
}

function lostNameFindings({ lostNames }: Queue, schema: string): Finding[] {
  if (lostNames === null) return [];
  const { queues, queuedJobs, tasklessJobs } = lostNames;
  const found: Finding[] = [];
  if (queues.length > 0) {
    const what = `${countText(queuedJobs, "job")} cannot run: the rows of ${countText(queues.length, "queue")} were deleted`;
    found.push(finding("bad", "names", what, recoverQueues(schema)));
  }
  if (tasklessJobs > 0) {
    const s = quoteName(schema);
    const listed = `select id from ${s}._private_jobs where task_id not in (select id from ${s}._private_tasks)`;
    const what = `${countText(tasklessJobs, "job")} cannot run because the name of the task was deleted: fail or complete each, and add it again`;
    found.push(finding("bad", "names", what, inPsql(listed)));
  }
  return found.length > 0 ? found : [finding("ok", "names", "every job has its task and queue")];
}

const lowerFirst = (sentence: string) => sentence.charAt(0).toLowerCase() + sentence.slice(1);

/** Reports the incidents that the admin's overview shows: stale locks, stuck queues, tasks without a worker … */
function incidentFindings({ incidents }: Queue): Finding[] {
  if (incidents === null) return [];
  // Missed ticks are left out, because timetableFindings() reports them.
  const others = incidents.incidents.filter(({ kind }) => kind !== "missed_ticks");
  const found = others.map(({ level, title, sentence, fix }) =>
    finding(level, "queue", `${title}: ${sentence}`, fix === null ? null : lineOfFix(fix)),
  );
  if (incidents.more > 0) {
    found.push(finding("warn", "queue", `${incidents.more} more incidents`));
  }
  return found.length > 0 ? found : [finding("ok", "queue", incidents.verdict)];
}
