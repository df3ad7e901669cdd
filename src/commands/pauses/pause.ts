// Declares the command that pauses a queue, a task or everything; implemented in queue/pauses/pause.ts.
import { setPause } from "../../queue/pauses/pause.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { duration, optional, text, time } from "../declare/field.ts";
import { targetFields, targetOf, targetProblems, targetText } from "./pause-target.ts";

export const pauseCommand = defineCommand({
  name: "pause",
  aliases: [],
  summary: "Pause a queue, a task or everything: no worker starts its jobs",
  title: "Pause",
  verb: "Pause",
  consequence:
    "Jobs that run now may end, and jobs can still be added. A worker that has fetched a job already may start it within 2 seconds. Graphile Worker's own workers obey the pause of a queue, not that of a task or of everything.",
  weight: "light",
  danger: "changes",
  http: { path: "/api/pauses", action: "pause" },
  positionals: ["scope", "name"],
  fields: {
    ...targetFields,
    for_secs: optional(duration(["For", "resume after this time"], { option: "for" })),
    resume_at: optional(time(["Until", "resume at this time"], { option: "until" })),
    reason: optional(text(["Reason", "reason, shown with the pause"], 1, 200)),
  },
  dialog: "none",
  examples: [
    "worker pause queue mail --for 2h --reason deploy",
    "worker pause task send_email",
    "worker pause all --until 14:00",
  ],
  answer: { scope: "string", name: "string?", is_known: "boolean" },
  problems: (input) => [
    ...targetProblems(input),
    ...(input.for_secs !== undefined && input.resume_at !== undefined
      ? [{ path: "resume_at", message: "use either a time or a duration" }]
      : []),
    ...(input.for_secs === 0 ? [{ path: "for_secs", message: "must be longer than 0" }] : []),
    ...(input.resume_at === "now" ? [{ path: "resume_at", message: "must be in the future" }] : []),
  ],
  run: (db, { for_secs: secs, resume_at: resumeAt, reason, ...given }, { by = null }) =>
    setPause(db, targetOf(given), {
      reason: reason ?? null,
      pausedBy: by,
      resumeAt: resumeAt ?? null,
      forMs: secs === undefined ? null : secs * 1_000,
    }),
  sentence: (isKnown, { scope, name }) => {
    const done = `Paused ${targetText({ scope, name })}`;
    return isKnown ? done : `${done}; no ${scope} had this name until now`;
  },
  members: (isKnown, { scope, name = null }) => jsonOf({ scope, name, is_known: isKnown }),
});
