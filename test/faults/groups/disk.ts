// PostgreSQL's disk is full for a while. First tables cannot grow, then there is no room for the write-ahead log. The
// server may crash, and may fail to restart by itself. When the disk has room again and the server runs, the workers
// must run jobs as before.
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "../../support/until.ts";
import { machineTime } from "../../worker/run-log.ts";
import type { FaultGroup, Field } from "../field/field.ts";
import { type Server, startServer } from "../field/server.ts";
import { endAfterOutage, measureRecovery } from "./outage/way-back.ts";

const DISK_MB = 400;
const RATE = 30;
const FULL_MS = 15_000;
// A small write-ahead log, so that it soon needs more room.
const SETTINGS = { max_wal_size: "32MB", min_wal_size: "32MB", max_connections: "120" };

export const group: FaultGroup = {
  name: "disk",
  title: "the disk below PostgreSQL is full",
  limitMinutes: 5,
  needs: ["root"],
  async run(field: Field) {
    const disk = join(field.directory, "disk");
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MB}m`, "tmpfs", disk]);
    field.defer(() => execFileSync("umount", [disk]));
    const server = await startServer(join(disk, "pg"), { settings: SETTINGS });
    field.defer(() => server.stop());
    const stands = await field.stands(server);
    await field.each(stands, async (stand) => {
      await stand.hire(2);
      stand.load(RATE);
      await stand.startAfter(0);
    });
    for (let n = 0; n < field.times(3, 1); n++) {
      await measureRecovery({ field, stands, rate: RATE }, "a full disk", () =>
        full(field, server, disk),
      );
      field.say(`full ${n + 1} times`);
    }
    await field.each(stands, endAfterOutage);
  },
};

/**
 * Fills the disk for a while. Starts the server again if it has ended. Returns the moment (machineTime) from which the
 * server can work: when the disk has room again or, after a start, when the server is ready.
 */
async function full(field: Field, server: Server, disk: string): Promise<number> {
  const ballast = join(disk, "ballast");
  fill(ballast);
  await field.outage(FULL_MS);
  rmSync(ballast);
  const from = machineTime();
  const isThere = await answers(server);
  field.say(
    isThere ? "PostgreSQL has continued" : "PostgreSQL has ended, and will be started again",
  );
  return isThere ? from : server.start();
}

/** Fills the disk to the last block, so that every write that needs another block is rejected. */
function fill(path: string): void {
  for (const bytes of [1_048_576, 4_096]) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

/** Whether the server accepts a write within two seconds. After a crash, the server may need this time to restart. */
function answers(server: Server): Promise<boolean> {
  const takesWrites = () => server.sql("create temp table room ()").then(...asBoolean);
  return waitUntil("the server accepts writes", takesWrites, 2_000).then(...asBoolean);
}

const asBoolean = [() => true, () => false] as const;
