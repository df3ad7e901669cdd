import assert from "node:assert/strict";
import { before, test } from "node:test";
import { shellWord } from "../../src/domain/portable/shell-word.ts";
import { workerLine } from "../../src/domain/portable/worker-line.ts";
import type { ListedJob, Why } from "../../ui/generated/records.ts";
import { type Element, ensureBuilt, NOON, type Page, textOf } from "./harness.ts";
import { failedJob, job, jobs, lockedJob, openPage, timeAt, value } from "./sample.ts";

before(ensureBuilt);

const why = (change: Partial<Why> = {}): Why => ({
  id: 7,
  condition: "ready",
  sentence: "Waits for a free worker.",
  since: timeAt(-60),
  causes: [],
  ahead: null,
  of: null,
  next_attempts: [],
  last_attempt_at: null,
  same_error: null,
  error_group: null,
  as_of: timeAt(0),
  ...change,
});

const failed = (change: Partial<Why> = {}) =>
  why({
    condition: "failed",
    sentence: "Will not run again. All 25 attempts are used up. 8 other jobs have this error.",
    same_error: value(9),
    error_group: "0123456789ab",
    ...change,
  });

async function openJob(one: ListedJob | string, reason: Why): Promise<Page> {
  const page = await openPage("/jobs/7");
  page.answer("api/jobs/7?fields=head", one);
  page.answer("api/jobs/7/why", reason);
  return page;
}

const withPayload = (payload: string) =>
  JSON.stringify(job(7)).replace('{"to":"ana@example.com"}', payload);

test("The page of a job explains the job's condition, with a link to the jobs with the same error.", async () => {
  const one = failedJob(7, { key: "k1", queue_name: "mail", flags: { slow: true } });
  const page = await openJob(one, failed());
  assert.match(page.text, /send_email#7Failed/);
  assert.equal(page.title, "Job 7 · worker");
  assert.match(page.text, /Will not run again\./);
  const others = page.one((e) => e.tag === "a" && /other jobs/.test(textOf([e])));
  assert.equal(textOf([others]), "8 other jobs have this error.");
  assert.match(String(others.attrs["href"]), /0123456789ab/);
  assert.match(page.text, /Flagsslow/);
  assert.match(page.text, /Attempts25 of 25/);
  assert.match(page.text, /\$ worker retry 7/);
});

test("A fetched job shows no start; a failed job shows when its last attempt failed, if the time is known.", async () => {
  const facts = (page: Page) => textOf(page.all((e) => e.tag === "aside")) || page.text;
  const fetched = await openJob(lockedJob(7), why({ condition: "fetched" }));
  assert.match(facts(fetched), /Fetched\d\d:\d\d:\d\d, 12 s ago/);
  assert.doesNotMatch(facts(fetched), /Locked/);
  const running = await openJob(lockedJob(7), why({ condition: "running" }));
  assert.match(facts(running), /Locked12:59:48, 12 s ago/);
  const changed = failedJob(7, { updated_at: timeAt(-86_400) });
  const failure = await openJob(changed, failed({ since: timeAt(-120) }));
  assert.match(facts(failure), /Last attempt12:58:00, 2 m ago/);
  const cancelled = failedJob(7, { error_line: "cancelled: wrong file" });
  assert.doesNotMatch(facts(await openJob(cancelled, failed())), /Last attempt/);
  assert.doesNotMatch(facts(await openJob(changed, failed({ since: null }))), /Last attempt/);
  for (const error_line of ["Marked failed by an operation", "Manually marked as failed"]) {
    const byHand = facts(await openJob(failedJob(7, { error_line }), failed()));
    assert.doesNotMatch(byHand, /Last attempt|25 of 25/, error_line);
  }
});

test("A cancelled job shows no number of attempts, because the cancellation has changed that number.", async () => {
  const sentence = "Will not run again. Cancelled: wrong file; 3 s ago.";
  const page = await openJob(
    failedJob(7, { error_line: "cancelled: wrong file" }),
    failed({ sentence }),
  );
  assert.match(page.text, /Cancelled: wrong file/);
  assert.doesNotMatch(page.text, /25 attempts|Attempts25/);
});

test("In a stack trace the application's own frames are marked, and all other frames are folded.", async () => {
  const last_error = [
    "TypeError: no coffee",
    "    at brew (/app/tasks/pot.js:4:2)",
    "    at Client.query (/app/node_modules/pg/lib/client.js:526:17)",
    "    at Object.handler [as handle] (chunk-XAPMQ3VN.js:448:41)",
    "    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)",
    "    at async run (/app/tasks/run.js:9:1)",
    "  [cause]: Error: \u202ecold",
  ].join("\n");
  const page = await openJob(failedJob(7, { last_error }), failed());
  const own = page.all((e) => e.attrs["class"] === "own").map((e) => textOf([e]));
  assert.deepEqual(own, ["brewtasks/pot.js:4", "async runtasks/run.js:9"]);
  assert.match(page.text, /Last error2 frames in your code/);
  const fold = page.one((e) => e.tag === "summary" && /frames/.test(textOf([e])));
  assert.equal(textOf([fold]), "3 frames in Node.js and dependencies");
  assert.ok(page.text.includes("\\u202ecold") && !page.text.includes("\u202e"));
  page.click("Show as text");
  assert.equal(textOf([page.one((e) => e.tag === "pre")]), last_error.replace("\u202e", "\\u202e"));
  const copy = page.one((e) => e.attrs["aria-label"] === "Copy the error");
  assert.equal(copy.attrs["data-arg"], last_error);
});

test("Only the first 12 of the application's frames are shown; lines between frames do not count as frames.", async () => {
  const frames = (count: number) =>
    Array.from({ length: count }, (_, i) => `    at step${i} (/app/tasks/steps.js:${i + 1}:1)`);
  const cause = "  [cause]: Error: cold";
  const last_error = ["Error: no coffee", ...frames(1), cause, cause, ...frames(13)].join("\n");
  const page = await openJob(failedJob(7, { last_error }), failed());
  const fold = page.one((e) => e.tag === "summary" && /frames/.test(textOf([e])));
  assert.equal(textOf([fold]), "2 frames more, 2 in your code");
});

test("The beginning of a long error without stack frames is shown; the button Show all shows the whole error.", async () => {
  const page = await openJob(failedJob(7, { last_error: `E: ${"x".repeat(41_000)}` }), failed());
  assert.ok(page.text.length < 5_000);
  page.click("Show all 40 KB");
  assert.ok(page.text.length > 41_000);
  assert.equal(page.all((e) => e.attrs["class"] === "frames").length, 0);
});

test("The payload is shown as a tree with exact numbers, or as text that differs from the server's JSON only in white space.", async () => {
  const raw = '{"id": 12345678901234567890, "z":1.50, "z":2, "list":[1,{"a":[]}], "s":"\\u00e9"}';
  const page = await openJob(withPayload(raw), why());
  assert.match(page.text, /id12345678901234567890exact/);
  assert.match(page.text, /z1\.50z2/, "a key that comes twice is shown twice");
  assert.match(page.text, /"\\u00e9"/);
  page.click("Text");
  const text = textOf([page.one((e) => e.tag === "pre")]);
  assert.equal(text.replaceAll(/\s/g, ""), raw.replaceAll(/\s/g, ""));
  assert.match(text, /^{\n {2}"id": 12345678901234567890,\n/);
  const copy = page.one((e) => e.attrs["aria-label"] === "Copy the payload");
  assert.equal(copy.attrs["data-arg"], raw);
});

test("Payloads of all shapes are shown; a long list is shown in parts, and can be searched.", async () => {
  const deep = "[".repeat(900) + "]".repeat(900);
  for (const payload of ["null", "0", '""', "[]", "{}", "true", deep, '{"":{"":1}}']) {
    const page = await openJob(withPayload(payload), why());
    assert.match(page.text, /Payload/);
  }
  const list = JSON.stringify(Array.from({ length: 50_000 }, (_, i) => i));
  const page = await openJob(withPayload(list), why());
  assert.ok(page.all((e) => e.tag === "li").length < 200);
  page.click("Show 100 of 49,900 more items");
  assert.match(page.text, /49,800 more items/);
  page.app.dispatch("job.find", "", "4999");
  page.pass(300);
  assert.match(page.text, /15 found\[4999\]4999/);
});

test("Items of a payload beyond the maximum number of lines are not shown, but counted.", async () => {
  const list = JSON.stringify([Array.from({ length: 6_000 }, (_, i) => i), { a: 1 }]);
  const page = await openJob(withPayload(list), why());
  for (let step = 0; step < 60; step++) page.app.dispatch("job.tree-more", "1", "");
  assert.match(
    page.text,
    /4,9974997… 1,002 more items in the download… 1 more item in the download/,
  );
});

test("Objects in a payload open and close, long strings are cut, and a search finds a name.", async () => {
  const payload = JSON.stringify({ a: { b: { Deep: "x".repeat(3_000) } }, c: [] });
  const page = await openJob(withPayload(payload), why());
  assert.match(page.text, /a▾ 1 field/);
  page.click("show all 3 KB");
  assert.ok(page.text.includes("x".repeat(3_000)));
  const twist = page.all((e) => e.attrs["aria-expanded"] === "true")[0];
  page.app.dispatch("job.tree-close", String(twist?.attrs["data-arg"]), "");
  assert.match(page.text, /a▸ 1 field/);
  assert.doesNotMatch(page.text, /Deep/);
  page.app.dispatch("job.find", "", "deep");
  page.pass(300);
  assert.match(page.text, /1 founda\.b\.Deep/);
});

test("The sizes of payloads, of their parts and of errors are numbers of bytes in UTF-8.", async () => {
  const words = "排".repeat(12_000);
  const payload = JSON.stringify({ inner: { words, more: "é😀".repeat(100) } });
  assert.equal(Buffer.byteLength(payload), 36_632);
  const page = await openJob(withPayload(payload), why());
  assert.match(page.text, /Payload36 KB/);
  assert.match(page.text, /inner▾ 2 fields36 KB/);
  assert.ok(page.hasButton("show all 35 KB"));
  const search = page.one((e) => e.attrs["aria-label"] === "Find in the payload");
  assert.equal(search.attrs["placeholder"], "Find in 36 KB");
  const error = failedJob(7, { last_error: `E: ${"排".repeat(1_000)}` });
  assert.ok((await openJob(error, failed())).hasButton("Show all 3 KB"));
  const long = await openJob(withPayload(JSON.stringify("排".repeat(130_000))), why());
  long.click("Text");
  assert.match(long.text, /About 88 KB more\./);
});

test("A large payload is requested only after a click on the button Load payload.", async () => {
  const large = { payload: null, payload_truncated: true, payload_bytes: 1_258_291 };
  const page = await openJob(job(7, large), why());
  assert.match(page.text, /Payload1\.2 MB/);
  page.pass(60_000);
  assert.ok(page.requests.every(({ path }) => path !== "api/jobs/7"));
  page.click("Load payload");
  page.answer("api/jobs/7", withPayload('{"rows":[1,2]}'));
  assert.match(page.text, /rows▾ 2 items/);
  page.pass(60_000);
  page.answer("api/jobs/7?fields=head", job(7, large));
  assert.match(
    page.text,
    /rows▾ 2 items/,
    "the loaded payload is shown while the job stays the same",
  );
});

test("The beginning of a payload that is too large for one answer is shown, and the whole payload can be saved.", async () => {
  const huge = { payload: null, payload_truncated: true, payload_bytes: 400_000 };
  const page = await openJob(job(7, { ...huge, payload_packed: true }), why());
  page.click("Load payload");
  page.answer("api/jobs/7", { error: "too large", code: "too_large" }, 413);
  assert.equal(page.requests.at(-1)?.path, "api/jobs/7?fields=head&start=4000");
  page.answer("api/jobs/7?fields=head&start", job(7, { ...huge, payload_start: '{"a":"bc' }));
  assert.match(page.text, /Truncated/);
  assert.equal(textOf([page.one((e) => e.tag === "pre")]), '{"a":"bc…');
  page.click("Download payload");
  assert.deepEqual(page.downloads, ["api/jobs/7/payload"]);
  const other = await openJob(job(7, { ...huge, payload_bytes: 50_000_000 }), why());
  other.click("Load payload");
  assert.match(
    String(other.requests.at(-1)?.path),
    /start=4000$/,
    "only the beginning of a payload of 50 MB is requested",
  );
});

test("The page of a failed job shows the fields in which the jobs with the same error differ from other jobs, and the job's values of these fields.", async () => {
  const page = await openJob(failedJob(7, { payload: { currency: "EUR" } }), failed());
  page.click("Differs");
  assert.match(page.requests.at(-1)?.path ?? "", /^api\/groups\/common\?q=group%3A0123456789ab$/);
  page.answer("api/groups/common", {
    findings: [{ path: "payload.currency", value: '"EUR"', here: 1, there: 0.31, lift: 3.2 }],
    compared: { here: 9, there: 100 },
    as_of: timeAt(0),
  });
  assert.match(page.text, /currency = "EUR" in every one of them; in 31 % of the others\./);
  assert.match(page.text, /This job:currency = "EUR"/);
  const ready = await openJob(job(7), why());
  assert.equal(ready.hasButton("Differs"), false);
});

test("The message about a missing job differs from the message about an error of the server.", async () => {
  const page = await openPage("/jobs/8");
  page.answer("api/jobs/8?", { error: "There is no job 8", code: "not_found" }, 404);
  assert.match(page.text, /Job 8 not found/);
  page.go("/jobs/9");
  page.answer("api/jobs/9?", { error: "Something broke", code: "internal" }, 500);
  assert.match(page.text, /Something broke/);
  assert.doesNotMatch(page.text, /not found/);
});

test("A job that ends while its page is open stays on the page, with the recorded action that ended the job.", async () => {
  const page = await openJob(failedJob(7), failed());
  page.pass(16_000);
  page.answer("api/jobs/7/why", { error: "gone", code: "not_found" }, 404);
  assert.match(page.text, /This job no longer exists\./);
  assert.match(page.text, /send_email#7Ended/);
  assert.equal(page.hasButton("Retry…"), false);
  const message = "Completed 1 of 1 job";
  const entries = [
    { at: timeAt(3), by: "ben", ids: [70], key: null, action: "complete", message: "another" },
    { at: timeAt(2), by: "ada", ids: [5, 7], key: null, action: "complete", message },
    { at: timeAt(1), by: "ada", ids: [7], key: null, action: "retry", message: "Retried 1 job" },
  ];
  page.answer("api/activity", { entries });
  assert.match(page.text, /Completed 1 of 1 job, 14 s ago by ada/);
  const before = page.requests.length;
  page.pass(120_000);
  assert.ok(page.requests.slice(before).every(({ path }) => !path.startsWith("api/jobs/7")));
});

test("If a job that has ended exists again, its page offers the job's actions again; after a second end, the action that caused the first end is not shown.", async () => {
  const page = await openJob(failedJob(7), failed());
  const gone = { error: "gone", code: "not_found" };
  const end = () => {
    page.pass(16_000);
    page.answer("api/jobs/7/why", gone, 404);
    assert.match(page.text, /This job no longer exists\./);
  };
  end();
  const entry = { at: timeAt(2), by: "ada", ids: [7], key: null, action: "complete" };
  page.answer("api/activity", { entries: [{ ...entry, message: "Completed 1 of 1 job" }] });
  page.app.dispatch("app.retry", "", "");
  page.answer("api/jobs/7?fields=head", "", 0);
  assert.match(
    page.text,
    /This job no longer exists\./,
    "the page does not change if a request gets no answer",
  );
  page.app.dispatch("app.retry", "", "");
  page.answer("api/jobs/7?fields=head", failedJob(7));
  page.answer("api/jobs/7/why", failed());
  assert.doesNotMatch(page.text, /no longer exists|Ended/);
  page.button("Retry…");
  end();
  assert.doesNotMatch(page.text, /Completed 1 of 1 job/);
});

test("A retry is not shown as the cause of a job's end.", async () => {
  const page = await openJob(failedJob(7), failed());
  page.pass(16_000);
  page.answer("api/jobs/7/why", { error: "gone", code: "not_found" }, 404);
  const entry = { by: "ana", ids: [7], key: null };
  const entries = [
    { ...entry, at: timeAt(2), action: "retry", message: "Retried 1 of 1 job" },
    { ...entry, at: timeAt(1), action: "complete", message: "Completed 1 of 1 job" },
  ];
  page.answer("api/activity", { entries });
  assert.match(page.text, /This job no longer exists\.It finished or was removed; noticed /);
});

test("The explanation of a job is requested repeatedly; if the explanation has changed, the job is requested, too.", async () => {
  const page = await openJob(job(7), why());
  const heads = () => page.requests.filter(({ path }) => path.includes("fields=head")).length;
  page.pass(16_000);
  page.answer("api/jobs/7/why", why());
  assert.equal(heads(), 1);
  page.pass(16_000);
  page.answer(
    "api/jobs/7/why",
    why({ condition: "retrying", sentence: "Next attempt due in 2 s.", as_of: timeAt(32) }),
  );
  assert.equal(heads(), 2);
  page.answer("api/jobs/7?fields=head", job(7, { attempts: 3 }));
  assert.match(page.text, /Attempts3 of 25/);
  assert.match(page.text, /Next attempt due in 2 s\./);
});

test("A time in the server's sentences is shown in local time, with the day unless the day is today.", async () => {
  const queue = "sync 2026-03-01T12:00:00Z";
  const cause = {
    kind: "queue_locked",
    text: `This job waits for the queue ${queue}`,
    detail: "2nd of 2; due since 2026-02-28T21:39:44Z",
    ...{ is_root: false, is_broken: false, links: { queue, worker: null, job: null }, fix: null },
  };
  const sentence = "Due in 26 s, at 2026-03-01T22:59:59Z.";
  const reason = why({ condition: "blocked", sentence, causes: [cause] });
  const page = await openJob(job(7), reason);
  assert.match(page.text, /Due in 26 s, at 23:59:59\./);
  assert.match(
    page.text,
    /waits for the queue sync 2026-03-01T12:00:00Z2nd of 2; due since 28 Feb 22:39/,
  );
  page.zone = 120;
  page.answer("api/jobs/7/why", reason);
  page.pass(1000);
  assert.match(page.text, /Due in 25 s, at 2 Mar 00:59\./);
  assert.match(page.text, /Times inUTC \+02:00/);
  assert.equal(page.text.match(/UTC/g)?.length, 1);
});

test("The primary action depends on the job's condition; if a cause has a fix, the fix is the primary action.", async () => {
  const first = (page: Page) =>
    page.all((e) => / p( |$)/.test(String(e.attrs["class"]))).map((e) => textOf([e]));
  assert.deepEqual(first(await openJob(failedJob(7), failed())), ["Retry…R"]);
  const later = job(7, { state: "scheduled", run_at: timeAt(3600) });
  assert.deepEqual(first(await openJob(later, why({ condition: "scheduled" }))), ["Run now…R"]);
  const runs = await openJob(lockedJob(7), why({ condition: "running" }));
  assert.deepEqual(first(runs), []);
  const body = { action: "force-unlock", worker_ids: ["worker-c"] };
  const unlock = {
    kind: "holder_stale",
    text: "worker-c is not responding: no heartbeat for 2 h",
    detail: null,
    is_root: true,
    is_broken: true,
    links: { queue: null, worker: "worker-c", job: null },
    fix: {
      action: "force-unlock",
      label: "Unlock worker-c…",
      post: { path: "/api/maintenance", body },
    },
  };
  const blocked = await openJob(job(7), why({ condition: "blocked", causes: [unlock] }));
  assert.deepEqual(first(blocked), ["Unlock worker-c…"]);
  assert.match(blocked.text, /\$ worker unlock worker-c/);
});

test("The primary action of a job that crashes its workers is Stop retrying; once the job has failed, there is no primary action.", async () => {
  const first = (page: Page) =>
    page.all((e) => / p( |$)/.test(String(e.attrs["class"]))).map((e) => textOf([e]));
  const root = {
    ...{ detail: null, is_root: true, is_broken: true, fix: null },
    links: { queue: null, worker: null, job: null },
  };
  const body = { action: "stop-retrying", ids: [7] };
  const fix = {
    ...{ action: "stop-retrying", label: "Stop retrying…" },
    post: { path: "/api/jobs/action", body },
  };
  const waits = { ...root, kind: "not_due", text: "It is due in 5 s", fix };
  const waiting = await openJob(job(7), why({ condition: "retrying", causes: [waits] }));
  assert.deepEqual(first(waiting), ["Stop retrying…"]);
  assert.match(waiting.text, /\$ worker stop-retrying 7/);
  const exhausted = { ...root, kind: "exhausted", text: "All 25 attempts are used up" };
  const over = await openJob(failedJob(7), failed({ causes: [exhausted] }));
  assert.deepEqual(first(over), []);
  assert.match(over.text, /Retry…/, "Retry is among the other actions");
  assert.match(over.text, /\$ worker show 7/);
});

test("The key R opens the retry dialog of a failed job and the run-now dialog of a waiting job; the key S opens the reschedule dialog.", async () => {
  const pressed = async (condition: string, key: string) => {
    const one = condition === "failed" ? failedJob(7) : job(7, { condition } as Partial<ListedJob>);
    const page = await openJob(one, why({ condition, causes: [] }));
    page.app.dispatch("app.key", "", key);
    return page.dialogText;
  };
  for (const condition of ["ready", "blocked", "retrying", "scheduled"]) {
    assert.match(await pressed(condition, "r"), /^Run job 7 now/, condition);
    assert.match(await pressed(condition, "s"), /^Reschedule job 7/, condition);
  }
  assert.match(await pressed("failed", "r"), /^Retry job 7/);
  assert.match(await pressed("failed", "s"), /^Reschedule job 7/);
});

test("Keys open the dialogs of a job's actions; a job can be copied as a link, as the shell command that its page suggests, as an add command and as JSON.", async () => {
  const page = await openJob(
    failedJob(7, { queue_name: "it's", flags: { "retry:slow": true, eu: true } }),
    failed(),
  );
  const press = (key: string) => page.app.dispatch("app.key", "", key);
  press("r");
  assert.match(page.dialogText, /^Retry job 7/);
  page.app.dispatch("dialog.close", "", "");
  press("s");
  assert.match(page.dialogText, /^Reschedule job 7/);
  page.app.dispatch("dialog.close", "", "");
  press("c");
  press("y");
  page.app.dispatch("job.copy-add", "", "");
  page.app.dispatch("job.copy-json", "", "");
  const [link, command, line, json] = page.copied;
  assert.equal(link, "http://admin.example/#/jobs/7");
  assert.equal(command, "worker retry 7");
  assert.equal(
    line,
    `worker add send_email '{"to":"ana@example.com"}' --queue 'it'\\''s' --flag eu --retry slow`,
  );
  assert.equal(JSON.parse(json ?? "").id, 7);
});

test("A shell command for a schema other than `worker` has the option --schema, like the commands that the command line suggests.", async () => {
  for (const [schema, option] of [
    ["billing", "--schema=billing"],
    ["-x y", "--schema='-x y'"],
  ] as const) {
    const page = await openPage("/jobs/7", { schema });
    page.answer("api/jobs/7?fields=head", failedJob(7));
    page.answer("api/jobs/7/why", failed());
    assert.ok(page.text.includes(`$ worker retry ${option} 7`), page.text);
    page.app.dispatch("app.key", "", "y");
    page.app.dispatch("job.copy-add", "", "");
    const payload = `'{"to":"ana@example.com"}'`;
    assert.equal(page.copied.at(-1), `worker add ${option} send_email ${payload}`);
    assert.equal(page.copied.at(-2), workerLine(schema, "worker retry 7"));
  }
});

test("In a copied shell line, control characters are octal bytes, as in the shell lines of the server.", async () => {
  const hostile = "k\u0015touch PASTED\n#\u202e";
  const page = await openJob(failedJob(7, { queue_name: hostile, key: hostile }), failed());
  page.app.dispatch("job.copy-add", "", "");
  // The line has no key, because an add with a job's key can change that job instead of adding a new job.
  const word = shellWord(hostile);
  assert.equal(word, "'k'$'\\025''touch PASTED'$'\\012''#'$'\\342\\200\\256'");
  const payload = `'{"to":"ana@example.com"}'`;
  const line = `worker add send_email ${payload} --queue ${word}`;
  assert.equal(page.copied[0], line);
});

test("The keys j and k open the neighbours of a job in the list from which the job was opened.", async () => {
  const page = await openPage("/jobs");
  page.answer("api/jobs?limit=100", jobs([job(5), job(7), job(9)]));
  page.go("/jobs/7");
  page.answer("api/jobs/7?fields=head", job(7));
  assert.match(page.text, /2 of 3 in the list/);
  page.app.dispatch("app.key", "", "j");
  assert.equal(page.navigations.at(-1), "/jobs/9");
  page.app.dispatch("app.key", "", "k");
  assert.equal(page.navigations.at(-1), "/jobs/5");
});

test("A job shows its position among all jobs that match the query of its list. If the list was opened at a later page, the position is among the jobs of that page.", async () => {
  const place = async (answer: object, address = "/jobs?q=is%3Afailed%20task%3Asend") => {
    const page = await openPage(address);
    page.answer("api/jobs?limit=100", { ...jobs([job(5), job(7), job(9)]), ...answer });
    page.go("/jobs/7");
    page.answer("api/jobs/7?fields=head", job(7));
    return /\d+ of [≈≥ ]*\S+ (?:in the list|on this page)/.exec(page.text)?.[0];
  };
  const more = { next_cursor: "c2" };
  assert.equal(await place({ ...more, count: value(12_000) }), "2 of 12,000 in the list");
  const about = value(9_000, { precision: "estimated", low: 8_000, high: 10_000 });
  assert.equal(await place({ ...more, count: about }), "2 of ≈ 9,000 in the list");
  assert.equal(await place({ ...more, count: null }), "2 of 3+ in the list");
  assert.equal(await place({ count: value(3) }), "2 of 3 in the list");
  const page = await openPage("/jobs?q=is%3Afailed%20task%3Asend");
  page.answer("api/jobs?limit=100", { ...jobs([job(1), job(2)]), ...more, count: value(12_000) });
  page.go("/jobs?q=is%3Afailed%20task%3Asend&cursor=c2");
  page.answer("api/jobs?limit=100", { ...jobs([job(3), job(4)]), count: value(12_000) });
  page.go("/jobs/4");
  page.answer("api/jobs/4?fields=head", job(4));
  assert.match(page.text, /[^\d,]4 of 12,000 in the list/);
  const pasted = "/jobs?q=is%3Afailed%20task%3Asend&cursor=c9";
  assert.equal(await place({ count: value(12_000) }, pasted), "2 of 3 on this page");
});

test("The root of a chain of causes is red only if something is broken.", async () => {
  const link = (kind: string, is_broken: boolean) => ({
    ...{ kind, text: "worker-a works on it", detail: null, is_root: true, is_broken },
    ...{ links: { queue: null, worker: "worker-a", job: null }, fix: null },
  });
  for (const [kind, broken] of [
    ["holder_alive", false],
    ["not_due", false],
    ["behind", false],
    ["holder_stale", true],
    ["no_worker_for_task", true],
  ] as const) {
    const causes = [{ ...link("queue_locked", false), is_root: false }, link(kind, broken)];
    const page = await openJob(job(7), why({ condition: "blocked", causes }));
    const [, last] = page.one((e) => e.attrs["class"] === "chain").children;
    assert.equal((last as Element).attrs["class"] === "root", broken, kind);
  }
});

test("A failed job that is rescheduled gets its attempts back, and the dialog shows 0 used attempts.", async () => {
  const page = await openJob(failedJob(7), failed());
  page.app.dispatch("ask.reschedule", "shown", "");
  assert.equal(page.byId("field-attempts").attrs["value"], "0");
  assert.match(page.dialogText, /1 job has no attempts left\./);
  page.type("run_at", "2026-03-02T08:30");
  page.click("Reschedule job 7");
  assert.equal(JSON.parse(page.requestOf("api/jobs/action").body).attempts, 0);
});

test("A locked job that has not started is shown as fetched, and not as started.", async () => {
  const running = await openJob(lockedJob(7), why({ condition: "running" }));
  assert.match(running.text, /Locked12:59:48, 12 s ago/);
  const job = lockedJob(7, { condition: "fetched" });
  const fetched = await openJob(job, why({ condition: "fetched" }));
  assert.match(fetched.text, /Fetched.*12 s ago/);
  assert.doesNotMatch(fetched.text, /Locked/);
});

test("The removal of a job by its key asks for confirmation and reports the result.", async () => {
  const page = await openJob(job(7, { key: "k1" }), why());
  page.click("Remove by key…");
  assert.equal(page.byId("field-key").attrs["value"], "k1");
  page.click("Remove the job");
  assert.equal(page.requestOf("api/jobs/remove-by-key").body, '{"key":"k1"}');
  page.answer("api/jobs/remove-by-key", { message: "Removed the job with key k1" });
  assert.deepEqual(page.notices, ["Removed the job with key k1"]);
  assert.equal(page.dialog, undefined);
});

test("A job shows its retry policy and its deadline in words, apart from its flags.", async () => {
  const page = await openPage("/jobs/7");
  const deadline = NOON + 7_200_000;
  const flags = { slow: true, "retry:slow-api": true, [`deadline:${deadline}`]: true };
  page.answer("api/jobs/7?fields=head", job(7, { flags }));
  assert.match(page.text, /Retry policyslow-api/);
  assert.match(page.text, /Deadline15:00:00, in 2 h/);
  assert.match(page.text, /FlagsslowPayload/);
  page.pass(7_260_000);
  page.answer("api/jobs/7?fields=head", job(7, { flags: { [`deadline:${deadline}`]: true } }));
  assert.match(page.text, /Deadline15:00:00, passed /);
  assert.match(page.text, /FlagsnonePayload/);
});
