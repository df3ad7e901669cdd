// Tests how `worker admin` listens: with TLS, on unix sockets, and on sockets that systemd passes.
import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { certificate } from "../../support/tls-server.ts";
import { type AdminProcess, NOWHERE, startAdmin } from "../admin-process.ts";
import { runInChild, worker } from "../command.ts";

const folder = mkdtempSync(join(tmpdir(), "wk-listening-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const ca = readFileSync(certificate("authority.crt"));
const cert = join(folder, "admin.crt");
const key = join(folder, "admin.key");

function put(name: string, itsKey = name): void {
  copyFileSync(certificate(`${name}.crt`), cert);
  copyFileSync(certificate(`${itsKey}.key`), key);
}
put("localhost");
const TLS = ["--tls-cert", cert, "--tls-key", key];

/** Requests /healthz. Returns the status, the HSTS header and, with TLS, the name in the server's certificate. */
async function healthz({ announced }: AdminProcess, options: https.RequestOptions = {}) {
  const url = announced.url.startsWith("unix:") ? "http://localhost/" : announced.url;
  const { get } = url.startsWith("https:") ? https : http;
  const request = get(new URL("healthz", url), { ca, agent: false, ...options });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const peer = response.socket as { getPeerCertificate?(): { subject: { CN: string } } };
  const name = peer.getPeerCertificate?.().subject.CN;
  await text(response);
  return { status: response.statusCode, name, hsts: response.headers["strict-transport-security"] };
}

test("With a certificate the admin serves TLS; SIGHUP reloads the certificate and its key, and an invalid pair is not used.", async () => {
  const scraper = "scrape-scrape-scrape";
  const env = { WORKER_ADMIN_METRICS_TOKEN: scraper };
  const admin = await startAdmin(["--listen", "0.0.0.0:0", ...TLS], { env });
  assert.match(admin.announced.url, /^https:\/\/127\.0\.0\.1:\d+\/$/);
  const options = { servername: "localhost" };
  const year = "max-age=31536000";
  const first = { status: 200, name: "localhost", hsts: year };
  assert.deepEqual(await healthz(admin, options), first);
  put("localhost", "client");
  admin.send("SIGHUP");
  await admin.logged("the new certificate or key is invalid; the old pair stays in use");
  assert.deepEqual(await healthz(admin, options), first);
  put("client");
  admin.send("SIGHUP");
  await admin.logged("the certificate was reloaded");
  const renewed = await healthz(admin, { rejectUnauthorized: false });
  assert.deepEqual(renewed, { status: 200, name: "client", hsts: year });
  const metrics = https.get(new URL("metrics", admin.announced.url), {
    ...{ rejectUnauthorized: false, agent: false },
    headers: { authorization: `Bearer ${scraper}` },
  });
  const [scraped] = (await once(metrics, "response")) as [http.IncomingMessage];
  assert.match(await text(scraped), /^worker_admin_certificate_expiry_timestamp_seconds \d+$/m);
  const lines = await admin.stop();
  const bad = lines.filter(({ msg }) => msg.includes("is invalid"));
  assert.deepEqual(
    bad.map(({ error }) => error),
    [`the key in ${key} does not match the certificate`],
  );
  assert.ok(!lines.some(({ msg }) => msg.includes("without TLS")));
  assert.equal(await admin.status, 0);
  put("localhost");
});

test("On a loopback address no HSTS header is sent; with --no-hsts the header is max-age=0; healthcheck checks the certificate.", async () => {
  const options = { servername: "localhost" };
  const local = await startAdmin(["--listen", "127.0.0.1:0", ...TLS]);
  assert.equal((await healthz(local, options)).hsts, undefined);
  await local.stop();
  const off = await startAdmin(["--listen", "0.0.0.0:0", "--no-hsts", ...TLS]);
  assert.equal((await healthz(off, options)).hsts, "max-age=0");
  const checked = await worker(["healthcheck", off.announced.url, "--insecure"]);
  assert.match(checked.stderr, /is not ready: status 503 \(database_unreachable\)/);
  assert.match(
    (await worker(["healthcheck", off.announced.url])).stderr,
    /certificate of https:.* is invalid \([^;]*\); --insecure accepts any certificate/,
  );
  await off.stop();
});

test("With --auth none a unix socket has the mode 0600, refuses foreign host names, and is removed when the admin stops.", async () => {
  const path = join(folder, "admin.sock");
  const admin = await startAdmin(["--listen", `unix:${path}`, "--auth", "none"]);
  assert.equal(admin.announced.url, `unix:${path}`);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal((await healthz(admin, { socketPath: path })).status, 200);
  const foreign = { socketPath: path, headers: { host: "evil.example" } };
  assert.equal((await healthz(admin, foreign)).status, 403);
  const checked = await worker(["healthcheck", `unix:${path}`]);
  assert.match(
    checked.stderr,
    /^worker: unix:.* is not ready: status 503 \(database_unreachable\)/,
  );
  const second = await worker(["admin", "--listen", `unix:${path}`], { DATABASE_URL: NOWHERE });
  assert.match(
    second.stderr,
    /^worker: unix:.* is in use by another process; .* choose another one with --listen\n$/,
  );
  await admin.stop();
  assert.equal(existsSync(path), false);
});

test("A unix socket gets the group of --listen-group, and the announced address includes the base path.", async () => {
  const path = join(folder, "group.sock");
  const { gid } = statSync(folder);
  const rights = ["--listen", `unix:${path}`, "--listen-group", String(gid)];
  const admin = await startAdmin([...rights, "--base-path", "/queue"]);
  const { mode, gid: given } = statSync(path);
  assert.deepEqual([mode & 0o777, given], [0o660, gid]);
  assert.equal(admin.announced.url, `unix:${path}:/queue/`);
  assert.match((await worker(["healthcheck", admin.announced.url])).stderr, /status 503/);
  await admin.stop();
});

/**
 * A Perl program that starts a command with a listening socket, as systemd does. The first argument is the path or the
 * address of the socket, and the other arguments are the command.
 */
const ACTIVATION = `
  use IO::Socket::UNIX; use IO::Socket::INET; use POSIX; $^F = 9; my $on = shift;
  my $socket = $on =~ m{^/} ? IO::Socket::UNIX->new(Listen => 9, Local => $on)
    : IO::Socket::INET->new(Listen => 9, LocalAddr => $on) or die $!;
  POSIX::dup2(fileno $socket, 3); $ENV{LISTEN_PID} = $$; exec @ARGV;
`;
const activatedOn = (address: string) => ["perl", "-e", ACTIVATION, address];

test("The admin serves a socket that systemd passes, whether --listen gives its number, its name or neither.", async () => {
  for (const listen of ["fd:", "fd:3", "fd:web"]) {
    const env = { LISTEN_FDS: "1", LISTEN_FDNAMES: "web" };
    const args = ["--listen", listen, "--auth", "none"];
    const admin = await startAdmin(args, { env, prefix: activatedOn("127.0.0.1") });
    assert.match(admin.announced.url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
    assert.equal((await healthz(admin)).status, 200);
    await admin.stop();
  }
  const env = { LISTEN_FDS: "1" };
  const socketPath = join(folder, "activated.sock");
  const admin = await startAdmin(["--listen", "fd:"], { env, prefix: activatedOn(socketPath) });
  assert.equal(admin.announced.url, "fd:3");
  const unix = { ...admin, announced: { url: "unix:" } };
  assert.equal((await healthz(unix, { socketPath })).status, 200);
  await admin.stop();
});

test("--auth none is rejected for a socket that systemd passes, unless the socket is on a loopback address.", async () => {
  const env = { LISTEN_FDS: "1" };
  for (const address of ["0.0.0.0", join(folder, "open.sock")]) {
    const args = ["--listen", "fd:", "--auth", "none"];
    const refused = startAdmin(args, { env, prefix: activatedOn(address) });
    await assert.rejects(refused, /"--auth: mode none needs no login, so the address must/);
  }
});

test("An invalid option or combination of options is reported in one line that names the option.", async () => {
  const socket = `unix:${join(folder, "never.sock")}`;
  const cases: [args: string[], message: RegExp, status: number, env?: Record<string, string>][] = [
    [["--tls-cert", cert], /^worker: --tls-cert needs --tls-key; see/, 2],
    [["--tls-key", key], /^worker: --tls-key needs --tls-cert; see/, 2],
    [
      ["--tls-cert", key, "--tls-key", key],
      /^worker: --tls-cert: .* contains no PEM certificate/,
      1,
    ],
    [["--tls-cert", cert, "--tls-key", "/none"], /^worker: --tls-key: cannot be read: ENOENT/, 1],
    [["--listen", socket, ...TLS], /^worker: --tls-cert: applies to TCP only/, 1],
    [["--listen", "unix:admin.sock"], /^worker: --listen: must have an absolute path/, 1],
    [["--listen", `unix:/${"x".repeat(107)}`], /^worker: --listen: must have a path of at most/, 1],
    [["--listen-mode", "0600"], /^worker: --listen-mode: applies to a unix socket/, 1],
    [["--listen-group", "0"], /^worker: --listen-group: applies to a unix socket/, 1],
    [
      ["--listen", socket, "--listen-mode", "9"],
      /^worker: --listen-mode: must be a mode in octal/,
      1,
    ],
    [
      ["--listen", socket, "--listen-mode", "0070"],
      /^worker: --listen-mode: must be a mode such/,
      1,
    ],
    [
      ["--listen", socket, "--listen-group", "no such"],
      /^worker: --listen-group: "no such" is no/,
      1,
    ],
    [
      ["--listen", socket, "--listen-mode", "660", "--auth", "none"],
      /^worker: --auth: mode none/,
      1,
    ],
    [["--listen", "fd:"], /^worker: --listen: fd: is a socket that systemd passes/, 1],
    [["--listen", "fd:"], /^worker: --listen: fd: is a/, 1, { LISTEN_PID: "1", LISTEN_FDS: "1" }],
    [["--listen", "127.0.0.1"], /^worker: --listen: must be host:port/, 1],
  ];
  for (const [args, message, status, env = {}] of cases) {
    const result = await runInChild(["admin", ...args], { DATABASE_URL: NOWHERE, ...env });
    assert.match(result.stderr, message, args.join(" "));
    assert.deepEqual(
      [result.status, result.stderr.trim().split("\n").length],
      [status, 1],
      result.stderr,
    );
  }
  const none = await worker(["admin", "--listen", "fd:999"], { DATABASE_URL: NOWHERE });
  assert.match(none.stderr, /^worker: fd:999 is not a listening socket .* with --listen\n$/);
  const alone = await runInChild(["run", "--tasks", folder, ...TLS], { DATABASE_URL: NOWHERE });
  assert.match(alone.stderr, /^worker: --tls-cert needs --admin; see/);
});
