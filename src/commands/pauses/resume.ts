// Declares the command that ends a pause. set-pause.ts implements it.

import { defineCommand, jsonOf } from "../declare/command.ts";
import { targetFields, targetOf, targetProblems, targetText } from "./pause-target.ts";
import { endPause } from "./set-pause.ts";

export const resumeCommand = defineCommand({
  name: "resume",
  aliases: [],
  summary: "Resume a queue, a task or everything",
  title: "Resume a queue",
  verb: "Resume",
  consequence:
    "Paused jobs can start again at once. If a job of the queue still runs, the queue continues when that job has ended. Resuming everything does not end the pauses of single queues and tasks.",
  weight: "light",
  danger: "changes",
  http: { path: "/api/pauses", action: "resume" },
  positionals: ["scope", "name"],
  fields: targetFields,
  key: "p",
  dialog: "none",
  examples: ["worker resume queue mail", "worker resume all"],
  answer: {
    scope: "string",
    name: "string?",
    was_paused: "boolean",
    waits_for_job: "boolean",
  },
  problems: targetProblems,
  run: (db, given) => endPause(db, targetOf(given)),
  sentence: ({ wasPaused, waitsForJob }, given) => {
    const target = targetText(given);
    if (!wasPaused) {
      return given.scope === "all"
        ? "Nothing changed: there is no pause of everything"
        : `Nothing changed: ${target} has no pause of its own`;
    }
    return `Resumed ${target}${waitsForJob ? "; it continues when the job that still runs has ended" : ""}`;
  },
  members: ({ wasPaused, waitsForJob }, { scope, name = null }) =>
    jsonOf({ scope, name, was_paused: wasPaused, waits_for_job: waitsForJob }),
});
