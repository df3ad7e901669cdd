// Services, such as a worker, a listener and an HTTP server, are started and stopped in many orders, for example twice,
// or with a stop before or during the start.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { adminServerConfig } from "../../src/admin/config/config-builder.ts";
import { createAdminServer } from "../../src/admin/server.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { Outage } from "../../src/base/outage.ts";
import type { Service } from "../../src/base/service.ts";
import { Listener } from "../../src/database/connection/listener.ts";
import { everyMinute } from "../../src/domain/cron/cron-entry.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { Cron } from "../../src/worker/cron/cron.ts";
import { LockRenewal } from "../../src/worker/lease/lock-renewal.ts";
import { LockReset } from "../../src/worker/lease/lock-reset.ts";
import { resolveCronOptions } from "../../src/worker/options/cron-options.ts";
import { Hooks } from "../../src/worker/task/hooks.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { Worker } from "../../src/worker/worker.ts";
import { testQueue } from "../queue/queue-database.ts";
import { rounds } from "../support/rounds.ts";
import { waitUntil } from "./worker-queue.ts";

const queue = testQueue();
const logger = silentLogger;
const tasks = [defineTask("quick", () => {})];
const NAME = "lifecycle";

/** Returns the URL with an application_name, by which the test finds the connections of the services. */
const url = () => {
  const named = new URL(queue.url);
  named.searchParams.set("application_name", NAME);
  return named.href;
};

/** Returns a service for an object whose start() is synchronous. */
const plain = (one: { start(): void; stop(): Promise<void> }): Service => ({
  start: async () => one.start(),
  stop: () => one.stop(),
  [Symbol.asyncDispose]: () => one.stop(),
});

const worker = (options: object) =>
  new Worker({ connectionString: url(), tasks, pollIntervalMs: 20, ...options });

const services: Record<string, () => Service | Promise<Service>> = {
  "a worker": () => worker({}),
  "a worker with fast lanes": () => worker({ fastLane: true }),
  "a worker without heartbeats and notifications": () => worker({ recovery: false, notify: false }),
  "a worker with a timetable": () => worker({ cron: { entries: [everyMinute("quick")] } }),
  "a timetable": () =>
    new Cron(resolveCronOptions({ entries: [everyMinute("quick")] }) as never, {
      workerId: () => "w",
      db: queue.db,
      hooks: new Hooks(logger),
      logger,
      outage: new Outage(logger),
      taskIdentifiers: new Set(["quick"]),
    }),
  "a listener": () =>
    new Listener({
      connection: { connectionString: url() },
      channels: { something() {} },
      onReconnect() {},
      outage: new Outage(logger),
    }),
  "the reset of old locks": () =>
    plain(
      new LockReset({
        database: queue.db,
        intervalMs: 5,
        staleLockThresholdMs: 60_000,
        logger,
        hasHeartbeats: () => false,
        wake() {},
      }),
    ),
  "the renewal of locks": () =>
    plain(
      new LockRenewal({
        database: queue.db,
        staleLockThresholdMs: 60_000,
        logger,
        running: () => [],
      }),
    ),
  "an HTTP server": () =>
    createHttpServer({
      listen: { host: "127.0.0.1", port: 0 },
      handle: async () => ({ status: 204, headers: {}, body: "" }),
      headers: {},
      logger,
    }),
  "an admin server": () =>
    createAdminServer(adminServerConfig(queue.pool).listenAddr("127.0.0.1:0").build()),
};

type Step = "start" | "stop" | "turns";

/** Fixed sequences of steps. The test adds random sequences, from a seed that is the same in each run. */
const sequences: Step[][] = [
  ["stop"],
  ["start", "stop"],
  ["start", "turns", "stop"],
  ["start", "stop", "stop"],
  ["start", "start", "turns", "stop", "turns", "stop"],
  ["stop", "start"],
  ["stop", "stop", "start", "start", "stop"],
];

/** Returns a generator (mulberry32) of numbers from 0 to 1. The same seed gives the same numbers. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Takes the steps without waiting until a start or a stop has ended, and then stops the service. The step `turns` waits
 * for a random number of turns of the event loop.
 */
async function drive(service: Service, steps: readonly Step[], next: () => number): Promise<void> {
  const begun: Promise<unknown>[] = [];
  for (const step of steps) {
    if (step === "start") begun.push(service.start().catch(() => {}));
    else if (step === "stop") begun.push(service.stop());
    else for (let turns = Math.floor(next() * 60); turns > 0; turns--) await turn();
  }
  await Promise.all([...begun, service.stop()]);
}

for (const [name, make] of Object.entries(services)) {
  describe(`Started and stopped in any order, ${name}`, () => {
    test("ends, and leaves no connection behind.", { timeout: 100_000 }, async () => {
      const next = random(20_261_122);
      const steps: Step[] = ["start", "stop", "turns"];
      const longer = Array.from({ length: rounds(8) }, () =>
        Array.from({ length: 6 }, () => steps[Math.floor(next() * 3)] as Step),
      );
      for (const sequence of [...sequences, ...longer]) {
        await drive(await make(), sequence, next).catch((error: unknown) => {
          assert.fail(`after ${sequence.join(", ")}: ${error}`);
        });
      }
      const left = `select pid from pg_stat_activity
        where datname = current_database() and application_name = '${NAME}'`;
      await waitUntil("no connection is left", async () => (await queue.sql(left)).length === 0);
      // A worker's heartbeat row is not checked, because the row remains if the stop cannot delete it in time.
    });
  });
}
