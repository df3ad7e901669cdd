// The builder with which an application configures an admin server.
//
//   const config = adminServerConfig(pool).listenAddr("127.0.0.1:5000").readOnly().build();
//   const server = await serve(config);
import type { Pool } from "pg";
import { type Logger, silentLogger } from "../../base/logger.ts";
import { stderrLogger } from "../../base/stderr-logger.ts";
import type { OnAudit } from "../../commands/audit/audit-entry.ts";
import type { Database } from "../../database/database.ts";
import { DEFAULT_SCHEMA, type SchemaName } from "../../database/schema-name.ts";
import type { CertificateFiles } from "../../http/listen/certificate.ts";
import type { AuthOptions } from "./auth-options.ts";
import { type AdminServerConfig, type Choices, resolveConfig } from "./config.ts";
import type { AdminLimits } from "./limits.ts";

/**
 * A builder of the admin's configuration. Each setter returns the builder. If a setter is called several times, the
 * last call counts.
 */
export interface AdminServerConfigBuilder {
  /**
   * Sets the queue's schema: its name without quotes (1–63 bytes), or the result of schemaName(). Default: the schema
   * of the argument `utils` of adminServerConfig(); without it, `worker`. Graphile Worker's default is `graphile_worker`.
   */
  schema(name: string | SchemaName): AdminServerConfigBuilder;
  /** The same as schema(), for a name without quotes. */
  schemaName(name: string): AdminServerConfigBuilder;
  /**
   * Sets the address: `host:port`, such as `0.0.0.0:8080` or `[::1]:4000`; `unix:/path` for a socket; or `fd:3` for an
   * open socket of this process. With port 0 the system chooses a free port, which is in the server's `url`. Default
   * `127.0.0.1:4000`.
   */
  listenAddr(address: string): AdminServerConfigBuilder;
  /** Sets the file mode of a unix socket. Default 0o660 if listenGroup() sets a group, otherwise 0o600. */
  listenMode(mode: number): AdminServerConfigBuilder;
  /** Sets the group of a unix socket, by its name in /etc/group or its number. Default: the process's group. */
  listenGroup(group: string): AdminServerConfigBuilder;
  /**
   * Serves TLS (1.2 and later) with the certificate and the key in these PEM files. The server's reloadCertificate()
   * reads the files again. Default: plain HTTP.
   */
  tls(files: CertificateFiles): AdminServerConfigBuilder;
  /**
   * Sets whether browsers must use only HTTPS for a year (HSTS). No effect without TLS, or on a loopback address.
   * Default true.
   */
  hsts(hsts: boolean): AdminServerConfigBuilder;
  /**
   * Sets the authentication, such as `{ mode: "bearer", token }`. AuthOptions describes all modes. Default: mode
   * `basic`, user `admin`, a generated password.
   */
  auth(auth: AuthOptions): AdminServerConfigBuilder;
  /** Sets whether all changes are refused, with 403 `read_only`. Without an argument: true. Default false. */
  readOnly(readOnly?: boolean): AdminServerConfigBuilder;
  /**
   * Sets the path under which a reverse proxy serves the admin, such as `/queue/`. The parts of the path may contain
   * letters, digits and `. _ ~ -`. Default `/`.
   */
  basePath(path: string): AdminServerConfigBuilder;
  /** Sets the environment's name, such as `production`, for the page and /api/session. Default: none. */
  label(label: string): AdminServerConfigBuilder;
  /**
   * Sets a token that gives access to /metrics only, as `Authorization: Bearer <token>`. Default: none; /metrics needs
   * the login.
   */
  metricsToken(token: string): AdminServerConfigBuilder;
  /**
   * Sets the networks of trusted reverse proxies, such as `10.0.0.0/8`; `unix:` means every peer on the unix socket.
   * The header X-Forwarded-For or Forwarded of a trusted proxy names the client, for limits and logs. From all other
   * peers these headers are ignored. Default: none.
   */
  trustedProxies(networks: readonly string[]): AdminServerConfigBuilder;
  /**
   * Sets the header in which a trusted proxy names the user, such as `X-Forwarded-User`. In the audit trail, in
   * operations and in the log, this name replaces the user name of the login. The login itself is still required. From
   * all other peers this header is ignored. Not allowed in mode `custom`. Default: none.
   */
  userHeader(name: string): AdminServerConfigBuilder;
  /** Sets limits of requests, connections and memory. Limits that are omitted keep their defaults. */
  limits(limits: Partial<AdminLimits>): AdminServerConfigBuilder;
  /**
   * Sets the logger; `silent` turns logging off. Secrets are never logged. Default: warnings and errors as text on
   * stderr.
   */
  logger(logger: Logger | "silent"): AdminServerConfigBuilder;
  /** Sets a function that is called after every change. Errors of the function are logged. Default: none. */
  onAudit(onAudit: OnAudit): AdminServerConfigBuilder;
  /**
   * Returns the checked configuration. Does not connect. Throws InputError with all problems and their paths, such as
   * `auth.password`.
   */
  build(): AdminServerConfig;
}

const DEFAULT_ADDRESS = "127.0.0.1:4000";

/**
 * Returns a builder for the configuration of an admin. The admin never ends the pool. The default schema is the schema
 * of `utils`, such as the result of makeWorkerUtils().
 */
export function adminServerConfig(
  pool: Pool,
  utils?: { readonly database: Database },
): AdminServerConfigBuilder {
  const choices: Choices = {
    schema: utils?.database.schema ?? DEFAULT_SCHEMA,
    listenAddr: DEFAULT_ADDRESS,
    listenMode: null,
    listenGroup: null,
    tls: null,
    hsts: true,
    auth: { mode: "basic" },
    readOnly: false,
    basePath: "/",
    label: null,
    metricsToken: null,
    trustedProxies: [],
    userHeader: null,
    limits: {},
    logger: stderrLogger,
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
    listenMode: set("listenMode"),
    listenGroup: set("listenGroup"),
    tls: set("tls"),
    hsts: set("hsts"),
    auth: set("auth"),
    readOnly: (readOnly = true) => set("readOnly")(readOnly),
    basePath: set("basePath"),
    label: set("label"),
    metricsToken: set("metricsToken"),
    trustedProxies: set("trustedProxies"),
    userHeader: set("userHeader"),
    limits: set("limits"),
    logger: (logger) => set("logger")(logger === "silent" ? silentLogger : logger),
    onAudit: set("onAudit"),
    build: () => resolveConfig(pool, choices),
  };
  return builder;
}
