// A measure: a small function that sends requests to the admin and compares the time with its target, and with the
// plain SQL of Graphile Worker's Rust port for the same.
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
  /** A connection of our own. */
  readonly db: pg.Client;
  readonly postmaster: number;
  /** What the benchmark itself does on the server is no work of the admin's. */
  readonly ownBackends: readonly number[];
  readonly statements: StatementWatch;
  /** Another admin on the same database, new and cold. */
  freshAdmin(options?: readonly string[]): Promise<AdminProcess>;
  readonly say: (line: string) => void;
}

export interface Line {
  readonly what: string;
  readonly target: string;
  readonly figure: string;
  /** null: nothing is demanded. */
  readonly isMet: boolean | null;
  /** What the port's SQL takes, or what it was before. */
  readonly port?: string;
}

export interface Measure {
  readonly name: string;
  /** Paths of the admin without which it cannot be measured. */
  readonly needs: readonly string[];
  /** Changes the jobs: only on a database of the benchmark's own. */
  readonly writes?: boolean;
  readonly run: (bench: Bench) => Promise<readonly Line[]>;
}

/** `figure` in `unit`, to be `most` at the most. */
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

/** The milliseconds of a statement on our own connection. */
export async function statementMs({ db }: Bench, text: string): Promise<number> {
  const began = performance.now();
  await db.query(text);
  return performance.now() - began;
}

export const ms = (value: number) => `${short(value)} ms`;
