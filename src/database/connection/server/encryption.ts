// The modes of libpq's sslmode (PostgreSQL documentation, "SSL Support"), as what Node's TLS is told.
// Certificates are read at every connect: they are replaced while a process runs.
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { SecureVersion } from "node:tls";
import { InputError, messageOf } from "../../../base/errors.ts";
import type { Said, sslModes } from "./parameters.ts";

export type SslMode = (typeof sslModes)[number];

/** Plain data: it travels to a thread. */
export interface Encryption {
  readonly mode: SslMode;
  /** Whether the login has to be bound to the encrypted connection (channel_binding=require). */
  readonly bindsChannel: boolean;
  readonly negotiation?: string | undefined;
  readonly rootcert?: Said | undefined;
  readonly cert?: Said | undefined;
  readonly key?: Said | undefined;
  readonly password?: string | undefined;
  readonly crl?: Said | undefined;
  readonly minVersion?: string | undefined;
  readonly maxVersion?: string | undefined;
}

/** One way to connect. */
export interface Try {
  readonly encrypts: boolean;
  /** Where the server does not encrypt, go on without. */
  readonly optional: boolean;
}

const plainly: Try = { encrypts: false, optional: false };
const encrypted: Try = { encrypts: true, optional: false };

/** In which ways a server is tried, one after the other. A socket of this machine needs none. */
export function triesOf({ mode, bindsChannel }: Encryption, isSocket: boolean): readonly Try[] {
  if (isSocket || mode === "disable") return [plainly];
  if (bindsChannel) return [encrypted];
  if (mode === "allow") return [plainly, encrypted];
  if (mode === "prefer") return [{ encrypts: true, optional: true }, plainly];
  return [encrypted];
}

/** What tls.connect() is given. Throws InputError for files that cannot be read. */
export function tlsOptions(encryption: Encryption): object {
  const { mode, rootcert, cert, key, password, crl, minVersion, maxVersion } = encryption;
  const certFile = cert ?? existing("postgresql.crt", "sslcert");
  const keyFile = key ?? existing("postgresql.key", "sslkey");
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

/** The name in the certificate does not matter, only who signed it. */
const anyName = { checkServerIdentity: () => undefined };

/** Said, for else NODE_TLS_REJECT_UNAUTHORIZED=0 would be heard. */
const checked = { rejectUnauthorized: true };

function checks(mode: SslMode, named: Said | undefined): object {
  if (named?.text === "system") return { ca: publicAuthorities(), ...checked };
  const file = named ?? existing("root.crt", "sslrootcert");
  const isChecked = mode === "verify-ca" || mode === "verify-full";
  // With an authority at hand `require` checks as verify-ca does.
  if (mode === "no-verify" || (!isChecked && (mode !== "require" || file === undefined))) {
    return { rejectUnauthorized: false };
  }
  if (file === undefined) {
    if (mode === "verify-full") return { ca: publicAuthorities(), ...checked };
    throw new InputError(
      "sslmode=verify-ca needs the certificate of an authority: name its file with sslrootcert or PGSSLROOTCERT, or say verify-full",
    );
  }
  return { ca: contentOf(file), ...checked, ...(mode === "verify-full" ? {} : anyName) };
}

/** Node's TLS is loaded where a connection asks for it: most imports of the library are for none. */
function publicAuthorities(): readonly string[] {
  const { getCACertificates } = process.getBuiltinModule("node:tls");
  return [...new Set([...getCACertificates("system"), ...getCACertificates("bundled")])];
}

/** libpq's own place for it. */
function existing(name: string, where: string): Said | undefined {
  const text = join(homedir(), ".postgresql", name);
  return existsSync(text) ? { text, where } : undefined;
}

function contentOf({ text, where }: Said): string {
  try {
    return readFileSync(text, "utf8");
  } catch (error) {
    throw new InputError(`${where} cannot be read: ${messageOf(error)}`);
  }
}
