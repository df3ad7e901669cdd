// A worker and an HTTP server in one process. One SIGTERM stops both: run() stops the worker, and the server closes
// once the worker has stopped.
import { createServer } from "node:http";
import { defineTask, run } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
const welcome = defineTask<{ to: string }>("welcome", ({ to }) => console.log(`welcome ${to}`));

const worker = await run({ connectionString, tasks: [welcome] });

const server = createServer(async (_, response) => {
  await worker.utils.addJob(welcome, { to: "ada@example.com" });
  response.end("queued\n");
});
void worker.stopped.then(() => {
  server.close(() => console.log("closed"));
  server.closeIdleConnections();
});

server.listen(0, "127.0.0.1", async () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  console.log(answer.status);
  process.kill(process.pid, "SIGTERM"); // as a supervisor does
});
