// A connection that asks the server to encrypt and goes on without where it does not (sslmode=prefer).
// pg would end the connection; libpq, and this, need no second one.
import type { Duplex } from "node:stream";
import pg from "pg";

/** The part of pg's connection that this is about. */
interface PgConnection {
  ssl: unknown;
  readonly stream: Duplex;
  attachListeners(stream: Duplex): void;
  emit(event: "sslconnect"): void;
}

const REFUSED = "N".charCodeAt(0);

/** `c`, which encrypts where it can. To be told when it has begun to connect. */
export function plainWhereRefused(connection: pg.Connection): void {
  const own = connection as unknown as PgConnection;
  const { stream } = own;
  // pg listens once for the answer, which is a single byte.
  const [onAnswer] = stream.listeners("data") as ((data: Buffer) => void)[];
  if (onAnswer === undefined) return;
  stream.removeAllListeners("data");
  stream.once("data", (data: Buffer) => {
    if (data.length !== 1 || data[0] !== REFUSED) {
      onAnswer.call(stream, data);
      return;
    }
    own.ssl = false;
    own.attachListeners(stream);
    own.emit("sslconnect");
  });
}

/** A new connection for pg's client. */
export function newConnection(options: object): pg.Connection {
  return new (pg.Connection as unknown as new (options: object) => pg.Connection)(options);
}
