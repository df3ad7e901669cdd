// Tests the page of all workers and the pages of single workers.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { ListedWorker } from "../../ui/generated/records.ts";
import { collect, ensureBuilt, type Page, textOf } from "./harness.ts";
import { feed, incident, incidents, openPage, pulse, queue, timeAt, value } from "./sample.ts";

before(ensureBuilt);

const worker = (worker_id: string, change: Partial<ListedWorker> = {}): ListedWorker => ({
  worker_id,
  state: "alive",
  level: "ok",
  started_at: timeAt(-3 * 86_400),
  last_heartbeat_at: timeAt(-2),
  host: "prod-a-51c",
  pid: 812,
  version: "0.1.0",
  node: "24.21.0",
  slots: 20,
  tasks: ["charge_card", "send_email"],
  tasks_complete: true,
  running: value(18, { basis: "heartbeat" }),
  fetched: 0,
  locked_jobs: 18,
  locked_queues: 6,
  oldest_lock_at: timeAt(-4),
  done: 900,
  failed: 3,
  done_per_min: 41.6,
  failed_per_min: 0.4,
  current: [],
  by_task: [],
  queues: [],
  ...change,
});

const staleWorker = (id: string, change: Partial<ListedWorker> = {}) =>
  worker(id, {
    state: "stale",
    level: "bad",
    last_heartbeat_at: timeAt(-7800),
    running: value(1),
    fetched: null,
    locked_jobs: 1,
    locked_queues: 1,
    oldest_lock_at: timeAt(-7740),
    done_per_min: null,
    failed_per_min: null,
    current: [{ id: 12481, task: "import_contacts", since: timeAt(-7740) }],
    ...change,
  });

/** A Graphile worker, which sends no heartbeats. */
const stock = (id: string, change: Partial<ListedWorker> = {}) =>
  worker(id, {
    state: "unknown",
    started_at: null,
    last_heartbeat_at: null,
    host: null,
    pid: null,
    version: null,
    node: null,
    slots: null,
    tasks: [],
    tasks_complete: false,
    running: value(2),
    fetched: null,
    locked_jobs: 2,
    locked_queues: 0,
    done: null,
    failed: null,
    done_per_min: null,
    failed_per_min: null,
    ...change,
  });

const listOf = (workers: ListedWorker[], next_cursor: string | null = null) => {
  const of = (state: string) => workers.filter((one) => one.state === state).length;
  const counts = { alive: of("alive"), stale: of("stale"), unknown: of("unknown") };
  return { workers, next_cursor, counts };
};

const rows = (page: Page, name: string) => {
  const table = page.one(
    (e) => e.tag === "table" && String(e.attrs["class"]).split(" ").includes(name),
  );
  const [body] = collect([table], (e) => e.tag === "tbody");
  return (body?.children ?? []).map((row) => textOf([row]));
};

const bodyOf = (page: Page) => page.requestOf("api/maintenance").body;

test("The list of workers shows whether each worker responds, how busy it is, and what it has locked.", async () => {
  const page = await openPage("/workers");
  assert.equal(page.requestOf("api/workers").path, "api/workers?limit=100&sort=state&fields=row");
  page.answer(
    "api/workers",
    listOf([staleWorker("worker-c"), stock("stock-1"), worker("worker-a")]),
  );
  assert.deepEqual(rows(page, "workers"), [
    "worker-cnot responding 2 hprod-a-51c0.1.01 of 201Unlock…",
    "stock-1no heartbeats20",
    "worker-a2 s agoprod-a-51c0.1.03 d18 of 20426",
  ]);
  assert.match(page.text, /1 of 2 alive \(18 of 20 slots busy\), 1 without heartbeats/);
  assert.deepEqual(rows(page, "running"), ["Runningimport_contacts#12481worker-c2 h"]);
});

test("Jobs that are fetched and not started take no slots.", async () => {
  const page = await openPage("/workers");
  const busy = worker("worker-a", { running: value(8), slots: 8, fetched: 45, locked_jobs: 53 });
  const idle = worker("worker-b", { running: value(0), slots: 4, locked_jobs: 0 });
  page.answer("api/workers", listOf([busy, idle]));
  assert.match(page.text, /2 of 2 alive \(8 of 12 slots busy, 45 more fetched\)/);
  const [first = "", second = ""] = rows(page, "workers");
  assert.match(first, /8 of 8\+45 fetched/);
  assert.match(second, /0 of 4(?!\+)/);
  page.go("/workers/worker-a");
  page.answer("api/workers/", busy);
  assert.match(page.text, /8 of 8 slots in use, 45 more fetched\./);
  assert.match(page.text, /Fetched45not started/);
});

test("If a worker has more jobs than slots, its jobs are not shown as busy slots.", async () => {
  const page = await openPage("/workers");
  const odd = worker("worker-a", { running: value(14), slots: 12 });
  const gone = staleWorker("worker-c", { locked_jobs: 9, slots: 4 });
  page.answer("api/workers", listOf([odd, gone, worker("worker-b")]));
  assert.doesNotMatch(page.text, /slots busy|14 of 12|9 of 4/);
  page.go("/workers/worker-a");
  page.answer("api/workers/", odd);
  assert.match(page.text, /Runs 14 jobs\./);
});

test("If heartbeats report a worker's jobs, each job's run time is shown as of the last heartbeat, and does not grow between heartbeats.", async () => {
  const running = { basis: "heartbeat" };
  const report = (seconds: number, change: Partial<ListedWorker> = {}) =>
    worker("worker-a", {
      last_heartbeat_at: timeAt(seconds),
      running: value(1, running),
      current: [{ id: 7, task: "charge_card", since: timeAt(-8) }],
      ...change,
    });
  const page = await openPage("/workers/worker-a");
  feed(page, { pulse: pulse() });
  page.answer("api/workers/", report(-3));
  page.pass(3000);
  feed(page, { pulse: pulse({ at: timeAt(3) }) });
  assert.deepEqual(rows(page, "holds"), ["Runningcharge_card#75 s"]);
  assert.match(page.text, /Running jobsat the last heartbeat, 6 s ago/);
  assert.match(page.text, /Running1the longest for 5 s/);
  page.go("/workers");
  const old = report(-900, { state: "stale", level: "bad", locked_jobs: 1 });
  const since = timeAt(-1100);
  page.answer("api/workers", {
    ...listOf([
      { ...old, current: [{ id: 7, task: "charge_card", since }] },
      staleWorker("recovered", {
        ...report(-900),
        worker_id: "recovered",
        state: "stale",
        locked_jobs: 0,
      }),
    ]),
  });
  assert.match(page.text, /Running longestas of the last heartbeat/);
  assert.deepEqual(rows(page, "running"), ["Runningcharge_card#7worker-a3 m 20 s15 m ago"]);
});

test("A worker without heartbeats is never shown as not responding, and is amber only if its level is warn.", async () => {
  const page = await openPage("/workers");
  const old = { level: "warn", oldest_lock_at: timeAt(-5 * 3600) };
  page.answer("api/workers", listOf([stock("old", old), stock("young")]));
  assert.deepEqual(rows(page, "workers"), [
    "oldno heartbeats for 5 h20Unlock…",
    "youngno heartbeats20",
  ]);
  const state = page.one((e) => e.tag === "td" && textOf([e]) === "no heartbeats for 5 h");
  assert.equal(state.attrs["class"], "amber");
  assert.doesNotMatch(page.text, /is not responding/);
});

test("A worker that is not responding can be unlocked from the list; the dialog first shows what the unlock releases.", async () => {
  const page = await openPage("/workers");
  page.answer("api/workers", listOf([staleWorker("worker-c"), worker("worker-a")]));
  page.click("Unlock…");
  page.pass(10);
  assert.match(
    page.dialogText,
    /^Unlock worker-cUnlocking worker-c releases 1 job and 1 queue\. Its last heartbeat was 2 h ago\. Unlocks the jobs and queues of this worker; jobs with attempts left can run again\./,
  );
  page.click("Unlock worker-c");
  assert.equal(bodyOf(page), '{"action":"force-unlock","worker_ids":["worker-c"]}');
  page.answer("api/maintenance", { message: "Unlocked 1 job and 1 queue of 1 worker" });
  assert.deepEqual(page.notices, ["Unlocked 1 job and 1 queue of 1 worker"]);
  page.answer("api/workers", listOf([worker("worker-a")]));
  assert.equal(rows(page, "workers").length, 1);
});

test("Several workers can be unlocked together; the dialog warns if some of them still respond.", async () => {
  const page = await openPage("/workers");
  page.answer(
    "api/workers",
    listOf([staleWorker("worker-c"), staleWorker("worker-d"), worker("worker-a")]),
  );
  page.app.dispatch("workers.all", "", "");
  assert.match(page.text, /3 selected/);
  page.app.dispatch("workers.unlock", "", "");
  page.pass(10);
  assert.match(
    page.dialogText,
    /^Unlock 3 workersUnlocking 3 workers releases 20 jobs and 8 queues\. 1 of them is alive: its running jobs would run twice\./,
  );
  page.click("Unlock 3 workers");
  assert.equal(
    bodyOf(page),
    '{"action":"force-unlock","worker_ids":["worker-c","worker-d","worker-a"]}',
  );
  page.answer("api/maintenance", { message: "Unlocked" });
  assert.doesNotMatch(page.text, /\d selected/);
});

test("After an unlock, the notice is a warning if fewer workers were unlocked than requested, and an error if the answer is invalid.", async () => {
  const shown = async (body: unknown) => {
    const page = await openPage("/workers");
    page.answer("api/workers", listOf([staleWorker("worker-c")]));
    page.click("Unlock…");
    page.pass(10);
    page.click("Unlock worker-c");
    page.answer("api/maintenance", body);
    const notice = page.one((e) => String(e.attrs["class"]).startsWith("notice "));
    return `${notice.attrs["class"]}: ${textOf([notice])}`;
  };
  const message = "Unlocked 0 jobs and 0 queues of 0 workers";
  assert.equal(await shown({ message, requested: 1, done: 1 }), `notice good: ${message}`);
  assert.equal(await shown({ message, requested: 1, done: 0 }), `notice warn: ${message}`);
  assert.match(
    await shown("{"),
    /^notice bad: The change was made, but the server's answer is invalid/,
  );
});

test("The page of a worker that is not responding shows the time of its last heartbeat, how many jobs wait, and one action that unlocks the worker.", async () => {
  const page = await openPage("/workers/worker-c");
  assert.equal(page.requestOf("api/workers/").path, "api/workers/worker-c");
  page.answer(
    "api/workers/",
    staleWorker("worker-c", {
      queues: [
        queue("crm:acme", {
          ready: value(480),
          locked_at: timeAt(-7740),
          oldest_ready_at: timeAt(-7700),
        }),
      ],
    }),
  );
  assert.match(
    page.text,
    /Not responding: no heartbeat for 2 h\. The last one came at 10:50:00\. It has locked 1 job and 1 queue; 480 jobs wait behind them\./,
  );
  assert.match(page.text, /Jobs blocked480oldest 2 h/);
  assert.deepEqual(rows(page, "holds"), [
    "Runningimport_contacts#124812 hruns again if attempts are left",
    "crm:acme2 h480 jobs run, one at a time",
  ]);
  assert.match(page.text, /it may finish #12481 while another worker runs it again/);
  assert.match(page.text, /\$ worker unlock worker-c/);
  page.click("Unlock…");
  assert.match(page.dialogText, /Unlocking worker-c releases 1 job and 1 queue/);
  page.click("Unlock");
  assert.equal(bodyOf(page), '{"action":"force-unlock","worker_ids":["worker-c"]}');
});

test("On the pages of one worker and of all workers, a dialog shows only the locks of the workers that it unlocks.", async () => {
  const other = fixOf("Unlock…", "force-unlock", "/api/maintenance", { worker_ids: ["worker-d"] });
  const own = fixOf("Unlock…", "force-unlock", "/api/maintenance", { worker_ids: ["worker-c"] });
  const resume = fixOf("Resume…", "resume", "/api/pauses", { scope: "all" });
  const cancel = fixOf("Cancel…", "cancel", "/api/jobs/action", { ids: [7] });
  for (const path of ["/workers/worker-c", "/workers"]) {
    const page = await openPage(path);
    feed(page, {
      incidents: incidents([incident({ fix: other, sentence: "worker-d is stale." })]),
    });
    const held = staleWorker("worker-c");
    page.answer("api/workers", path === "/workers" ? listOf([held]) : held);
    page.click("Unlock…");
    page.pass(10);
    const text = (fix: object) => {
      page.app.dispatch("ask.verb", JSON.stringify(fix), "");
      return page.dialogText;
    };
    assert.match(
      text(other),
      /^Unlock worker-dworker-d is stale\. Unlocks the jobs and queues of this worker/,
    );
    assert.match(text(own), /^Unlock worker-cUnlocking worker-c releases 1 job and 1 queue\./);
    for (const fix of [resume, cancel]) assert.doesNotMatch(text(fix), /Unlocking|worker-/);
  }
});

const fixOf = (label: string, action: string, path: string, body: object) => ({
  ...{ action, label },
  post: { path, body: { action, ...body } },
});

test("If all jobs of a worker were recovered, the worker's page shows no locked jobs and no action.", async () => {
  const page = await openPage("/workers/worker-c");
  page.answer("api/workers/", staleWorker("worker-c", { locked_jobs: 0, locked_queues: 0 }));
  assert.match(page.text, /Not responding: no heartbeat for 2 h\. .* It holds no locks\./);
  assert.equal(page.hasButton("Unlock…"), false);
  assert.doesNotMatch(page.text, /#12481|In a shell|Only unlock/);
});

test("The page of a worker that responds shows its jobs, tasks and counts, and no action.", async () => {
  const page = await openPage("/workers/worker-a");
  page.answer(
    "api/workers/",
    worker("worker-a", {
      current: [{ id: 7, task: "charge_card", since: timeAt(-12) }],
      by_task: [{ task: "charge_card", done: 880, failed: 3 }],
      tasks_complete: false,
    }),
  );
  assert.match(page.text, /Alive\. Last heartbeat 2 s ago\. 18 of 20 slots in use\./);
  assert.match(page.text, /Jobs\/min420\.4 failed/);
  assert.match(page.text, /charge_cardsend_emailand more that it does not report/);
  assert.deepEqual(rows(page, "tallies"), ["charge_card8803"]);
  assert.deepEqual(rows(page, "holds"), ["Runningcharge_card#710 s"]);
  assert.equal(page.hasButton("Unlock…"), false);
  const job = page.one((e) => e.tag === "a" && e.attrs["href"] === "#/jobs/7");
  assert.ok(job);
});

test("A worker without heartbeats is not shown as crashed, and can be unlocked.", async () => {
  const page = await openPage("/workers/stock-1");
  page.answer("api/workers/", stock("stock-1"));
  assert.match(page.text, /No heartbeats\. It has locked 2 jobs and 0 queues\./);
  assert.match(page.text, /check that it is still running/);
  assert.ok(page.hasButton("Unlock…"));
  assert.doesNotMatch(page.text, /not responding|crash/);
});

test("If the server does not find a worker, the page of this worker shows that the worker sends no heartbeats.", async () => {
  const page = await openPage("/workers/w%201");
  page.answer("api/workers/", { error: "no", code: "not_found" }, 404);
  assert.match(page.text, /Worker not found.*“w 1” sends no heartbeats/);
  assert.equal(page.title, "Worker w 1 · worker");
});

test("The list of workers is requested again even if no job changes.", async () => {
  const page = await openPage("/workers");
  feed(page, { pulse: pulse() });
  page.answer("api/workers", listOf([worker("worker-a")]));
  const requested = () => page.requests.filter(({ path }) => path.startsWith("api/workers")).length;
  assert.equal(requested(), 1);
  page.pass(10_000);
  assert.equal(requested(), 1);
  page.pass(6_000);
  assert.equal(requested(), 2);
});

test("On a read-only page, workers have no actions. If the page receives nothing from the server, it shows times of day instead of ages.", async () => {
  const page = await openPage("/workers", { read_only: true });
  feed(page, { pulse: pulse() });
  page.answer("api/workers", listOf([staleWorker("worker-c")]));
  assert.equal(page.hasButton("Unlock…"), false);
  assert.equal(page.all((e) => e.attrs["type"] === "checkbox").length, 0);
  page.pass(20_000);
  assert.match(page.text, /not responding since 10:50:00/);
});

test("The page of all workers shows the differences between workers, and the incidents about tasks that no worker supports.", async () => {
  const page = await openPage("/workers");
  const differences = [
    { kind: "worker", name: "worker-e", text: "runs 2.0.4; the others run 2.1.0." },
    { kind: "workers", name: "3 workers", text: "run 2.0.3; the most frequent version is 2.1.0." },
    { kind: "task", name: "build_index", text: "is supported by 2 of 5." },
  ];
  page.answer("api/workers", { ...listOf([worker("worker-e")]), differences });
  assert.match(
    page.text,
    /Differences between workersworker-e runs 2\.0\.4; the others run 2\.1\.0\./,
  );
  const link = (name: string) => page.all((e) => e.tag === "a" && textOf([e]) === name);
  assert.equal(link("build_index")[0]?.attrs["href"], "#/jobs?q=task%3Abuild_index");
  assert.equal(link("3 workers").length, 0);
  const title = "send_webhook has no worker";
  const sentence = "180 jobs wait for one.";
  feed(page, { incidents: incidents([incident({ kind: "unsupported_task", title, sentence })]) });
  assert.match(page.text, /send_webhook has no worker\. 180 jobs wait for one\./);
});
