// GET /api/tasks: tasks, with the numbers of their jobs and of the workers that support them.
import { taskListJson } from "../../../insight/json/task-json.ts";
import { listTasks, taskSorts } from "../../../insight/lists/list-tasks.ts";
import { REPORTS_BYTES } from "../../../insight/lists/worker-reports.ts";
import type { Operation } from "../../context/admin.ts";
import { memoryFor } from "../../context/answer-bytes.ts";
import { jsonAt } from "../../wire/answer-at.ts";
import { byCondition, listOf, orNull, record, withDescription } from "../../wire/json-schema.ts";
import { readQuery } from "../../wire/wire.ts";
import { pauseSchema } from "./get-pauses.ts";
import { listQuery, pageRequest } from "./list-query.ts";
import { nameCounts } from "./name-counts.ts";

const task = record(
  {
    id: "integer",
    identifier: "string",
    ...byCondition,
    oldest_ready_at: "time?",
    last_failed_at: "time?",
    last_error_line: withDescription(
      "string?",
      "the first line of the latest error of the task's jobs, also of jobs that are retried; at most 300 characters",
    ),
    last_error_at: withDescription("time?", "the time of the error in last_error_line"),
    last_error_sampled: withDescription(
      "boolean",
      "true: not every job was read, so there may be a later error than last_error_line, or an error although last_error_line is null",
    ),
    supported_by: "integer",
    is_unsupported: {
      type: ["boolean", "null"],
      description:
        "true: no live worker supports the task; null: not every worker reports all its tasks",
    },
    paused: withDescription(orNull(pauseSchema), "the pause of the task; null: not paused"),
  },
  "ListedTask",
);

const query = listQuery(taskSorts, "an identifier");

export const getTasks: Operation = {
  summary: "Tasks, with their jobs by condition and the number of workers that support them",
  query,
  // The operation reads the reports of workers, which contain the names of the workers' tasks.
  reserves: () => memoryFor(REPORTS_BYTES),
  answer: record(
    { tasks: listOf(task), next_cursor: "string?", count: "integer?", as_of: "time" },
    "TaskList",
  ),
  run: async (admin, request) => {
    const pageQuery = pageRequest(readQuery(request, query), "name");
    const names = await nameCounts(admin);
    return jsonAt(
      taskListJson(await listTasks(admin.databases.reads, pageQuery, names), names.asOf),
    );
  },
};
