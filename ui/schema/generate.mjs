/** Turns the records of api.mjs into AssemblyScript readers and into TypeScript interfaces. */
import { records } from "./api.mjs";

const note =
  "// Generated from ui/schema/api.mjs by ui/schema/generate.mjs: change that, not this.\n";

/** wire type → its AssemblyScript type, its empty value, the reader's method, its TypeScript type */
const scalars = {
  i64: ["i64", "0", "i64", "number | bigint"],
  i32: ["i32", "0", "i32", "number"],
  f64: ["f64", "0", "f64", "number"],
  bool: ["bool", "false", "bool", "boolean"],
  string: ["string", '""', "string", "string"],
  time: ["f64", "NaN", "time", "string"],
  json: ["string", '"null"', "raw", "unknown"],
};
/** A number has no null in AssemblyScript: these values stand for it. */
const absent = { time: "NaN", f64: "NaN", i64: "i64.MIN_VALUE", i32: "i32.MIN_VALUE" };

const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
const parse = (spec) => ({
  base: spec.replace(/\[\]|\?/g, ""),
  list: spec.endsWith("[]"),
  nullable: spec.endsWith("?"),
});

function declaration(name, { base, list, nullable }) {
  const [type, empty] = scalars[base] ?? [base, `new ${base}()`];
  if (list) return `${name}: ${type}[] = [];`;
  if (!nullable) return `${name}: ${type} = ${empty};`;
  return absent[base] ? `${name}: ${type} = ${absent[base]};` : `${name}: ${type} | null = null;`;
}

function reading(name, { base, list, nullable }) {
  const read = scalars[base] ? `r.${scalars[base][2]}()` : `read${base}(r)`;
  const target = `record.${name}`;
  if (list)
    return `{\n      r.beginArray();\n      while (r.nextItem()) ${target}.push(${read});\n    }`;
  return nullable
    ? `${target} = r.takeNull() ? ${absent[base] ?? "null"} : ${read};`
    : `${target} = ${read};`;
}

function assemblyRecord(name, fields) {
  const specs = Object.entries(fields).map(([wire, spec]) => [wire, camel(wire), parse(spec)]);
  const members = specs.map(([, field, spec]) => `  ${declaration(field, spec)}\n`).join("");
  const branches = specs
    .map(([wire, field, spec]) => `if (r.keyIs("${wire}")) ${reading(field, spec)}\n    else `)
    .join("");
  return `export class ${name} {\n${members}}

export function read${name}(r: JsonReader): ${name} {
  const record = new ${name}();
  r.beginObject();
  while (r.nextKey()) {
    ${branches}r.skip();
  }
  return record;
}\n`;
}

function interfaceOf(name, fields) {
  const members = Object.entries(fields).map(([wire, spec]) => {
    const { base, list, nullable } = parse(spec);
    const type = scalars[base]?.[3] ?? base;
    return `  ${wire}: ${list ? `(${type})[]` : type}${nullable ? " | null" : ""};\n`;
  });
  return `export interface ${name} {\n${members.join("")}}\n`;
}

/** The files to write, by their path below ui/. */
export function generateRecords() {
  const entries = Object.entries(records);
  const assembly = entries.map((entry) => assemblyRecord(...entry)).join("\n");
  const typescript = entries.map((entry) => interfaceOf(...entry)).join("\n");
  const reader = 'import { JsonReader } from "../lib/json-reader";\n';
  return new Map([
    ["assembly/generated/records.ts", `${note}${reader}\n${assembly}`],
    ["generated/records.ts", `${note}\n${typescript}`],
  ]);
}
