// The validated authentication of an admin, and rules for the configuration and for logins.
import type { Authenticate } from "./own-login.ts";
import type { Secret } from "./secret.ts";

export const authModes = ["basic", "bearer", "header", "custom", "none"] as const;
/**
 * The mode in which users of the admin authenticate. `basic`: name and password; `bearer`: a token in the
 * Authorization header; `header`: a token in a header of your own; `custom`: a function of the application;
 * `none`: no authentication.
 */
export type AuthMode = (typeof authModes)[number];

/** The validated authentication of an admin. A secret is kept as a digest; a generated secret also as text. */
export interface AuthConfig {
  /** The mode of authentication. */
  readonly mode: AuthMode;
  /** The user name of mode `basic`; null in other modes. */
  readonly username: string | null;
  /** The header of mode `header`, in lower case; null in other modes. */
  readonly headerName: string | null;
  /**
   * The digest of the secret; in mode `basic`, of `username:password`. Null in mode `none`, and in mode `custom` if
   * no secret is configured. CSRF tokens and export addresses are derived from this secret.
   */
  readonly secret: Secret | null;
  /** The function of the application in mode `custom`; null in other modes. */
  readonly authenticate: Authenticate | null;
  /** The generated secret; null if none was generated. */
  readonly generatedSecret: string | null;
  /** Whether the configured secret has fewer than 12 characters: too few for a server that other machines can reach. */
  readonly hasShortSecret: boolean;
}

/** A configured secret with fewer characters is short. */
export const MIN_SECRET_LENGTH = 12;

export function isShortSecret(text: string): boolean {
  return [...text].length < MIN_SECRET_LENGTH;
}

/** Returns the text in Unicode's form NFC, so that composed and decomposed letters are equal. */
export function basicSecret(usernameAndPassword: string): string {
  return usernameAndPassword.normalize("NFC");
}

/** The header with the CSRF token. */
export const CSRF_HEADER = "x-worker-admin-csrf";
