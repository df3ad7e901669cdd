// GET /api/pauses: what is paused.

import {
  CONTROL_TABLES,
  missingTables,
} from "../../../database/schema/extensions/missing-tables.ts";
import { readAcknowledgement } from "../../../insight/controls/acknowledgement.ts";
import { listPauses, type Pause } from "../../../insight/controls/list-pauses.ts";
import {
  acknowledgementJson,
  acknowledgementShape,
  pauseJson,
} from "../../../insight/controls/pause-text.ts";
import { missingJson } from "../../../insight/json/missing-json.ts";
import { pausesNote } from "../../../insight/limits/unreported.ts";
import type { Operation } from "../../context/admin.ts";
import { answerAt } from "../../wire/answer-at.ts";
import { listOf, record, withDescription } from "../../wire/json-schema.ts";
import { missingSchema } from "../../wire/missing-schema.ts";

const members = {
  ...{ at: "time", until: "time?", reason: "string?", by: "string?" },
  backs_off: withDescription(
    "boolean",
    "true: the task or queue backs off, as a job has requested",
  ),
};

const pausesNoteShape = withDescription(
  "string?",
  "which workers possibly ignore the pauses of tasks and of everything; null if there is no such pause, or no such worker is known",
);

/** The pause of a queue or a task, in answers about queues and tasks. */
export const pauseSchema = record(members, "Pause");

const pause = record({ scope: "string", name: "string?", ...members }, "ListedPause");

export const getPauses: Operation = {
  summary:
    "What is paused, with end, author and reason, and how many live workers have acknowledged all pauses",
  answer: record(
    {
      pauses: listOf(pause),
      ...acknowledgementShape,
      note: pausesNoteShape,
      missing: missingSchema("pause is possible"),
    },
    "PauseList",
  ),
  run: async ({ databases }) => {
    const { reads } = databases;
    const [pauses, workers, missing] = await Promise.all([
      listPauses(reads),
      readAcknowledgement(reads),
      missingTables(reads, CONTROL_TABLES),
    ]);
    const json = {
      pauses: pauses.map(listedJson),
      ...acknowledgementJson(workers),
      note: await pausesNote(reads, pauses),
      missing: missing === null ? null : missingJson(missing),
    };
    return answerAt(JSON.stringify(json));
  },
};

const listedJson = ({ scope, name, ...rest }: Pause) => ({ scope, name, ...pauseJson(rest) });
