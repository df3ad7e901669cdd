// GET /api/incidents: problems that need attention, the worst first.

import { incidentKinds } from "../../../insight/incidents/incident.ts";
import { incidentsJson } from "../../../insight/json/insight-json.ts";
import type { Operation } from "../../context/admin.ts";
import { jsonAt } from "../../wire/answer-at.ts";
import { listOf, orNull, record, value, withDescription } from "../../wire/json-schema.ts";
import { fixSchema, linksSchema } from "./shapes.ts";

const crash = record(
  {
    // The first three fields of the suspected job's payload, with values as JSON; empty if several jobs are suspected.
    fields: listOf(record({ name: "string", value: "string" })),
    // The last heartbeats of the workers that have crashed since the first of `jobs` was added.
    times: listOf("time"),
    // How many attempts in a row each suspected job has lost in crashes. `jobs` has at most 6 jobs, each with its lost
    // attempts: first the suspected jobs, then others that have lost attempts in crashes.
    crashes: "integer",
    jobs: listOf(record({ id: "integer", task: "string?", crashes: "integer" })),
    worker: "string?",
  },
  "CrashReport",
);

const answer = record(
  {
    verdict: "string",
    level: { type: "string", enum: ["ok", "warn", "bad"] },
    incidents: listOf(
      record(
        {
          id: "string",
          kind: { type: "string", enum: incidentKinds },
          level: { type: "string", enum: ["warn", "bad"] },
          title: "string",
          sentence: "string",
          since: "time?",
          affected: value,
          jobs_wait: "boolean",
          q: "string?",
          links: linksSchema,
          fix: orNull(fixSchema),
          trend: listOf("integer"),
          // null, except in incidents about jobs that crash their workers.
          crash: orNull(crash),
        },
        "Incident",
      ),
    ),
    more: "integer",
    error_groups: "integer",
    checks: listOf(record({ text: "string", passed: "boolean" }, "Check")),
    is_new: withDescription(
      "boolean",
      "true: nothing shows that a job was ever added or a worker started",
    ),
    as_of: "time",
  },
  "Incidents",
);

export const getIncidents: Operation = {
  summary: "Problems that need attention, each with its cause, the affected jobs and a fix",
  answer,
  run: async ({ insight }) => jsonAt(incidentsJson(await insight.incidents())),
};
