// Tests that a hook with a wrong name or type is refused, and that an interceptor may return nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { Hooks, type Plugin } from "../../src/worker/task/hooks.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

test("A hook that has an unknown name or is not a function is refused with advice.", () => {
  const hooks = new Hooks(silentLogger) as unknown as Record<
    "on" | "intercept",
    (name: string, hook: unknown) => void
  >;
  const refused = (call: () => void, message: RegExp) =>
    assert.throws(call, { code: "bad_input", message });
  refused(
    () => hooks.on("job:completed", () => {}),
    /no event "job:completed", did you mean "job:complete"\?/,
  );
  refused(
    () => hooks.intercept("job:start", () => {}),
    /no interceptor "job:start"; expected one of beforeJobRun, /,
  );
  refused(() => hooks.on("job:start", null), /^job:start: must be a function$/);
});

test("An interceptor that returns nothing lets the job run.", async () => {
  const plugin: Plugin = {
    name: "nothing",
    register(hooks) {
      hooks.intercept("beforeJobRun", () => {});
      hooks.intercept("afterJobRun", async () => {});
    },
  };
  const task = defineTask("t", () => {});
  await queue.utils.addJob(task);
  const worker = await queue.startWorker({ tasks: [task], plugins: [plugin] });
  await worker.drain();
  await worker.stop();
  assert.deepEqual(await queue.remaining(), []);
});
