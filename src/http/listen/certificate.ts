// Loads the server's TLS certificate and private key from two files, which may be replaced while the server runs.
import { constants, createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { SecureContextOptions } from "node:tls";
import { codeOf, InputError, messageOf } from "../../base/errors.ts";

/** The files of a TLS certificate and its private key, in PEM. */
export interface CertificateFiles {
  /** The path of the certificate's file. Intermediate certificates follow the certificate in this file. */
  readonly certFile: string;
  /** The path of the private key's file. The key must not be encrypted. */
  readonly keyFile: string;
}

/** A loaded TLS certificate with its private key. */
export interface Certificate {
  /** The certificate and its key, as options for Node's TLS. */
  readonly options: SecureContextOptions;
  /** The time at which the certificate expires. */
  readonly expiresAt: Date;
  /** Reads both files again. If a file cannot be used, throws InputError, and keeps the old certificate and key. */
  reload(): void;
}

interface Pair {
  readonly options: SecureContextOptions;
  readonly expiresAt: Date;
}

/**
 * Loads the certificate and the key. Throws InputError if a file is unreadable or invalid, or if the key does not
 * belong to the certificate.
 */
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

// Without SSL_OP_NO_RENEGOTIATION, a client could keep the server busy with renegotiations.
const OPTIONS = constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_CIPHER_SERVER_PREFERENCE;

function pairOf({ certFile, keyFile }: CertificateFiles): Pair {
  const cert = contentOf("tls.certFile", certFile);
  const key = contentOf("tls.keyFile", keyFile);
  const leaf = certificateIn(cert, certFile);
  if (!leaf.checkPrivateKey(keyIn(key, keyFile))) {
    throw certificateError("tls.keyFile", `the key in ${keyFile} does not match the certificate`);
  }
  const options = { cert, key, minVersion: "TLSv1.2", secureOptions: OPTIONS } as const;
  try {
    // node:tls is loaded only when needed, because every application that uses the library loads this file.
    process.getBuiltinModule("node:tls").createSecureContext(options);
  } catch (error) {
    throw certificateError("tls.certFile", `${certFile} is invalid: ${messageOf(error)}`);
  }
  return { options, expiresAt: new Date(leaf.validTo) };
}

function certificateIn(text: string, file: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw certificateError("tls.certFile", `${file} contains no PEM certificate`);
  }
}

function keyIn(text: string, file: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    const isLocked = codeOf(error) === "ERR_MISSING_PASSPHRASE";
    const why = isLocked ? "is encrypted; store it without a passphrase" : "contains no PEM key";
    throw certificateError("tls.keyFile", `${file} ${why}`);
  }
}

function contentOf(path: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw certificateError(path, `cannot be read: ${messageOf(error)}`);
  }
}

function certificateError(path: string, message: string): InputError {
  return new InputError([{ path, message }]);
}
