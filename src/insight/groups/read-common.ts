// Compares the jobs that match a query with other jobs of the same tasks. Finds the values of payload fields, the
// queues and the priorities that are more frequent among the matching jobs.
import { inSlices } from "../../base/slices.ts";
import type { Database } from "../../database/database.ts";
import type { JobQuery } from "../query/job-query.ts";
import { SMALL_TABLE_PAGES } from "../stats/count-query.ts";
import type { Gauge } from "../stats/gauge.ts";
import { readNames } from "../stats/queue-rows.ts";
import { type Difference, differences } from "./differences.ts";
import { flatten } from "./flatten.ts";
import { type PayloadRow, readPayloads } from "./payload-rows.ts";

export interface CommonFactors {
  readonly findings: readonly Difference[];
  readonly compared: { readonly here: number; readonly there: number };
  readonly asOf: string;
}

const MAX_TASKS = 20;

export async function readCommon(
  db: Database,
  jobQuery: JobQuery,
  gauge: Gauge,
  smallPages = SMALL_TABLE_PAGES,
): Promise<CommonFactors> {
  const asOf = new Date(gauge.nowMs).toISOString();
  const { rows: here, usedQuery } = jobQuery.isEmpty
    ? { rows: [], usedQuery: jobQuery }
    : await readPayloads(db, jobQuery, { matching: true }, gauge, smallPages);
  const tasks = new Map<number, number>();
  for (const { taskId } of here) tasks.set(taskId, (tasks.get(taskId) ?? 0) + 1);
  const taskIds = [...tasks].sort((a, b) => b[1] - a[1]).slice(0, MAX_TASKS);
  const side = { matching: false as const, taskIds: taskIds.map(([id]) => id) };
  const { rows: there } =
    here.length === 0 ? { rows: [] } : await readPayloads(db, usedQuery, side, gauge, smallPages);
  const queueIds = new Set([...here, ...there].flatMap(({ queueId }) => queueId ?? []));
  const queues = await readNames(db, "queue", [...queueIds]);
  const findings = await differences(await fields(here, queues), await fields(there, queues));
  return { findings, compared: { here: here.length, there: there.length }, asOf };
}

async function fields(rows: readonly PayloadRow[], queues: ReadonlyMap<number, string>) {
  const all: Map<string, Set<string>>[] = [];
  await inSlices(rows, ({ payload, queueId, priority }) => {
    const paths = flatten(payload);
    if (paths === null) return;
    const queue = queueId === null ? undefined : queues.get(queueId);
    paths.set("queue", new Set([queue === undefined ? "none" : JSON.stringify(queue)]));
    paths.set("priority", new Set([String(priority)]));
    all.push(paths);
  });
  return all;
}
