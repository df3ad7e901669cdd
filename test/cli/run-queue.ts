// The queue of the tests of `worker run`: each test has an empty database.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { beforeEach } from "node:test";
import pg from "pg";
import { migratedDatabase } from "../support/database.ts";
import { worker } from "./command.ts";

export const env = { DATABASE_URL: "" };

beforeEach(async () => {
  env.DATABASE_URL = (await migratedDatabase()).url;
});

/** Adds a job with the command `worker add`. */
export async function add(task: string, payload = "{}", ...options: string[]): Promise<void> {
  const { status, stderr } = await worker(["add", task, payload, ...options], env);
  assert.equal(status, 0, stderr);
}

interface Row {
  readonly task: string;
  readonly attempts: number;
  readonly last_error: string | null;
}

/** Returns the jobs that are left, in the order of their ids. */
export async function rows(): Promise<Row[]> {
  const client = new pg.Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  const { rows: found } = await client.query<Row>(
    "select task_identifier as task, attempts, last_error from worker.jobs order by id",
  );
  await client.end();
  return found;
}

/** True if the process exists and is not a zombie. */
export function lives(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}
