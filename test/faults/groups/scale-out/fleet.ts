// The processes of the installation (group.ts). Each worker host runs one member (a worker process) of each stand
// (stand.ts). Each admin host runs an admin. The proxy host runs nginx. The machine itself runs a pooler. A test can
// make each host and the pooler fail, and start them again.
import { join } from "node:path";
import { type AdminProcess, startAdminProcess } from "../../../bench/admin/admin-process.ts";
import { startNginx } from "../../../support/nginx.ts";
import { pgbouncerProgram, startPgbouncer } from "../../../support/pgbouncer.ts";
import type { Field } from "../../field/field.ts";
import type { Member } from "../../field/member.ts";
import type { Stand } from "../../field/stand.ts";
import { PASSWORD } from "../admin/writers.ts";
import type { Cluster } from "./cluster.ts";
import type { Host, Network } from "./network.ts";

/** What fails as a whole: a host with its processes, the pooler, or the standby. */
export interface Place {
  readonly name: string;
  down(): Promise<void>;
  up(): Promise<void>;
}

export const ADMIN_DATABASE = "admins";
const ADMIN_PORT = 5678;
const PROXY_PORT = 8080;
const POOLED = 20;

/** Starts a member of each stand on this host. `changes` returns the URL and options for the member of a stand. */
export async function workerHost(
  host: Host,
  stands: readonly Stand[],
  changes: (stand: Stand) => Parameters<Stand["hire"]>[1],
): Promise<Place> {
  const here = new Map<Stand, Member | undefined>();
  const up = async () => {
    await host.join();
    const hire = async (stand: Stand) => {
      const [member] = await stand.hire(1, { ...changes(stand), command: host.command });
      here.set(stand, member);
    };
    await Promise.all(stands.map(hire));
  };
  await up();
  return {
    name: host.name,
    up,
    // The cable is cut first, so that no peer is notified that the connections have ended.
    async down() {
      await host.cut();
      const kill = async ([stand, member]: [Stand, Member | undefined]) => {
        if (member !== undefined) await stand.kill(member);
      };
      await Promise.all([...here].map(kill));
    },
  };
}

export async function adminHost(field: Field, cluster: Cluster, host: Host): Promise<Place> {
  let admin: AdminProcess | null = null;
  const up = async () => {
    await host.join();
    const args = ["--listen", `${host.address}:${ADMIN_PORT}`];
    admin = await startAdminProcess(cluster.hosts(ADMIN_DATABASE), args, {
      log: join(field.directory, `${host.name}.log`),
      password: PASSWORD,
      command: host.command,
    });
  };
  const down = async () => {
    await host.cut();
    await admin?.kill();
  };
  field.defer(() => admin?.kill());
  await up();
  return { name: host.name, up, down };
}

/** Starts nginx on this host, as the proxy of the admins. Returns the host as a Place, and the URL of nginx. */
export async function proxyHost(field: Field, host: Host, admins: readonly Host[]) {
  const address = `${host.address}:${PROXY_PORT}`;
  const start = () =>
    startNginx({
      directory: join(field.directory, "nginx"),
      listen: address,
      upstreams: admins.map((one) => `${one.address}:${ADMIN_PORT}`),
      command: host.command,
    });
  let nginx = await start();
  field.defer(() => nginx.stop());
  const place: Place = {
    name: host.name,
    async down() {
      await host.cut();
      await nginx.stop();
    },
    async up() {
      await host.join();
      nginx = await start();
    },
  };
  return { place, url: `http://${address}` };
}

export async function pooler(field: Field, cluster: Cluster, network: Network) {
  const program = pgbouncerProgram() ?? "pgbouncer";
  const address = await network.ownAddress(30);
  // The pooler closes idle connections to PostgreSQL after 3 s, because at the end of a stand all connections of
  // workers must be closed.
  const options = { address, idleSeconds: 3 };
  const pool = await startPgbouncer(program, cluster.url("postgres"), POOLED, options);
  field.defer(() => pool.stop());
  const place: Place = { name: "pgbouncer", down: pool.kill, up: pool.start };
  return { place, url: pool.url };
}
