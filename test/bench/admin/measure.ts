// What the measures of the admin's benchmark have in common. A measure returns a line for each of its figures.
import type pg from "pg";
import { percentile } from "../engine/statistics.ts";
import type { AdminProcess } from "./admin-process.ts";
import type { StatementWatch } from "./statement-watch.ts";

export interface Bench {
  readonly url: string;
  /** The schema, quoted. */
  readonly schema: string;
  /** The planner's estimate of the number of jobs. */
  readonly jobs: number;
  readonly admin: AdminProcess;
  /** The benchmark's own connection. */
  readonly db: pg.Client;
  /** The id of PostgreSQL's first process. */
  readonly postmaster: number;
  /** The process ids of the benchmark's own sessions. Their CPU time is not counted. */
  readonly ownBackends: readonly number[];
  readonly statements: StatementWatch;
  /** Starts another admin on the same database, with nothing cached. */
  freshAdmin(options?: readonly string[]): Promise<AdminProcess>;
  readonly say: (line: string) => void;
}

export interface Line {
  readonly what: string;
  readonly target: string;
  readonly figure: string;
  /** Null: there is no target. */
  readonly isMet: boolean | null;
  /** The time in which the SQL of Graphile Worker's Rust port reads the same data. */
  readonly port?: string;
}

export interface Measure {
  readonly name: string;
  /** The paths of the requested routes. If the admin lacks a route, the measure fails without a run. */
  readonly needs: readonly string[];
  /** Whether the measure changes jobs. Then it runs on a database of --url only with --writes. */
  readonly writes?: boolean;
  readonly run: (bench: Bench) => Promise<readonly Line[]>;
}

/** Returns a line whose target is met if `figure` is at most `most`. */
export function atMost(
  what: string,
  figure: number,
  most: number,
  unit = "ms",
  port?: string,
): Line {
  return line(what, `≤ ${short(most)} ${unit}`, `${short(figure)} ${unit}`, figure <= most, port);
}

export function atLeast(what: string, figure: number, least: number, unit: string): Line {
  return line(what, `≥ ${short(least)} ${unit}`, `${short(figure)} ${unit}`, figure >= least);
}

export function line(
  what: string,
  target: string,
  figure: string,
  isMet: boolean | null,
  port?: string,
): Line {
  return { what, target, figure, isMet, ...(port === undefined ? {} : { port }) };
}

export function short(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(2)));
}

/** Returns the 95th percentile of the results of `times` calls. */
export async function p95(times: number, call: (n: number) => Promise<number>): Promise<number> {
  const all: number[] = [];
  for (let n = 0; n < times; n++) all.push(await call(n));
  return percentile(all, 0.95);
}

/** Returns the milliseconds until the end of the answer. Throws if the status is not 200. */
export async function answerMs({ admin }: Bench, path: string): Promise<number> {
  const { status, ms, text } = await admin.get(path);
  if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 200)}`);
  return ms;
}

/** Returns the duration of a statement in milliseconds. */
export async function statementMs({ db }: Bench, text: string): Promise<number> {
  const began = performance.now();
  await db.query(text);
  return performance.now() - began;
}

export const ms = (value: number) => `${short(value)} ms`;
