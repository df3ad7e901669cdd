// A measure: a small function that sends requests to the admin and compares the time with its target, and with the
// time of the plain SQL of Graphile Worker's Rust port.
import type pg from "pg";
import { percentile } from "../engine/statistics.ts";
import type { AdminProcess } from "./admin-process.ts";
import type { StatementWatch } from "./statement-watch.ts";

export interface Bench {
  readonly url: string;
  /** The schema, quoted. */
  readonly schema: string;
  readonly jobs: number;
  readonly admin: AdminProcess;
  /** The benchmark's own connection. */
  readonly db: pg.Client;
  readonly postmaster: number;
  /** The process ids of the benchmark's own sessions on the server, whose CPU time is not counted. */
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
  /** Whether the target is met; null: there is none. */
  readonly isMet: boolean | null;
  /** The figure of the port's SQL, or an earlier figure. */
  readonly port?: string;
}

export interface Measure {
  readonly name: string;
  /** Paths of the admin that the measure needs. */
  readonly needs: readonly string[];
  /** Whether it changes jobs: then it runs on a database given by --url only with --writes. */
  readonly writes?: boolean;
  readonly run: (bench: Bench) => Promise<readonly Line[]>;
}

/** A line: `figure` in `unit`, at most `most`. */
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

/** The 95th percentile of `times` calls in sequence; each returns its milliseconds. */
export async function p95(times: number, call: (n: number) => Promise<number>): Promise<number> {
  const all: number[] = [];
  for (let n = 0; n < times; n++) all.push(await call(n));
  return percentile(all, 0.95);
}

/** The milliseconds of an answer that must be 200. */
export async function answerMs({ admin }: Bench, path: string): Promise<number> {
  const { status, ms, text } = await admin.get(path);
  if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 200)}`);
  return ms;
}

/** The milliseconds of a statement on the benchmark's own connection. */
export async function statementMs({ db }: Bench, text: string): Promise<number> {
  const began = performance.now();
  await db.query(text);
  return performance.now() - began;
}

export const ms = (value: number) => `${short(value)} ms`;
