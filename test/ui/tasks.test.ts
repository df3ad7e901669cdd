import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt, type Page, textOf } from "./harness.ts";
import {
  feed,
  incident,
  incidents,
  openPage,
  pulse,
  task,
  tasks,
  timeAt,
  value,
} from "./sample.ts";

before(ensureBuilt);

const rows = (page: Page) =>
  page
    .all((e) => e.tag === "tr")
    .slice(1)
    .map((e) => textOf([e]));

test("The list of tasks shows for each task the counts of its jobs, how many workers support it, and its last failure.", async () => {
  const page = await openPage("/tasks");
  feed(page, { pulse: pulse({ alive: 5 }) });
  assert.equal(page.requestOf("api/tasks").path, "api/tasks?limit=100&sort=worst");
  const failing = {
    ...{ ready: value(12), blocked: value(5), failed: value(8400), oldest_ready_at: timeAt(-4) },
  };
  page.answer(
    "api/tasks",
    tasks([
      task("charge_card", { ...failing, last_error_line: "Error: no", last_error_at: timeAt(-7) }),
      task("resize_image", { supported_by: 3 }),
    ]),
  );
  assert.deepEqual(rows(page), [
    "charge_card5 of 512508,4004 sError no7 s agoPause…",
    "resize_image3 of 50000nonePause…",
  ]);
  assert.match(page.text, /Tasks2, by severity/);
  assert.equal(page.title, "(12) Tasks · worker");
});

test("A task's last error is followed by the error's time, with the mark `sampled` if only a sample of the jobs was read.", async () => {
  const page = await openPage("/tasks");
  feed(page, { pulse: pulse({ alive: 5 }) });
  const line = "GatewayError: HTTP 503 <b>";
  page.answer(
    "api/tasks",
    tasks([
      task("charge_card", { last_error_at: timeAt(-7), last_error_line: line }),
      task("sampled", {
        ...{
          last_error_line: "TimeoutError: late",
          last_error_at: timeAt(-90),
          last_error_sampled: true,
        },
      }),
      task("unmet", { last_error_sampled: true }),
    ]),
  );
  assert.deepEqual(rows(page), [
    "charge_card5 of 50000GatewayError HTTP 503 <b>7 s agoPause…",
    "sampled5 of 50000TimeoutError latesampled, 1 m 30 s agoPause…",
    "unmet5 of 50000none foundPause…",
  ]);
});

test("A task is marked as having no worker only if the server reports that no worker supports it.", async () => {
  const page = await openPage("/tasks");
  feed(page, { pulse: pulse({ alive: 5 }) });
  const waits = { ready: value(180), oldest_ready_at: timeAt(-1080), supported_by: 0 };
  page.answer(
    "api/tasks",
    tasks([
      task("send_webhook", { ...waits, is_unsupported: true }),
      task("perhaps", { ...waits, is_unsupported: null }),
    ]),
  );
  assert.deepEqual(rows(page), [
    "send_webhooknone18000018 mnonePause…",
    "perhapsunknown18000018 mnonePause…",
  ]);
});

test("The row of a task links to the jobs of the task, whatever characters its name has.", async () => {
  const page = await openPage("/tasks");
  page.answer("api/tasks", tasks([task("send_email"), task('a "b"\\ c'), task(" none ")]));
  const links = page.all((e) => e.tag === "a" && String(e.attrs["class"]).startsWith("name"));
  assert.deepEqual(
    links.map(({ attrs }) => decodeURIComponent(String(attrs["href"]))),
    ["#/jobs?q=task:send_email", String.raw`#/jobs?q=task:"a \"b\"\\ c"`, '#/jobs?q=task:" none "'],
  );
  page.app.dispatch("tasks.open", "send_email", "");
  assert.equal(page.navigations.at(-1), "/jobs?q=task%3Asend_email");
});

test("Estimated counts in the list of tasks are marked, and a list of 300 tasks has several pages.", async () => {
  const page = await openPage("/tasks?search=t&sort=-failed");
  assert.equal(page.requestOf("api/tasks").path, "api/tasks?limit=100&sort=-failed&search=t");
  const about = { precision: "estimated", low: 1_100_000, high: 1_300_000, basis: "sample" };
  const many = Array.from({ length: 100 }, (_, n) => task(`t${n}`, { failed: value(1) }));
  many[0] = task("t0", { failed: value(1_200_000, about) });
  page.answer("api/tasks", tasks(many, { count: 300, next_cursor: "c1" }));
  assert.match(page.text, /≈ 1\.2 M/);
  assert.match(page.text, /300 tasks match/);
  const next = page.one((e) => e.tag === "a" && textOf([e]) === "Next");
  assert.equal(next.attrs["href"], "#/tasks?search=t&sort=-failed&cursor=c1");
});

test("The navigation shows how many tasks have no worker, and the keys g and t lead to the page of tasks.", async () => {
  const page = await openPage("/");
  feed(page, { incidents: incidents([incident({ id: "x", kind: "unsupported_task" })]) });
  const entry = page.one(
    (e) => String(e.attrs["class"]).startsWith("nav") && e.attrs["href"] === "#/tasks",
  );
  assert.equal(textOf([entry]), "Tasks1 unknown");
  page.app.dispatch("app.key", "", "g");
  page.app.dispatch("app.key", "", "t");
  assert.equal(page.navigations.at(-1), "/tasks");
});

test("If there are no tasks, or none matches the search, the page of tasks shows a message.", async () => {
  const page = await openPage("/tasks");
  page.answer("api/tasks", tasks([]));
  assert.match(page.text, /No tasks/);
  page.go("/tasks?search=nope");
  page.answer("api/tasks", tasks([]));
  assert.match(page.text, /No tasks match “nope”/);
});

test("The bar of a task grows with the logarithm of the number of the task's jobs.", async () => {
  const page = await openPage("/tasks");
  const lengths = [1, 1_000, 1_000_000].map((count) => {
    page.go(`/tasks?search=${count}`);
    page.answer("api/tasks", tasks([task("one", { failed: value(count) })]));
    const bar = page.one((e) => e.attrs["class"] === "sbar");
    return Number((bar.children.at(-1) as typeof bar).attrs["width"]);
  });
  assert.deepEqual(lengths, [5, 50, 100]);
});
