// What the answers about causes share on the wire: values, links, verbs.
import type { Links } from "../../../queue/why/cause.ts";
import type { Verb } from "../../../queue/why/verb.ts";
import { idJson } from "../../wire/exact-json.ts";
import { type JsonSchema, record } from "../../wire/json-schema.ts";

/** The same, or null. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

/** domain/value.ts. */
export const valueSchema: JsonSchema = {
  title: "Value",
  type: "object",
  properties: {
    value: { type: "integer" },
    precision: { type: "string", enum: ["exact", "capped", "estimated"] },
    low: { type: "integer" },
    high: { type: ["integer", "null"] },
    basis: {
      type: "string",
      enum: ["probe", "scan", "sample", "census", "heartbeat", "catalog"],
    },
    as_of: { type: "string", format: "date-time" },
  },
  required: ["value", "precision", "basis", "as_of"],
};

export const linksSchema = record({ queue: "string?", worker: "string?", job: "integer?" });

export const verbSchema: JsonSchema = record(
  {
    action: "string",
    label: "string",
    // What to send, with the CSRF token, once a person has said yes.
    post: record({ path: "string", body: { type: "object" } }),
  },
  "Verb",
);

export function linksJson({ queue, worker, job }: Links) {
  return { queue, worker, job: idJson(job) };
}

export function verbJson(verb: Verb | null) {
  if (verb === null) return null;
  const { action, label } = verb;
  return { action, label, post: postOf(verb) };
}

function postOf(verb: Verb) {
  const { action } = verb;
  if ("workerIds" in verb) {
    return { path: "/api/maintenance", body: { action, worker_ids: verb.workerIds } };
  }
  if ("jobIds" in verb) {
    return { path: "/api/jobs/action", body: { action, ids: verb.jobIds.map(idJson) } };
  }
  // A rehearsal: it says what would be done, and changes nothing.
  return { path: "/api/operations", body: { q: verb.q, action, dry_run: true } };
}
