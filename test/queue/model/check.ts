// Compares this library (the product) with a model of it (model.ts): random lists of calls run in both. After each
// call, the results and the states must be equal.
import assert from "node:assert/strict";
import fc from "fast-check";
import pg from "pg";
import { type Call, callsOf, mixes } from "./calls.ts";
import { inModel } from "./model.ts";
import { Product } from "./product.ts";
import { newWorld, visible } from "./world.ts";

export type Mix = keyof typeof mixes;

export interface Checked {
  readonly url: string;
  /** The name of a schema of this library or of Graphile Worker. */
  readonly schema: string;
  /** Whether workers have leases; false in Graphile Worker's schema. */
  readonly hasLeases: boolean;
  readonly mix: Mix;
  readonly runs: number;
  readonly seed: number;
  /** The path that fast-check has reported for a failed run, to repeat only this run. */
  readonly path?: string | undefined;
  readonly progress?: (runs: number) => void;
}

/** The rollback of each run leaves dead rows, so the tables are truncated at this interval. */
const RUNS_UNTIL_EMPTIED = 100;

/** Returns null if the product and the model agree in all runs. If not, returns a report of a difference. */
export async function check(checked: Checked): Promise<string | null> {
  const { url, schema, hasLeases, mix, runs, seed, path } = checked;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const tables = ["jobs", "job_queues", "tasks", ...(hasLeases ? ["workers"] : [])];
  const empty = `truncate ${tables.map((table) => `${schema}._private_${table}`).join(", ")}`;
  let run = 0;
  const property = fc.asyncProperty(callsOf(mixes[mix]), async (calls) => {
    if (run++ % RUNS_UNTIL_EMPTIED === 0) await client.query(empty);
    checked.progress?.(run);
    await client.query("begin");
    try {
      await compare(calls, await Product.begin(client, schema, hasLeases));
    } finally {
      await client.query("rollback");
    }
  });
  try {
    const where = path === undefined ? {} : { path };
    const found = await fc.check(property, { seed, numRuns: runs, ...where });
    return found.failed ? report(checked, found) : null;
  } finally {
    await client.end();
  }
}

function report({ schema, mix }: Checked, found: fc.RunDetails<[Call[]]>): string {
  const [calls] = found.counterexample ?? [[]];
  const why = found.errorInstance instanceof Error ? found.errorInstance.message : "";
  return [
    `${mix}, schema ${schema}; to repeat this run: SEED=${found.seed} RUN_PATH=${found.counterexamplePath}` +
      " npm run test:files -- test/queue/long/model.test.ts",
    ...calls.map((call, index) => `${index + 1}. ${JSON.stringify(call)}`),
    why,
  ].join("\n");
}

async function compare(calls: readonly Call[], product: Product): Promise<void> {
  const world = newWorld();
  for (const [index, call] of calls.entries()) {
    const after = `call ${index + 1}, ${call.do}`;
    const answered = await product.perform(world, call);
    same(answered, inModel(world, call, answered), `the return value of ${after}`);
    same(await product.visible(), visible(world), `the state after ${after}`);
  }
}

function same(product: unknown, model: unknown, what: string): void {
  try {
    assert.deepEqual(product, model);
  } catch (error) {
    throw new Error(`${what} (+ the product, - the model)\n${(error as Error).message}`);
  }
}
