// The commands that pause and resume, and the routes behind them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyDatabase } from "../support/database.ts";
import { quickly } from "./command.ts";

test("pause, paused and resume work once the tables are there, and are refused before.", async () => {
  const { url } = await emptyDatabase();
  const env = { DATABASE_URL: url };
  await quickly(["migrate"], env);
  const refused = await quickly(["pause", "queue", "mail"], env);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /"worker migrate --with controls" adds them/);
  assert.equal((await quickly(["paused"], env)).stdout, "Nothing is paused\n");
  await quickly(["migrate", "--with", "controls"], env);

  const paused = await quickly(
    ["pause", "queue", "mail", "--for", "2h", "--reason", "deploy", "--json"],
    env,
  );
  assert.equal(JSON.parse(paused.stdout).is_known, false);
  await quickly(["pause", "all"], env);
  const { pauses } = JSON.parse((await quickly(["paused", "--json"], env)).stdout);
  const [all, queue] = pauses;
  assert.deepEqual([all.scope, all.name, all.until], ["all", null, null]);
  assert.deepEqual([queue.scope, queue.name, queue.reason], ["queue", "mail", "deploy"]);
  assert.equal(typeof queue.by, "string");
  assert.equal(Date.parse(queue.until) - Date.parse(queue.at), 7_200_000);
  assert.match((await quickly(["queues"], env)).stdout, /mail .*paused/);

  const resumed = await quickly(["resume", "queue", "mail"], env);
  assert.match(resumed.stdout, /^Resumed the queue "?mail"?\n$/);
  const again = await quickly(["resume", "queue", "mail"], env);
  assert.match(again.stdout, /is not paused/);
});

test("A pause without a name, with a name too many or with two ends is a mistake.", async () => {
  const { url } = await emptyDatabase();
  const env = { DATABASE_URL: url };
  await quickly(["migrate", "--with", "controls"], env);
  for (const [args, problem] of [
    [["pause", "queue"], /the name of the queue/],
    [["pause", "all", "mail"], /has no name/],
    [["pause", "task", "t", "--for", "1h", "--until", "+2h"], /either a time or a duration/],
    [["pause", "shop", "t"], /all, queue, task/],
  ] as const) {
    const { status, stderr } = await quickly([...args], env);
    assert.notEqual(status, 0);
    assert.match(stderr, problem);
  }
});
