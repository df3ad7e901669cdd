// What an admin server is told, checked as a whole before anything starts.
//
//   const config = adminServerConfig(pool).listenAddr("127.0.0.1:5000").readOnly().build();
//   const server = await serve(config);
import type { Pool } from "pg";
import { InputError, type Problem } from "../base/errors.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import type { Database } from "../database/database.ts";
import { DEFAULT_SCHEMA, type SchemaName, schemaName } from "../database/schema-name.ts";
import { type AuthOptions, resolveAuth } from "./auth-options.ts";
import type { AuthConfig } from "./authentication.ts";
import { isLoopback, type ListenAddress, parseListenAddress } from "./listen-address.ts";

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
  /** Most event streams at once. */
  readonly maxViewers: number;
  readonly logger: Logger;
}

/** Every setter gives the builder back; the last call of each counts. */
export interface AdminServerConfigBuilder {
  /** The queue's schema, by its plain name. Default `worker`, or that of `utils`. */
  schema(name: string | SchemaName): AdminServerConfigBuilder;
  /** The same as schema(). */
  schemaName(name: string): AdminServerConfigBuilder;
  /** `host:port`; port 0 is any free one. Default `127.0.0.1:4000`. */
  listenAddr(address: string): AdminServerConfigBuilder;
  /** Default: Basic, user `admin`, a generated password. */
  auth(auth: AuthOptions): AdminServerConfigBuilder;
  /** Refuses every write. Default false; without an argument true. */
  readOnly(readOnly?: boolean): AdminServerConfigBuilder;
  /** Where a reverse proxy puts us, such as `/queue/`. Default `/`. */
  basePath(path: string): AdminServerConfigBuilder;
  /** Default: silent. */
  logger(logger: Logger): AdminServerConfigBuilder;
  /** Throws InputError with everything that is wrong. */
  build(): AdminServerConfig;
}

const DEFAULT_ADDRESS = "127.0.0.1:4000";
const BODY_LIMIT = 1_048_576;
const MAX_VIEWERS = 200;

interface Choices {
  schema: string | SchemaName;
  listenAddr: string;
  auth: AuthOptions;
  readOnly: boolean;
  basePath: string;
  logger: Logger;
}

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
    logger: silentLogger,
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
    logger: set("logger"),
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
  if (typeof pool?.connect !== "function") {
    problems.push({ path: "pool", message: "must be a pg.Pool" });
  }
  if (typeof choices.readOnly !== "boolean") {
    problems.push({ path: "readOnly", message: "must be true or false" });
  }
  if (auth?.mode === "none" && listen !== undefined && !isLoopback(listen.host)) {
    problems.push({ path: "auth", message: OPEN });
  }
  if (problems.length > 0 || !schema || !listen || !auth || !basePath) {
    throw new InputError(problems);
  }
  return Object.freeze({
    pool,
    schema,
    listen: Object.freeze(listen),
    auth,
    readOnly: choices.readOnly,
    basePath,
    bodyLimit: BODY_LIMIT,
    maxViewers: MAX_VIEWERS,
    logger: choices.logger,
  });
}

const OPEN =
  "mode none lets everybody in, so it needs a loopback address: listen on 127.0.0.1 or [::1] (a number, not a name), or choose basic, bearer or header";

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
