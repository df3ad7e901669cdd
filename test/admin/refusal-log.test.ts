// Tests that the log of refused requests has no secrets, and few lines, however many requests are refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRefusalLog } from "../../src/admin/access/refusal-log.ts";
import { rawExchange, statuses } from "../http/raw-client.ts";
import {
  recordingLogger,
  rightCredentials,
  startAdmin,
  wrongCredentials,
} from "./admin-harness.ts";

function refusalLog() {
  const { logger, lines } = recordingLogger();
  let endMinute = () => {};
  const log = createRefusalLog(logger, (_ms, callback) => {
    endMinute = callback;
    return () => {};
  });
  return { log, lines, endMinute: () => endMinute() };
}

test("In each minute at most ten lines are logged for each client, and at most sixty in all; a summary then counts the requests that were not logged.", () => {
  const { log, lines, endMinute } = refusalLog();
  for (let n = 0; n < 25; n++) log.log("wrong_login", "10.0.0.1", { client: "10.0.0.1" });
  assert.equal(lines.length, 10);
  log.log("csrf", "10.0.0.2", {});
  assert.equal(lines.length, 11);
  for (let n = 0; n < 900; n++) log.log("throttled_login", `10.1.0.${n % 200}`, {});
  assert.equal(lines.length, 60);
  endMinute();
  const summary = lines.at(-1);
  assert.equal(summary?.fields.more, 15 + 900 - 49);
  assert.deepEqual(summary?.fields.kinds, { wrong_login: 15, throttled_login: 851 });
  assert.equal(summary?.fields.busiest["10.0.0.1"], 25);
  assert.ok(lines.every(({ level }) => level === "warn"));
  log.log("host", "10.0.0.1", {});
  assert.equal(lines.at(-1)?.message, "a request for another host was refused");
  log.close();
  assert.equal(lines.length, 62, "close() logs no further line");
});

test("The log counts the requests of at most a thousand clients at a time; if a minute has more clients, the summary still names a busy client.", () => {
  const { log, lines, endMinute } = refusalLog();
  for (let n = 0; n < 2_000; n++) {
    log.log("wrong_login", `2001:db8:0:${n.toString(16)}::1`, {});
    if (n % 200 === 0) log.log("wrong_login", "192.0.2.7", {});
  }
  endMinute();
  const { more, clients, busiest } = lines.at(-1)?.fields ?? {};
  assert.deepEqual([more, clients], [2_010 - 60, "more than 1000"]);
  assert.equal(busiest["192.0.2.7"], 10);
  log.log("wrong_login", "192.0.2.7", {});
  for (let n = 0; n < 10; n++) log.log("wrong_login", "192.0.2.7", {});
  endMinute();
  assert.equal(lines.at(-1)?.fields.clients, 1);
});

test("A request that is refused because of a wrong login, a missing CSRF token or a foreign Host is logged in one line without a secret.", async () => {
  const { logger, lines } = recordingLogger();
  const basic = await startAdmin({ mode: "basic", logger });
  await basic.client.send("GET", "/api/jobs", { headers: wrongCredentials.basic });
  await basic.client.send("POST", "/api/jobs", { headers: rightCredentials.basic });
  const open = await startAdmin({ mode: "none", logger });
  await open.client.send("GET", "/", { headers: { host: "evil.example" } });
  const warned = lines.filter(({ level }) => level === "warn").map(({ fields }) => fields);
  assert.deepEqual(
    warned.map(({ refused, route, client, status }) => [refused, route, client, status]),
    [
      ["wrong_login", "/api/jobs", "127.0.0.1", 401],
      ["csrf", "/api/jobs", "127.0.0.1", 403],
      ["host", "/", "127.0.0.1", 403],
    ],
  );
  assert.doesNotMatch(JSON.stringify(lines), /wörd|b3BlcmF0b3I/);
});

test("Ten thousand anonymous requests leave less than 20 KB of log.", async () => {
  const { logger, lines } = recordingLogger();
  const { port, server } = await startAdmin({ mode: "bearer", logger });
  const wrong = "Authorization: Bearer guess\r\n";
  const requests = [
    "POST /api/jobs HTTP/1.1\r\nHost: a\r\n\r\n",
    `GET /api/session HTTP/1.1\r\nHost: a\r\n${wrong}\r\n`,
    "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n",
    `POST /api/maintenance HTTP/1.1\r\nHost: a\r\n${wrong}\r\n`,
  ];
  const last = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const text = await rawExchange(port, requests.join("").repeat(2_500) + last);
  assert.equal(statuses(text).length, 10_001);
  await server.stop();
  const logged = lines.filter(({ level }) => level !== "debug");
  assert.ok(
    JSON.stringify(logged).length < 20_000,
    `the ${logged.length} log lines have 20,000 or more characters`,
  );
  assert.equal(logged.at(-1)?.fields.more, 4_990);
});

test("No request fails because the application's logger throws.", async () => {
  const throws = () => {
    throw new Error("no");
  };
  const logger = { debug: throws, info: throws, warn: throws, error: throws };
  const { client, pool } = await startAdmin({ logger });
  assert.equal((await client.post("/api/jobs", { identifier: "t" })).status, 200);
  assert.equal(
    (await client.send("GET", "/api/jobs", { headers: { host: "a.example" } })).status,
    403,
  );
  await pool.query("drop table worker._private_jobs cascade");
  assert.equal((await client.get("/api/jobs")).status, 503);
});
