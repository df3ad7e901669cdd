// Runs a short selection of the faults in which PostgreSQL fails or a standby takes over. `npm run test:faults` runs
// all of them, and also checks bounds for times.
import { test } from "node:test";
import { selection } from "../field/selection.ts";
import { group as failover } from "../groups/failover/group.ts";
import { group as outage } from "../groups/outage/group.ts";

test("No job is lost, and none is done twice unless the mode permits it, when PostgreSQL is killed, is read-only, has no free connections, or ends sessions.", () =>
  selection(outage, { modes: ["safe", "fast"] }));

test("When a standby takes over under load, only jobs that had not been replicated are lost.", () =>
  selection(failover, { modes: ["safe"] }));
