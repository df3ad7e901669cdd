// The server's certificate and its key, from files that may be replaced while it runs: both are taken,
// checked against each other, or neither.
import { constants, createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { SecureContextOptions } from "node:tls";
import { codeOf, InputError, messageOf } from "../../base/errors.ts";

/** Files in PEM: the certificate with those that lead to its authority behind it, and its key. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** What a server shows its clients; the files that it was read from may be read anew. */
export interface Certificate {
  /** What Node's TLS is told. */
  readonly options: SecureContextOptions;
  readonly expiresAt: Date;
  /** Reads the files anew. Throws InputError for a pair that will not do; then the old one stays. */
  reload(): void;
}

interface Pair {
  readonly options: SecureContextOptions;
  readonly expiresAt: Date;
}

/** Throws InputError `tls.certFile` or `tls.keyFile`. */
export function loadCertificate(files: CertificateFiles): Certificate {
  let pair = pairOf(files);
  return {
    get options() {
      return pair.options;
    },
    get expiresAt() {
      return pair.expiresAt;
    },
    reload() {
      pair = pairOf(files);
    },
  };
}

// Who could begin a handshake anew on a connection could keep us busy with nothing else.
const OPTIONS = constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_CIPHER_SERVER_PREFERENCE;

function pairOf({ certFile, keyFile }: CertificateFiles): Pair {
  const cert = contentOf("tls.certFile", certFile);
  const key = contentOf("tls.keyFile", keyFile);
  const leaf = certificateIn(cert, certFile);
  if (!leaf.checkPrivateKey(keyIn(key, keyFile))) {
    throw refused("tls.keyFile", `the key in ${keyFile} is not that of the certificate`);
  }
  const options = { cert, key, minVersion: "TLSv1.2", secureOptions: OPTIONS } as const;
  try {
    // Loaded here: the library's import leads to this file, and few have a certificate.
    process.getBuiltinModule("node:tls").createSecureContext(options);
  } catch (error) {
    throw refused("tls.certFile", `${certFile} will not do: ${messageOf(error)}`);
  }
  return { options, expiresAt: new Date(leaf.validTo) };
}

function certificateIn(text: string, file: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw refused("tls.certFile", `${file} has no certificate in PEM`);
  }
}

function keyIn(text: string, file: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    const isLocked = codeOf(error) === "ERR_MISSING_PASSPHRASE";
    const why = isLocked ? "is encrypted; give it without a passphrase" : "has no key in PEM";
    throw refused("tls.keyFile", `${file} ${why}`);
  }
}

function contentOf(path: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw refused(path, `cannot be read: ${messageOf(error)}`);
  }
}

function refused(path: string, message: string): InputError {
  return new InputError([{ path, message }]);
}
