// Starts the admin servers for the pictures of run.ts. Four servers have a database each: one database has an incident
// (incident.ts), one has the incident and pauses, one has the incident and limits, and one is empty. Five more servers
// share the first database. One of these five is read-only, and two require a token. For the last two, a proxy can
// interrupt a connection: the connection of the server `away` to its database, and the connection of the browser to the
// server `frozen`.
import pg from "pg";
import type { AuthOptions } from "../../../src/admin/config/auth-options.ts";
import { adminServerConfig } from "../../../src/admin/config/config-builder.ts";
import { serve } from "../../../src/admin/serve.ts";
import { createDatabase } from "../../../src/database/connection/create-database.ts";
import type { EmbeddedServer } from "../../../src/database/embedded/server.ts";
import { migrate } from "../../../src/database/schema/migrate.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import { makeWorkerUtils } from "../../../src/utils/worker-utils.ts";
import { type TcpProxy, tcpProxy } from "../../support/tcp-proxy.ts";
import { seedLimits } from "../seed-limits.ts";
import { seedIncident } from "./incident.ts";

export type AdminName =
  | "incident"
  | "paused"
  | "limited"
  | "empty"
  | "readOnly"
  | "bearer"
  | "header"
  | "away"
  | "frozen";

export interface Admins {
  readonly urls: Readonly<Record<AdminName, string>>;
  /** The proxy between the server `away` and its database. */
  readonly database: TcpProxy;
  /** The proxy between the browser and the server `frozen`. */
  readonly network: TcpProxy;
  stop(): Promise<void>;
}

export async function startAdmins(server: EmbeddedServer): Promise<Admins> {
  const ends: (() => Promise<unknown>)[] = [];
  const poolOf = (connectionString: string) => {
    const pool = new pg.Pool({ connectionString, max: 6 });
    pool.on("error", () => {});
    ends.push(() => pool.end());
    return pool;
  };
  const start = async (
    connectionString: string,
    { auth = { mode: "none" }, readOnly = false, label = "production" }: Options = {},
  ) => {
    const config = adminServerConfig(poolOf(connectionString)).auth(auth).readOnly(readOnly);
    if (label !== "") config.label(label);
    const running = await serve(config.listenAddr("127.0.0.1:0").build());
    ends.push(() => running.stop());
    return running.url;
  };
  const make = async (
    name: string,
    seed: (pool: pg.Pool) => Promise<void>,
    extensions: readonly string[] = ["operations"],
  ) => {
    await createDatabase(server.connection, name, false);
    const pool = poolOf(server.url(name));
    await migrate(pool, schemaName("worker"), { extensions });
    await seed(pool);
    return server.url(name);
  };
  const url = await make("incident", seedIncident);
  const database = await tcpProxy(url);
  const incident = await start(url);
  const { port } = new URL(await start(url));
  const network = await tcpProxy(`postgres://nobody@127.0.0.1:${port}/none`);
  ends.push(
    () => database.close(),
    () => network.close(),
  );
  const token = "correct-token-4711";
  return {
    urls: {
      incident,
      paused: await start(await make("paused", seedPauses, ["operations", "controls"])),
      limited: await start(await make("limited", seedLimited, ["operations", "limits"])),
      empty: await start(await make("empty", async () => {}), { label: "" }),
      readOnly: await start(url, { readOnly: true }),
      bearer: await start(url, { auth: { mode: "bearer", token } }),
      header: await start(url, { auth: { mode: "header", headerName: "x-queue-token", token } }),
      away: await start(database.url),
      frozen: `http://127.0.0.1:${new URL(network.url).port}/`,
    },
    database,
    network,
    stop: async () => {
      for (const end of ends.reverse()) await end();
    },
  };
}

async function seedPauses(pool: pg.Pool): Promise<void> {
  await seedIncident(pool);
  const utils = await makeWorkerUtils({ pool });
  const resumeAt = new Date(Date.now() + 2 * 60 * 60_000);
  const deploy = { reason: "deploy", pausedBy: "ana", resumeAt };
  await utils.pauseQueue("crm:acme", deploy);
  await utils.pauseTask("charge_card", { reason: "the payments API is down", pausedBy: "ben" });
  await utils.pauseAll(deploy);
  await utils.end();
}

async function seedLimited(pool: pg.Pool): Promise<void> {
  await seedIncident(pool);
  await seedLimits((text) => pool.query(text.replaceAll("{}", "worker")));
}

interface Options {
  readonly auth?: AuthOptions;
  readonly readOnly?: boolean;
  readonly label?: string;
}
