// Tests cut() of the connection for a worker's rare statements (Maintenance). A worker calls cut() if the database does
// not answer while the worker stops.
import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { after, test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { maintenance } from "../../src/worker/connection/connection-config.ts";

/** A server that accepts connections and never answers. */
const mute = net.createServer();
let connections = 0;
const sockets = new Set<net.Socket>();
mute.on("connection", (socket) => {
  connections++;
  sockets.add(socket);
});
mute.listen(0, "127.0.0.1");
await once(mute, "listening");
after(() => {
  mute.close();
  for (const socket of sockets) socket.destroy();
});

const { port } = mute.address() as net.AddressInfo;
const server = { host: "127.0.0.1", port, user: "nobody", database: "none" };
const made = () => maintenance(server, schemaName("worker"), silentLogger);
const statement = { text: "select 1" };

test("After cut(), a statement is rejected and opens no connection.", async () => {
  const before = connections;
  const { database, cut, close } = made();
  cut();
  // Without cut(), the statement would wait five seconds for a connection, and keep the process alive.
  await assert.rejects(database.client.query(statement));
  assert.equal(connections, before);
  await close();
});

test("cut() rejects the statement for which a connection is being opened, and the statement that waits for the first one.", async () => {
  const before = connections;
  const { database, cut, close } = made();
  const connected = once(mute, "connection");
  const both = [database.client.query(statement), database.client.query(statement)];
  await connected;
  cut();
  for (const { status } of await Promise.allSettled(both)) assert.equal(status, "rejected");
  assert.equal(connections, before + 1);
  await close();
});
