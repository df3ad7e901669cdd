// Counts all jobs of a large table by task and named queue. A round counts the whole table in chunks that are too
// short to disturb other sessions. Only one admin should count at a time, so an admin holds an advisory lock while it
// counts a chunk. Between two chunks the lock is free. So an admin first checks for about 7 s that the lock stays free.
// If another admin holds the lock, all checks are repeated before an interrupted round continues.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { type Gauge, readGauge } from "../stats/gauge.ts";
import { NameTallies } from "../stats/name-tallies.ts";
import { isCensusFree, tallyChunk } from "../stats/tally-pages.ts";
import { timeOf } from "./job-counts.ts";
import { censusNames, type NameCounts } from "./name-counts.ts";

export interface Census {
  /**
   * Checks once whether the lock is free, or counts one chunk. `listening`: the lock was free, and the next call should
   * follow after LISTEN_MS. `left`: another admin is counting. `complete`: the last chunk of a round was counted.
   */
  step(db: Database): Promise<"listening" | "counted" | "complete" | "left">;
  /** Makes the next chunk smaller, after a step has failed. */
  shrink(): void;
  /**
   * Returns the counts of the last complete round; null if there is none, or if the table was rewritten or its
   * statistics were reset after the round began. `becameDue`: see ChangesSince.
   */
  last(gauge: Gauge, becameDue: number | null): NameCounts | null;
  /** When the last complete round began, by the database's clock, in milliseconds since 1970; null if there is none. */
  readonly begunMs: number | null;
}

const FIRST_PAGES = 1_000;
const MIN_PAGES = 64;
const MAX_PAGES = 5_000;
/** The target duration of a chunk, in milliseconds. */
const CHUNK_MS = 80;

/** The pause between two checks of the lock, in milliseconds: shorter than most chunks of another admin. */
export const LISTEN_MS = 75;
/**
 * The number of checks, which take about 7 s. The gap between two chunks of another admin is usually 1.6 s, and about
 * 5 s on a busy machine.
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
      // If the table has grown since the gauge was read, the next round counts the pages from `to` on.
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
