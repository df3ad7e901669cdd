// GET /api/pauses: what is paused.

import {
  acknowledgementJson,
  acknowledgementShape,
  pauseJson,
} from "../../../insight/read/pause-text.ts";
import { readAcknowledgement } from "../../../queue/pauses/acknowledgement.ts";
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
    "What is paused, with end, author and reason, and the living workers that have acknowledged all pauses",
  answer: record({ pauses: listOf(pause), ...acknowledgementShape }, "PauseList"),
  run: async ({ databases }) => {
    const [pauses, workers] = await Promise.all([
      listPauses(databases.reads),
      readAcknowledgement(databases.reads),
    ]);
    const json = { pauses: pauses.map(listedJson), ...acknowledgementJson(workers) };
    return answerAt(JSON.stringify(json));
  },
};

const listedJson = ({ scope, name, ...rest }: Pause) => ({ scope, name, ...pauseJson(rest) });
