// Stops the running statement of a connection as PostgreSQL's protocol defines it: by a message on a separate
// connection, which a pooler such as pgbouncer passes on. The message can arrive late and stop the next statement. A
// caller that must prevent this waits for the returned promise before it sends anything else.
import net from "node:net";
import type pg from "pg";
import { serverProcessOf } from "../pg-internals.ts";

const CANCEL_REQUEST = 80_877_102;
const MAX_MS = 1_000;

/**
 * Sends the request. Resolves when PostgreSQL has accepted it, when its connection fails, or when PostgreSQL has not
 * responded for a second. Never rejects.
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
    // PostgreSQL responds by closing the connection.
    socket.on("connect", () => socket.write(message)).resume();
  });
}
