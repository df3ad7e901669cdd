// A primary with a synchronous standby, and a relay: one address that always leads to the present primary.
import { execFile } from "node:child_process";
import { chownSync, rmSync, statSync, writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { machineTime } from "../../../worker/run-log.ts";
import { type Server, startServer } from "../../field/server.ts";

const run = promisify(execFile);
const PORT = 5432;

export interface Cluster {
  readonly primary: Server;
  /** Returns a URL with the addresses of both servers. */
  hosts(database: string): string;
  /** Returns the URL of the relay. */
  url(database: string): string;
  /** Kills the primary and promotes the standby. Returns the time (machineTime) at which the standby accepts writes. */
  failOver(): Promise<number>;
  /** Turns the server that failOver() has killed into the new standby. */
  rebuild(): Promise<void>;
  killStandby(): Promise<void>;
  startStandby(): Promise<void>;
  close(): Promise<void>;
}

export interface ClusterPlan {
  readonly directory: string;
  readonly addresses: readonly [string, string];
  readonly relay: string;
  /** The addresses from which clients may connect, such as `10.0.0.0/24`. */
  readonly network: string;
}

export async function startCluster(plan: ClusterPlan): Promise<Cluster> {
  const { directory, addresses, relay, network } = plan;
  const hba = join(directory, "pg_hba.conf");
  const trusted = ["local all all", `host all all ${network}`, `host replication all ${network}`];
  writeFileSync(hba, trusted.map((line) => `${line} trust\n`).join(""), { mode: 0o644 });
  const settings = (address: string) => ({
    ...{ listen_addresses: address, port: String(PORT), hba_file: hba },
    ...{ wal_keep_size: "1GB", max_wal_senders: "8", hot_standby: "on" },
    // A host without its network cannot end its connections, so the server must detect lost connections.
    ...{ tcp_keepalives_idle: "5", tcp_keepalives_interval: "2", tcp_keepalives_count: "3" },
    primary_conninfo: `host=${relay} port=${PORT} user=postgres application_name=standby`,
  });
  const start = (n: 0 | 1) =>
    startServer(join(directory, `db${n}`), { settings: settings(addresses[n]) });
  const servers = [await start(0), await start(1)] as const;
  let at: 0 | 1 = 0;
  const other = () => (1 - at) as 0 | 1;
  const front = await relayTo(relay, () => addresses[at]);
  const followed = async (isSo: boolean) => {
    await servers[at].sql(`alter system set synchronous_standby_names = '${isSo ? "*" : ""}'`);
    await servers[at].sql("select pg_reload_conf()");
  };
  const streaming = async () => {
    const found = "select 1 from pg_stat_replication where state = 'streaming'";
    while ((await servers[at].sql(found)).length === 0)
      await new Promise((go) => setTimeout(go, 100));
    await followed(true);
  };
  const rebuild = async () => {
    await copy(servers[at], servers[other()]);
    await servers[other()].start();
    await streaming();
  };
  await servers[1].stop();
  await rebuild();
  const named = (list: string, database: string) => `postgres://postgres@${list}/${database}`;
  return {
    get primary() {
      return servers[at];
    },
    hosts: (database) =>
      `${named(addresses.map((one) => `${one}:${PORT}`).join(","), database)}?target_session_attrs=read-write`,
    url: (database) => named(`${relay}:${PORT}`, database),
    async failOver() {
      await servers[at].kill();
      at = other();
      front.cut();
      await followed(false);
      await servers[at].sql("select pg_promote(true, 60)");
      return machineTime();
    },
    rebuild,
    async killStandby() {
      await followed(false);
      await servers[other()].kill();
    },
    async startStandby() {
      await servers[other()].start();
      await streaming();
    },
    async close() {
      front.close();
      for (const server of servers) await server.stop();
    },
  };
}

/** Makes the stopped server `to` a standby, from a base backup of `from`. */
async function copy(from: Server, to: Server): Promise<void> {
  const [source, target] = [from, to].map(({ directory }) => join(directory, "cluster")) as [
    string,
    string,
  ];
  const client = new pg.Client({ connectionString: from.url() });
  await client.connect();
  try {
    await client.query("select pg_backup_start('standby', true)");
    rmSync(target, { recursive: true, force: true });
    // If PostgreSQL deletes a file meanwhile, cp fails. The standby does not need deleted files.
    await run("cp", ["-a", source, target]).catch(() => {});
    const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
    const { uid, gid } = statSync(join(target, "PG_VERSION"));
    for (const [name, text] of [
      ["backup_label", rows[0].labelfile],
      ["standby.signal", ""],
    ]) {
      writeFileSync(join(target, name), text, { mode: 0o600 });
      chownSync(join(target, name), uid, gid);
    }
    for (const name of ["postmaster.pid", "postmaster.opts"])
      rmSync(join(target, name), { force: true });
  } finally {
    await client.end();
  }
}

/** Relays each connection to the server that is the primary when the connection opens. */
async function relayTo(address: string, primary: () => string) {
  const open = new Set<net.Socket>();
  const server = net.createServer((front) => {
    const behind = net.connect({ host: primary(), port: PORT });
    for (const [one, another] of [
      [front, behind],
      [behind, front],
    ] as const) {
      open.add(one);
      one
        .on("error", () => {})
        .on("close", () => {
          open.delete(one);
          another.destroy();
        });
      one.pipe(another);
    }
  });
  await new Promise<void>((resolve) => server.listen(PORT, address, resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const close = () => {
    server.close();
    cut();
  };
  return { cut, close };
}
