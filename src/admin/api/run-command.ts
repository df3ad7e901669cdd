// Performs the writes of the API, except for operations and export tickets.
import { now } from "../../base/clock.ts";
import type { Problem } from "../../base/errors.ts";
import { strict, validate } from "../../base/validate.ts";
import type { AuditEntry } from "../../commands/audit/audit-entry.ts";
import type { Command } from "../../commands/declare/command.ts";
import { type CommandFields, checksOf, choice, optional } from "../../commands/declare/field.ts";
import { commands } from "../../commands/index.ts";
import { type CommandRecord, perform } from "../../commands/perform.ts";
import type { HttpRequest } from "../../http/request.ts";
import { jsonText } from "../../http/response.ts";
import { MAX_PAGE_BYTES } from "../../insight/pages/full-rows.ts";
import type { Admin, Operation } from "../context/admin.ts";
import { memoryFor, SMALL_ANSWER_BYTES } from "../context/answer-bytes.ts";
import { commandAnswer, commandBody } from "../wire/command-schema.ts";
import { fieldValue, readMembers } from "../wire/wire.ts";

// How long a migration waits for locks. The limit is short, because an HTTP client can send the request again.
const MIGRATION_WAIT_MS = 5_000;

type Members = ReadonlyMap<string, string>;
type Body = Record<string, unknown>;

/**
 * Returns the `Operation` of a path: performs the path's only command, or the command that `action` in the body names.
 * `name`: the word for titles in the OpenAPI document.
 */
export function commandsAt(path: string, name: string): Operation {
  const pathCommands = commands.filter(({ http }) => http.path === path);
  const [first] = pathCommands;
  if (first === undefined) throw new Error(`no command is declared for ${path}`);
  const actions = pathCommands.flatMap(({ http }) => http.action ?? []);
  // Memory for an answer with up to 10,000 payloads must be reserved before the jobs are changed.
  const hasJobs = pathCommands.some(({ fields }) => "ids" in fields);
  const answerBytes = hasJobs ? memoryFor(MAX_PAGE_BYTES) : SMALL_ANSWER_BYTES;
  return {
    summary: actions.length > 1 ? `Performs one action: ${actions.join(", ")}` : first.summary,
    body: commandBody(pathCommands, name),
    answer: commandAnswer(pathCommands, name),
    reserves: () => answerBytes,
    run: async (admin, request) => {
      const members = await readMembers(request, admin.config.limits.bodyBytes);
      const command =
        actions.length === 0 ? first : commandByAction(pathCommands, actions, members);
      request.notes["command"] = command.name;
      const mayChangeSchema = command.weight === "heavy";
      const { input, problems } = inputOf(command, pathCommands, members);
      const performing = perform(command, databaseOf(admin, command), input, {
        pool: admin.config.pool,
        logger: admin.config.logger,
        signal: request.closing,
        migrationWaitMs: MIGRATION_WAIT_MS,
        indexBuilds: admin.indexBuilds,
        request: request.id,
        problems,
        isAudited: true,
        recordFor: { by: userOf(request), source: "admin" },
        record: async (record, within) => {
          addLogFields(request, record);
          const entry = entryOf(request, record);
          if (within !== null) return admin.audit.recordWithin(within, entry);
          await admin.audit.record(entry);
          return undefined;
        },
      });
      const { json, message } = await performing.finally(() => {
        if (mayChangeSchema) admin.readiness.invalidate();
      });
      request.notes["outcome"] = message;
      return jsonText(json);
    },
  };
}

function databaseOf({ databases }: Admin, { weight }: Command) {
  return weight === "light" ? databases.writes : databases.maintenance;
}

const MAX_LOGGED = 10;

function addLogFields({ notes }: HttpRequest, { ids, key, workers, tally }: CommandRecord): void {
  Object.assign(notes, {
    ...(ids === null ? {} : { ids: new Set(ids).size, jobs: ids.slice(0, MAX_LOGGED) }),
    ...(key === null ? {} : { key }),
    ...(workers === null ? {} : { workers: workers.slice(0, MAX_LOGGED) }),
    ...(tally === null ? {} : { changed: tally.done }),
  });
}

function entryOf(request: HttpRequest, record: CommandRecord): AuditEntry {
  const { command, request: id, tally, ...rest } = record;
  return {
    ...rest,
    ...{ at: new Date(now()).toISOString(), by: userOf(request), source: "admin" },
    ...{ client: request.client, request: id, action: command },
    query: null,
    requested: tally?.requested ?? null,
    done: tally?.done ?? null,
  };
}

const userOf = ({ notes }: HttpRequest) =>
  typeof notes["user"] === "string" ? notes["user"] : null;

/** If `action` is invalid, throws InputError with all problems of the body. */
function commandByAction(
  pathCommands: readonly Command[],
  actions: readonly string[],
  members: Members,
): Command {
  const text = members.get("action") ?? "null";
  const command = pathCommands.find(({ http }) => http.action === JSON.parse(text));
  if (command !== undefined) return command;
  const action = choice(["Action", "what to do"], actions);
  const fields = Object.entries(fieldsOf(pathCommands)).map(([name, field]) => [
    name,
    optional(field),
  ]);
  const all: CommandFields = { ...Object.fromEntries(fields), action };
  const body: Body = Object.create(null);
  for (const [name, value] of members) {
    body[name] = fieldValue(value, Object.hasOwn(all, name) ? all[name] : undefined);
  }
  validate(strict(checksOf(all)), body);
  throw new Error("the check accepted an action without a command");
}

/** Returns the command's input, and a problem for each field that only other commands of the path have. */
function inputOf(command: Command, pathCommands: readonly Command[], members: Members) {
  const others = fieldsOf(pathCommands);
  const input: Body = Object.create(null);
  const problems: Problem[] = [];
  for (const [name, text] of members) {
    if (name === "action" && command.http.action !== null) continue;
    if (Object.hasOwn(command.fields, name) || !Object.hasOwn(others, name)) {
      input[name] = fieldValue(
        text,
        Object.hasOwn(others, name) ? command.fields[name] : undefined,
      );
    } else if (text !== "null") {
      const accepting = pathCommands.filter(
        ({ fields }) => Object.hasOwn(fields, name) && !fields[name]?.isHidden,
      );
      const names = accepting.map(({ http }) => http.action).join(", ");
      problems.push({
        path: name,
        message: `does not apply to ${command.http.action}, only to ${names}`,
      });
    }
  }
  return { input, problems };
}

function fieldsOf(pathCommands: readonly Command[]): CommandFields {
  return Object.assign({}, ...pathCommands.map(({ fields }) => fields));
}
