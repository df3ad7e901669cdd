// A task fails by throwing, rejecting, or returning an error string. The job is retried with exponential backoff,
// until it has no attempts left.
import { defineTask, makeWorkerUtils, runOnce } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();

const charge = defineTask<{ cents: number }>("charge", ({ cents }) => {
  if (cents < 0) throw new Error("an amount cannot be negative");
  if (cents > 100_000) return "declined: over the limit";
  return undefined;
});

const negative = await utils.addJob(charge, { cents: -1 }, { maxAttempts: 1 });
const large = await utils.addJob(charge, { cents: 200_000 });
await utils.addJob(charge, { cents: 1_999 });
await runOnce({ connectionString, tasks: [charge] });

for (const { id } of [negative, large]) {
  const job = await utils.getJob(id);
  console.log(`${job?.state}: ${job?.lastError?.split("\n")[0]}`);
}
