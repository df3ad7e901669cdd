// Runs random lists of calls on the queue and on its model (test/queue/model), and compares the results. There are many
// more runs than in test/queue/long/model.test.ts. No faults are injected.
import { type Checked, check, type Mix } from "../../queue/model/check.ts";
import { installStock } from "../../support/stock-schema.ts";
import { testPool } from "../../support/test-pool.ts";
import type { FaultGroup, Field } from "../field/field.ts";
import type { Server } from "../field/server.ts";

const RUNS = 2_500;
const RUNS_OF_STOCK = 500;
const MIXES: readonly Mix[] = ["keys", "order", "retry", "recovery"];
const MIXES_OF_STOCK: readonly Mix[] = ["keys", "retry"];

export const group: FaultGroup = {
  name: "model",
  title: "11,000 random lists of calls, each made on a queue and on a model of it in memory",
  limitMinutes: 10,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    const ours = { url: await server.createDatabase("model"), schema: "worker", hasLeases: true };
    const stock = { url: await stockDatabase(server), schema: "worker", hasLeases: false };
    await Promise.all([
      runAll(field, MIXES, { ...ours, runs: field.times(RUNS, 20) }, "the product"),
      runAll(field, MIXES_OF_STOCK, { ...stock, runs: field.times(RUNS_OF_STOCK, 20) }, "stock"),
    ]);
  },
};

async function stockDatabase(server: Server): Promise<string> {
  await server.sql("create database stock template template0");
  const url = server.url("stock");
  await using handle = testPool(url);
  await installStock(handle.pool);
  return url;
}

async function runAll(
  field: Field,
  mixes: readonly Mix[],
  given: Omit<Checked, "mix" | "seed">,
  whose: string,
): Promise<void> {
  for (const mix of mixes) {
    const wrong = await check({ ...given, mix, seed: field.seed });
    if (wrong !== null) field.problem(null, wrong);
    field.figure(
      `runs in which ${whose} and the model agree`,
      null,
      wrong === null ? given.runs : 0,
      {
        least: given.runs,
        unit: "",
      },
    );
    field.say(
      `${whose}, mix ${mix}: ${wrong === null ? `${given.runs} runs agree with the model` : "a run differs from the model"}`,
    );
  }
}
