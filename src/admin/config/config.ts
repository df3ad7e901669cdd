// What an admin server is told, checked as a whole before anything starts.
//
//   const config = adminServerConfig(pool).listenAddr("127.0.0.1:5000").readOnly().build();
//   const server = await serve(config);
import type { Pool } from "pg";
import { InputError, type Problem } from "../../base/errors.ts";
import { isLogger, type Logger, loggerProblem, silentLogger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { DEFAULT_SCHEMA, type SchemaName, schemaName } from "../../database/schema-name.ts";
import type { OnAudit } from "../../queue/audit/audit-entry.ts";
import type { AuthConfig } from "../access/authentication.ts";
import { type AuthOptions, resolveAuth } from "./auth-options.ts";
import { type ListenAddress, loopbackOf, parseListenAddress } from "./listen-address.ts";

/** A checked configuration of the admin, for serve(). Made by adminServerConfig(…).build(). */
export interface AdminServerConfig {
  readonly pool: Pool;
  readonly schema: SchemaName;
  readonly listen: ListenAddress;
  readonly auth: AuthConfig;
  readonly readOnly: boolean;
  /** Begins and ends with a slash. */
  readonly basePath: string;
  /** Largest request body, bytes. */
  readonly bodyLimit: number;
  /** Most event streams at once, and of one client. */
  readonly maxViewers: number;
  readonly maxViewersPerClient: number;
  /** Tasks and queues of which metrics tell, each. */
  readonly metricsNames: number;
  readonly logger: Logger;
  /** Told of every write; null: nobody is. */
  readonly onAudit: OnAudit | null;
}

/** Every setter gives the builder back; the last call of each counts. */
export interface AdminServerConfigBuilder {
  /**
   * The queue's schema, by its plain name (1–63 bytes) or from schemaName(). Default `worker`, or that
   * of `utils`. An existing Graphile Worker installation is `graphile_worker`.
   */
  schema(name: string | SchemaName): AdminServerConfigBuilder;
  /** The same as schema(), for a plain name. */
  schemaName(name: string): AdminServerConfigBuilder;
  /**
   * Where to listen, `host:port`, such as `0.0.0.0:8080` or `[::1]:4000`; port 0 is any free one, which
   * the server's `url` then has. Default `127.0.0.1:4000`.
   */
  listenAddr(address: string): AdminServerConfigBuilder;
  /**
   * Who may come in: `{ mode: "basic", username, password }`, `{ mode: "bearer", token }`,
   * `{ mode: "header", headerName, token }`, or `{ mode: "none" }` on a loopback address. A secret that
   * is not given is generated. Default: basic, user `admin`, a generated password.
   */
  auth(auth: AuthOptions): AdminServerConfigBuilder;
  /** Refuses every change, with 403 `read_only`. Without an argument true. Default: false. */
  readOnly(readOnly?: boolean): AdminServerConfigBuilder;
  /**
   * The path under which a reverse proxy shows the admin, such as `/queue/`: letters, digits and
   * `. _ ~ -`. Default `/`.
   */
  basePath(path: string): AdminServerConfigBuilder;
  /** How many event streams may be open: in all (default 1,000), and of one client (200). */
  viewers(limits: ViewerLimits): AdminServerConfigBuilder;
  /** Of how many tasks, and of how many queues, metrics tell: those with the most jobs. Default 100. */
  metricsNames(count: number): AdminServerConfigBuilder;
  /** Where it tells of writes, failed logins and errors, never of secrets. Default: silent. */
  logger(logger: Logger): AdminServerConfigBuilder;
  /**
   * Told of every write once it is done: who, when, from where, which jobs, what they were before and
   * are after; never a payload. What it throws is logged. Default: nobody is told.
   */
  onAudit(onAudit: OnAudit): AdminServerConfigBuilder;
  /**
   * Checks all of it and gives what serve() takes. Connects to nothing. Throws InputError with
   * everything that is wrong, each problem under the name of its method.
   */
  build(): AdminServerConfig;
}

export interface ViewerLimits {
  readonly max?: number | undefined;
  readonly perClient?: number | undefined;
}

const DEFAULT_ADDRESS = "127.0.0.1:4000";
const BODY_LIMIT = 1_048_576;
const MAX_VIEWERS = 1_000;
const MAX_VIEWERS_PER_CLIENT = 200;
const METRICS_NAMES = 100;

interface Choices {
  schema: string | SchemaName;
  listenAddr: string;
  auth: AuthOptions;
  readOnly: boolean;
  basePath: string;
  viewers: ViewerLimits;
  metricsNames: number;
  logger: Logger;
  onAudit: OnAudit | null;
}

/**
 * Begins the configuration of an admin inside an application, on a pool of the application's that is
 * never ended. `utils`: whose schema it is to show, such as those of makeWorkerUtils().
 */
export function adminServerConfig(
  pool: Pool,
  utils?: { readonly database: Database },
): AdminServerConfigBuilder {
  const choices: Choices = {
    schema: utils?.database.schema ?? DEFAULT_SCHEMA,
    listenAddr: DEFAULT_ADDRESS,
    auth: { mode: "basic" },
    readOnly: false,
    basePath: "/",
    viewers: {},
    metricsNames: METRICS_NAMES,
    logger: silentLogger,
    onAudit: null,
  };
  const set =
    <K extends keyof Choices>(name: K) =>
    (value: Choices[K]) => {
      choices[name] = value;
      return builder;
    };
  const builder: AdminServerConfigBuilder = {
    schema: set("schema"),
    schemaName: set("schema"),
    listenAddr: set("listenAddr"),
    auth: set("auth"),
    readOnly: (readOnly = true) => set("readOnly")(readOnly),
    basePath: set("basePath"),
    viewers: set("viewers"),
    metricsNames: set("metricsNames"),
    logger: set("logger"),
    onAudit: set("onAudit"),
    build: () => resolve(pool, choices),
  };
  return builder;
}

function resolve(pool: Pool, choices: Choices): AdminServerConfig {
  const problems: Problem[] = [];
  const attempt = <T>(step: () => T): T | undefined => {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push(...error.problems);
      return undefined;
    }
  };
  const schema = attempt(() => resolveSchema(choices.schema));
  const listen = attempt(() => parseListenAddress(text("listenAddr", choices.listenAddr)));
  const auth = attempt(() => resolveAuth(choices.auth));
  const basePath = attempt(() => resolveBasePath(text("basePath", choices.basePath)));
  const viewers = attempt(() => resolveViewers(choices.viewers));
  const metricsNames = attempt(() => count("metricsNames", choices.metricsNames, 10_000));
  if (typeof pool?.connect !== "function") {
    problems.push({ path: "pool", message: "must be a pg.Pool" });
  }
  if (typeof choices.readOnly !== "boolean") {
    problems.push({ path: "readOnly", message: "must be true or false" });
  }
  if (choices.onAudit !== null && typeof choices.onAudit !== "function") {
    problems.push({ path: "onAudit", message: "must be a function" });
  }
  if (!isLogger(choices.logger)) {
    problems.push({ path: "logger", message: loggerProblem(choices.logger) });
  }
  // Without a login the address must be one that only this machine reaches.
  const address = listen && auth?.mode === "none" ? loopbackOf(listen) : listen;
  if (address === null) problems.push({ path: "auth", message: OPEN });
  if (problems.length > 0 || !schema || !address || !auth || !basePath) {
    throw new InputError(problems);
  }
  return Object.freeze({
    pool,
    schema,
    listen: Object.freeze(address),
    auth,
    readOnly: choices.readOnly,
    basePath,
    bodyLimit: BODY_LIMIT,
    maxViewers: viewers?.max ?? MAX_VIEWERS,
    maxViewersPerClient: viewers?.perClient ?? MAX_VIEWERS_PER_CLIENT,
    metricsNames: metricsNames ?? METRICS_NAMES,
    logger: choices.logger,
    onAudit: choices.onAudit,
  });
}

const OPEN =
  "mode none lets everybody in, so it needs a loopback address: listen on 127.0.0.1, [::1] or localhost, or choose basic, bearer or header";

function resolveSchema(schema: string | SchemaName): SchemaName {
  return schemaName(text("schema", typeof schema === "string" ? schema : schema?.name));
}

function resolveViewers({ max, perClient }: ViewerLimits) {
  return {
    max: count("viewers.max", max ?? MAX_VIEWERS, 100_000),
    perClient: count("viewers.perClient", perClient ?? MAX_VIEWERS_PER_CLIENT, 100_000),
  };
}

function count(path: string, value: unknown, most: number): number {
  if (!Number.isInteger(value) || Number(value) < 0 || Number(value) > most) {
    throw new InputError([{ path, message: `must be a whole number from 0 to ${most}` }]);
  }
  return Number(value);
}

function text(path: string, value: unknown): string {
  if (typeof value !== "string") throw new InputError([{ path, message: "must be a string" }]);
  return value;
}

const BASE_PATH = /^(?:\/[A-Za-z0-9._~-]+)*\/?$/;

function resolveBasePath(path: string): string {
  if (!BASE_PATH.test(path) || /\/\.{1,2}(?:\/|$)/.test(path)) {
    const message = "must be a path of letters, digits, . _ ~ and -, such as /queue/";
    throw new InputError([{ path: "basePath", message }]);
  }
  return path.endsWith("/") ? path : `${path}/`;
}
