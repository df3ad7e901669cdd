// A server on a unix socket sets the mode of the socket, and treats all peers as one client unless a trusted proxy
// names the client of a request. The server replaces an existing file only if the file is a socket that is not in use.
// It refuses a descriptor that is not a listening socket.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { clientAddress } from "../../src/http/bounds/client-address.ts";
import type { ListenTarget } from "../../src/http/listen/listen-target.ts";
import { createHttpServer, type HttpServer } from "../../src/http/server.ts";

const folder = mkdtempSync(join(tmpdir(), "wk-unix-"));
const servers: HttpServer[] = [];
after(async () => {
  for (const server of servers) await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function serverOn(listen: ListenTarget, trusted: readonly string[] = []): HttpServer {
  const server = createHttpServer({
    listen,
    handle: async ({ client, remoteAddress }) => ({
      status: 200,
      headers: {},
      body: `${remoteAddress} ${client}`,
    }),
    clientOf: clientAddress(trusted),
    headers: {},
    logger: silentLogger,
  });
  servers.push(server);
  return server;
}

const unix = (name: string, mode = 0o600): ListenTarget => ({
  path: join(folder, name),
  mode,
  gid: null,
});

async function get(name: string, headers: Record<string, string> = {}): Promise<string> {
  const request = http.get({ socketPath: join(folder, name), headers, agent: false });
  const [response] = await once(request, "response");
  return text(response);
}

test("A socket has the configured mode, serves requests, and is removed when the server stops.", async () => {
  for (const mode of [0o600, 0o660, 0o666]) {
    const server = serverOn(unix("mode", mode));
    await server.start();
    assert.equal(statSync(join(folder, "mode")).mode & 0o777, mode);
    assert.deepEqual(
      [server.address, server.isUnix],
      [{ host: join(folder, "mode"), port: 0 }, true],
    );
    assert.equal(await get("mode"), "unix: unix:");
    await server.stop();
    assert.equal(existsSync(join(folder, "mode")), false);
  }
});

test("All peers on a unix socket are one client, unless a trusted proxy on the socket names the client of a request.", async () => {
  await serverOn(unix("plain"), ["10.0.0.0/8"]).start();
  await serverOn(unix("proxy"), ["unix:", "10.0.0.0/8"]).start();
  const forwarded = { "x-forwarded-for": "198.51.100.7, 10.1.2.3" };
  assert.equal(await get("plain", forwarded), "unix: unix:");
  assert.equal(await get("proxy", forwarded), "unix: 198.51.100.7");
  assert.equal(await get("proxy"), "unix: unix:");
});

test("A server does not start on a socket that is in use, nor on a file that is not a socket; both remain as they are.", async () => {
  await serverOn(unix("living")).start();
  await assert.rejects(serverOn(unix("living")).start(), {
    code: "listen",
    message: /^unix:.*living is in use by another process; free the path, or choose another one/,
  });
  assert.equal(await get("living"), "unix: unix:");
  writeFileSync(join(folder, "file"), "kept");
  symlinkSync(join(folder, "living"), join(folder, "link"));
  for (const name of ["file", "link", "."]) {
    await assert.rejects(serverOn(unix(name)).start(), /exists and is not a socket/, name);
  }
  assert.equal(existsSync(join(folder, "file")), true);
  await assert.rejects(serverOn(unix("none/x")).start(), /the directory of unix:.* does not exist/);
});

test("A socket left by a killed process is replaced.", async () => {
  const path = join(folder, "left");
  const listener = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  spawnSync(process.execPath, ["-e", listener]);
  assert.ok(statSync(path).isSocket());
  await serverOn(unix("left")).start();
  assert.equal(await get("left"), "unix: unix:");
});

test("Of two servers that start at once, one gets the socket and the other is refused.", async () => {
  const starts = [serverOn(unix("race")), serverOn(unix("race"))].map((server) => server.start());
  const outcomes = await Promise.allSettled(starts);
  assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  assert.equal(await get("race"), "unix: unix:");
});

test("A descriptor that is not a listening socket is refused.", async () => {
  await assert.rejects(serverOn({ fd: 999 }).start(), {
    message: /^fd:999 is not a listening socket/,
  });
});
