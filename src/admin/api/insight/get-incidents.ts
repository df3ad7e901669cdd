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
    // The recorded times of worker crashes since the suspected job was added.
    times: listOf("time"),
    // How many attempts in a row the suspected job lost in crashes. `jobs` has this number for each job that lost any.
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
      "nothing shows that a job was ever added or a worker started",
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
