// With channel_binding=require, a login is accepted only if the server has proved, on the same encrypted connection,
// that it has the password's hash (SCRAM-SHA-256-PLUS). That excludes a man in the middle. Any other login with a
// password is refused before the password is sent. If the server accepts a login without a password, client.ts treats
// the login as failed.
import type pg from "pg";
import { WorkerError } from "../../../base/errors.ts";
import { loginOnlyBy } from "../../pg-internals.ts";

const BOUND = "SCRAM-SHA-256-PLUS";

/**
 * Prepares a client before it connects. Returns a function to be called after the login. That function returns whether
 * the login was bound to the encrypted connection.
 */
export function requireChannelBinding(client: pg.Client): () => boolean {
  return loginOnlyBy(client, BOUND, () => void client.connection.emit("error", unbound()));
}

export const unbound = (): WorkerError =>
  new WorkerError(
    "database_unreachable",
    `the login does not use ${BOUND}, which channel_binding=require demands; use a password stored as scram-sha-256 and a server that encrypts, or channel_binding=prefer`,
  );
