// Tests `worker schedule`: its actions, its list and its messages. Also tests what `worker doctor` finds in schedules.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import pg from "pg";
import { emptyDatabase, migratedDatabase } from "../support/database.ts";
import { runInChild } from "./command.ts";

let env: { DATABASE_URL: string };
before(async () => {
  env = { DATABASE_URL: (await migratedDatabase("worker", ["schedules"])).url };
});

async function json(args: readonly string[]) {
  const result = await runInChild([...args, "--json"], env);
  assert.equal(result.status, 0, result.stderr);
  return JSON.parse(result.stdout);
}

test("Without the table of schedules every action is refused, and the message has the command that adds the table.", async () => {
  const bare = { DATABASE_URL: (await emptyDatabase()).url };
  await runInChild(["migrate"], bare);
  for (const args of [
    ["schedule"],
    ["schedule", "add", "s", "--task", "t", "--pattern", "@daily"],
    ["schedule", "remove", "s", "--yes"],
  ]) {
    const { status, stderr } = await runInChild(args, bare);
    assert.equal(status, 1);
    assert.match(stderr, /^worker: .*"worker migrate --with schedules" adds them\n$/);
  }
  assert.equal((await runInChild(["migrate", "--with", "schedules"], bare)).status, 0);
  assert.equal((await runInChild(["schedule"], bare)).stdout, "There are no schedules\n");
});

test("A schedule is added, changed, paused, resumed, run and removed.", async () => {
  const added = await runInChild(
    [
      ...["schedule", "add", "nightly", "--task", "report", "--cron", "30 2 * * *"],
      ...["--time-zone", "Europe/Berlin", "--payload", '{"id":12345678901234567890}'],
      ...["--jitter", "30s", "--overlap", "skip", "--backfill", "1h", "--queue", "q"],
    ],
    env,
  );
  assert.match(
    added.stdout,
    /^Added the schedule nightly; the next tick is at \S+Z\n$/,
    added.stderr,
  );
  const [one] = (await json(["schedule", "list", "nightly"])).schedules;
  assert.deepEqual(
    [
      one.task,
      one.pattern,
      one.time_zone,
      one.jitter_secs,
      one.overlap,
      one.backfill_secs,
      one.queue,
    ],
    ["report", "30 2 * * *", "Europe/Berlin", 30, "skip", 3_600, "q"],
  );
  const changed = await json([
    ...["schedule", "change", "nightly", "--pattern", "@hourly", "--queue", "", "--revision", "1"],
  ]);
  assert.equal(changed.revision, 2);
  const [after] = (await json(["schedule"])).schedules;
  assert.deepEqual(
    [after.pattern, after.queue, after.time_zone, after.overlap],
    ["@hourly", null, "Europe/Berlin", "skip"],
  );
  assert.match(
    (await runInChild(["schedule"], env)).stdout,
    /nightly +report +@hourly +Europe\/Berlin/,
  );
  assert.equal((await json(["schedule", "pause", "nightly"])).next_execution, null);
  assert.match((await runInChild(["cron"], env)).stdout, /nightly .*paused/);
  assert.match(
    (await runInChild(["schedule", "pause", "nightly"], env)).stdout,
    /^Nothing changed: /,
  );
  const result = await runInChild(["schedule", "run", "nightly", "--json"], env);
  assert.match(
    result.stdout,
    /"payload":\{"id":12345678901234567890,"_cron":\{"ts":"[^"]+","manual":true\}\}/,
  );
  assert.equal((await json(["schedule", "resume", "nightly"])).is_changed, true);
  const refused = await runInChild(["schedule", "remove", "nightly"], env);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /schedule remove asks for confirmation/);
  assert.equal((await runInChild(["schedule", "remove", "nightly", "--yes"], env)).status, 0);
  assert.deepEqual((await json(["schedule"])).schedules, []);
});

test("Invalid arguments are rejected with a message about the mistake, and change nothing.", async () => {
  await runInChild(["schedule", "add", "fixed", "--task", "t", "--pattern", "@daily"], env);
  const add = ["schedule", "add", "s", "--task", "t"];
  for (const [args, status, message] of [
    [["schedule", "ad", "s"], 2, /must be one of list, add, change/],
    [["schedule", "add"], 2, /<identifier> is missing/],
    [
      ["schedule", "pause", "fixed", "--pattern", "@daily"],
      2,
      /schedule pause has no option --pattern/,
    ],
    [["schedule", "list", "--revision", "3"], 2, /schedule list has no option --revision/],
    [[...add, "--pattern", "61 * * * *"], 1, /--pattern: column 1: .*61.*minute/],
    [[...add, "--cron", "* * *"], 1, /--cron: has 3 fields; expected 5/],
    [[...add, "--pattern", "0 0 30 2 *"], 1, /--pattern: matches no time/],
    [
      [...add, "--pattern", "@daily", "--time-zone", "Europe/Berln"],
      1,
      /--time-zone: .*did you mean "Europe\/Berlin"/,
    ],
    [[...add, "--pattern", "@daily", "--payload", "[1]"], 1, /must be a JSON object/],
    [[...add, "--pattern", "@daily", "--jitter", "2d"], 1, /--jitter: must be at most a day/],
    [
      [...add, "--pattern", "@daily", "--key", "k", "--overlap", "skip"],
      1,
      /--key: cannot be combined with overlap skip/,
    ],
    [
      ["schedule", "add", "fixed", "--task", "t", "--pattern", "@daily"],
      1,
      /the schedule "fixed" already exists/,
    ],
    [["schedule", "change", "fixed"], 1, /^worker: schedule change needs at least one of --task/],
    [["schedule", "change", "fixed", "--pattern", "x", "--payload", "1"], 1, /2 problems/],
    [
      ["schedule", "change", "fixed", "--priority", "1", "--revision", "7"],
      1,
      /has revision 1, not 7.*read it again/,
    ],
    [["schedule", "pause", "gone"], 1, /there is no schedule "gone"/],
  ] as const) {
    const result = await runInChild([...args], env);
    assert.match(result.stderr, message, args.join(" "));
    assert.equal(result.status, status, result.stderr);
  }
  const { schedules } = await json(["schedule"]);
  assert.deepEqual(
    schedules.map((one: { identifier: string; revision: number }) => [
      one.identifier,
      one.revision,
    ]),
    [["fixed", 1]],
  );
});

test("The help of schedule has options, examples and the command that adds the table.", async () => {
  const { stdout } = await runInChild(["schedule", "--help"]);
  for (const word of [
    "--task",
    "--pattern, --cron",
    "--time-zone",
    "--jitter",
    "--overlap",
    "--revision",
  ]) {
    assert.ok(stdout.includes(word), word);
  }
  assert.match(stdout, /Examples:\n {2}worker schedule add nightly/);
  assert.match(stdout, /worker migrate --with schedules/);
});

test("doctor reports a schedule whose next tick is years ahead, with a fix that works, and a schedule with the name of a cron entry.", async () => {
  const { url } = await migratedDatabase("worker", ["schedules"]);
  const own = { DATABASE_URL: url };
  await runInChild(["schedule", "add", "late", "--task", "t", "--pattern", "@hourly"], own);
  await runInChild(["schedule", "add", "both", "--task", "t", "--pattern", "@daily"], own);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    "update worker._private_schedules set next_at = now() + interval '3 years' where identifier = 'late'",
  );
  await client.query(`insert into worker._private_workers (id, last_heartbeat_at, metadata) values ('a', now(),
    '{"threshold_ms":3600000,"cron":[{"identifier":"both","task":"t","pattern":"@hourly"}]}')`);
  await client.end();
  const { stdout } = await runInChild(["doctor"], own);
  assert.match(
    stdout,
    /the next tick of the schedule "late" is stored as .*, which its pattern does not have/,
  );
  assert.match(stdout, /cron entry both is both a cron entry of workers and a schedule/i);
  for (const action of ["pause", "resume"]) {
    assert.ok(stdout.includes(`worker schedule ${action} late`));
    assert.equal((await runInChild(["schedule", action, "late"], own)).status, 0);
  }
  assert.doesNotMatch((await runInChild(["doctor"], own)).stdout, /schedule "late"/);
});
