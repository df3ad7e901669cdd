// A worker with typed cron entries and with entries in the text format of Graphile Worker's crontab, in UTC or a time
// zone. Each tick adds one job, however many workers run. A worker that starts also adds the jobs of ticks that were
// missed while no worker ran, as far back as the entry's backfill period (`fillMs`).
import { cronEntry, daily, defineTask, everyMinutes, makeWorkerUtils, run } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();

const report = defineTask<{ region: string }>("report", async ({ region }) => {
  console.log(`report for ${region}`);
});
const sweep = defineTask("sweep", async () => {});

const worker = await run({
  connectionString,
  tasks: [report, sweep],
  cron: {
    entries: [
      cronEntry("0 4 * * 1", report, { payload: { region: "EMEA" }, fillMs: 12 * 3_600_000 }),
      cronEntry(daily("06:30", { timeZone: "Europe/Berlin" }), sweep, { identifier: "morning" }),
      everyMinutes(15, sweep, { jobKey: "sweep", jobKeyMode: "preserve_run_at" }),
    ],
    crontab: `
# minute hour day month weekday  task  ?options  payload (JSON5)
30 2 * * *  report ?id=nightly&max=3&queue=reports {region: 'APAC'}
# The last day of each month, in Tokyo.
0 9 L * *   report ?id=monthly&tz=Asia/Tokyo {region: 'APAC'}
`,
  },
});
await worker.stop();
console.log(`left: ${(await utils.countJobs()).total}`);
