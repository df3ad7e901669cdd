// What an admin server is told, checked as a whole before anything starts.
//
//   const config = adminServerConfig(pool).listenAddr("127.0.0.1:5000").readOnly().build();
//   const server = await serve(config);
import type { Pool } from "pg";
import { InputError, type Problem } from "../../base/errors.ts";
import { isLogger, type Logger, loggerProblem, silentLogger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { DEFAULT_SCHEMA, type SchemaName, schemaName } from "../../database/schema-name.ts";
import { clientAddress } from "../../http/bounds/client-address.ts";
import type { OnAudit } from "../../queue/audit/audit-entry.ts";
import { type AuthConfig, SHORTEST_SECRET } from "../access/authentication.ts";
import type { Secret } from "../access/secret.ts";
import { type AuthOptions, resolveAuth, resolveMetricsToken } from "./auth-options.ts";
import { type AdminLimits, resolveLimits } from "./limits.ts";
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
  /** The environment's name, or null. */
  readonly label: string | null;
  /** What a scraper of /metrics may send instead of a login; a digest. */
  readonly metricsToken: Secret | null;
  /** Whether a configured secret is too short for other machines to guess at. */
  readonly hasShortSecret: boolean;
  /** Networks of the proxies whose word on the client's address counts. */
  readonly trustedProxies: readonly string[];
  readonly limits: AdminLimits;
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
  /** What the page and /api/session call this environment, such as `production`. */
  label(label: string): AdminServerConfigBuilder;
  /**
   * A token with which a scraper may read /metrics and nothing else, as `Authorization: Bearer <token>`.
   * Default: none, so that it needs the login.
   */
  metricsToken(token: string): AdminServerConfigBuilder;
  /**
   * Networks of the reverse proxies in front, such as `10.0.0.0/8`. What they say in X-Forwarded-For or
   * Forwarded is then the client, for limits and log; nobody else is believed. Default: none.
   */
  trustedProxies(networks: readonly string[]): AdminServerConfigBuilder;
  /** Changes bounds of what clients may take; the others keep their defaults. */
  limits(limits: Partial<AdminLimits>): AdminServerConfigBuilder;
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

const DEFAULT_ADDRESS = "127.0.0.1:4000";

interface Choices {
  schema: string | SchemaName;
  listenAddr: string;
  auth: AuthOptions;
  readOnly: boolean;
  basePath: string;
  label: string | null;
  metricsToken: string | null;
  trustedProxies: readonly string[];
  limits: Partial<AdminLimits>;
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
    label: null,
    metricsToken: null,
    trustedProxies: [],
    limits: {},
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
    label: set("label"),
    metricsToken: set("metricsToken"),
    trustedProxies: set("trustedProxies"),
    limits: set("limits"),
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
  const label = attempt(() => resolveLabel(choices.label));
  const limits = attempt(() => resolveLimits(choices.limits));
  const trustedProxies = attempt(() => resolveProxies(choices.trustedProxies));
  const scraper = attempt(() =>
    choices.metricsToken === null ? null : resolveMetricsToken(choices.metricsToken),
  );
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
  const isReached = (listen && loopbackOf(listen) === null) || (trustedProxies?.length ?? 0) > 0;
  if (isReached && auth?.hasShortSecret) {
    problems.push({ path: auth.mode === "basic" ? "auth.password" : "auth.token", message: SHORT });
  }
  if (isReached && scraper?.isShort) problems.push({ path: "metricsToken", message: SHORT_TOKEN });
  if (problems.length > 0 || !schema || !address || !auth || !basePath || !limits) {
    throw new InputError(problems);
  }
  return Object.freeze({
    pool,
    schema,
    listen: Object.freeze(address),
    auth,
    readOnly: choices.readOnly,
    basePath,
    label: label ?? null,
    metricsToken: scraper?.secret ?? null,
    hasShortSecret: auth.hasShortSecret || scraper?.isShort === true,
    trustedProxies: trustedProxies ?? [],
    limits,
    logger: choices.logger,
    onAudit: choices.onAudit,
  });
}

const OPEN =
  "mode none lets everybody in, so it needs a loopback address: listen on 127.0.0.1, [::1] or localhost, or choose basic, bearer or header";

const SHORT_TOKEN = `must have at least ${SHORTEST_SECRET} characters where other machines can guess at it`;
const SHORT = `${SHORT_TOKEN}; leave it out to have one generated`;

function resolveLabel(label: string | null): string | null {
  if (label === null) return null;
  if (/^[^\p{Cc}]{1,40}$/u.test(text("label", label))) return label;
  throw new InputError([{ path: "label", message: "must have 1 to 40 printable characters" }]);
}

function resolveProxies(networks: readonly string[]): readonly string[] {
  if (!Array.isArray(networks) || networks.some((network) => typeof network !== "string")) {
    throw new InputError([{ path: "trustedProxies", message: "must be a list of networks" }]);
  }
  clientAddress(networks);
  return Object.freeze([...networks]);
}

function resolveSchema(schema: string | SchemaName): SchemaName {
  return schemaName(text("schema", typeof schema === "string" ? schema : schema?.name));
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
