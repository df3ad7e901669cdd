// Starts pgbouncer in transaction mode in front of a test server. In this mode, each transaction of a client may run on
// another connection to the server.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, chownSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { serverAccount } from "../../src/database/embedded/account.ts";

export interface Pgbouncer {
  /** Returns the URL for connecting to a database of the server through pgbouncer. */
  url(database: string): string;
  /** Runs a command of pgbouncer's console, such as PAUSE. */
  admin(command: string): Promise<void>;
  /** Kills pgbouncer with SIGKILL. */
  kill(): Promise<void>;
  /** Starts pgbouncer again after kill(), with the same URLs. */
  start(): Promise<void>;
  /** Kills pgbouncer and removes its files. */
  stop(): Promise<void>;
}

/**
 * Returns the path of pgbouncer; null if it is not installed. Debian installs pgbouncer in /usr/sbin, which is only in
 * the PATH of root.
 */
export function pgbouncerProgram(): string | null {
  const folders = [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin"];
  return folders.map((folder) => join(folder, "pgbouncer")).find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const PORT = 6432;
const START_LIMIT_MS = 10_000;

// Runs pgbouncer until stdin is closed, at the latest when this process ends.
const WITH_US = `"$@" & pid=$!; read -r _; kill -KILL "$pid"; wait "$pid"`;

export interface PgbouncerOptions {
  /** The TCP address on which pgbouncer listens. Default: only a unix socket. */
  readonly address?: string;
  /** How long pgbouncer keeps an unused connection to the server, in seconds. Default: 600. */
  readonly idleSeconds?: number;
}

/** Starts pgbouncer with at most `connections` connections to each database of `server`. */
export async function startPgbouncer(
  program: string,
  server: string,
  connections: number,
  { address = "", idleSeconds = 600 }: PgbouncerOptions = {},
): Promise<Pgbouncer> {
  // pgbouncer refuses to run as root.
  const account = serverAccount();
  const directory = mkdtempSync(join(tmpdir(), "worker-pgbouncer-"));
  const file = join(directory, "pgbouncer.ini");
  writeFileSync(file, settings(server, directory, connections, { address, idleSeconds }));
  if (account !== null) chownSync(directory, account.uid, account.gid);
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn("/bin/sh", ["-c", WITH_US, "sh", program, file], {
      cwd: "/",
      stdio: ["pipe", "ignore", "pipe"],
      ...account,
    });
    await ready(child);
  };
  const kill = async () => {
    child?.stdin?.end();
    if (child?.exitCode === null) await once(child, "exit");
  };
  const stop = async () => {
    await kill();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  const host = encodeURIComponent(address || directory);
  const url = (database: string) =>
    `postgresql:///${database}?host=${host}&port=${PORT}&user=postgres`;
  return {
    url,
    async admin(command) {
      const client = new pg.Client({ connectionString: url("pgbouncer") });
      await client.connect();
      try {
        await client.query(command);
      } finally {
        await client.end();
      }
    },
    kill,
    start,
    stop,
  };
}

function settings(
  server: string,
  directory: string,
  connections: number,
  { address, idleSeconds }: Required<PgbouncerOptions>,
): string {
  const { host, port, user, password } = new pg.Client({ connectionString: server });
  const target = { host, port: String(port), user, password: password ?? "" };
  const quoted = Object.entries(target)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}='${value?.replaceAll("'", "''")}'`);
  return `[databases]
* = ${quoted.join(" ")}
[pgbouncer]
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 500
server_idle_timeout = ${idleSeconds}
server_login_retry = 1
auth_type = any
admin_users = postgres
listen_addr = ${address}
listen_port = ${PORT}
unix_socket_dir = ${directory}
`;
}

/** Resolves when pgbouncer logs that it listens. */
async function ready(child: ChildProcess): Promise<void> {
  const output: string[] = [];
  const limit = AbortSignal.timeout(START_LIMIT_MS);
  const lines = createInterface({ input: child.stderr as NodeJS.ReadableStream });
  await new Promise<void>((resolve, reject) => {
    const refuse = () => reject(new Error(`pgbouncer does not start: ${output.join("\n")}`));
    limit.addEventListener("abort", refuse);
    lines.on("close", refuse).on("line", (line) => {
      output.push(line);
      if (line.includes("process up")) resolve();
      else if (line.includes("FATAL")) refuse();
    });
    child.on("error", reject);
  });
}
