// A Secret keeps only digests of a text, so that the text cannot be printed, logged or sent.
import { createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const key = randomBytes(32);

/** A secret, without its text. */
export interface Secret {
  /** Whether `offered` is the secret. Takes the same time for all texts of one length, right or wrong. */
  matches(offered: string): boolean;
  /** Resolves to a function that derives secrets for other purposes. Occupies a thread for 0.1 s. */
  derivation(): Promise<(purpose: string) => string>;
}

/** Returns a secret for a purpose. Processes with the same login secret get the same secret. */
export type DeriveSecret = (purpose: string) => string;

export function secretOf(text: string): Secret {
  const digest = digestOf(text, key);
  const parent = digestOf("derive", text);
  return Object.freeze({
    matches: (offered: string) => timingSafeEqual(digest, digestOf(offered, key)),
    derivation: async () => deriveFrom(await stretch(parent, SALT, 32, STRETCHING)),
  });
}

// Stretching makes it expensive to guess the login secret from the derived secrets that leave the process.
const stretch = promisify<Buffer, string, number, object, Buffer>(scrypt);
const STRETCHING = { N: 2 ** 15, r: 8, p: 2, maxmem: 64 * 1_048_576 };
/** A constant, so that all admins with the same login secret derive the same secrets. */
const SALT = "pg-job-worker";

export function deriveFrom(parent: Buffer): DeriveSecret {
  return (purpose) => digestOf(purpose, parent).toString("base64url");
}

/** Returns a function that derives secrets from a new random secret: for an admin without a login secret. */
export const generatedDerivation = (): DeriveSecret => deriveFrom(randomBytes(32));

/** Returns 192 random bits, in characters that need no quoting. */
export function generateSecret(): string {
  return randomBytes(24).toString("base64url");
}

function digestOf(text: string, key: Buffer | string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
