// Determines the servers, the login and the encryption of connections. The connection text takes precedence over the
// service, the service over libpq's environment variables, and the variables over libpq's defaults.

import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { MAX_TIMER_MS } from "../../../base/clock.ts";
import { InputError, WorkerError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import { assertChoice, ignoredIn, parametersOfText } from "./connection-text.ts";
import type { Encryption, SslMode } from "./encryption.ts";
import {
  type ParameterName,
  type ParameterSet,
  parameters,
  parametersOfEnvironment,
  type SourcedText,
  type sessionAttributes,
} from "./parameters.ts";
import { parametersOfService } from "./service-file.ts";

export interface Host {
  /** The name, the address, or the directory of the Unix socket. */
  readonly host: string;
  readonly port: number;
  /** The IP address to connect to; null: `host` is used. */
  readonly address: string | null;
}

export type SessionTarget = (typeof sessionAttributes)[number];

/** What a client needs to connect. The settings are plain data, because they are sent to the heartbeat thread. */
export interface ServerSettings {
  readonly hosts: readonly Host[];
  readonly isShuffled: boolean;
  readonly target: SessionTarget;
  readonly database: string;
  readonly user: string;
  /** Not enumerable, so that it is not printed with the other settings. */
  readonly password?: string | undefined;
  readonly passfile?: string | undefined;
  readonly encryption: Encryption;
  readonly applicationName?: string | undefined;
  readonly options?: string | undefined;
  /** The time limit for connecting to one host, in ms; undefined: the pool's limit divided by the number of hosts. */
  readonly connectTimeoutMs?: number | undefined;
  readonly keepAlive: boolean;
  readonly keepAliveIdleMs?: number | undefined;
  /** Time limits of PostgreSQL by name, and `query_timeout` of pg, in milliseconds. */
  readonly timeouts: Readonly<Record<string, number>>;
  /** The given parameters that have no effect here, each with its source. */
  readonly ignored: readonly string[];
}

const NOWHERE =
  'set DATABASE_URL (or --database-url; in a program: connectionString) to postgres://user:password@host:port/database, or PGHOST, PGPORT, PGUSER and PGDATABASE, or PGSERVICE; "worker demo" starts a demo with its own database';

/**
 * Returns the settings for a connection text. Throws InputError for invalid parameters, and WorkerError if the text is
 * empty and no variable of libpq replaces it.
 */
export function serverSettings(text: string, env: NodeJS.ProcessEnv = process.env): ServerSettings {
  const isEmpty = text.trim() === "";
  const fromEnvironment = parametersOfEnvironment(env);
  const { host, hostaddr, port, dbname, user, service } = fromEnvironment;
  if (isEmpty && [host, hostaddr, port, dbname, user, service].every((one) => one === undefined)) {
    throw new WorkerError("configuration", NOWHERE);
  }
  const fromText = isEmpty ? {} : parametersOfText(text);
  const named = fromText.service ?? service;
  const file = fromText.servicefile ?? fromEnvironment.servicefile;
  const fromService = named === undefined ? {} : parametersOfService(named, file, env);
  const found: ParameterSet = { ...fromEnvironment, ...fromService, ...fromText };
  for (const [name, { text: value, where }] of Object.entries(found)) {
    assertChoice(parameters[name as ParameterName], value, where);
  }
  const ignored = [fromService, fromText].flatMap((one) => [...ignoredIn(one)]);
  return settingsOf(found, ignored);
}

const warned = new WeakSet<Logger>();

/** Logs a warning about parameters without effect, once for each logger. */
export function warnAboutIgnored({ ignored }: ServerSettings, logger: Logger): void {
  if (ignored.length === 0 || warned.has(logger)) return;
  warned.add(logger);
  logger.warn(
    { ignored },
    "connection parameters that have no effect here are ignored; --schema names the queue's schema, --max-connections (maxConnections) limits connections, and behind a transaction pooler preparedStatements must be off",
  );
}

function settingsOf(found: ParameterSet, ignored: readonly string[]): ServerSettings {
  const user = found.user?.text ?? systemUser();
  const seconds = numberOf(found.connect_timeout);
  const idleSeconds = numberOf(found.keepalives_idle);
  const settings = {
    hosts: hostsOf(found),
    isShuffled: found.load_balance_hosts?.text === "random",
    target: (found.target_session_attrs?.text ?? "any") as SessionTarget,
    user,
    database: found.dbname?.text ?? user,
    passfile: found.passfile?.text,
    encryption: encryptionOf(found),
    applicationName: (found.application_name ?? found.fallback_application_name)?.text,
    options: found.options?.text,
    // As in libpq, 0 or less sets no limit. Then the pool's limit applies.
    connectTimeoutMs:
      seconds === undefined || seconds <= 0
        ? undefined
        : Math.min(Math.max(2, seconds) * 1_000, MAX_TIMER_MS),
    keepAlive: found.keepalives?.text !== "0",
    keepAliveIdleMs: idleSeconds === undefined ? undefined : idleSeconds * 1_000,
    timeouts: timeoutsOf(found),
    ignored,
  };
  return Object.defineProperty(settings, "password", { value: found.password?.text });
}

function encryptionOf(found: ParameterSet): Encryption {
  const ssl = { true: "require", 1: "require", false: "disable", 0: "disable" } as const;
  const short = found.ssl?.text as keyof typeof ssl | "no-verify" | undefined;
  const shortMode = short === undefined || short === "no-verify" ? short : ssl[short];
  const rootcert = found.sslrootcert;
  const plain = found.requiressl?.text === "1" ? "require" : "prefer";
  const fallback = rootcert?.text === "system" ? "verify-full" : plain;
  const mode = (found.sslmode?.text ?? shortMode ?? fallback) as SslMode;
  if (rootcert?.text === "system" && mode !== "verify-full") {
    throw new InputError(`${rootcert.where} is "system", which requires sslmode=verify-full`);
  }
  const negotiation = found.sslnegotiation;
  if (negotiation?.text === "direct" && ["disable", "allow", "prefer"].includes(mode)) {
    throw new InputError(
      `${negotiation.where} is "direct", which requires sslmode=require or stricter`,
    );
  }
  const binding = found.channel_binding;
  if (binding?.text === "require" && mode === "disable") {
    throw new InputError(
      `${binding.where} is "require", but sslmode=disable rules TLS out; use sslmode=require or stricter`,
    );
  }
  return {
    mode,
    bindsChannel: binding?.text === "require",
    rootcert,
    cert: found.sslcert,
    key: found.sslkey,
    crl: found.sslcrl,
    password: found.sslpassword?.text,
    negotiation: negotiation?.text,
    minVersion: found.ssl_min_protocol_version?.text,
    maxVersion: found.ssl_max_protocol_version?.text,
  };
}

const listOf = (found: SourcedText | undefined) =>
  found?.text.split(",").map((one) => one.trim()) ?? [];

function hostsOf({ host, hostaddr, port }: ParameterSet): readonly Host[] {
  const names = listOf(host);
  const addresses = listOf(hostaddr);
  const ports = listOf(port);
  if (names.length > 0 && addresses.length > 0 && names.length !== addresses.length) {
    throw new InputError(
      `${hostaddr?.where} must have as many entries as there are hosts (${names.length})`,
    );
  }
  const count = Math.max(names.length, addresses.length, 1);
  if (ports.length > 1 && ports.length !== count) {
    throw new InputError(
      `${port?.where} must have a single port, or as many as there are hosts (${count})`,
    );
  }
  return Array.from({ length: count }, (_, at) => {
    const number = portOf(ports.length === 1 ? ports[0] : ports[at], port);
    const address = addresses[at] || null;
    return { host: names[at] || address || ownMachine(number), port: number, address };
  });
}

const PORT = 5432;

function portOf(text: string | undefined, found: SourcedText | undefined): number {
  const number = text ? Number(text) : PORT;
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number;
  throw new InputError(`${found?.where} must be a number from 1 to 65535`);
}

/** Returns the first usual directory with the Unix socket of a server on this port; `localhost` if there is none. */
function ownMachine(port: number): string {
  const directories = ["/var/run/postgresql", "/tmp"];
  return directories.find((one) => existsSync(`${one}/.s.PGSQL.${port}`)) ?? "localhost";
}

function timeoutsOf(found: ParameterSet): Readonly<Record<string, number>> {
  const names = [
    ...[
      "statement_timeout",
      "lock_timeout",
      "idle_in_transaction_session_timeout",
      "query_timeout",
    ],
  ] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = numberOf(found[name as keyof ParameterSet]);
      return value === undefined ? [] : [[name, Math.min(value, MAX_TIMER_MS)]];
    }),
  );
}

function numberOf(found: SourcedText | undefined): number | undefined {
  if (found === undefined) return undefined;
  if (/^\s*-?\d+\s*$/.test(found.text)) return Number(found.text);
  throw new InputError(`${found.where} must be a whole number`);
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    throw new InputError(
      "this process has no user name; put the database's user into the database URL or PGUSER",
    );
  }
}
