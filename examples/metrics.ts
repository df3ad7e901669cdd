// A worker's own numbers for Prometheus, on an address of the application's.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defineTask, run } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
const greet = defineTask("greet", () => {});

const worker = await run({ connectionString, tasks: [greet] });

const server = createServer(async (_request, response) => {
  response.setHeader("content-type", "text/plain; version=0.0.4; charset=utf-8");
  response.end(await worker.metrics());
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

await worker.utils.addJobs([{ identifier: "greet" }, { identifier: "greet" }]);
await worker.drain();

const { port } = server.address() as AddressInfo;
const scraped = await fetch(`http://127.0.0.1:${port}/`).then((answer) => answer.text());
console.log(scraped.match(/^worker_jobs_total.*done.*$/m)?.[0]);

server.close();
await worker.stop();
