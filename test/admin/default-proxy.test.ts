// Tests an admin without a login behind a real nginx with default settings. The requests of nginx come from a local
// address and have a local Host. The admin recognises them as forwarded only because they use HTTP/1.0. From version
// 1.29.7 on, nginx uses HTTP/1.1, and its requests are not recognised as forwarded (docs/admin.md).
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { freePort } from "../support/tls-server.ts";
import { waitUntil } from "../support/until.ts";
import { createClient, startAdmin } from "./admin-harness.ts";

const env = { PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` };
const version = /nginx\/1\.(\d+)\.(\d+)/.exec(`${spawnSync("nginx", ["-v"], { env }).stderr}`);
const [minor = 0, patch = 0] = version?.slice(1).map(Number) ?? [];
const isOlder = version !== null && (minor < 29 || (minor === 29 && patch < 7));

test("An admin without a login refuses every request that nginx before 1.29.7 forwards with default settings.", {
  skip: isOlder ? false : "no nginx before 1.29.7 is installed",
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "default-proxy-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const socket = join(folder, "admin.sock");
  const { port } = await startAdmin({ mode: "none" });
  await startAdmin({ mode: "none", configure: (builder) => builder.listenAddr(`unix:${socket}`) });
  const ports = [await freePort(), await freePort()] as const;
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const server = (listen: number, upstream: string) =>
    `server { listen 127.0.0.1:${listen}; location / { proxy_pass ${upstream}; } }`;
  const config = join(folder, "nginx.conf");
  writeFileSync(
    config,
    `${process.getuid?.() === 0 ? "user root;" : ""} daemon off; pid ${folder}/pid; events {}
     http { access_log off; ${places.join(" ")}
       ${server(ports[0], `http://127.0.0.1:${port}`)}
       ${server(ports[1], `http://unix:${socket}:/`)} }`,
  );
  const nginx = spawn("nginx", ["-e", join(folder, "errors"), "-c", config], {
    env,
    stdio: "ignore",
  });
  after(() => nginx.kill());
  for (const listen of ports) {
    const client = createClient(listen);
    const answers = () =>
      client.get("/healthz").then(
        ({ status }) => status !== 502,
        () => false,
      );
    await waitUntil("nginx answers", answers);
    for (const path of ["/", "/api/session", "/healthz"]) {
      const { status, body } = await client.send("GET", path, {
        headers: { host: "admin.example.com" },
      });
      assert.deepEqual([status, body.code], [403, "proxy"], path);
    }
    const write = await client.send("POST", "/api/jobs", {
      headers: { "content-type": "application/json" },
      body: '{"identifier":"t"}',
    });
    assert.equal(write.status, 403);
  }
  const ended = once(nginx, "exit");
  nginx.kill();
  await ended;
});
