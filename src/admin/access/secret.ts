// Secrets are kept as digests under a key of this process: what was configured cannot be printed,
// logged or sent back, and comparing takes the same time whatever is offered.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const key = randomBytes(32);

/** A digest that what somebody sends is compared with. */
export interface Secret {
  matches(offered: string): boolean;
  /** Another secret that follows from this one: the same in every process that has the same one. */
  derive(purpose: string): string;
}

export function secretOf(text: string): Secret {
  const digest = digestOf(text, key);
  const parent = digestOf("derive", text);
  return Object.freeze({
    matches: (offered: string) => timingSafeEqual(digest, digestOf(offered, key)),
    derive: (purpose: string) => digestOf(purpose, parent).toString("base64url"),
  });
}

/** 192 random bits, in letters that need no quoting anywhere. */
export function generateSecret(): string {
  return randomBytes(24).toString("base64url");
}

function digestOf(text: string, key: Buffer | string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
