// Tests that a queue, a task and everything can be paused and resumed in the browser. At first, the schema has no
// tables for pauses.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { defineTask } from "../../../src/worker/task/task.ts";
import { Worker } from "../../../src/worker/worker.ts";
import {
  confirm,
  dismissNotice,
  startAdmin,
  type TestAdmin,
  visit,
  waitForData,
  waitForRecentData,
  waitForText,
} from "../harness.ts";
import { squeezed } from "../walk.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin({
    samples: false,
    auth: { mode: "basic", username: "ana", password: "long enough" },
  });
  await admin.utils.addJob("send", {}, { queueName: "mail" });
});

type Visited = Parameters<Parameters<typeof visit>[2]>[0];

const asAna = { httpCredentials: { username: "ana", password: "long enough" } };
const readPauses = async () =>
  (await admin.utils.listPauses()).map(({ scope, name }) => [scope, name]);

test("Pausing a queue for two hours first adds the tables of pauses. The key p resumes the queue.", async () => {
  const work = async ({ page }: Visited) => {
    await page.getByRole("button", { name: "Pause…" }).click();
    await page.getByRole("button", { name: "Add tables and continue" }).waitFor();
    await page.getByLabel("Until").fill("in 2h");
    await page.getByLabel("Reason").fill("deploy <b>");
    await confirm(
      page,
      ["Pause queue mail", "Adds the missing tables first"],
      "Add tables and continue",
    );
    await dismissNotice(page, "Paused the queue mail");
    await waitForText(page, /^Paused by ana until .*: deploy <b>\.$/);
    const [pause] = await admin.utils.listPauses();
    const forMs = (pause?.resumeAt?.getTime() ?? 0) - (pause?.pausedAt.getTime() ?? 0);
    assert.ok(Math.abs(forMs - 7_200_000) < 60_000, `the queue is paused for ${forMs} ms`);
    await page.keyboard.press("p");
    await confirm(page, ["Resume queue mail", "Paused jobs can start again at once"], "Resume");
    await dismissNotice(page, "Resumed the queue mail");
    await page.getByRole("button", { name: "Pause…" }).waitFor();
  };
  await visit(admin, "/queues/mail", work, asAna);
  assert.deepEqual(await readPauses(), []);
});

test("A task is paused in the list of tasks. The page of its job and the overview show the pause, and a button of the overview resumes the task.", async () => {
  const work = async ({ page }: Visited) => {
    await page.getByRole("row", { name: /send/ }).getByRole("button", { name: "Pause…" }).click();
    await confirm(page, ["Pause task send"], "Pause task");
    await dismissNotice(page, "Paused the task send");
    await waitForText(page, "Paused");
    await page.goto(`${admin.url}#/jobs/1`);
    await waitForText(page, "The task send is paused by ana");
    await page.goto(`${admin.url}#/`);
    await waitForRecentData(page);
    const row = page.locator("article").filter({ hasText: "send is paused" });
    const height = async () => (await row.boundingBox())?.height;
    // On a narrow screen the actions are below the text.
    await page.setViewportSize({ width: 390, height: 844 });
    await page.waitForFunction(
      () => document.querySelector("article .acts .btn")?.getBoundingClientRect().height === 44,
    );
    await row.locator(".ack").waitFor({ state: "attached" });
    const before = await height();
    await row.getByRole("button", { name: "Resume…" }).click();
    await confirm(page, ["Resume task send", "1 job waits"], "Resume");
    await row.getByText("Resolved").waitFor();
    // The row of the resolved incident keeps its height, so that the rows below it do not move.
    assert.equal(await height(), before);
  };
  await visit(admin, "/tasks", work, asAna);
  assert.deepEqual(await readPauses(), []);
});

test("The page of a paused queue shows that the worker has acknowledged the pause.", async () => {
  const connectionString = admin.databaseUrl;
  const worker = new Worker({
    ...{ connectionString, logger: "silent" },
    tasks: [defineTask("other", async () => {})],
  });
  await worker.start();
  try {
    const work = async ({ page }: Visited) => {
      await page.getByRole("button", { name: "Pause…" }).click();
      await confirm(page, ["Pause queue mail"], "Pause queue");
      await dismissNotice(page, "acknowledged by 1 of 1 worker");
      await waitForText(page, "Acknowledged by 1 of 1 worker.");
    };
    await visit(admin, "/queues/mail", work, asAna);
    const onOverview = async ({ page }: Visited) => {
      await waitForText(page, "Acknowledged by 1 of 1 worker.");
      assert.deepEqual(await squeezed(page), []);
    };
    await visit(admin, "/", onOverview, asAna);
  } finally {
    await worker.stop();
  }
  await admin.utils.resumeQueue("mail");
});

test("Everything is paused from the command palette, and a banner shows the pause until everything is resumed.", async () => {
  const work = async ({ page }: Visited) => {
    await waitForData(page);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("pause everything");
    await page.keyboard.press("Enter");
    await confirm(page, ["Graphile workers apply only pauses of queues"], "Pause everything");
    await page.locator(".banner").getByText("Everything is paused.").waitFor();
    assert.deepEqual(await readPauses(), [["all", null]]);
    await page.locator(".banner").getByRole("button", { name: "Resume…" }).click();
    await confirm(page, ["Resume everything"], "Resume");
    await page.locator(".banner").waitFor({ state: "detached" });
  };
  await visit(admin, "/workers", work, asAna);
  assert.deepEqual(await readPauses(), []);
});
