// Tests the HTTP server with TLS. It accepts only TLS 1.2 and 1.3, answers pipelined requests in order, uses a valid
// new certificate without a restart, and closes connections that never send anything. When it stops, it closes all
// connections.
import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import https from "node:https";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import tls from "node:tls";
import { silentLogger } from "../../src/base/logger.ts";
import type { Limits } from "../../src/http/bounds/limits.ts";
import { type Certificate, loadCertificate } from "../../src/http/listen/certificate.ts";
import { createHttpServer, type HttpServer } from "../../src/http/server.ts";
import { certificate as file } from "../support/tls-server.ts";
import { rawExchange, statuses } from "./raw-client.ts";

const folder = mkdtempSync(join(tmpdir(), "wk-https-"));
const servers: HttpServer[] = [];
after(async () => {
  for (const server of servers) await server.stop();
  rmSync(folder, { recursive: true, force: true });
});
const ca = readFileSync(file("authority.crt"));

/** Copies the certificate and key of `localhost` to files for one test, and returns their paths. */
function pair(name: string) {
  const files = { certFile: join(folder, `${name}.crt`), keyFile: join(folder, `${name}.key`) };
  put(files, "localhost");
  return files;
}

function put(files: { certFile: string; keyFile: string }, which: string, key = which): void {
  copyFileSync(file(`${which}.crt`), files.certFile);
  copyFileSync(file(`${key}.key`), files.keyFile);
}

async function startServer(certificate: Certificate, limits: Partial<Limits> = {}) {
  const server = createHttpServer({
    listen: { host: "127.0.0.1", port: 0 },
    certificate,
    handle: async ({ path, host, remoteAddress }) => ({
      status: 200,
      headers: {},
      body: `${path} ${host} ${remoteAddress}`,
    }),
    headers: { "strict-transport-security": "max-age=1" },
    logger: silentLogger,
    limits,
  });
  servers.push(server);
  await server.start();
  return { server, port: server.address.port };
}

async function secure(port: number, options: tls.ConnectionOptions = {}) {
  const socket = tls.connect({ port, host: "127.0.0.1", ca, servername: "localhost", ...options });
  await once(socket, "secureConnect");
  return socket;
}

const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

const lastRequest = (path: string) =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`;

test("TLS 1.2 and 1.3 are accepted, earlier versions are not.", async () => {
  const { port } = await startServer(loadCertificate(pair("versions")));
  for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
    const socket = await secure(port, { minVersion: version, maxVersion: version });
    assert.equal(socket.getProtocol(), version);
    socket.write(lastRequest("/x"));
    assert.match(await text(socket), /^HTTP\/1\.1 200 OK[\s\S]*\/x localhost 127\.0\.0\.1/);
  }
  const old = {
    minVersion: "TLSv1",
    maxVersion: "TLSv1.1",
    ciphers: "DEFAULT@SECLEVEL=0",
  } as const;
  await assert.rejects(secure(port, old), /protocol version|unsupported protocol/);
  assert.equal(await rawExchange(port, request("/")), "", "plain HTTP is not answered");
});

test("Over TLS pipelined requests are answered in order, and the answer to an invalid request has the usual headers.", async () => {
  const { port } = await startServer(loadCertificate(pair("pipeline")), { pipelined: 2 });
  const socket = await secure(port);
  const answers = text(socket);
  socket.write([..."abcdefgh"].map((name) => request(`/${name}`)).join(""));
  socket.write("nonsense\r\n\r\n");
  const all = await answers;
  assert.deepEqual(statuses(all), [200, 200, 200, 200, 200, 200, 200, 200, 400]);
  assert.match(all, /400 Bad Request\r\n[\s\S]*strict-transport-security: max-age=1/);
  assert.deepEqual(
    [...all.matchAll(/\/(\w) localhost/g)].map(([, name]) => name).join(""),
    "abcdefgh",
  );
});

test("A new certificate and key are used for new connections, and open connections continue.", async () => {
  const files = pair("renewed");
  const certificate = loadCertificate(files);
  const { server, port } = await startServer(certificate);
  const open = await secure(port);
  assert.equal(open.getPeerCertificate().subject.CN, "localhost");
  put(files, "client");
  certificate.reload();
  server.renewCertificate();
  open.write(lastRequest("/still"));
  assert.match(await text(open), /200 OK[\s\S]*\/still/);
  const fresh = await secure(port, { rejectUnauthorized: false });
  assert.equal(fresh.getPeerCertificate().subject.CN, "client");
  fresh.destroy();
});

test("An invalid certificate or key is refused with a message, and the old pair stays in use.", () => {
  const files = pair("kept");
  const { certFile, keyFile } = files;
  const certificate = loadCertificate(files);
  const { options } = certificate;
  const refused = (message: RegExp) => {
    assert.throws(() => certificate.reload(), { name: "InputError", message });
    assert.equal(certificate.options, options);
  };
  put(files, "localhost", "client");
  refused(/^tls\.keyFile: the key in .*kept\.key does not match the certificate$/);
  writeFileSync(keyFile, "nonsense");
  refused(/^tls\.keyFile: .*kept\.key contains no PEM key$/);
  writeFileSync(certFile, "");
  refused(/^tls\.certFile: .*kept\.crt contains no PEM certificate$/);
  rmSync(certFile);
  refused(/^tls\.certFile: cannot be read: ENOENT/);
});

test("Connections that never send anything are closed, and do not keep other clients from connecting.", async () => {
  const limits = { connections: 3, headersTimeoutMs: 3_000 };
  const { port } = await startServer(loadCertificate(pair("silent")), limits);
  const silent = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const socket = net.connect(port, "127.0.0.1").resume();
      socket.on("error", () => {});
      await once(socket, "connect");
      return socket;
    }),
  );
  const first = await secure(port);
  first.write(request("/room"));
  assert.match(String(await once(first, "data")), /200 OK/);
  first.destroy();
  await Promise.all(silent.map(async (socket) => socket.closed || once(socket, "close")));
});

test("Stopping ends connections that are in a handshake, idle or kept alive.", async () => {
  const { server, port } = await startServer(loadCertificate(pair("stop")));
  const raw = net.connect(port, "127.0.0.1").resume();
  raw.on("error", () => {});
  await once(raw, "connect");
  const idle = (await secure(port)).resume();
  const agent = new https.Agent({ keepAlive: true });
  const answer = await new Promise<number>((resolve) => {
    const options = { port, host: "127.0.0.1", ca, servername: "localhost", agent };
    https.get(options, ({ statusCode = 0 }) => resolve(statusCode));
  });
  assert.equal(answer, 200);
  await Promise.all([server.stop(), once(raw, "close"), once(idle, "close")]);
  agent.destroy();
});
