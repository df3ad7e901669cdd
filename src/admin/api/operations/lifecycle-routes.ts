// POST /api/operations/{id}/pause, /resume, /stop and /undo.

import { changeOperation, type LifecycleAction } from "../../../commands/operations/lifecycle.ts";
import { atWork, operationJson } from "../../../commands/operations/model/operation.ts";
import { jsonText } from "../../../http/response.ts";
import type { Operation } from "../../context/admin.ts";
import { recordOperation } from "./record-operation.ts";
import { noteOperation, operationIdIn, operationSchema } from "./shapes.ts";

const summaries: Readonly<Record<LifecycleAction, string>> = {
  pause: "Pauses an operation after its current batch, until it is resumed",
  resume: "Resumes an operation that is paused or interrupted",
  stop: "Ends an operation after its current batch; changed jobs stay changed",
  undo: "Restores the jobs of an ended operation, except for those that have changed since",
};

const done: Readonly<Record<LifecycleAction, string>> = {
  pause: "Paused",
  resume: "Resumed",
  stop: "Stopped",
  undo: "Began to undo",
};

export function lifecycleRoute(action: LifecycleAction): Operation {
  return {
    summary: summaries[action],
    answer: operationSchema,
    run: async (admin, request) => {
      const { operations } = admin;
      const id = operationIdIn(request);
      const operation = await changeOperation(await operations.store(), id, action);
      if (action === "resume" || action === "undo") operations.run(operation);
      noteOperation(request, operation);
      const message = `${done[action]} operation ${id}`;
      await recordOperation(admin, request, operation, `operation.${action}`, message);
      const isStarted = atWork.includes(operation.state);
      return jsonText(operationJson(operation), isStarted ? 202 : 200);
    },
  };
}
