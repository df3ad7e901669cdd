import assert from "node:assert/strict";
import { before, test } from "node:test";
import type {
  ListedQueue,
  QueueDetails,
  QueuedJob,
  QueueStates,
} from "../../ui/generated/records.ts";
import { ensureBuilt, type Page, textOf } from "./harness.ts";
import { counts, feed, incident, incidents, openPage, queue, timeAt, value } from "./sample.ts";

before(ensureBuilt);

const rows = (page: Page) =>
  page
    .all((e) => e.tag === "tr")
    .slice(1)
    .map((e) => textOf([e]));

const stuck = (name: string, change: Partial<ListedQueue> = {}) =>
  queue(name, {
    locked_at: timeAt(-7740),
    locked_by: "worker-c",
    holder: "stale",
    stuck_since: timeAt(-7740),
    ready: value(480),
    running: value(1),
    total: value(481),
    oldest_ready_at: timeAt(-7700),
    ...change,
  });

const holder = (change: object = {}) => ({
  worker_id: "worker-c",
  state: "stale",
  last_heartbeat_at: timeAt(-7800),
  running: value(1),
  locked_queues: 1,
  ...change,
});

const job = (id: number, change: Partial<QueuedJob> = {}): QueuedJob => ({
  id,
  task: "sync_contact",
  priority: 0,
  run_at: timeAt(-7700),
  created_at: timeAt(-7700),
  attempts: 0,
  max_attempts: 25,
  locked_at: null,
  ...change,
});

const details = (change: Partial<QueueDetails> = {}): QueueDetails => ({
  queue: stuck("crm:acme"),
  running: job(12481, { task: "import_contacts", attempts: 1, locked_at: timeAt(-7740) }),
  next: [job(12488), job(12489)],
  next_complete: true,
  arrivals: [job(12489, { created_at: timeAt(-20) })],
  ...change,
});

const listOf = (queues: ListedQueue[], states: QueueStates | null = null) => ({
  queues,
  next_cursor: null,
  count: queues.length,
  states,
});

test("The list shows how many jobs of each queue are due, and which worker has locked the queue. If the worker is alive, the queue is shown as locked, not as stuck.", async () => {
  const page = await openPage("/queues");
  const runs = queue("mail", {
    locked_at: timeAt(-4),
    locked_by: "worker-a",
    holder: "alive",
    failed: value(2),
  });
  page.answer("api/queues", listOf([stuck("crm:acme"), runs, queue("idle", { ready: value(0) })]));
  assert.deepEqual(rows(page), [
    "crm:acmeStuck 2 h48000" + "2 hworker-cUnlock…",
    "mailLocked302" + "1 mworker-a · 4 sPause…",
    "idleIdle000" + "1 mnonePause…",
  ]);
  const link = page.one((e) => e.tag === "a" && textOf([e]) === "crm:acme");
  assert.equal(link.attrs["href"], "#/queues/crm%3Aacme");
  assert.match(page.text, /3, by severity/);
});

test("An estimated number of a queue's jobs is marked as an estimate.", async () => {
  const page = await openPage("/queues");
  const about = { precision: "estimated", low: 1_100_000, high: 1_300_000, basis: "sample" };
  page.answer("api/queues", listOf([queue("big", { ready: value(1_200_000, about) })]));
  assert.match(page.text, /bigReady≈ 1\.2 M00/);
});

test("The list can be limited to stuck queues, and shows a message if there are none.", async () => {
  const page = await openPage("/queues?only=stuck");
  assert.equal(page.requestOf("api/queues").path, "api/queues?limit=100&sort=stuck&only=stuck");
  page.answer("api/queues", listOf([]));
  assert.match(page.text, /No stuck queues/);
  page.go("/queues");
  page.answer("api/queues", listOf([]));
  assert.match(page.text, /No named queues/);
});

test("Queues are filtered by their state, and the link for a state that was not counted has no number.", async () => {
  const page = await openPage("/queues");
  const tabs = () =>
    page
      .all((e) => e.tag === "a" && String(e.attrs["href"]).startsWith("#/queues?only="))
      .map((e) => textOf([e]));
  const states = { stuck: 1, running: 48, failed: 3, ready: 312, scheduled: 20, idle: 4617 };
  page.answer("api/queues", listOf([queue("mail")], states));
  assert.deepEqual(tabs(), [
    ...["Stuck1", "Failed3", "Ready312", "Locked48", "Scheduled20", "Idle4,617"],
  ]);
  for (const only of ["failed", "ready", "running", "scheduled", "idle"]) {
    page.go(`/queues?only=${only}`);
    assert.equal(page.requestOf("api/queues").path, `api/queues?limit=100&sort=stuck&only=${only}`);
    page.answer("api/queues", listOf([], states));
  }
  assert.match(page.text, /No idle queuesAll queues/);
  page.go("/queues?only=failed");
  page.answer(
    "api/queues",
    listOf([], { ...states, failed: null, ready: null, scheduled: null, idle: null }),
  );
  assert.deepEqual(tabs(), ["Stuck1", "Failed", "Ready", "Locked48", "Scheduled", "Idle"]);
  assert.match(page.text, /Only some jobs were counted, so there may be such queues/);
});

test("A queue is unlocked from the list after a dialog has shown what the unlock releases.", async () => {
  const page = await openPage("/queues");
  page.answer("api/queues", listOf([stuck("crm:acme")]));
  page.click("Unlock…");
  page.answer("api/workers/worker-c", holder({ running: value(1), locked_queues: 3 }));
  page.pass(10);
  assert.match(
    page.dialogText,
    /^Unlock worker-cUnlocking worker-c releases 1 job and 3 queues\. Its last heartbeat was 2 h ago\./,
  );
  page.click("Unlock worker-c");
  assert.equal(
    page.requestOf("api/maintenance").body,
    '{"action":"force-unlock","worker_ids":["worker-c"]}',
  );
});

test("A worker that is no longer listed can still be unlocked.", async () => {
  const page = await openPage("/queues");
  page.answer("api/queues", listOf([stuck("crm:acme")]));
  page.click("Unlock…");
  page.answer("api/workers/worker-c", { error: "no such worker", code: "not_found" }, 404);
  page.pass(10);
  assert.match(page.dialogText, /^Unlock worker-c/);
});

test("The dialog of an unlock does not open over another page.", async () => {
  const page = await openPage("/queues");
  page.answer("api/queues", listOf([stuck("crm:acme")]));
  page.click("Unlock…");
  page.go("/limits");
  page.answer("api/workers/worker-c", holder());
  page.pass(10);
  assert.equal(page.dialog, undefined);
});

test("Spaces at the ends of a name are kept and pointed out.", async () => {
  const page = await openPage("/queues");
  page.answer("api/queues", listOf([queue(" mail ")]));
  const name = page.one((e) => String(e.attrs["class"]).includes("exact"));
  assert.equal(textOf([name]), " mail ");
  assert.equal(name.attrs["title"], " mail : It begins or ends with a space");
  const link = page.one((e) => e.tag === "a" && textOf([e]) === " mail ");
  assert.equal(link.attrs["href"], "#/queues/%20mail%20");
});

for (const hidden of ["\u200b", "\u061c", "\u{e0041}"]) {
  test(`A name with the hidden character U+${hidden.codePointAt(0)?.toString(16)} is pointed out.`, async () => {
    const page = await openPage("/queues");
    page.answer("api/queues", listOf([queue(`ma${hidden}il`)]));
    const name = page.one((e) => String(e.attrs["class"]).includes("exact"));
    assert.match(String(name.attrs["title"]), /: It has characters that can't be seen$/);
  });
}

test("The page of a stuck queue shows how many jobs wait, the worker that has locked the queue, and one action that unlocks it.", async () => {
  const page = await openPage("/queues/crm%3Aacme");
  assert.equal(page.requestOf("api/queues/").path, "api/queues/crm%3Aacme?limit=15");
  page.answer("api/queues/", details());
  page.answer("api/workers/worker-c", holder());
  assert.match(page.text, /Nothing has moved for 2 h; 480 jobs wait\./);
  assert.match(page.text, /crm:acme is locked by import_contacts #12481/);
  assert.match(page.text, /worker-c is not responding: no heartbeat for 2 h/);
  assert.match(
    page.text,
    /unlocking releases 1 job and 1 queue; #12481 runs again as attempt 2 of 25/,
  );
  page.click("Unlock worker-c…");
  assert.match(page.dialogText, /releases 1 job and 1 queue\. Its last heartbeat was 2 h ago/);
  page.click("Unlock worker-c");
  assert.equal(
    page.requestOf("api/maintenance").body,
    '{"action":"force-unlock","worker_ids":["worker-c"]}',
  );
});

test("The page of a stuck queue shows that a job on its last attempt fails when its worker is unlocked.", async () => {
  const page = await openPage("/queues/crm%3Aacme");
  const running = job(5, { attempts: 1, max_attempts: 1, locked_at: timeAt(-7740) });
  page.answer("api/queues/", details({ running }));
  page.answer("api/workers/worker-c", holder());
  assert.match(page.text, /releases 1 job and 1 queue; #5 fails: it has no attempts left/);
  assert.doesNotMatch(page.text, /runs again/);
});

test("The page of a queue lists its jobs in the order in which they will run, with what each of them waits for.", async () => {
  const page = await openPage("/queues/crm%3Aacme");
  page.answer("api/queues/", details());
  assert.deepEqual(rows(page), [
    "Runningimport_contacts#12481worker not respondingrunning1 of 25",
    "Blockedsync_contact#12488after #124812 h late0 of 25",
    "Blockedsync_contact#124891 ahead2 h late0 of 25",
  ]);
  const all = page.one((e) => e.tag === "a" && textOf([e]) === "All 481");
  assert.equal(all.attrs["href"], "#/jobs?q=queue%3A%22crm%3Aacme%22");
});

test("Each number of a queue links to the jobs that it counts.", async () => {
  const page = await openPage("/queues/mail");
  const some = { ready: value(3), scheduled: value(8), failed: value(2), total: value(13) };
  page.answer("api/queues/", details({ queue: queue("mail", some), running: null }));
  const query = (number: string) => {
    const link = page.one((e) => e.tag === "a" && textOf([e]) === number);
    return decodeURIComponent(String(link.attrs["href"]).replace("#/jobs?q=", ""));
  };
  assert.equal(query("3"), 'queue:"mail" is:due');
  assert.equal(
    query("8"),
    'queue:"mail" is:scheduled,retrying -is:due',
    "the query of the scheduled jobs includes future retries",
  );
  assert.equal(query("2"), 'queue:"mail" is:failed');
});

test("The rate of arrivals counts only jobs that were added in the last 10 minutes.", async () => {
  const rate = async (ages: number[]) => {
    const page = await openPage("/queues/crm%3Aacme");
    const arrivals = ages.map((age, n) => job(12489 - n, { created_at: timeAt(-age) }));
    page.answer("api/queues/", details({ arrivals }));
    return /Last added.*?ago([\d.]+\/min)?/.exec(page.text)?.[1];
  };
  assert.equal(await rate([20, 50, 80, 110, 140]), "2.0/min");
  assert.equal(
    await rate([86_420, 86_450, 86_480, 86_510, 86_540]),
    undefined,
    "jobs that were added yesterday are not counted",
  );
  assert.equal(await rate([20, 50, 80, 110, 140, 9_000]), "2.0/min");
});

test("If a worker that is alive has locked a queue, the queue's page shows that the worker is alive, and offers no unlock.", async () => {
  const page = await openPage("/queues/mail");
  const runs = queue("mail", { locked_at: timeAt(-4), locked_by: "worker-a", holder: "alive" });
  page.answer("api/queues/", details({ queue: runs, running: job(5), next: [] }));
  page.answer(
    "api/workers/worker-a",
    holder({ worker_id: "worker-a", last_heartbeat_at: timeAt(-2) }),
  );
  assert.match(page.text, /Locked for [^.]*\. Its worker is alive\. 3 jobs wait behind it\./);
  assert.match(page.text, /worker-a, last heartbeat 2 s ago/);
  assert.equal(page.hasButton("Unlock worker-a…"), false);
});

test("If the worker that has locked a queue never sent a heartbeat, the queue's page shows the advice to check the worker, not the words “not responding”.", async () => {
  const page = await openPage("/queues/mail");
  const held = { locked_at: timeAt(-20000), locked_by: "stock-1", holder: "unknown" } as const;
  const old = queue("mail", { ...held, stuck_since: timeAt(-20000) });
  page.answer("api/queues/", details({ queue: old, running: null, next: [] }));
  assert.match(page.text, /check that it is still running/);
  assert.doesNotMatch(page.text, /not responding/);
  page.button("Unlock stock-1…");
});

test("Without a connection to the server, the page of a queue shows clock times instead of ages.", async () => {
  const page = await openPage("/queues/crm%3Aacme");
  page.answer("api/queues/", details());
  page.answer("api/workers/worker-c", holder());
  page.pass(15_000);
  assert.match(page.text, /Nothing has moved since 10:51:00; 480 jobs wait\./);
  assert.match(page.text, /Offline$|Offline[^ ]/);
});

test("If the estimated number of due jobs is 0, but a due job was found, the queue's page does not show that nothing is due.", async () => {
  const page = await openPage("/queues/mail");
  const none = value(0, { precision: "estimated", low: 0, high: 90 });
  const idle = queue("mail", { ready: none, scheduled: value(40), total: value(43) });
  const retry = job(5, { attempts: 3, run_at: timeAt(-60) });
  page.answer("api/queues/", details({ queue: idle, running: null, next: [retry] }));
  assert.match(page.text, /Not locked\.Waiting≈ 0/);
  assert.doesNotMatch(page.text, /Nothing is due/);
  page.app.dispatch("app.retry", "", "");
  page.answer("api/queues/", details({ queue: idle, running: null, next: [] }));
  assert.match(page.text, /Nothing is due\. 40 jobs are due later\./);
});

test("A read-only page of a stuck queue has no action.", async () => {
  const page = await openPage("/queues/crm%3Aacme", { read_only: true });
  page.answer("api/queues/", details());
  page.answer("api/workers/worker-c", holder());
  assert.match(page.text, /Nothing has moved/);
  assert.equal(page.hasButton("Unlock worker-c…"), false);
});

test("The page of a queue shows that only some jobs were searched, or that the queue does not exist.", async () => {
  const page = await openPage("/queues/crm%3Aacme");
  page.answer("api/queues/", details({ next_complete: false }));
  assert.match(page.text, /Only the first due jobs were searched/);
  page.go("/queues/gone");
  page.answer("api/queues/gone", { error: "the queue does not exist", code: "not_found" }, 404);
  assert.match(page.text, /Queue not foundNo queue is named “gone”/);
});

test("The open queue is requested again within 2 seconds of new counts; without new counts, it is requested seldom.", async () => {
  const page = await openPage("/queues/crm%3Aacme");
  page.app.onStreamOpen();
  page.answer("api/queues/", details());
  const requested = () => page.requests.filter(({ path }) => path.startsWith("api/queues/")).length;
  page.pass(10_000);
  assert.equal(requested(), 1);
  feed(page, { counts: counts() });
  page.pass(2_000);
  assert.equal(requested(), 2);
});

test("While something is paused, the list of queues is requested every few seconds.", async () => {
  const page = await openPage("/queues");
  page.app.onStreamOpen();
  const list = { queues: [queue("crm")], next_cursor: null, count: 1 };
  page.answer("api/queues", list);
  const requested = () => page.requests.filter(({ path }) => path.startsWith("api/queues?")).length;
  feed(page, { incidents: incidents([incident()]) });
  page.pass(10_000);
  assert.equal(requested(), 1);
  feed(page, { incidents: incidents([incident({ id: "paused:queue:crm", kind: "paused" })]) });
  page.pass(5_000);
  assert.equal(requested(), 2);
});

test("A queue whose name is empty, one dot or two dots is opened by a parameter of the address.", async () => {
  const page = await openPage("/queues");
  const names = ["", ".", "..", "..."];
  page.answer("api/queues", {
    queues: names.map((name, id) => queue(name, { id })),
    next_cursor: null,
    count: 4,
  });
  for (const name of names) page.app.dispatch("queues.open", name, "");
  assert.deepEqual(page.navigations, [
    "/queue?name=",
    "/queue?name=.",
    "/queue?name=..",
    "/queues/...",
  ]);
  page.go("/queue?name=..");
  assert.equal(page.requestOf("api/queue?").path, "api/queue?name=..&limit=15");
  page.go("/queue?name=");
  assert.equal(page.requestOf("api/queue?").path, "api/queue?name=&limit=15");
});
