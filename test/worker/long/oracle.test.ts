// Workers of this library, in this process, run random workloads (workload.ts). The oracle (oracle.ts) checks the log
// of the runs and the rows that are left in the database.
import { describe, test } from "node:test";
import { comingAndGoing, crewOf, cutting, OURS, together } from "../crews.ts";
import { attempt } from "../trial.ts";
import { workerQueue } from "../worker-queue.ts";

const queue = workerQueue();

describe("The oracle reports no problem", () => {
  test("with two workers.", () => attempt(queue, { jobs: 900, crew: crewOf(2) }));

  test("with eight workers.", () => attempt(queue, { jobs: 900, crew: crewOf(8) }));

  test("with one job at a time and a minimal local queue.", () =>
    attempt(queue, {
      jobs: 600,
      crew: crewOf(3, { concurrency: 1, connections: 1, localQueue: { size: 1 } }),
    }));

  test("with a local queue that is always filled to its size.", () =>
    attempt(queue, {
      jobs: 900,
      crew: crewOf(2, { localQueue: { size: 100, adaptive: false, ttlMs: 20 } }),
    }));

  test("with fast lanes.", () =>
    attempt(queue, { jobs: 900, crew: crewOf(3, { fastLane: { limitMs: 10 } }) }));

  test("with fast lanes and workers that come and go.", () =>
    attempt(queue, { jobs: 900, crew: comingAndGoing(3, { fastLane: { limitMs: 20 } }) }));

  test("with fast lanes whose connections are cut, so that jobs may run again.", () =>
    attempt(queue, {
      jobs: 900,
      crew: crewOf(3, { fastLane: { limitMs: 10 } }),
      weather: [cutting(OURS)],
      cutFastLanes: true,
    }));

  test("with a fast lane and one job at a time.", () =>
    attempt(queue, {
      jobs: 600,
      crew: crewOf(2, { concurrency: 1, connections: 1, fastLane: { limitMs: 20 } }),
    }));

  test("with workers of which some have a fast lane.", () =>
    attempt(queue, {
      jobs: 900,
      crew: together(crewOf(2, { fastLane: { limitMs: 10 } }), crewOf(2)),
    }));

  test("with workers that come and go.", () =>
    attempt(queue, { jobs: 900, crew: comingAndGoing(3) }));

  test("with connections that are cut.", () =>
    attempt(queue, {
      jobs: 900,
      crew: crewOf(3),
      weather: [cutting(OURS)],
    }));

  test("with connections that are cut while workers come and go.", () =>
    attempt(queue, {
      jobs: 900,
      crew: comingAndGoing(3, { localQueue: { size: 50, adaptive: false } }),
      weather: [cutting(OURS)],
    }));
});
