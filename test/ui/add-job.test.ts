// Tests the form that adds a job, or a duplicate of a job.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { collect, ensureBuilt, type Page, textOf } from "./harness.ts";
import { failedJob, job, jobs, lockedJob, openList, openPage, queue } from "./sample.ts";

before(ensureBuilt);

async function openForm(): Promise<Page> {
  const page = await openList([job(1)]);
  page.click("Add a job…");
  const tasks = [
    { identifier: "charge_card", is_unsupported: false },
    { identifier: "send_webhook", is_unsupported: true },
  ];
  page.answer("api/tasks?limit=100", { tasks });
  return page;
}

const line = (page: Page) =>
  textOf([page.one((e) => String(e.attrs["class"]) === "cli")]).replace("$ ", "");

test("An unknown task name shows a warning and a suggestion.", async () => {
  const page = await openForm();
  page.type("identifier", "chrage_card");
  page.pass(300);
  assert.match(page.requestOf("api/tasks?limit=20").path, /search=chrage_card$/);
  page.answer("api/tasks?limit=20", { tasks: [] });
  assert.match(
    page.dialogText,
    /No worker or job has the task “chrage_card”\. Did you mean charge_card\?/,
  );
  page.click("charge_card");
  assert.equal(page.byId("field-identifier").attrs["value"], "charge_card");
  page.type("identifier", "send_webhook");
  assert.match(page.dialogText, /No running worker has the task “send_webhook”\./);
  page.type("identifier", "charge_card");
  assert.doesNotMatch(page.dialogText, /No worker|Did you mean/);
  const options = page.all((e) => e.tag === "option").map((e) => e.attrs["value"]);
  assert.ok(options.includes("charge_card") && options.includes("send_webhook"));
});

test("The form shows the job that has the key, and how each key mode would change it.", async () => {
  const page = await openForm();
  page.type("key", 'pot:"1"');
  page.pass(300);
  assert.match(page.requestOf("api/jobs?fields=row").path, /q=key%3A%22pot%3A%5C%221%5C%22%22$/);
  const retrying = job(11, { condition: "retrying", attempts: 2 });
  page.answer("api/jobs?fields=row", jobs([retrying]));
  assert.match(page.dialogText, /Job #11 has this key \(retrying\)\./);
  assert.match(page.dialogText, /#11 gets this payload and time\. Its attempts are reset\./);
  // Once attempts have counted, preserve-run-at does not keep the time.
  page.click("Keep its time");
  assert.match(page.dialogText, /#11 gets this payload and time/);
  page.click("Add none");
  assert.match(page.dialogText, /#11 stays as it is\. Nothing is added\./);
  page.click("Keep its time");
  page.type("key", "pot:2");
  page.pass(300);
  page.answer("api/jobs?fields=row", jobs([job(12, { condition: "scheduled" })]));
  assert.match(page.dialogText, /#12 gets this payload\. Its attempts are reset\./);
});

for (const holder of [failedJob(11), lockedJob(11)]) {
  test(`The form shows that a ${holder.condition} job loses its key to the new job.`, async () => {
    const page = await openForm();
    page.type("key", "pot");
    page.pass(300);
    page.answer("api/jobs?fields=row", jobs([holder]));
    assert.match(page.dialogText, /#11 loses the key, and a new job is added\./);
  });
}

test("Times are typed as on the command line; a relative time counts from the moment at which the form is sent.", async () => {
  const page = await openForm();
  page.type("identifier", "charge_card");
  for (const [typed, at, fault] of [
    ["in 2h", "2026-03-01T14:00:00", "in 2 h: today, Sun 1 Mar 2026 15:00:00 +01:00"],
    ["+1h30m", "2026-03-01T13:30:00", "today, Sun 1 Mar 2026 14:30:00 +01:00"],
    ["2026-03-02T08:30", "2026-03-02T07:30:00", "tomorrow, Mon 2 Mar 2026 08:30:00 +01:00"],
    ["2026-03-05T08:30:00Z", "2026-03-05T08:30:00", ": Thu 5 Mar 2026 09:30:00 +01:00"],
    ["2026-03-05T08:30Z", "2026-03-05T08:30:00", ": Thu 5 Mar 2026 09:30:00 +01:00"],
    ["2026-11-26", "2026-11-25T23:00:00", ": Thu 26 Nov 2026 00:00:00 +01:00"],
    ["2026-02-27", "2026-02-26T23:00:00", "2 d ago: Fri 27 Feb 2026 00:00:00 +01:00"],
    ["2028-02-29 9:00", "2028-02-29T08:00:00", ": Tue 29 Feb 2028 09:00:00 +01:00"],
    ["Tomorrow", "2026-03-01T23:00:00", "tomorrow, Mon 2 Mar 2026 00:00:00 +01:00"],
    ["tomorrow 09:00:30", "2026-03-02T08:00:30", "tomorrow, Mon 2 Mar 2026 09:00:30 +01:00"],
    ["today 18:00", "2026-03-01T17:00:00", "today, Sun 1 Mar 2026 18:00:00 +01:00"],
    ["09:00", "2026-03-02T08:00:00", "tomorrow, Mon 2 Mar 2026 09:00:00 +01:00"],
    ["13:00", "2026-03-02T12:00:00", "tomorrow, Mon 2 Mar 2026 13:00:00 +01:00"],
    ["13:01", "2026-03-01T12:01:00", "today, Sun 1 Mar 2026 13:01:00 +01:00"],
  ] as const) {
    page.type("run_at", typed);
    assert.ok(page.dialogText.includes(fault), typed);
    assert.match(line(page), new RegExp(`--run-at ${at}\\.000Z`));
  }
  for (const wrong of [
    ...[
      "in",
      "+",
      "+5",
      "in 3x",
      "soon",
      "+99999999999d",
      "25:00",
      "09:60",
      "9",
      "0900",
      "tomorrows",
    ],
    ...["2026-02-31", "2026-02-29", "2026-02-31T09:00:00Z", "2026-11-26x09:00", "2026-11"],
    ...[
      "2026-11-26 soon",
      "2026-11-26T",
      "tomorrow09:00",
      "tomorrow 9",
      "09:00 tomorrow",
      "09:00:00x",
    ],
  ]) {
    page.type("run_at", wrong);
    assert.match(page.dialogText, /Enter a time such as \+30m/, wrong);
    assert.equal(page.byId("field-run_at").attrs["aria-invalid"], "true", wrong);
  }
  page.type("run_at", "");
  assert.match(page.dialogText, /Time zone of this browser: \+01:00\./);
  page.type("run_at", "+30m");
  page.pass(60_000);
  page.click("Add the job");
  const sent = page.requests.findLast(({ method }) => method === "POST");
  assert.equal(JSON.parse(sent?.body ?? "").run_at, new Date(page.now + 1_800_000).toISOString());
});

test("The form also shows the shell command that adds the same job.", async () => {
  const page = await openForm();
  page.type("identifier", "charge_card");
  page.type("payload", `{"it's": 1}`);
  page.type("queue", "pay & ments");
  page.type("priority", "-3");
  page.type("flags", "slow, eu");
  assert.equal(
    line(page),
    `worker add charge_card '{"it'\\''s": 1}' --queue 'pay & ments' --priority='-3' --flag slow --flag eu`,
  );
});

test("The draft stays when the form is closed or another page is opened, and is deleted when the job is added.", async () => {
  const page = await openForm();
  page.type("identifier", "charge_card");
  page.app.dispatch("dialog.close", "", "");
  page.go("/queues");
  page.app.dispatch("ask.add", "", "");
  assert.equal(page.byId("field-identifier").attrs["value"], "charge_card");
  assert.equal(page.storage.size, 0);
  page.click("Add the job");
  const sent = page.requests.findLast(({ method }) => method === "POST");
  page.app.onAnswer(sent?.id ?? 0, 200, "", JSON.stringify({ message: "Added", jobs: [job(77)] }));
  page.app.dispatch("ask.add", "", "");
  assert.equal(page.byId("field-identifier").attrs["value"], "");
});

const sentBy = (page: Page) => page.requests.findLast(({ method }) => method === "POST");

test("Retries, deadline, unique and debounce are in a folded part of the form, and in the shell command.", async () => {
  const page = await openForm();
  const isOpen = () => page.one((e) => e.attrs["class"] === "fold").attrs["open"] === true;
  assert.equal(isOpen(), false);
  assert.equal(page.has("field-unique_while") || page.has("field-debounce_max_secs"), false);
  page.type("identifier", "sync");
  page.type("retry", "slow-api");
  page.type("deadline", "in 2h");
  page.type("unique_by", "args.shop, queue");
  assert.equal(
    page.byId("field-unique_while").attrs["value"],
    "unfinished",
    "unique_by fills the required field unique_while",
  );
  page.type("unique_while", "waiting");
  page.type("unique_period_secs", "1h");
  page.type("debounce_secs", "5s");
  page.type("debounce_max_secs", "1m");
  assert.ok(isOpen());
  assert.equal(
    line(page),
    "worker add sync '{}' --retry slow-api --deadline 2026-03-01T14:00:00.000Z --unique args.shop --unique queue --unique-while waiting --unique-period 1h --debounce 5s --debounce-max 1m",
  );
  page.click("Add the job");
  assert.deepEqual(JSON.parse(sentBy(page)?.body ?? ""), {
    ...{ identifier: "sync", payload: {}, retry: "slow-api" },
    deadline: "2026-03-01T14:00:00.000Z",
    ...{ unique_by: ["args.shop", "queue"], unique_while: "waiting", unique_period_secs: 3600 },
    ...{ debounce_secs: 5, debounce_max_secs: 60 },
  });
});

test("A setting that depends on another field is cleared with that field.", async () => {
  const page = await openForm();
  page.type("identifier", "sync");
  page.type("unique_by", "args");
  page.type("unique_period_secs", "1h");
  page.type("unique_by", "");
  page.click("Add the job");
  assert.deepEqual(JSON.parse(sentBy(page)?.body ?? ""), { identifier: "sync", payload: {} });
});

test("If the job already exists, a warning with a link to it is shown.", async () => {
  const page = await openForm();
  page.type("identifier", "sync");
  page.click("Add the job");
  const message = "Already there: job 290 for task sync is the same, and is unchanged";
  const answer = { message, jobs: [{ id: 290 }], is_duplicate: true };
  page.app.onAnswer(sentBy(page)?.id ?? 0, 200, "", JSON.stringify(answer));
  const notice = page.one((e) => String(e.attrs["class"]).startsWith("notice "));
  assert.match(String(notice.attrs["class"]), /warn/);
  assert.match(textOf([notice]), /^Already there: job 290/);
  const [link] = collect([notice], (e) => e.tag === "a");
  assert.equal(link?.attrs["href"], "#/jobs/290");
});

test("A time in the server's answer is shown in local time.", async () => {
  const page = await openForm();
  page.type("identifier", "charge_card");
  page.click("Add the job");
  const message = "Dropped: the next can be added at 2026-03-01T14:00:00Z";
  const answer = JSON.stringify({ message, jobs: [], is_duplicate: false });
  page.app.onAnswer(sentBy(page)?.id ?? 0, 200, "", answer);
  assert.deepEqual(page.notices, ["Dropped: the next can be added at 15:00:00"]);
});

test("A duplicate of a job has the job's retry policy, but not its deadline.", async () => {
  const page = await openPage("/jobs/7");
  const flags = { slow: true, "retry:slow-api": true, "deadline:1772366400000": true };
  page.answer("api/jobs/7?fields=head", job(7, { flags }));
  page.app.dispatch("app.key", "", "d");
  page.pass(1);
  assert.equal(page.byId("field-flags").attrs["value"], "slow");
  assert.equal(page.byId("field-retry").attrs["value"], "slow-api");
  assert.equal(page.byId("field-deadline").attrs["value"], "");
});

test("A duplicate of a job has the job's fields, but not its key.", async () => {
  const page = await openPage("/jobs/7");
  const like = { queue_name: "mail", key: "k", max_attempts: 5, flags: { slow: true } };
  page.answer("api/jobs/7?fields=head", job(7, like));
  page.app.dispatch("app.key", "", "d");
  page.pass(1);
  const value = (name: string) => page.byId(`field-${name}`).attrs["value"];
  assert.equal(value("identifier"), "send_email");
  assert.equal(value("payload"), '{"to":"ana@example.com"}');
  assert.deepEqual([value("queue"), value("max_attempts"), value("flags")], ["mail", "5", "slow"]);
  assert.equal(value("key"), "");
});

test("A JSON error is shown at its place. For a missing comma or colon, or an extra comma, the form offers a correction.", async () => {
  const page = await openForm();
  const payload = () => page.byId("field-payload").attrs["value"];
  for (const [typed, fault, offer, corrected] of [
    [
      '{\n  "amount": 466\n  "currency": "EUR"\n}',
      "Line 3, column 3: a comma is missing after 466.",
      "Insert it",
      '{\n  "amount": 466,\n  "currency": "EUR"\n}',
    ],
    ['{"a":1,}', "Line 1, column 7: an extra comma.", "Remove it", '{"a":1}'],
    ["[1,\n]", "Line 1, column 3: an extra comma.", "Remove it", "[1\n]"],
    ['{"a" 1}', 'Line 1, column 6: a colon is missing after "a".', "Insert it", '{"a": 1}'],
    ["{'a':1}", "Line 1, column 2: use double quotes for names and strings.", "", ""],
    ["{a:1}", "Line 1, column 2: a name in double quotes is missing.", "", ""],
    ['{"a":', "Line 1, column 6: the text ends too early.", "", ""],
  ] as const) {
    page.type("payload", typed);
    assert.ok(page.dialogText.includes(fault), `${typed}: ${page.dialogText}`);
    const gutter = page.all((e) => e.attrs["class"] === "gutter");
    assert.equal(
      textOf(collect(gutter, (e) => e.tag === "b")),
      fault.slice(5, fault.indexOf(",")),
      "the line of the fault is marked",
    );
    if (offer === "") continue;
    page.click(offer);
    assert.equal(
      JSON.stringify(JSON.parse(String(payload()))),
      JSON.stringify(JSON.parse(corrected)),
    );
    assert.match(page.dialogText, /JSON, sent exactly as typed/);
  }
});

test("For a payload that is not JSON, the form shows an error with a line and a column.", async () => {
  const page = await openForm();
  for (const typed of [
    "{",
    "[",
    "]",
    ",",
    ":",
    '"',
    "'",
    "\n\n,",
    "[,]",
    "{,}",
    "[1 2",
    "\u0000",
    "nul",
  ]) {
    page.type("payload", typed);
    const [, line, column] = /Line (\d+), column (\d+): /.exec(page.dialogText) ?? [];
    assert.ok(Number(line) >= 1 && Number(column) >= 1, JSON.stringify(typed));
  }
});

test("The form shows how many jobs wait in the queue, and after what time retrying stops.", async () => {
  const page = await openForm();
  page.type("queue", "mail");
  page.pass(300);
  assert.match(page.requestOf("api/queues?limit=20").path, /sort=name&search=mail$/);
  page.answer("api/queues?limit=20", {
    queues: [queue("mail"), queue("mailing")],
    next_cursor: null,
  });
  assert.match(page.dialogText, /3 jobs wait there now\./);
  page.type("queue", "mai");
  assert.doesNotMatch(
    page.dialogText,
    /wait there/,
    "the number of jobs of another queue is not shown",
  );
  page.type("max_attempts", "5");
  assert.match(page.dialogText, /Stops retrying after about 1 m 24 s\./);
  page.type("max_attempts", "x");
  assert.doesNotMatch(page.dialogText, /Stops retrying/);
  page.type("max_attempts", "5");
  page.app.dispatch("dialog.input", "retry", "slow-api");
  assert.doesNotMatch(
    page.dialogText,
    /Stops retrying/,
    "no time is shown for a policy, whose delays are unknown",
  );
});
