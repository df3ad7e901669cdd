// The process that runs one group of faults. group-run.ts starts it. The process sends messages to group-run.ts: first
// lines about its progress, then the result.

import type { FieldOptions } from "./field/field.ts";
import { type GroupResult, runGroup } from "./field/result.ts";
import { groups } from "./groups/index.ts";

export type ChildMessage = { readonly say: string } | { readonly result: GroupResult };

export type ChildOptions = Omit<FieldOptions, "say"> & { readonly group: string };

const { group: name, ...options } = JSON.parse(process.argv[2] ?? "{}") as ChildOptions;
const group = groups.find((one) => one.name === name);
if (group === undefined) throw new Error(`there is no group ${name}`);
const send = (message: ChildMessage) => process.send?.(message);
const result = await runGroup(group, { ...options, say: (line) => send({ say: line }) });
send({ result });
process.disconnect();
