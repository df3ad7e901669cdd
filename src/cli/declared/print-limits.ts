// Prints all limits as a table, or one limit with its permits, its busy queues and its back-offs.
import type { Database } from "../../database/database.ts";
import { limitText, rateText, targetText } from "../../domain/limits/limit-text.ts";
import { countText, numberText, valueText } from "../../domain/words.ts";
import type { LimitUse } from "../../insight/limits/limit-use.ts";
import type { ExitStatus } from "../arguments/command.ts";
import { print, printJson, printTable, time } from "../output/print.ts";
import { type CommandConnection, withConnection } from "../shell/connection.ts";
import type { GlobalArguments } from "../shell/globals.ts";

export async function printLimits(args: GlobalArguments): Promise<ExitStatus> {
  const { limitJson } = await import("../../insight/json/limit-json.ts");
  const { unreportedNote } = await import("../../insight/limits/unreported.ts");
  const { uses, note } = await withConnection(args, async ({ database }) => ({
    uses: await readUses(database),
    note: await unreportedNote(database),
  }));
  if (args.json) {
    printJson(JSON.stringify({ limits: uses.map(limitJson), note }));
    return 0;
  }
  if (uses.length === 0) print("There are no limits");
  else {
    printTable(["NAME", "OF", "AT ONCE", "RATE", "RUNNING", "WAITING", "STATE"], uses.map(rowOf));
    if (note !== null) print(note);
  }
  return 0;
}

export async function printLimit(args: GlobalArguments, name: string): Promise<ExitStatus> {
  const { limitDetailsJson } = await import("../../insight/json/limit-json.ts");
  const { readLimitDetails } = await import("../../insight/limits/limit-details.ts");
  const { noLimit } = await import("../../commands/limits/change-limit.ts");
  const { use, details } = await withConnection(args, async ({ database }: CommandConnection) => {
    const use = (await readUses(database)).find(({ limit }) => limit.definition.name === name);
    if (use === undefined) throw noLimit(name);
    return { use, details: await readLimitDetails(database, use.limit) };
  });
  if (args.json) {
    printJson(JSON.stringify(limitDetailsJson(use, details)));
    return 0;
  }
  const { limit, running } = use;
  print(`${name}: ${limitText(limit.definition)}`);
  print(`${stateText(use)}; ${numberText(running)} running, ${waitText(use)}`);
  const by = limit.isFromCode ? " by the options of a worker" : ` by ${limit.setBy ?? "a program"}`;
  print(`Set${by} at ${time(limit.setAt)}`);
  if (details.permits.length > 0) {
    printTable(
      ["WORKER", "PERMITS", "IN USE", "WANTED"],
      details.permits.map((one) => [
        ...[one.workerId, String(one.permits), String(one.inUse), String(one.wanted)],
      ]),
    );
  }
  if (use.busy.length > 0) {
    printTable(
      ["QUEUE", "RUNNING", "SLOTS", "WAITING"],
      use.busy.map((one) => [
        ...[one.name, String(one.running), String(one.slots), valueText(one.waiting)],
      ]),
    );
  }
  if (details.backOffs.length > 0) {
    printTable(
      ["BACK-OFF OF", "NAME", "SINCE", "UNTIL", "JOB", "REASON"],
      details.backOffs.map(({ scope, name: of, beganAt, until, jobId, reason }) => [
        ...[scope, of, time(beganAt), time(until), jobId ?? "", reason ?? ""],
      ]),
    );
  }
  return 0;
}

async function readUses(database: Database): Promise<LimitUse[]> {
  const { readLimitUses } = await import("../../insight/limits/limit-use.ts");
  const { createSampler } = await import("../../insight/snapshot/sampler.ts");
  const { LIMIT_TABLES, requireTables } = await import(
    "../../database/schema/extensions/missing-tables.ts"
  );
  await requireTables(database, LIMIT_TABLES);
  const { names } = await createSampler(database).pulse();
  return readLimitUses(database, names);
}

function rowOf(use: LimitUse): string[] {
  const { limit, running, waiting } = use;
  const { name, concurrency, rate } = limit.definition;
  return [
    ...[name, targetText(limit.definition)],
    ...[concurrency === null ? "" : numberText(concurrency), rate === null ? "" : rateText(rate)],
    ...[numberText(running), valueText(waiting), stateText(use)],
  ];
}

function stateText({ backingOff, fullQueues, fullBecause }: LimitUse): string {
  if (backingOff !== null) {
    const reason = backingOff.reason === null ? "" : `: ${backingOff.reason}`;
    return `backing off until ${time(backingOff.until)}${reason}`;
  }
  if (fullQueues > 0) return `full: ${countText(fullQueues, "queue")}`;
  return fullBecause === null ? "not full" : `full: ${fullBecause}`;
}

const waitText = ({ waiting }: LimitUse): string =>
  waiting.value === 1 ? "1 waits" : `${valueText(waiting)} wait`;
