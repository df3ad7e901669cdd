// The configuration of an admin server, checked as a whole before anything starts.
import type { Pool } from "pg";
import { InputError, type Problem } from "../../base/errors.ts";
import { isLogger, type Logger, loggerProblem } from "../../base/logger.ts";
import { safeLogger } from "../../base/safe-logger.ts";
import type { OnAudit } from "../../commands/audit/audit-entry.ts";
import { type SchemaName, schemaName } from "../../database/schema-name.ts";
import { clientAddress } from "../../http/bounds/client-address.ts";
import {
  type Certificate,
  type CertificateFiles,
  loadCertificate,
} from "../../http/listen/certificate.ts";
import type { ListenTarget } from "../../http/listen/listen-target.ts";
import { type AuthConfig, type AuthMode, MIN_SECRET_LENGTH } from "../access/auth-config.ts";
import type { Secret } from "../access/secret.ts";
import {
  type AuthOptions,
  resolveAuth,
  resolveMetricsToken,
  resolveUserHeader,
} from "./auth-options.ts";
import { type AdminLimits, resolveLimits } from "./limits.ts";
import { loopbackOf, parseListenAddress } from "./listen-address.ts";

/** The checked configuration of an admin, for serve() and adminHandler(). Made by adminServerConfig(…).build(). */
export interface AdminServerConfig {
  /** The pool. The admin never ends it. */
  readonly pool: Pool;
  /** The schema of the queue. */
  readonly schema: SchemaName;
  /** The address to listen at. */
  readonly listen: ListenTarget;
  /** The TLS certificate; null for plain HTTP. */
  readonly certificate: Certificate | null;
  /** Whether browsers must use only HTTPS for a year (HSTS). No effect without TLS, or on a loopback address. */
  readonly hsts: boolean;
  /** The authentication. */
  readonly auth: AuthConfig;
  /** Whether all changes are refused, with 403 `read_only`. */
  readonly readOnly: boolean;
  /** The path of the admin, with a slash at its beginning and end. */
  readonly basePath: string;
  /** The name of the environment, such as `production`; null without a name. */
  readonly label: string | null;
  /** The digest of the token for /metrics; null if there is no such token. */
  readonly metricsToken: Secret | null;
  /** Whether a configured secret or the token for /metrics has fewer than 12 characters. */
  readonly hasShortSecret: boolean;
  /** The networks of reverse proxies whose headers name the client's address. */
  readonly trustedProxies: readonly string[];
  /** The header in which trusted proxies name the user, in lower case; null if there is no such header. */
  readonly userHeader: string | null;
  /** The limits of requests, connections and memory. */
  readonly limits: AdminLimits;
  /** The logger. */
  readonly logger: Logger;
  /** The function that is called after every change; null if there is no such function. */
  readonly onAudit: OnAudit | null;
  /** Returns the ids of the jobs of this process's worker that ignore their aborted signal, for /healthz. */
  readonly jobsIgnoringSignal?: () => readonly string[];
}

/** The settings of the builder, unchecked. */
export interface Choices {
  schema: string | SchemaName;
  listenAddr: string;
  listenMode: number | null;
  listenGroup: string | null;
  tls: CertificateFiles | null;
  hsts: boolean;
  auth: AuthOptions;
  readOnly: boolean;
  basePath: string;
  label: string | null;
  metricsToken: string | null;
  trustedProxies: readonly string[];
  userHeader: string | null;
  limits: Partial<AdminLimits>;
  logger: Logger;
  onAudit: OnAudit | null;
}

/** Returns the checked configuration. Throws InputError with all problems and their paths, such as `auth.password`. */
export function resolveConfig(pool: Pool, choices: Choices): AdminServerConfig {
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
  const { listenMode: mode, listenGroup: group } = choices;
  const listen = attempt(() =>
    parseListenAddress(text("listenAddr", choices.listenAddr), { mode, group }),
  );
  const certificate = attempt(() => resolveTls(choices.tls, listen));
  const auth = attempt(() => resolveAuth(choices.auth));
  const basePath = attempt(() => resolveBasePath(text("basePath", choices.basePath)));
  const label = attempt(() => resolveLabel(choices.label));
  const limits = attempt(() => resolveLimits(choices.limits));
  const trustedProxies = attempt(() => resolveProxies(choices.trustedProxies));
  const userHeader = attempt(() => resolveUserHeader(choices.userHeader, auth));
  const scraper = attempt(() =>
    choices.metricsToken === null ? null : resolveMetricsToken(choices.metricsToken),
  );
  if (typeof pool?.connect !== "function") {
    problems.push({ path: "pool", message: "must be a pg.Pool" });
  }
  for (const path of ["readOnly", "hsts"] as const) {
    if (typeof choices[path] !== "boolean")
      problems.push({ path, message: "must be true or false" });
  }
  if (choices.onAudit !== null && typeof choices.onAudit !== "function") {
    problems.push({ path: "onAudit", message: "must be a function" });
  }
  if (!isLogger(choices.logger)) {
    problems.push({ path: "logger", message: loggerProblem(choices.logger) });
  }
  const address = listen && auth?.mode === "none" ? withoutLogin(listen) : listen;
  if (address === null) problems.push({ path: "auth", message: OPEN });
  const isReached = (listen && isReachable(listen)) || (trustedProxies?.length ?? 0) > 0;
  if (isReached && auth?.hasShortSecret) {
    problems.push({ path: `auth.${secretNames[auth.mode]}`, message: SHORT });
  }
  if (isReached && scraper?.isShort) problems.push({ path: "metricsToken", message: SHORT_TOKEN });
  if (problems.length > 0 || !schema || !address || !auth || !basePath || !limits) {
    throw new InputError(problems);
  }
  return Object.freeze({
    pool,
    schema,
    listen: Object.freeze(address),
    certificate: certificate ?? null,
    hsts: choices.hsts,
    auth,
    readOnly: choices.readOnly,
    basePath,
    label: label ?? null,
    metricsToken: scraper?.secret ?? null,
    hasShortSecret: auth.hasShortSecret || scraper?.isShort === true,
    trustedProxies: trustedProxies ?? [],
    userHeader: userHeader ?? null,
    limits,
    logger: safeLogger(choices.logger),
    onAudit: choices.onAudit,
  });
}

/** The message if the mode is `none`, and other machines or users could reach the address. */
export const OPEN =
  "mode none needs no login, so the address must be a loopback address or a unix socket of mode 0600: listen on 127.0.0.1, [::1] or localhost, or use mode basic, bearer, header or custom";

/**
 * Returns the address if only this user or only this machine can reach the address; if not, null. server.ts checks an
 * open socket (`fd:3`).
 */
function withoutLogin(listen: ListenTarget): ListenTarget | null {
  if ("path" in listen) return listen.mode === 0o600 ? listen : null;
  return "fd" in listen ? listen : loopbackOf(listen);
}

/** Whether other machines may be able to reach the address. */
function isReachable(listen: ListenTarget): boolean {
  if ("path" in listen) return false;
  return "fd" in listen || loopbackOf(listen) === null;
}

function resolveTls(files: CertificateFiles | null, listen?: ListenTarget): Certificate | null {
  if (files === null) return null;
  const problems = (["certFile", "keyFile"] as const)
    .filter((name) => typeof files?.[name] !== "string" || files[name] === "")
    .map((name) => ({ path: `tls.${name}`, message: "must be the path of a file" }));
  if (problems.length > 0) throw new InputError(problems);
  if (listen !== undefined && "path" in listen) {
    const message =
      "applies to TCP only; remove it for a unix socket, which only this machine can reach";
    throw new InputError([{ path: "tls.certFile", message }]);
  }
  return loadCertificate(files);
}

const secretNames: Readonly<Record<AuthMode, string>> = {
  ...{ basic: "password", bearer: "token", header: "token", custom: "secret", none: "mode" },
};

const SHORT_TOKEN = `must have at least ${MIN_SECRET_LENGTH} characters where other machines can reach the server`;
const SHORT = `${SHORT_TOKEN}; leave it out for the default`;

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
