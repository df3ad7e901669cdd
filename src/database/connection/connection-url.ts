// The database URL: what is wrong with one is said before anything connects, and never with its text,
// which may hold a password.
import { InputError } from "../../base/errors.ts";

const FORM =
  "the database URL is not of the form postgres://user:password@host:port/database; set DATABASE_URL or --database-url";

const sslModes = ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"];

/** Gives the URL back. Throws InputError for what is not a PostgreSQL URL, or asks for what is not. */
export function checkedUrl(text: string): string {
  let url: URL;
  try {
    // libpq's form with an empty host (a unix socket) is not a URL for the WHATWG parser.
    url = new URL(
      text.trim().replace(/^(postgres(?:ql)?:\/\/)([^/@]*@)?(?=[/?]|$)/, "$1$2localhost"),
    );
  } catch {
    throw new InputError(FORM);
  }
  if (url.protocol !== "postgres:" && url.protocol !== "postgresql:") throw new InputError(FORM);
  // pg would look for localhost without a word.
  if (url.searchParams.has("service")) {
    throw new InputError(
      "the database URL names a service, which is not looked up here; put its host, port, user and database into the URL",
    );
  }
  // pg takes any word for "encrypt", a misspelt "disable" included.
  if (url.searchParams.getAll("sslmode").some((mode) => !sslModes.includes(mode))) {
    throw new InputError(
      `sslmode in the database URL must be one of ${sslModes.join(", ")}; all but disable encrypt, and all but disable and no-verify check the server's certificate`,
    );
  }
  return text;
}

/**
 * The same URL as pg understands it best: without the spaces around it, which an environment file may
 * have left and pg takes for a part of the host, and in the words of its next version. `prefer`, `require` and `verify-ca` mean
 * `verify-full` to pg, the strictest, and it prints eight lines about that; said so, it prints nothing.
 */
export function pgUrl(url: string): string {
  const trimmed = url.trim();
  if (/[?&]uselibpqcompat=true(?=&|$)/.test(trimmed)) return trimmed;
  return trimmed.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/g, "$1verify-full");
}
