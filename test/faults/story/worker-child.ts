// A worker process of the story (run.ts): a worker of this library or a Graphile worker. Its jobs of the task call_api
// call the API of api.ts. If the API answers 429, a job on a worker of this library requests a back-off of its task,
// and runs again later. On a Graphile worker, the attempt fails.
import { setTimeout as sleep } from "node:timers/promises";
import { Logger, run as runStock } from "graphile-worker";
import { createLogger } from "../../../src/base/logger.ts";
import { run } from "../../../src/worker/run.ts";
import { RetryAfter } from "../../../src/worker/task/outcomes.ts";
import { defineTask } from "../../../src/worker/task/task.ts";

export interface WorkerDuty {
  readonly by: string;
  readonly connectionString: string;
  readonly api: string;
  readonly isStock: boolean;
}

interface Mail {
  readonly tenant: string;
}

const duty = JSON.parse(process.argv[2] ?? "{}") as WorkerDuty;
const { by, connectionString, api, isStock } = duty;
const print = (event: string) => process.stdout.write(`${JSON.stringify({ event })}\n`);

async function call({ tenant }: Mail, job: string): Promise<Response> {
  const url = new URL(api);
  url.search = new URLSearchParams({ tenant, job, by }).toString();
  const response = await fetch(url);
  await response.arrayBuffer();
  return response;
}

async function ours(): Promise<void> {
  const callApi = defineTask<Mail>("call_api", async (payload, { job }) => {
    const response = await call(payload, job.id);
    if (response.status === 429)
      throw new RetryAfter(response, { message: "429", ...{ backOff: "task" } });
  });
  const housekeeping = defineTask("housekeeping", () => sleep(5));
  const worker = await run({
    connectionString,
    logger: await createLogger({ format: "json" }),
    concurrency: 24,
    tasks: [callApi, housekeeping],
  });
  print("ready");
  await worker.stopped;
}

async function stock(): Promise<void> {
  const runner = await runStock({
    ...{ connectionString, schema: "worker", concurrency: 24, pollInterval: 500 },
    logger: new Logger(() => () => {}),
    taskList: {
      call_api: async (payload, { job }) => {
        const response = await call(payload as Mail, job.id);
        if (response.status === 429) throw new Error("HTTP 429");
      },
      housekeeping: () => sleep(5),
    },
  });
  print("ready");
  await runner.promise;
}

await (isStock ? stock() : ours());
