// channel_binding=require: a login counts only where the server has proved that it knows the password on this
// very encrypted connection (SCRAM-SHA-256-PLUS), so that nothing in between can pass it on. pg binds where the
// server offers it; here every other login is refused, before a password is sent.
import pg from "pg";
import { WorkerError } from "../../../base/errors.ts";

/** What pg keeps and calls, and does not declare. */
interface PgLogin {
  enableChannelBinding: boolean;
  _handleAuthSASL(message: { readonly mechanisms: readonly string[] }): void;
  _handleAuthSASLFinal(message: unknown): void;
  _handleAuthCleartextPassword(message: unknown): void;
  _handleAuthMD5Password(message: unknown): void;
  readonly connection: { emit(event: "error", error: Error): boolean };
  readonly saslSession: object | null;
}

const BOUND = "SCRAM-SHA-256-PLUS";

/** `client`: before it connects. Gives whether its login is bound by now. */
export function requireChannelBinding(client: object): () => boolean {
  const login = client as PgLogin;
  let isBound = false;
  const refuse = () => void login.connection.emit("error", unbound());
  const { _handleAuthSASL: begin, _handleAuthSASLFinal: end } = pg.Client
    .prototype as unknown as PgLogin;
  login.enableChannelBinding = true;
  login._handleAuthSASL = (message) => {
    if (message.mechanisms.includes(BOUND)) begin.call(login, message);
    else refuse();
  };
  login._handleAuthSASLFinal = (message) => {
    end.call(login, message);
    // pg forgets the session when the server's proof is right.
    isBound = login.saslSession === null;
  };
  login._handleAuthCleartextPassword = refuse;
  login._handleAuthMD5Password = refuse;
  return () => isBound;
}

export const unbound = (): WorkerError =>
  new WorkerError(
    "database_unreachable",
    `PostgreSQL does not offer ${BOUND}, which channel_binding=require asks for; use a password stored as scram-sha-256 and a server that encrypts, or channel_binding=prefer`,
  );
