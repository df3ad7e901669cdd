// Makes the commands `worker schedule` and `worker limit`, which have an action as their second word, such as
// `worker schedule add`. Actions that change something are declared in src/commands. Without an action, a command lists
// the schedules or limits.
import type { Command as Declaration } from "../../commands/declare/command.ts";
import { type CliCommand, type ExitStatus, optionName, type Values } from "../arguments/command.ts";
import { UsageError } from "../arguments/refusals.ts";
import { choice, text } from "../arguments/values.ts";
import { defineCommand, type GlobalArguments } from "../shell/globals.ts";
import { placesOf, tableOf } from "./fields.ts";
import { performTyped } from "./job-command.ts";

export type GroupArguments = GlobalArguments & Readonly<Record<string, unknown>>;

export interface Group {
  readonly name: string;
  readonly describe: string;
  readonly notes: string;
  readonly declarations: readonly Declaration[];
  /** The field that has the name of the schedule or limit. `describe`: what the help prints about this argument. */
  readonly subject: { readonly field: string; readonly describe: string };
  /** The actions that only read, such as `list`. The first is the default action. */
  readonly lists: readonly string[];
  readonly listOptions: Values;
  readonly list: (args: GroupArguments, action: string) => Promise<ExitStatus>;
}

export function groupCommand(group: Group): CliCommand {
  const { name, declarations, subject, lists, listOptions } = group;
  const actions = declarations.flatMap(({ http }) => http.action ?? []);
  const words = [...lists, ...actions];
  const tables = declarations.map((command) => tableOf(command, placesOf(command)));
  /** If several actions have an option of the same name, the option of the first of these actions is used. */
  const merged = (of: readonly Values[]): Values => Object.assign({}, ...of.toReversed());
  const options = merged(tables.map((table) => table.options));
  const { [subject.field]: _, ...otherPositionals } = merged(
    tables.map((table) => table.positionals),
  );
  const [usual = "list"] = lists;
  return defineCommand({
    ...{ name, describe: group.describe, notes: group.notes },
    positionals: {
      action: choice(`${words.join(", ")}; without an action, ${name}s are listed`, words, {
        optional: true,
      }),
      [subject.field]: {
        ...text(subject.describe, { optional: true, aliases: [`--${subject.field}`] }),
        field: subject.field,
      },
      ...otherPositionals,
    },
    options: { ...options, ...listOptions },
    examples: declarations.flatMap(({ examples }) => examples),
    run: async ({ action = usual, ...given }) => {
      const args = given as GroupArguments;
      const declaration = declarations.find(({ http }) => http.action === action);
      const allowed =
        declaration === undefined
          ? [subject.field, ...Object.keys(listOptions)]
          : keysOf(tableOf(declaration, placesOf(declaration)));
      for (const key of Object.keys({ ...options, ...listOptions, ...otherPositionals })) {
        if (args[key] === undefined || args[key] === false || allowed.includes(key)) continue;
        throw new UsageError(`${name} ${action} has no option ${optionName(key)}`, name);
      }
      if (declaration === undefined) return group.list(args, String(action));
      if (args[subject.field] === undefined) {
        throw new UsageError(`<${subject.field}> is missing: the name of the ${name}`, name);
      }
      return performTyped(declaration, args, `${name} ${action}`);
    },
  });
}

const keysOf = ({ positionals, options: own }: ReturnType<typeof tableOf>): string[] =>
  Object.keys({ ...positionals, ...own });
