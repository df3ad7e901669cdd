// GET /api/pauses: what is paused.

import { pauseJson } from "../../../insight/read/pause-text.ts";
import { listPauses, type Pause } from "../../../queue/pauses/list-pauses.ts";
import type { Operation } from "../../context/admin.ts";
import { answerAt } from "../../wire/answer-at.ts";
import { listOf, record } from "../../wire/json-schema.ts";

const members = { at: "time", until: "time?", reason: "string?", by: "string?" } as const;

/** The pause of a queue in lists of queues. */
export const pauseSchema = record(members, "Pause");

const pause = record({ scope: "string", name: "string?", ...members }, "ListedPause");

export const getPauses: Operation = {
  summary:
    "What is paused: everything, tasks and queues, each with its end, its author and its reason",
  answer: record({ pauses: listOf(pause) }, "PauseList"),
  run: async ({ databases }) => {
    const pauses = await listPauses(databases.reads);
    return answerAt(JSON.stringify({ pauses: pauses.map(listedJson) }));
  },
};

const listedJson = ({ scope, name, ...rest }: Pause) => ({ scope, name, ...pauseJson(rest) });
