// Turns the modes of libpq's sslmode (PostgreSQL documentation, "SSL Support") and pg's mode no-verify into options of
// Node's TLS. Certificates and keys are read at every connect, because their files may change.
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { SecureVersion } from "node:tls";
import { InputError, messageOf } from "../../../base/errors.ts";
import type { SourcedText, sslModes } from "./parameters.ts";

export type SslMode = (typeof sslModes)[number];

/** How a connection is encrypted. Only plain data, because an Encryption is sent to the heartbeat thread. */
export interface Encryption {
  readonly mode: SslMode;
  /** Whether the login must be bound to the encrypted connection (channel_binding=require). */
  readonly bindsChannel: boolean;
  readonly negotiation?: string | undefined;
  readonly rootcert?: SourcedText | undefined;
  readonly cert?: SourcedText | undefined;
  readonly key?: SourcedText | undefined;
  readonly password?: string | undefined;
  readonly crl?: SourcedText | undefined;
  readonly minVersion?: string | undefined;
  readonly maxVersion?: string | undefined;
}

/** One way to connect: encrypted or plain. */
export interface ConnectWay {
  readonly encrypts: boolean;
  /** Whether to continue without encryption if the server refuses to encrypt. */
  readonly optional: boolean;
}

const plainly: ConnectWay = { encrypts: false, optional: false };
const encrypted: ConnectWay = { encrypts: true, optional: false };

/** Returns the ways to try, in order. A Unix socket needs no encryption. */
export function waysOf(
  { mode, bindsChannel }: Encryption,
  isSocket: boolean,
): readonly ConnectWay[] {
  if (isSocket || mode === "disable") return [plainly];
  if (bindsChannel) return [encrypted];
  if (mode === "allow") return [plainly, encrypted];
  if (mode === "prefer") return [{ encrypts: true, optional: true }, plainly];
  return [encrypted];
}

/**
 * Returns the options of tls.connect(). Throws InputError if a file cannot be read, or if verify-ca has no file of
 * authorities.
 */
export function tlsOptions(encryption: Encryption): object {
  const { mode, rootcert, cert, key, password, crl, minVersion, maxVersion } = encryption;
  const certFile = cert ?? ifExists("postgresql.crt", "sslcert");
  const keyFile = key ?? ifExists("postgresql.key", "sslkey");
  return {
    ...checks(mode, rootcert),
    ...(certFile === undefined ? {} : { cert: contentOf(certFile) }),
    ...(keyFile === undefined || certFile === undefined ? {} : { key: contentOf(keyFile) }),
    ...(crl === undefined ? {} : { crl: contentOf(crl) }),
    ...(password === undefined ? {} : { passphrase: password }),
    minVersion: (minVersion ?? "TLSv1.2") as SecureVersion,
    ...(maxVersion === undefined ? {} : { maxVersion: maxVersion as SecureVersion }),
  };
}

/** Accepts a certificate with any host name. */
const anyName = { checkServerIdentity: () => undefined };

/** Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 changes the default of this option. */
const checked = { rejectUnauthorized: true };

function checks(mode: SslMode, named: SourcedText | undefined): object {
  if (named?.text === "system") return { ca: publicAuthorities(), ...checked };
  const file = named ?? ifExists("root.crt", "sslrootcert");
  const isChecked = mode === "verify-ca" || mode === "verify-full";
  // If there is a file of authorities, `require` checks the certificate as verify-ca does.
  if (mode === "no-verify" || (!isChecked && (mode !== "require" || file === undefined))) {
    return { rejectUnauthorized: false };
  }
  if (file === undefined) {
    if (mode === "verify-full") return { ca: publicAuthorities(), ...checked };
    throw new InputError(
      "sslmode=verify-ca needs the certificate of an authority: name its file with sslrootcert or PGSSLROOTCERT, or use verify-full",
    );
  }
  return { ca: contentOf(file), ...checked, ...(mode === "verify-full" ? {} : anyName) };
}

/** Loads node:tls only when called, because few programs need it. */
function publicAuthorities(): readonly string[] {
  const { getCACertificates } = process.getBuiltinModule("node:tls");
  return [...new Set([...getCACertificates("system"), ...getCACertificates("bundled")])];
}

/** Returns the file in libpq's directory ~/.postgresql, if it exists. */
function ifExists(name: string, where: string): SourcedText | undefined {
  const text = join(homedir(), ".postgresql", name);
  return existsSync(text) ? { text, where } : undefined;
}

function contentOf({ text, where }: SourcedText): string {
  try {
    return readFileSync(text, "utf8");
  } catch (error) {
    throw new InputError(`${where} cannot be read: ${messageOf(error)}`);
  }
}
