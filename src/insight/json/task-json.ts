// The list of tasks as JSON.

import { pauseJson } from "../controls/pause-text.ts";
import type { ListedTask, TaskPage } from "../lists/list-tasks.ts";
import { timeOfMs } from "./exact-json.ts";

export function taskListJson({ tasks, nextCursor, count }: TaskPage, asOf: string) {
  return { tasks: tasks.map(taskJson), next_cursor: nextCursor, count, as_of: asOf };
}

function taskJson(given: ListedTask) {
  return {
    id: given.id,
    identifier: given.identifier,
    ...given.counts,
    oldest_ready_at: timeOfMs(given.oldestReadyMs),
    last_failed_at: timeOfMs(given.lastFailureMs),
    last_error_line: given.lastError?.line ?? null,
    last_error_at: timeOfMs(given.lastError?.atMs ?? null),
    last_error_sampled: given.isErrorSampled,
    supported_by: given.supportedBy,
    is_unsupported: given.isUnsupported,
    paused: given.pause === null ? null : pauseJson(given.pause),
  };
}
