// Tests the command `worker admin`: it serves without a database, warns of plain HTTP, and rejects invalid options.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NOWHERE, startAdmin } from "./admin-process.ts";
import { worker } from "./command.ts";

test("The admin serves without a database, and its log lines are JSON.", async () => {
  const scraper = "scrape-scrape-scrape";
  const { announced, stop } = await startAdmin(
    ["--listen", "127.0.0.1:0", "--limit", "viewers=3"],
    { env: { WORKER_ADMIN_PASSWORD: "short", WORKER_ADMIN_METRICS_TOKEN: scraper } },
  );
  const ready = await fetch(new URL("readyz", announced.url));
  assert.equal(ready.status, 503);
  assert.match(await ready.text(), /"reason":"database_unreachable"/);
  const headers = { authorization: `Bearer ${scraper}` };
  assert.equal((await fetch(new URL("metrics", announced.url), { headers })).status, 200);
  const lines = await stop();
  assert.ok(lines.some(({ code }) => code === "database_unreachable"));
  assert.ok(!JSON.stringify([announced, lines]).includes(scraper));
});

test("On a public address without a trusted proxy, the admin warns of plain HTTP, and the warning names the address.", async () => {
  const { stop } = await startAdmin(["--listen", "0.0.0.0:0"]);
  const [warning] = (await stop()).filter(({ msg }) => msg.includes("without TLS"));
  assert.match(warning?.msg ?? "", /^the admin listens on 0\.0\.0\.0:\d+ without TLS/);
  const behind = await startAdmin(["--listen", "0.0.0.0:0", "--trusted-proxy", "10.0.0.0/8"]);
  assert.ok(!(await behind.stop()).some(({ msg }) => msg.includes("without TLS")));
});

test("The command rejects invalid passwords, networks and limits with a message of one line.", async () => {
  const refused = async (args: string[], message: RegExp, env: Record<string, string> = {}) => {
    const { status, stderr } = await worker(["admin", ...args], { DATABASE_URL: NOWHERE, ...env });
    assert.match(stderr, message);
    assert.deepEqual([stderr.trim().split("\n").length, status === 0], [1, false]);
  };
  const short = { WORKER_ADMIN_PASSWORD: "elevenchars" };
  await refused(["--listen", "0.0.0.0:0"], /WORKER_ADMIN_PASSWORD: must have at least 12/, short);
  await refused(["--trusted-proxy", "::1"], /WORKER_ADMIN_PASSWORD: must have/, short);
  await refused(
    ["--trusted-proxy", "nonsense"],
    /--trusted-proxy: "nonsense" is not a network such as/,
  );
  await refused(["--limit", "viewer=1"], /unknown limit; use one of requestMs/);
  await refused(["--limit", "viewers"], /--limit: "viewers" is not name=number/);
});
