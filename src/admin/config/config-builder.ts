// The words in which an application configures an admin server.
//
//   const config = adminServerConfig(pool).listenAddr("127.0.0.1:5000").readOnly().build();
//   const server = await serve(config);
import type { Pool } from "pg";
import { type Logger, silentLogger } from "../../base/logger.ts";
import type { OnAudit } from "../../commands/audit/audit-entry.ts";
import type { Database } from "../../database/database.ts";
import { DEFAULT_SCHEMA, type SchemaName } from "../../database/schema-name.ts";
import type { CertificateFiles } from "../../http/listen/certificate.ts";
import type { AuthOptions } from "./auth-options.ts";
import { type AdminServerConfig, type Choices, resolveConfig } from "./config.ts";
import type { AdminLimits } from "./limits.ts";

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
   * the server's `url` then has. Or `unix:/path` of a socket, or `fd:3` for an open socket of this
   * process. Default `127.0.0.1:4000`.
   */
  listenAddr(address: string): AdminServerConfigBuilder;
  /** Who may connect to a unix socket. Default 0o600, with a group 0o660. */
  listenMode(mode: number): AdminServerConfigBuilder;
  /** The group that a unix socket is given to: its name in /etc/group, or its number. */
  listenGroup(group: string): AdminServerConfigBuilder;
  /**
   * Speaks TLS (1.2 and later), with a certificate and its key in PEM. The server's reloadCertificate()
   * reads the files anew. Default: plain HTTP.
   */
  tls(files: CertificateFiles): AdminServerConfigBuilder;
  /** Whether browsers are told to come to this host by HTTPS only, for a year. With TLS true. */
  hsts(hsts: boolean): AdminServerConfigBuilder;
  /**
   * Who may come in: `{ mode: "basic", username, password }`, `{ mode: "bearer", token }`,
   * `{ mode: "header", headerName, token }`, or `{ mode: "none" }` on a loopback address or a unix socket
   * of mode 0600. A secret that is not given is generated. Default: basic, user `admin`, a generated password.
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
   * Networks of the reverse proxies in front, such as `10.0.0.0/8`; `unix:` is whoever may connect to the
   * unix socket. What they say in X-Forwarded-For or
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
    limits: set("limits"),
    logger: set("logger"),
    onAudit: set("onAudit"),
    build: () => resolveConfig(pool, choices),
  };
  return builder;
}
