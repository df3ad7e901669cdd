// Makes commands of the command line from the declarations in src/commands.

import type { AuditEntry } from "../../commands/audit/audit-entry.ts";
import type { Command as Declaration, WaitOutcome } from "../../commands/declare/command.ts";
import { isOperationAction, type OperationAction } from "../../commands/operations/model/action.ts";
import {
  type CommandRecord,
  type CommandResult,
  checkInput,
  perform,
} from "../../commands/perform.ts";
import { assertTakesWrites } from "../../database/inspect/read-only-server.ts";
import { databaseTime } from "../../queue/cron/database-time.ts";
import type { CliCommand, ExitStatus } from "../arguments/command.ts";
import { UsageError } from "../arguments/refusals.ts";
import { localText, momentText, type TimeArgument } from "../arguments/times.ts";
import { undoLine } from "../operations/operation-text.ts";
import { trailOf, typedBy } from "../operations/typed-by.ts";
import { print, printJson, printNote } from "../output/print.ts";
import { assertCanConfirm, confirm } from "../shell/confirm.ts";
import { type CommandConnection, withConnection } from "../shell/connection.ts";
import { defineCommand, type GlobalArguments } from "../shell/globals.ts";
import { queryIn, withQueryOptions } from "./by-query-options.ts";
import { type FieldPlace, placesOf, tableOf, takesNow } from "./fields.ts";
import { jsonInput } from "./json-input.ts";

type CommandArguments = GlobalArguments & Readonly<Record<string, unknown>>;

export function jobCommand(declaration: Declaration): CliCommand {
  const places = placesOf(declaration);
  const isDestroying = declaration.danger === "destroys";
  const action = isOperationAction(declaration.name) ? declaration.name : undefined;
  const table = tableOf(declaration, places);
  return defineCommand({
    name: declaration.name,
    aliases: declaration.aliases,
    describe: declaration.summary,
    notes: declaration.consequence,
    examples: declaration.examples,
    isDestructive: isDestroying,
    ...(action === undefined ? table : withQueryOptions(action, table)),
    run: async (args) => {
      const given = args as CommandArguments;
      const query = action === undefined ? null : queryIn(action, given);
      if (action === undefined || query === null) return performTyped(declaration, given);
      if (given["wait"] === true) throw new UsageError("--wait needs job ids", declaration.name);
      const typed = await inputOf(declaration, places, given);
      const isSure = given["yes"] === true || given["dryRun"] === true;
      if (isDestroying && !isSure) assertCanConfirm(declaration.name);
      return byQuery({ declaration, action, query }, typed, given);
    },
  });
}

/** Performs a declared command. `shown`: the command's full name in messages, such as `schedule remove`. */
export async function performTyped(
  declaration: Declaration,
  given: CommandArguments,
  shown: string = declaration.name,
): Promise<ExitStatus> {
  const typed = await inputOf(declaration, placesOf(declaration), given);
  const isDryRun = typed["dry_run"] === true || given["dryRun"] === true;
  const isDestroying = declaration.danger === "destroys";
  const needsConfirmation = isDestroying && given["yes"] !== true && !isDryRun;
  if (needsConfirmation) assertCanConfirm(shown);
  // Relative and local times can be checked only after withMoments(), which reads the database's time.
  if (!Object.values(typed).some(isWhen)) checkInput(declaration, typed);
  return withConnection(
    given,
    async (connection) => {
      const input = await withMoments(declaration, typed, connection, given);
      checkInput(declaration, input);
      // If the schema is up to date, `migrate` succeeds on a read-only server.
      const writes = declaration.makesSchema !== true && !isDryRun;
      if (writes) await assertTakesWrites(connection.database);
      if (needsConfirmation) await confirm(questionOf(declaration, input, shown));
      const { database, pool, logger } = connection;
      const { signal } = new AbortController();
      const done = await perform(declaration, database, input, {
        ...{ pool, logger, signal },
        isAudited: true,
        recordFor: typedBy(),
        record: async (record, within) => {
          const trail = trailOf(connection);
          if (within !== null) return trail.recordWithin(within, entryOf(record));
          await trail.record(entryOf(record));
          return undefined;
        },
      });
      const waited = given["wait"] === true ? await done.wait(database) : null;
      return report(declaration, done, given, waited);
    },
    declaration.makesSchema !== true,
  );
}

function byQuery(
  {
    declaration,
    action,
    query,
  }: {
    readonly declaration: Declaration;
    readonly action: OperationAction;
    readonly query: string;
  },
  { ids: _, key: __, ...typed }: Readonly<Record<string, unknown>>,
  given: CommandArguments,
): Promise<ExitStatus> {
  return withConnection(given, async (connection) => {
    const { operateByQuery } = await import("../operations/by-query.ts");
    return operateByQuery(connection, {
      ...{ action, query, changes: await withMoments(declaration, typed, connection, given) },
      rate: (given["rate"] as number | undefined) ?? null,
      canary: (given["canary"] as number | undefined) ?? null,
      limit: (given["limit"] as number | undefined) ?? null,
      isDryRun: given["dryRun"] === true,
      isSure: given["yes"] === true,
      withOperations: given["withOperations"] === true,
      json: given.json,
      suggest: given.suggest,
    });
  });
}

function entryOf({ command, tally, ...record }: CommandRecord): AuditEntry {
  return {
    ...record,
    ...typedBy(),
    ...{ action: command, query: null },
    requested: tally?.requested ?? null,
    done: tally?.done ?? null,
  };
}

/** Returns the typed values by the names of their fields in the HTTP API. Times may still be relative or local. */
async function inputOf(
  { name, fields }: Declaration,
  places: readonly FieldPlace[],
  given: CommandArguments,
): Promise<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  for (const { field, key } of places) {
    const data = fields[field];
    let value = given[key];
    if (data?.kind === "json") value = await jsonInput(value, given[`${key}-file`], name, key);
    if (data?.kind === "seconds" && typeof value === "number") value /= 1_000;
    if (data?.kind === "boolean" && value === (data.default === "true")) value = undefined;
    if (takesNow(field) && given["now"] === true) value = onlyNow(value, name, key);
    if (data?.isAllWhenAbsent === true) requireAll(value, given["all"] === true, name, key);
    value ??= data?.shellDefault;
    if (value !== undefined) input[field] = value;
  }
  return input;
}

function onlyNow(value: unknown, command: string, key: string): "now" {
  if (value === undefined) return "now";
  throw new UsageError(`use either --now or --${key}`, command);
}

/** A forgotten option must not mean everything. */
function requireAll(value: unknown, isAll: boolean, command: string, key: string): void {
  if (value !== undefined && isAll) throw new UsageError(`use either --all or --${key}`, command);
  if (value === undefined && !isAll) {
    throw new UsageError(`give --${key}, or --all for everything`, command);
  }
}

/** Returns the input with relative and local times as RFC 3339. */
async function withMoments(
  declaration: Declaration,
  typed: Readonly<Record<string, unknown>>,
  { database }: CommandConnection,
  { json }: CommandArguments,
): Promise<Record<string, unknown>> {
  const input: Record<string, unknown> = { ...typed };
  for (const { field, key } of placesOf(declaration)) {
    const value = typed[field];
    if (!isWhen(value)) continue;
    input[field] = momentText(value, await databaseTime(database));
    if ("local" in value && !json) printNote(`--${key}: ${localText(value.local)}`);
  }
  return input;
}

function isWhen(value: unknown): value is Exclude<TimeArgument, string> {
  return typeof value === "object" && value !== null && ("afterMs" in value || "local" in value);
}

const MAX_SHOWN = 10;

/** Returns a question such as `complete 1 2 3: The jobs are deleted and never run. Continue?` */
function questionOf(
  declaration: Declaration,
  input: Readonly<Record<string, unknown>>,
  shown: string,
): string {
  const words = declaration.positionals.flatMap((field) => input[field] ?? []).map(String);
  const first = words.slice(0, MAX_SHOWN);
  if (words.length > MAX_SHOWN) first.push(`and ${words.length - MAX_SHOWN} more`);
  const { consequence, consequenceOfOne = consequence } = declaration;
  const isOne = Array.isArray(input["ids"]) && input["ids"].length === 1;
  return `${[shown, ...first].join(" ")}: ${isOne ? consequenceOfOne : consequence} Continue?`;
}

function report(
  declaration: Declaration,
  done: CommandResult,
  { json, suggest }: CommandArguments,
  waited: WaitOutcome | null,
): ExitStatus {
  if (json) printJson(withMembers(done.json, waited?.members ?? {}));
  else {
    print(done.message);
    for (const line of [...namesOf(declaration, done), ...(waited?.lines ?? [])]) print(line);
    if (done.operationId !== null) print(undoLine(done.operationId, suggest));
  }
  if (!done.isPartial) return waited?.isPartial === true ? 3 : 0;
  return done.tally?.done === 0 ? 1 : 3;
}

/** Adds `members`, whose values are JSON texts, to the JSON object `json`. */
function withMembers(json: string, members: Readonly<Record<string, string>>): string {
  const more = Object.entries(members).map(([name, text]) => `,"${name}":${text}`);
  return `${json.slice(0, -1)}${more.join("")}}`;
}

/** Returns a line for each list of names in the answer, without the names that are in `message`. */
function namesOf({ answer }: Declaration, { json, message }: CommandResult): string[] {
  const lists = Object.entries(answer).filter(([, shape]) => shape === "string[]");
  if (lists.length === 0) return [];
  const members = JSON.parse(json) as Readonly<Record<string, readonly string[]>>;
  return lists.flatMap(([name]) => {
    const names = (members[name] ?? []).filter((one) => !message.includes(one));
    const title = name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
    return names.length === 0 ? [] : [`${title}: ${names.join(", ")}`];
  });
}
