// Lists named queues in pages. The numbers of jobs come from an earlier count or, in a large table, also from indexes.
import type { Database } from "../../../database/database.ts";
import { hasWorkerTable } from "../../../database/schema/extensions/has-extension.ts";
import { listPauses, type Pause } from "../../controls/list-pauses.ts";
import { agesOf } from "../../stats/name-tallies.ts";
import { inState } from "../../stats/tally.ts";
import { type CountedNames, countOf, type QueueCounts, queueCounts } from "../counted-names.ts";
import { type HeadCounts, headCounts } from "../head-counts.ts";
import {
  decodePlace,
  encodePlace,
  type PageRequest,
  pageOf,
  type SortOrder,
} from "../list-page.ts";
import { probedCounts } from "./probe-queues.ts";
import { allQueueRows, countQueues, type ListedQueueRow, queueRows } from "./queue-rows.ts";
import {
  countStates,
  filterOf,
  isIn,
  isLocked,
  isStuck,
  type QueueState,
  type StateCounts,
  type StateFilter,
  severityOf,
} from "./queue-states.ts";

export const queueSorts = ["stuck", "name", "-waiting", "waiting", "-failed", "oldest"] as const;
export type QueueSort = (typeof queueSorts)[number];

export interface ListedQueue extends ListedQueueRow, QueueCounts {
  /** null if the queue is not paused. */
  readonly pause: QueuePause | null;
}

export type QueuePause = Omit<Pause, "scope" | "name">;

export interface QueuePage {
  readonly queues: readonly ListedQueue[];
  readonly nextCursor: string | null;
  /** The number of queues whose name contains `search`, in any state; null on later pages. */
  readonly count: number | null;
  /** The number of queues in each state; null on later pages, in a search, or if at least MAX_SORTED are locked. */
  readonly states: StateCounts | null;
}

export interface QueueRequest extends PageRequest {
  readonly sort: QueueSort;
  readonly search: string;
  readonly only: QueueState | null;
}

export async function listQueuePage(
  db: Database,
  request: QueueRequest,
  counted: CountedNames,
): Promise<QueuePage> {
  const hasHeartbeats = await hasWorkerTable(db);
  const head = counted.basis === "sample" ? await headCounts(db, "queue") : null;
  const { only: state, search } = request;
  const rowRequest = { ...request, ...filterOf(state, counted), hasHeartbeats };
  const { rows, nextCursor, all } = await rowsOf(db, rowRequest, counted, head);
  const queues = (await withCounts(db, rows, counted, head)).filter((row) => isIn(state, row));
  if (request.cursor !== null) return { queues, nextCursor, count: null, states: null };
  const found = state === null ? all : null;
  const count = found?.length ?? (await countQueues(db, search));
  if (search !== "") return { queues, nextCursor, count, states: null };
  const locked = { search, only: "locked", ids: null, limit: MAX_SORTED, hasHeartbeats } as const;
  const lockedRows = found?.filter(isLocked) ?? (await allQueueRows(db, locked));
  return {
    queues,
    nextCursor,
    count,
    states: lockedRows && countStates(counted, count, lockedRows),
  };
}

export async function withCounts(
  db: Database,
  rows: readonly ListedQueueRow[],
  counted: CountedNames,
  head: HeadCounts | null,
): Promise<ListedQueue[]> {
  const ids = rows.map(({ id }) => id);
  const pauses = await pausesOf(db, rows);
  const probed = counted.basis === "scan" ? null : await probedCounts(db, ids);
  return rows.map((row) => {
    const known = queueCounts(counted, row.id);
    const ready = head?.morePrecise(row.id, known.ready) ?? known.ready;
    const counts = {
      ...known,
      ready,
      oldestReadyMs: head?.oldestMs(row.id) ?? known.oldestReadyMs,
    };
    const pause = row.isPaused ? (pauses.get(row.queueName) ?? UNKNOWN_PAUSE) : null;
    return { ...row, pause, ...counts, ...probed?.(row.id, counts) };
  });
}

/** Shown if the queue is paused, but listPauses() does not return its pause. */
const UNKNOWN_PAUSE: QueuePause = {
  ...{ pausedAt: new Date(0), resumeAt: null, hasEnded: false },
  ...{ reason: null, pausedBy: null, isBackOff: false },
};

async function pausesOf(
  db: Database,
  rows: readonly ListedQueueRow[],
): Promise<ReadonlyMap<string, QueuePause>> {
  if (!rows.some(({ isPaused }) => isPaused)) return new Map();
  const pauses = (await listPauses(db)).filter(({ scope }) => scope === "queue");
  return new Map(pauses.map((pause) => [pause.name ?? "", pause]));
}

interface RowsRequest extends Omit<QueueRequest, "only">, StateFilter {
  readonly hasHeartbeats: boolean;
}

interface Rows {
  readonly rows: readonly ListedQueueRow[];
  readonly nextCursor: string | null;
  /** The rows of all pages, before the filter `fits`; null or absent: not all were read. */
  readonly all?: readonly ListedQueueRow[] | null;
}

/** The maximum number of queues that are sorted here. A list by counts or age leaves out further queues. */
const MAX_SORTED = 20_000;

async function rowsOf(
  db: Database,
  request: RowsRequest,
  counted: CountedNames,
  head: HeadCounts | null,
): Promise<Rows> {
  const { sort, only } = request;
  const { tallies } = counted;
  if (sort === "name" && only !== "locked") return byName(db, request);
  const all = await allQueueRows(db, { ...request, limit: MAX_SORTED });
  if (all === null && sort === "stuck") return stuckFirst(db, request);
  const allRows = all ?? (await queueRows(db, { ...request, after: null, limit: MAX_SORTED }));
  const found = allRows.filter(request.fits);
  const tally = ({ id }: ListedQueueRow) => tallies.queues.get(id);
  const waiting = (row: ListedQueueRow) => countOf(tally(row), inState.ready);
  const oldest = (row: ListedQueueRow) => {
    const known = tally(row);
    return head?.oldestMs(row.id) ?? (known === undefined ? null : agesOf(known).oldestReady);
  };
  const orders: Record<QueueSort, SortOrder<ListedQueueRow>> = {
    stuck: byState(counted),
    name: { key: () => null, isDescending: false },
    "-waiting": { key: waiting, isDescending: true },
    waiting: { key: waiting, isDescending: false },
    "-failed": { key: (row) => countOf(tally(row), inState.failed), isDescending: true },
    oldest: { key: oldest, isDescending: false },
  };
  return { ...pageOf(found, orders[sort], nameOf, request), all };
}

const nameOf = ({ queueName }: ListedQueueRow) => queueName;

/** PostgreSQL sorts the queues by its own collation, with the index of names. */
async function byName(db: Database, request: RowsRequest): Promise<Rows> {
  const { sort, limit, cursor } = request;
  const after = cursor === null ? null : decodePlace(cursor, sort).name;
  const rows = await queueRows(db, { ...request, after, limit: limit + 1 });
  return cutRows(rows, limit, sort);
}

/** The place after all locked queues and before all other queues, in the order of stuckFirst(). */
const BETWEEN = { key: Number.MAX_VALUE, name: "" };

function cutRows(rows: readonly ListedQueueRow[], limit: number, sort: QueueSort): Rows {
  const shown = rows.slice(0, limit);
  if (rows.length <= limit) return { rows: shown, nextCursor: null };
  const last = shown.at(-1);
  const end = last === undefined ? BETWEEN : { key: null, name: last.queueName };
  return { rows: shown, nextCursor: encodePlace({ sort, ...end }) };
}

/** The year 2223 in microseconds since 1970. Subtracted from the times of stuck queues, so that these come first. */
const AFTER_ALL_US = 8e15;

// The order of locked queues: first stuck queues, longest stuck first; then paused queues; then queues that workers
// have locked, oldest lock first.
const byLock: SortOrder<ListedQueueRow> = {
  key: ({ stuckSinceUs, lockedAtUs }) => {
    const [us, before] = stuckSinceUs === null ? [lockedAtUs, 0] : [stuckSinceUs, AFTER_ALL_US];
    return Math.min(Number(us), AFTER_ALL_US) - before;
  },
  isDescending: false,
};

const byState = (counted: CountedNames): SortOrder<ListedQueueRow> => ({
  key: (row) => (isStuck(row) ? byLock.key(row) : severityOf(row, counted)),
  isDescending: false,
});

/**
 * Returns a page of a list that is too long to be sorted here: first the locked queues, then all others by name. If a
 * page ends with one of the others, its cursor has the key null.
 */
async function stuckFirst(db: Database, request: RowsRequest): Promise<Rows> {
  const { sort, limit, cursor, only } = request;
  const place = cursor === null ? null : decodePlace(cursor, sort);
  const isBehind = place !== null && place.key === null;
  const all =
    isBehind || only === "free"
      ? []
      : await queueRows(db, { ...request, only: "locked", after: null, limit: MAX_SORTED });
  const page = pageOf(all.filter(request.fits), byLock, nameOf, {
    ...request,
    cursor: isBehind ? null : cursor,
  });
  if (page.nextCursor !== null || only === "locked") return page;
  const left = limit - page.rows.length;
  const after = isBehind ? place.name : null;
  const free = await queueRows(db, { ...request, only: "free", after, limit: left + 1 });
  const rest = cutRows(free, left, sort);
  return { rows: [...page.rows, ...rest.rows], nextCursor: rest.nextCursor };
}
