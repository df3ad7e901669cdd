// Sends a million hostile requests to two admins. At the same time, a reader and a writer send ordinary (honest)
// requests. Tests that no response is unexpected, that memory stays within bounds, and that honest requests succeed.
import { join } from "node:path";
import { startAdminProcess } from "../../../bench/admin/admin-process.ts";
import { type FuzzResult, fuzzAdmin } from "../../../bench/fuzz/fuzz-admin.ts";
import type { FaultGroup, Field } from "../../field/field.ts";
import { startWriters, type Writers } from "../admin/writers.ts";
import { type Reader, startReader } from "./reader.ts";

const REQUESTS = 1_000_000;
const BRIEF_REQUESTS = 1_500;
/** The fuzz ends after this time, before the group's limit of 10 minutes. */
const MAX_SECONDS = 570;
const CLIENTS = 48;
const JOBS = 500;
const HONEST_PAUSE_MS = 250;
// Without this deletion of old jobs, lists and exports would get slower.
const TIDY = `delete from worker._private_jobs where locked_at is null and id in
  (select id from worker._private_jobs order by id desc offset ${JOBS})`;
const TIDY_MS = 5_000;

export const group: FaultGroup = {
  name: "fuzz",
  title: "a million hostile requests to every route of the admin, beside honest ones",
  limitMinutes: 10,
  needs: [],
  run: fuzz,
};

async function fuzz(field: Field): Promise<void> {
  // No data has to survive a crash of the server.
  const server = await field.server({ settings: { synchronous_commit: "off" } });
  const url = await server.createDatabase("fuzz");
  await server.sql(
    "select worker.add_job('t' || n % 7, json_build_object('n', n), 'q' || n % 5) from generate_series(1, $1) n",
    [JOBS],
    "fuzz",
  );
  const log = join(field.directory, "admin.log");
  // Two admins, because each has only one thread.
  const start = () => startAdminProcess(url, [], { log });
  const admins = [await start(), await start()] as const;
  field.defer(() => Promise.all(admins.map((admin) => admin.kill())));
  const tidying = setInterval(() => server.sql(TIDY, [], "fuzz").catch(() => {}), TIDY_MS);
  field.defer(() => clearInterval(tidying));
  const reader = startReader(admins[0].port, HONEST_PAUSE_MS);
  const writer = startWriters(`http://127.0.0.1:${admins[1].port}`, 1, HONEST_PAUSE_MS);
  const result = await fuzzAdmin(admins, {
    requests: field.times(REQUESTS, BRIEF_REQUESTS),
    seconds: MAX_SECONDS,
    clients: CLIENTS,
    seed: field.seed % 1_000_000,
    say: (line) => field.say(line),
  });
  await Promise.all([reader.stop(), writer.stop()]);
  reportResult(field, result);
  tellHonest(field, reader, writer);
  if (!result.isAlive) field.problem(null, `an admin is dead; see ${log}`);
  for (const admin of admins) await admin.stop();
}

function reportResult(field: Field, { tally, peaks_mb, heaps_mb, peak_mb }: FuzzResult): void {
  for (const line of tally.lines()) field.say(line);
  const least = field.times(REQUESTS, BRIEF_REQUESTS);
  field.figure("hostile requests", null, tally.total, { least, unit: "" });
  const served = { least: least / 25, unit: "" } as const;
  field.figure("hostile requests that had the requested effect", null, tally.served, served);
  field.figure("hostile requests that were not HTTP", null, tally.unreadable, { unit: "" });
  field.figure("peak of memory", null, peak_mb, { most: 512, unit: "MB" });
  // The heap is measured, too, because the resident memory includes unused memory of V8.
  const grown = peaks_mb[2] - peaks_mb[1];
  field.figure("growth of memory in the last third", null, grown, { most: 64, unit: "MB" });
  const kept = heaps_mb[2] - heaps_mb[1];
  field.figure("growth of the kept heap in the last third", null, kept, { most: 24, unit: "MB" });
  for (const { what, count, samples, isForeseen } of tally.findings()) {
    field.say(`${count} × ${what}\n${samples.join("\n")}`);
    if (!isForeseen) field.problem(null, `fuzz: ${count} × ${what}; ${samples[0]}`);
  }
}

function tellHonest(field: Field, reader: Reader, writer: Writers): void {
  field.figure("honest reads", null, reader.answered, { least: 2, unit: "" });
  field.figure("the slowest honest read", null, reader.slowestMs, { most: 5_000 });
  field.figure("honest writes", null, writer.acknowledged.size, { least: 2, unit: "" });
  const retried = reader.retried + writer.retried;
  field.figure("honest requests that needed a retry", null, retried, { unit: "" });
  const failed = [...reader.failed, ...writer.failed];
  field.figure("honest requests that failed after one retry", null, failed.length, {
    most: 0,
    unit: "",
  });
  // A slow machine can cause 503 and 504, so these failures count only in the figure above.
  const unforeseen = failed.filter((one) => !/ 50[34](?: |$)/.test(one));
  for (const one of unforeseen.slice(0, 5)) field.problem(null, `beside the fuzz: ${one}`);
  if (reader.answered === 0) field.problem(null, "beside the fuzz no read was answered with 200");
  if (writer.acknowledged.size === 0) field.problem(null, "beside the fuzz no write was done");
}
