// Counts all jobs of a large table by task and named queue. A round counts the whole table in chunks that are too
// short to disturb other sessions. An advisory lock lets only one admin count at a time. An admin holds the lock only
// while it counts a chunk, so a free lock does not prove that no other admin counts. Therefore an admin first checks
// for some seconds, which is longer than the usual gap between two chunks, that the lock stays free. If a check or a
// chunk finds that another admin holds the lock, step() returns `left`, and the next step begins with the first
// check. After the last check, a round begins, or an interrupted round continues. If the table was rewritten, or its
// statistics were reset, the counts are discarded: a new round begins, and last() returns null until that round is
// complete.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { type Gauge, readGauge } from "../stats/gauge.ts";
import { NameTallies } from "../stats/name-tallies.ts";
import { isCensusFree, tallyChunk } from "../stats/tally-pages.ts";
import { timeOf } from "./job-counts.ts";
import { censusNames, type NameCounts } from "./name-counts.ts";

export interface Census {
  /**
   * Checks once whether the lock is free, or counts one chunk. Returns `listening` after a check that found the lock
   * free; the next call of step() should follow after LISTEN_MS. Returns `left` if another admin is counting a chunk,
   * `complete` after the last chunk of a round, and `counted` after any other chunk.
   */
  step(db: Database): Promise<"listening" | "counted" | "complete" | "left">;
  /** Makes the next chunk smaller. Called after a step has failed. */
  shrink(): void;
  /**
   * Returns the counts of the last complete round. Returns null if no round was completed, or if the table was
   * rewritten or its statistics were reset after the round began. `becameDue`: see ChangesSince (name-counts.ts).
   */
  last(gauge: Gauge, becameDue: number | null): NameCounts | null;
  /** When the last complete round began, by the database's clock, in milliseconds since 1970; null if there is none. */
  readonly begunMs: number | null;
}

const FIRST_PAGES = 1_000;
const MIN_PAGES = 64;
const MAX_PAGES = 5_000;
/** The target duration of a chunk, in milliseconds. On a busy machine a chunk may take three times as long. */
const CHUNK_MS = 80;

/**
 * The interval between two checks of the lock, in milliseconds. Few chunks are so short that no check falls into them.
 */
export const LISTEN_MS = 75;
/**
 * The number of checks. Together they take about 7 s. The gap between two chunks is usually shorter: 20 times the
 * duration of the first chunk (feed.ts).
 */
const LISTENINGS = 90;

interface Round {
  readonly begun: Gauge;
  readonly tallies: NameTallies;
  next: number;
}

export function createCensus(): Census {
  let round: Round | null = null;
  let complete: (Round & { readonly asOf: string }) | null = null;
  let pages = FIRST_PAGES;
  let isFree = 0;

  const leave = () => {
    isFree = 0;
    return "left" as const;
  };

  const isSameTable = ({ begun }: Round, gauge: Gauge) =>
    begun.fileNode === gauge.fileNode && writesBetween(begun, gauge) >= 0;

  return {
    async step(db) {
      if (isFree < LISTENINGS) {
        if (!(await isCensusFree(db))) return leave();
        isFree += 1;
        return "listening";
      }
      const gauge = await readGauge(db);
      if (round === null || !isSameTable(round, gauge)) {
        round = { begun: gauge, tallies: new NameTallies(), next: 0 };
      }
      const to = round.next + pages;
      const began = monotonic();
      const rows = await tallyChunk(db, gauge, round.next, to);
      if (rows === null) return leave();
      const factor = CHUNK_MS / Math.max(monotonic() - began, 1);
      pages = boundedPages(Math.round(pages * Math.min(Math.max(factor, 0.5), 2)));
      round.tallies.add(rows);
      round.next = to;
      // The table may have grown since the gauge was read. The next round counts the pages after `to`.
      if (to < gauge.pages) return "counted";
      complete = { ...round, asOf: timeOf(gauge.nowMs) };
      round = null;
      isFree = 0;
      return "complete";
    },
    shrink() {
      pages = boundedPages(Math.floor(pages / 2));
    },
    last(gauge, becameDue) {
      if (complete === null || !isSameTable(complete, gauge)) return null;
      const since = { writes: writesBetween(complete.begun, gauge), becameDue };
      return censusNames(complete.tallies, complete.asOf, since);
    },
    get begunMs() {
      return complete?.begun.nowMs ?? null;
    },
  };
}

function writesBetween(one: Gauge, other: Gauge): number {
  const written = ({ inserted, updated, deleted }: Gauge) => inserted + updated + deleted;
  return written(other) - written(one);
}

function boundedPages(pages: number): number {
  return Math.min(Math.max(pages, MIN_PAGES), MAX_PAGES);
}
