// POST /api/jobs/remove-by-key: removes the job with a key, or keeps it from ever running again.

import { json } from "../../http/response.ts";
import { removeJob } from "../../queue/remove-job.ts";
import type { Operation } from "../admin.ts";
import { record } from "../answers.ts";
import { readInput, text } from "../wire.ts";

const body = { key: text(1, 512) };

export const removeByKey: Operation = {
  summary: "Removes the job with a key; a running one loses its key and is not retried",
  body,
  answer: record({ message: "string", outcome: "string" }),
  run: async ({ databases, config }, request) => {
    const { key } = await readInput(request, body, config.bodyLimit);
    const { outcome, job } = await removeJob(databases.writes, key);
    Object.assign(request.notes, { outcome, job: job?.id });
    return json({ message: sentence(outcome, key), outcome });
  },
};

function sentence(outcome: "removed" | "locked" | "absent", key: string): string {
  switch (outcome) {
    case "removed":
      return `Removed the job with the key ${key}`;
    case "locked":
      return `The job with the key ${key} is running: it has lost its key and will not be retried`;
    case "absent":
      return `There is no job with the key ${key}`;
    default:
      return outcome satisfies never;
  }
}
