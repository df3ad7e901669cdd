// Tests the configurations of nginx and Caddy in deploy/proxy. Each program accepts its configuration. Through nginx,
// the admin works under its base path, its events arrive at once, and it logs the client's address.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { startAdmin } from "../../cli/admin-process.ts";
import { callsIn, refusalOf } from "../../docs/shell-words.ts";
import { certificate, freePort } from "../../support/tls-server.ts";
import { waitUntil } from "../../support/until.ts";
import { check, newFolder, readDeployed, root, unlessInstalled } from "../files.ts";

const folder = newFolder();
const skip = unlessInstalled("nginx");

test("The configurations contain valid commands that start an admin.", () => {
  for (const path of ["proxy/nginx.conf", "proxy/Caddyfile"]) {
    const calls = callsIn(readDeployed(path).replaceAll(/^# {3}(?=worker)/gm, ""));
    assert.equal(calls.length, 2, path);
    for (const call of calls) assert.equal(refusalOf(call), null, call.join(" "));
  }
});

test("Caddy accepts its configuration.", { skip: unlessInstalled("caddy") }, async () => {
  const path = join(root, "deploy/proxy/Caddyfile");
  const output = await check("caddy", "validate", "--config", path, "--adapter", "caddyfile");
  assert.match(output, /Valid configuration/);
});

/**
 * Writes a copy of deploy/proxy/nginx.conf with this port, the test's certificate and the admin at `upstream`, and an
 * nginx.conf that includes the copy. Returns the path of this nginx.conf.
 */
function nginxConfig(port: number, upstream: string): string {
  const snippet = readDeployed("proxy/nginx.conf")
    .replace("listen 443 ", `listen 127.0.0.1:${port} `)
    .replace("/etc/ssl/worker/fullchain.pem", certificate("localhost.crt"))
    .replace("/etc/ssl/worker/privkey.pem", certificate("localhost.key"))
    .replace("server 127.0.0.1:5678;", `server ${upstream};`);
  writeFileSync(join(folder, "admin.conf"), snippet);
  mkdirSync(join(folder, "kept"), { recursive: true });
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/kept/${kind};`,
  );
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const path = join(folder, "nginx.conf");
  const http = `access_log off; ${places.join(" ")} include ${folder}/admin.conf;`;
  const main = `${user} daemon off; pid ${folder}/nginx.pid; error_log stderr;`;
  writeFileSync(path, `${main}\nevents {}\nhttp { ${http} }\n`);
  return path;
}

test("Through nginx, events arrive at once, the base path works, and the client's address is logged.", {
  skip,
}, async () => {
  const socket = join(folder, "admin.sock");
  const args = ["--listen", `unix:${socket}`, "--trusted-proxy", "unix:", "--base-path", "/queue/"];
  const env = { WORKER_ADMIN_PASSWORD: "through-a-proxy" };
  const admin = await startAdmin(args, { env });
  const port = await freePort();
  const config = nginxConfig(port, `unix:${socket}`);
  await check("nginx", "-t", "-e", "stderr", "-c", config);
  const nginx = spawn("nginx", ["-e", "stderr", "-c", config], {
    env: { PATH: `${process.env["PATH"]}:/usr/sbin` },
    stdio: "ignore",
  });
  after(() => nginx.kill());
  const ca = readFileSync(certificate("authority.crt"));
  const get = async (path: string, password: string) => {
    const auth = `Basic ${Buffer.from(`admin:${password}`).toString("base64")}`;
    const headers = {
      authorization: auth,
      "x-forwarded-for": "192.0.2.66",
      forwarded: "for=192.0.2.66",
    };
    const request = https.get({
      ...{ host: "127.0.0.1", port, path, headers, ca, agent: false, servername: "localhost" },
    });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return response;
  };
  await waitUntil("nginx listens", async () => {
    return get("/queue/healthz", "").then(
      (response) => response.resume().statusCode === 200,
      () => false,
    );
  });
  const events = await get("/queue/api/events", env.WORKER_ADMIN_PASSWORD);
  assert.match(String(await once(events, "data")), /^event: problem|^(id|retry|:)/);
  events.destroy();
  const page = await get("/queue/", env.WORKER_ADMIN_PASSWORD);
  assert.equal(page.statusCode, 200);
  await text(page);
  const wrong = await get("/queue/api/session", "wrong");
  assert.equal(wrong.resume().statusCode, 401);
  const lines = await admin.stop();
  const clients = lines.flatMap(({ client }) => (client === undefined ? [] : [client]));
  assert.deepEqual(clients, ["127.0.0.1"]);
  const ended = once(nginx, "exit");
  nginx.kill();
  await ended;
});
