// The process that cycles.ts measures. It starts workers one after another. Each worker runs one job and is stopped.
import { once } from "node:events";
import { makeWorkerUtils } from "../../../../src/utils/worker-utils.ts";
import type { WorkerOptions } from "../../../../src/worker/options/worker-options.ts";
import { defineTask } from "../../../../src/worker/task/task.ts";
import { Worker } from "../../../../src/worker/worker.ts";

interface Options {
  readonly url: string;
  readonly fastLane: NonNullable<WorkerOptions["fastLane"]>;
  readonly count: number;
  readonly warmUp: number;
}

const { url, fastLane, count, warmUp } = JSON.parse(process.argv[2] ?? "{}") as Options;
const utils = await makeWorkerUtils({ connectionString: url });

/** Reports an event to the parent. Then the parent measures this process, which waits until it gets data on stdin. */
async function looked(event: string): Promise<void> {
  (globalThis as { gc?: () => void }).gc?.();
  process.stdout.write(`${JSON.stringify({ event })}\n`);
  await once(process.stdin, "data");
}

for (let n = 0; n < count; n++) {
  if (n === warmUp) await looked("warm");
  const ran = Promise.withResolvers<void>();
  const task = defineTask("cycle", () => ran.resolve());
  const worker = new Worker({ connectionString: url, fastLane, tasks: [task] });
  await worker.start();
  await utils.addJob("cycle", {});
  await ran.promise;
  await worker.stop();
}
await looked("done");
await utils.end();
process.exit(0);
