// Two faults in which PostgreSQL continues to run: it has no free connections, or sessions are ended.
import pg from "pg";
import { machineTime } from "../../../worker/run-log.ts";
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";

const OTHERS = `backend_type = 'client backend' and pid <> pg_backend_pid()
  and application_name <> 'hog'`;
const END_OTHERS = `select pg_terminate_backend(pid) from pg_stat_activity where ${OTHERS}`;
const AT_ONCE = 40;
const MAX_TAKING_MS = 20_000;

/**
 * Takes all connections of the server for `ms` milliseconds: opens sessions of the test until the server permits no
 * more, ends all other sessions, and takes their connections, too. Then ends the sessions of the test. Returns
 * machineTime() at the end.
 */
export async function takenConnections(field: Field, server: Server, ms: number): Promise<number> {
  const hogs: pg.Client[] = [];
  const grab = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: server.url(), application_name: "hog" });
    client.on("error", () => {});
    const isIn = await client.connect().then(
      () => true,
      () => false,
    );
    if (isIn) hogs.push(client);
    return isIn;
  };
  const isAnyFree = async () => {
    const grabbed = await Promise.all(Array.from({ length: AT_ONCE }, grab));
    return grabbed.includes(true);
  };
  const late = machineTime() + MAX_TAKING_MS;
  let others = 1;
  // Repeated, because a worker whose session was ended may reconnect before the test has taken the connection.
  while (others > 0 && machineTime() < late) {
    while (await isAnyFree());
    others = (await hogs[0]?.query(END_OTHERS))?.rowCount ?? 0;
  }
  if (others > 0) field.problem(null, `${others} connections could not be taken`);
  await field.outage(ms);
  await Promise.all(hogs.map((hog) => hog.end()));
  return machineTime();
}

/**
 * For `ms` milliseconds, ends sessions whose application_name begins with `worker`: several times a second, one to
 * four that are chosen at random. Then ends the sessions of all clients at once. Returns machineTime() at the end.
 */
export async function sessionsEnded(field: Field, server: Server, ms: number): Promise<number> {
  const end = machineTime() + ms;
  while (machineTime() < end) {
    await field.outage(50 + field.dice(200));
    await server.sql(
      `${END_OTHERS} and application_name like 'worker%' order by random() limit $1`,
      [1 + field.dice(4)],
    );
  }
  await server.sql(END_OTHERS);
  return machineTime();
}
