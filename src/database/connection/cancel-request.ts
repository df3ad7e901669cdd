// Stops the running statement of a connection by a cancel request of PostgreSQL's protocol: a message on a separate
// connection. A pooler such as pgbouncer passes the message on. If the message arrives late, it can stop the next
// statement of the connection. To avoid this, a caller can wait for the returned promise before that statement.
import net from "node:net";
import type pg from "pg";
import { serverProcessOf } from "../pg-internals.ts";

const CANCEL_REQUEST = 80_877_102;
const MAX_MS = 1_000;

/**
 * Sends a cancel request for the running statement of `client`. Resolves when PostgreSQL has closed the connection of
 * the request, when that connection fails, or when PostgreSQL has not responded for a second. Never rejects.
 */
export function cancelStatement(client: pg.ClientBase): Promise<void> {
  const { host, port, processID, secretKey } = serverProcessOf(client);
  if (processID === null || secretKey === null) return Promise.resolve();
  const message = Buffer.alloc(16);
  message.writeInt32BE(message.length, 0);
  message.writeInt32BE(CANCEL_REQUEST, 4);
  message.writeInt32BE(processID, 8);
  message.writeInt32BE(secretKey, 12);
  return new Promise((resolve) => {
    const socket = host.startsWith("/")
      ? net.connect(`${host}/.s.PGSQL.${port}`)
      : net.connect(port, host);
    socket.setTimeout(MAX_MS, () => socket.destroy());
    socket.on("error", () => {});
    socket.once("close", () => resolve());
    // PostgreSQL responds to the request by closing this connection.
    socket.on("connect", () => socket.write(message)).resume();
  });
}
