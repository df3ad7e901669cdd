// worker doctor: checks the server, the schema and the queue, and prints findings, with a fix where there is one.
import type { ExitStatus } from "../../arguments/command.ts";
import { colourOf } from "../../output/colour.ts";
import { print, printJson } from "../../output/print.ts";
import { withConnection } from "../../shell/connection.ts";
import { defineCommand } from "../../shell/globals.ts";
import type { SameQueue } from "../../shell/same-queue.ts";
import { type Finding, type FindingLevel, finding } from "./finding.ts";

export const doctorCommand = defineCommand({
  name: "doctor",
  describe: "Diagnose the queue and suggest fixes",
  notes: `\
Checks the server, the clock, the schema and its drift, privileges, connections, transactions that hold back
vacuum, dead rows, indexes, and incidents. Nothing is changed.

Exit status: 0 no problems; 3 warnings; 1 something is broken or the database is unreachable.`,
  run: async (args) => {
    const { readFacts } = await import("./read-facts.ts");
    const { vacuumFindings, schemaFindings, serverFindings } = await import("./rules.ts");
    const { queueFindings } = await import("./queue-rules.ts");
    const facts = await withConnection(args, ({ database }) => readFacts(database), false);
    const { suggest } = args;
    const all = [
      ...[serverFindings, schemaFindings, vacuumFindings, queueFindings].flatMap((rule) =>
        rule(facts),
      ),
      ...facts.unread.map((what) => finding("warn", "unread", what)),
    ];
    const found = all.map((one) => ({
      ...one,
      message: suggest.text(one.message),
      fix: fixOf(one, suggest),
    }));
    const level = worstOf(found);
    if (args.json) printJson(JSON.stringify({ level, findings: found }));
    else printFindings(found);
    return statusOf(level);
  },
});

const fixOf = ({ fix }: Finding, { line }: SameQueue): string | null =>
  fix === null ? null : [fix].flat().map(line).join(" && ");

const order: readonly FindingLevel[] = ["bad", "warn", "ok"];

const worstOf = (found: readonly Finding[]): FindingLevel =>
  order.find((level) => found.some((one) => one.level === level)) ?? "ok";

function statusOf(level: FindingLevel): ExitStatus {
  switch (level) {
    case "ok":
      return 0;
    case "warn":
      return 3;
    case "bad":
      return 1;
    default:
      return level satisfies never;
  }
}

/** Prints the findings, worst first. */
function printFindings(found: readonly (Finding & { readonly fix: string | null })[]): void {
  for (const level of order) {
    for (const { check, message, fix, level: own } of found) {
      if (own !== level) continue;
      print(`${level.padEnd(4)}  ${check}: ${message}`, colourOf(level));
      if (fix !== null) print(`      ${level === "ok" ? "to add them" : "fix"}: ${fix}`);
    }
  }
}
