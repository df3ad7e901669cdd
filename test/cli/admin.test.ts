// worker admin as a program: it serves whatever the database does, and says what it does.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { command, worker } from "./command.ts";

const NOWHERE = "postgres://nobody@127.0.0.1:1/none";
const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts it without a database; gives what it announces, and what it has logged once it has ended. */
async function startAdmin(args: readonly string[], env: Record<string, string> = {}) {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, [...command, "admin", "--json", ...args], {
    env: { PATH, HOME, DATABASE_URL: NOWHERE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const logged = text(child.stderr);
  const [line] = await once(createInterface(child.stdout), "line");
  const stop = async () => {
    child.kill();
    await once(child, "exit");
    running.delete(child);
    const lines = (await logged).trim().split("\n");
    return lines.map((one) => JSON.parse(one) as { level: number; code?: string; msg: string });
  };
  return { announced: JSON.parse(line), stop };
}

test("It serves without a database, and its log lines are JSON.", async () => {
  const scraper = "scrape-scrape-scrape";
  const { announced, stop } = await startAdmin(
    ["--listen", "127.0.0.1:0", "--limit", "viewers=3"],
    {
      WORKER_ADMIN_PASSWORD: "short",
      WORKER_ADMIN_METRICS_TOKEN: scraper,
    },
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

test("Off loopback without a proxy it warns of plain HTTP, and says where it listens.", async () => {
  const { stop } = await startAdmin(["--listen", "0.0.0.0:0"]);
  const [warning] = (await stop()).filter(({ msg }) => msg.includes("without TLS"));
  assert.match(warning?.msg ?? "", /^the admin listens on 0\.0\.0\.0:\d+ without TLS/);
  const behind = await startAdmin(["--listen", "0.0.0.0:0", "--trusted-proxy", "10.0.0.0/8"]);
  assert.ok(!(await behind.stop()).some(({ msg }) => msg.includes("without TLS")));
});

test("It refuses secrets, networks and limits that will not do, in one line.", async () => {
  const refused = async (args: string[], says: RegExp, env: Record<string, string> = {}) => {
    const { status, stderr } = await worker(["admin", ...args], { DATABASE_URL: NOWHERE, ...env });
    assert.match(stderr, says);
    assert.deepEqual([stderr.trim().split("\n").length, status === 0], [1, false]);
  };
  const short = { WORKER_ADMIN_PASSWORD: "elevenchars" };
  await refused(["--listen", "0.0.0.0:0"], /WORKER_ADMIN_PASSWORD: must have at least 12/, short);
  await refused(["--trusted-proxy", "::1"], /WORKER_ADMIN_PASSWORD: must have/, short);
  await refused(["--trusted-proxy", "nonsense"], /--trusted-proxy: must be a network such as/);
  await refused(["--limit", "viewer=1"], /unknown limit; there are requestMs/);
  await refused(["--limit", "viewers"], /--limit: "viewers" is not name=number/);
});
