// PostgreSQL is away for a minute while a thousand readers have open event streams. The streams stay open and get an
// event soon after PostgreSQL is back. The admin's memory does not grow, and it logs few lines.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type AdminProcess, startAdminProcess } from "../../../bench/admin/admin-process.ts";
import { waitUntil } from "../../../support/until.ts";
import { machineTime } from "../../../worker/run-log.ts";
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";
import { openStreams } from "./streams.ts";

const READERS = 1_000;
const AWAY_MS = 60_000;
const MAX_LINES = 20;
const MAX_GROWN_MB = 64;

export async function databaseAway(field: Field, server: Server): Promise<void> {
  const url = await server.createDatabase("away");
  const log = join(field.directory, "away.log");
  const admin = await startAdminProcess(url, [], { log });
  field.defer(() => admin.kill());
  await answers(admin, 200);
  const streams = await openStreams(admin.port, field.times(READERS, 50));
  field.defer(() => streams.close());
  await waitUntil(
    "all readers have received the queue's state",
    async () => streams.streamsWith("pulse") === streams.size,
  );
  const [rss, lines] = [admin.rss_mb(), linesOf(log)];
  await server.kill();
  await answers(admin, 503);
  await field.outage(field.times(AWAY_MS, 3_000));
  const grownAway = admin.rss_mb() - rss;
  streams.clear();
  const ready = await server.start();
  await answers(admin, 200);
  field.figure("from the start of PostgreSQL to the first answer", null, machineTime() - ready, {
    most: 5_000,
  });
  await waitUntil(
    "all readers have received the queue's state again",
    async () => streams.streamsWith("pulse") === streams.size,
  );
  field.figure(
    "from the start of PostgreSQL until all readers have received the queue's state",
    null,
    machineTime() - ready,
    {
      most: 10_000,
    },
  );
  field.figure("readers", null, streams.size, { least: field.times(READERS, 50), unit: "" });
  const grown = Math.max(grownAway, admin.rss_mb() - rss);
  field.figure("growth of memory in the outage", null, grown, { most: MAX_GROWN_MB, unit: "MB" });
  const logged = linesOf(log) - lines;
  field.figure("lines logged in the outage", null, logged, { most: MAX_LINES, unit: "" });
  await admin.stop();
}

export const linesOf = (path: string) => readFileSync(path, "utf8").split("\n").length - 1;

/** Waits until the admin answers a request for the list of jobs with this status. */
export const answers = (admin: AdminProcess, status: number) =>
  waitUntil(`the admin answers a request for a list with ${status}`, async () => {
    const answer = await admin.get("/api/jobs").catch(() => null);
    return answer?.status === status;
  });
