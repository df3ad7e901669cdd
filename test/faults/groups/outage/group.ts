// Tests faults of PostgreSQL under load: it is killed, stopped or made read-only, it has no free connections, or its
// sessions are ended. After each fault, way-back.ts measures the recovery: when jobs start again, when their rate is
// restored, and how much is logged.
import { machineTime } from "../../../worker/run-log.ts";
import type { FaultGroup, Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";
import type { Stand } from "../../field/stand.ts";
import { sessionsEnded, takenConnections } from "./sessions.ts";
import { endAfterOutage, measureRecovery, sessionsAreBack } from "./way-back.ts";

const MEMBERS = 2;
const RATE = 30;
const KILLS = 20;
const AWAY_S = [1, 10, 60];
const LONG_S = 300;
const REFUSED_MS = 10_000;

export const group: FaultGroup = {
  name: "outage",
  title: "PostgreSQL is killed, stopped, read-only, without free connections, or ends sessions",
  limitMinutes: 10,
  needs: [],
  async run(field: Field) {
    const lasting = field.brief ? null : longOutage(field);
    lasting?.catch(() => {}); // It is awaited below. Without this, an earlier rejection would end the process.
    const server = await field.server({ settings: { max_connections: "120" } });
    const stands = await hired(field, server, "", MEMBERS, RATE);
    const way = { field, stands, rate: RATE };

    for (let n = 0; n < field.times(KILLS, 1); n++) {
      await measureRecovery(way, "a kill -9", async () => {
        await server.kill();
        return server.start();
      });
      if (n % 5 === 4) field.say(`killed ${n + 1} times`);
    }
    for (const seconds of field.brief ? [] : AWAY_S) {
      field.say(`PostgreSQL is away for ${seconds} s`);
      await measureRecovery(way, `${seconds} s away`, () => away(field, server, seconds));
    }
    const refusedMs = field.brief ? 1_500 : REFUSED_MS;
    field.say("read-only");
    await measureRecovery(way, "read-only", () => readOnly(field, server, refusedMs));
    field.say("all connections are taken");
    await measureRecovery(way, "all connections taken", () =>
      takenConnections(field, server, refusedMs),
    );
    field.say("database sessions are ended at random");
    // Each ended session is an outage of its own, so the bound for the log lines of one outage does not apply.
    const anyLines = { linesAtMost: Number.POSITIVE_INFINITY };
    await measureRecovery(
      way,
      "database sessions ended at random",
      () => sessionsEnded(field, server, refusedMs),
      anyLines,
    );

    await field.each(stands, sessionsAreBack);
    await field.each(stands, endAfterOutage);
    await lasting;
  },
};

async function hired(
  field: Field,
  server: Server,
  name: string,
  members: number,
  rate: number,
): Promise<Stand[]> {
  const stands = await field.stands(server, { name });
  await field.each(stands, async (stand) => {
    await stand.hire(members);
    stand.load(rate);
    await stand.startAfter(0);
  });
  return stands;
}

async function away(field: Field, server: Server, seconds: number): Promise<number> {
  await server.stop();
  await field.outage(seconds * 1_000);
  return server.start();
}

/** Makes the server read-only for `ms` milliseconds. Returns the moment at which the server accepts writes again. */
async function readOnly(field: Field, server: Server, ms: number): Promise<number> {
  await server.sql("alter system set default_transaction_read_only = on");
  await server.sql("select pg_reload_conf()");
  await field.outage(ms);
  await server.sql("alter system reset default_transaction_read_only");
  await server.sql("select pg_reload_conf()");
  return machineTime();
}

/** Runs the long outage on its own server at the same time as the other outages, because it takes minutes. */
async function longOutage(field: Field): Promise<void> {
  const rate = 10;
  const server = await field.server();
  const stands = await hired(field, server, "-long", 1, rate);
  const what = `${LONG_S} s away`;
  await measureRecovery({ field, stands, rate }, what, () => away(field, server, LONG_S));
  await field.each(stands, endAfterOutage);
}
