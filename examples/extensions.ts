// Extensions of the context: values such as a mailer are passed to the worker once. Each task gets them, with their
// types, in its context.
import { defineTask, makeWorkerUtils, runOnce } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();

interface Services {
  readonly mailer: { send(to: string): Promise<void> };
}

const welcome = defineTask<{ to: string }, Services>("welcome", async ({ to }, context) => {
  await context.extensions.mailer.send(to);
  const { rows } = await context.query<{ version: string }>("show server_version_num");
  console.log(`rows: ${rows.length}`);
});

await utils.addJob(welcome, { to: "ada@example.com" });
await runOnce<Services>({
  connectionString,
  tasks: [welcome],
  extensions: { mailer: { send: async (to) => console.log(`mail to ${to}`) } },
});
