// Starts a real PostgreSQL server for `worker demo` and tests. A server that still runs when this process ends is
// stopped soon afterwards.
import { resolve } from "node:path";
import { WorkerError } from "../../base/errors.ts";
import { type Logger, silentLogger } from "../../base/logger.ts";
import { type Account, serverAccount } from "./account.ts";
import { findBinaries } from "./binaries.ts";
import { openCluster, prepareDataDirectory } from "./cluster.ts";
import { stopOrphan } from "./orphan.ts";
import { claimDirectory, type Ownership } from "./owner.ts";
import { type Postmaster, startPostmaster } from "./postmaster.ts";
import { run } from "./program.ts";
import { makeSocketDirectory, removeSocketDirectory, SOCKET_PORT } from "./socket-directory.ts";

export interface EmbeddedServerOptions {
  /** The data directory, created if missing. The start throws an error if another process uses the directory. */
  readonly dataDir: string;
  readonly logger?: Logger;
  /** Cancels the start, but does not stop a server that has started. */
  readonly signal?: AbortSignal;
  /** PostgreSQL settings by name, which override those of this library. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Whether a new cluster has checksums. Default true, as in PostgreSQL 18. */
  readonly dataChecksums?: boolean;
  /** A directory with `bin/postgres` and `bin/initdb`. Default: the included server. */
  readonly binaries?: string;
}

export interface EmbeddedServer extends AsyncDisposable {
  /** The parameters with which node-postgres connects as the superuser, over the Unix socket. */
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  /** The version of PostgreSQL, such as `18.4`. */
  readonly version: string;
  /** Resolves when the server has ended. */
  readonly exited: Promise<void>;
  /** Returns a connection string for node-postgres and libpq. */
  url(database?: string): string;
  /** Ends all sessions and stops the server. Idempotent; never rejects. */
  stop(): Promise<void>;
}

const VERSION_LIMIT_MS = 30_000;
const NEVER = new AbortController().signal;

/** Starts the server in `dataDir`, and creates the cluster there the first time. */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const { logger = silentLogger, signal = NEVER, dataChecksums = true } = options;
  const directory = resolve(options.dataDir);
  const account = serverAccount();
  const binaries = findBinaries(account, options.binaries);
  const version = await versionOf(binaries, account, signal);
  prepareDataDirectory(directory, account);
  const ownership = claimDirectory(directory);
  try {
    const majorVersion = Number.parseInt(version, 10);
    const { generation } = ownership;
    const cluster = await openCluster({
      ...{ directory, generation, binaries, account, majorVersion, dataChecksums, signal },
    });
    await stopOrphan(cluster, logger);
    const host = makeSocketDirectory(directory, account);
    const settings = {
      listen_addresses: "",
      unix_socket_directories: quoteDirectory(host),
      unix_socket_permissions: "0700",
      port: String(SOCKET_PORT),
      log_line_prefix: "",
      ...options.settings,
    };
    const postmaster = await startPostmaster({
      ...{ binaries, cluster, account, settings, logger, signal },
    });
    logger.debug({ pid: postmaster.pid, version, directory }, "PostgreSQL is ready");
    return embeddedServer({ postmaster, ownership, directory, host, version, logger });
  } catch (error) {
    releaseDirectory(directory, ownership, logger);
    throw error;
  }
}

function embeddedServer(parts: {
  readonly postmaster: Postmaster;
  readonly ownership: Ownership;
  readonly directory: string;
  readonly host: string;
  readonly version: string;
  readonly logger: Logger;
}): EmbeddedServer {
  const { postmaster, ownership, directory, host, version, logger } = parts;
  let stopped: Promise<void> | null = null;
  const exited = postmaster.exited.then(() => {
    if (stopped === null) logger.error({ directory }, "PostgreSQL has died: start it again");
    releaseDirectory(directory, ownership, logger);
  });
  const stop = () => {
    stopped ??= postmaster.stop().then(() => exited);
    return stopped;
  };
  return {
    connection: { host, port: SOCKET_PORT, user: "postgres", database: "postgres" },
    version,
    exited,
    url: (database = "postgres") => {
      const path = encodeURIComponent(database);
      return `postgresql:///${path}?host=${encodeURIComponent(host)}&port=${SOCKET_PORT}&user=postgres`;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Removes the socket first: after the release, the socket may be that of the next owner. */
function releaseDirectory(directory: string, ownership: Ownership, logger: Logger): void {
  const warned = (step: () => void) => {
    try {
      step();
    } catch (error) {
      logger.warn(
        { err: error, directory },
        "the data directory could not be cleaned up; the next start does it",
      );
    }
  };
  warned(() => removeSocketDirectory(directory));
  warned(() => ownership.release());
}

async function versionOf(binaries: string, account: Account, signal: AbortSignal): Promise<string> {
  const program = `${binaries}/bin/postgres`;
  const limits = { limitMs: VERSION_LIMIT_MS, signal };
  const output = await run(program, ["--version"], { account, cwd: "/", ...limits });
  const version = /(\d+(\.\d+)?)/.exec(output)?.[1];
  if (version !== undefined) return version;
  throw new WorkerError("embedded_server", `${program} did not print its version: ${output}`);
}

function quoteDirectory(directory: string): string {
  return `"${directory.replaceAll('"', '""')}"`;
}
