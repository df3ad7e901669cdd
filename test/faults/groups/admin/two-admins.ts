// Runs two admins behind nginx, which sends requests to them in turn. The admins are killed alternately and started
// again. Tests that no write needs more than one retry. For this, each admin must accept the CSRF tokens of the other
// admin.
import { join } from "node:path";
import { type AdminProcess, startAdminProcess } from "../../../bench/admin/admin-process.ts";
import { startNginx } from "../../../support/nginx.ts";
import { freePort } from "../../../support/tls-server.ts";
import { waitUntil } from "../../../support/until.ts";
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";
import { linesOf } from "./database-away.ts";
import { PASSWORD, startWriters } from "./writers.ts";

const WRITERS = 8;
/** The number of writes that must be acknowledged before and after each kill. FEWER: this number in a brief run. */
const BETWEEN = 200;
const FEWER = 40;

export async function twoAdmins(field: Field, server: Server): Promise<void> {
  const url = await server.createDatabase("two_admins");
  const ports = [await freePort(), await freePort()];
  const log = (port: number) => join(field.directory, `admin-${port}.log`);
  const start = (port: number) =>
    startAdminProcess(url, ["--listen", `127.0.0.1:${port}`, "--trusted-proxy", "127.0.0.1"], {
      log: log(port),
      password: PASSWORD,
    });
  /** Resolves when the admin on this port has logged another write, which shows that nginx uses it again. */
  const takesWrites = (port: number) => {
    const before = linesOf(log(port));
    return waitUntil("the restarted admin accepts writes", async () => linesOf(log(port)) > before);
  };
  const admins: AdminProcess[] = await Promise.all(ports.map(start));
  field.defer(() => Promise.all(admins.map((admin) => admin.kill())));
  const address = `127.0.0.1:${await freePort()}`;
  const nginx = await startNginx({
    directory: join(field.directory, "nginx"),
    listen: address,
    upstreams: ports.map((port) => `127.0.0.1:${port}`),
  });
  field.defer(() => nginx.stop());
  const writers = startWriters(`http://${address}`, WRITERS);
  field.defer(() => writers.stop());
  const between = field.times(BETWEEN, FEWER);
  for (let n = 0; n < field.times(10, 2); n++) {
    const before = writers.acknowledged.size;
    await waitUntil(
      "writes are acknowledged",
      async () => writers.acknowledged.size > before + between,
    );
    const at = n % admins.length;
    await admins[at]?.kill();
    const after = writers.acknowledged.size;
    await waitUntil(
      "the other admin accepts writes",
      async () => writers.acknowledged.size > after + between,
    );
    const back = takesWrites(ports[at] ?? 0);
    admins[at] = await start(ports[at] ?? 0);
    await back;
  }
  await writers.stop();
  const rows = await server.sql<{ key: string }>("select key from worker.jobs", [], "two_admins");
  const there = new Set(rows.map(({ key }) => key));
  const lost = [...writers.acknowledged].filter((key) => !there.has(key));
  field.figure("two admins, one killed: writes", null, writers.acknowledged.size, { unit: "" });
  field.figure("writes that needed a retry", null, writers.retried, { unit: "" });
  field.figure("writes that failed after one retry", null, writers.failed.length, {
    most: 0,
    unit: "",
  });
  if (writers.failed.length > 0) field.say(`such as ${writers.failed[0]}`);
  if (lost.length > 0) field.problem(null, `acknowledged jobs that are lost: ${lost.slice(0, 5)}`);
}
