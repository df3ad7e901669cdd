// Tests connections that are lost as soon as they are ready, because the server sends the end of the login and the
// message of its shutdown in one packet. The caller that requested the connection must get an error. An uncaught error
// would end the process.
import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { test } from "node:test";
import { WorkerError } from "../../src/base/errors.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { boundedQueryable, createPool, withClient } from "../../src/database/connection/pool.ts";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import { message } from "../support/tcp-proxy/wired.ts";
import { testPool } from "../support/test-pool.ts";

const SHUTTING_DOWN = "SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0";

async function brief() {
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      const words = [message("R", "\0\0\0\0"), message("Z", "I"), message("E", SHUTTING_DOWN)];
      socket.end(Buffer.concat(words));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  return {
    url: `postgres://me@127.0.0.1:${port}/none`,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

test("If a connection is lost at login, the caller of this library's pool gets an error.", async () => {
  await using server = await brief();
  const pool = createPool({ connectionString: server.url, logger: silentLogger });
  let hasBegun = false;
  const work = async () => {
    hasBegun = true;
  };
  await assert.rejects(withClient(pool, work), { code: "57P01" });
  assert.equal(hasBegun, false);
  // A task may take a client from the pool like this, without a listener for the client's errors.
  const client = await pool.connect();
  await assert.rejects(client.query("select 1"));
  client.release();
  await pool.end();
});

test("If a connection is lost at login, the caller of an application's pool gets the same error.", async () => {
  await using server = await brief();
  await using own = testPool(server.url);
  const bounds = { statementTimeoutMs: 1_000, lockTimeoutMs: 1_000, readOnly: true };
  const bounded = boundedQueryable(own.pool, bounds);
  await assert.rejects(bounded.query({ text: "select 1" }), { code: "57P01" });
});

test("If a connection is lost at login, the error of an add shows that certainly no job was added.", async () => {
  await using server = await brief();
  await using utils = await makeWorkerUtils({ connectionString: server.url });
  const isSure = (error: unknown) =>
    error instanceof WorkerError && error.code === "database_unreachable";
  for (const add of [
    () => utils.addJob("mail"),
    () => utils.addJobs([{ identifier: "mail" }]),
    () => utils.copyJobs([{ identifier: "mail" }]),
  ]) {
    await assert.rejects(add(), isSure);
  }
});
