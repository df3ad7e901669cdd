// Faults while PostgreSQL runs: it has no free connections, or sessions end.
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
 * Opens sessions of the test until the server permits no more connections, and ends all other sessions to take their
 * connections, too. Ends the test's sessions `ms` milliseconds later, and returns the time.
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
  // Repeated, because a worker whose session was ended may reconnect before the test takes the free connection.
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
 * For `ms` milliseconds, ends several times a second one to four random sessions whose application_name begins with
 * `worker`. Then ends all sessions at once, and returns the time.
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
