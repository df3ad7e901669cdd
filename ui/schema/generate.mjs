/** Turns the records of api.mjs into AssemblyScript readers and into TypeScript interfaces. */
import { records } from "./api.mjs";

const note =
  "// Generated from ui/schema/api.mjs by ui/schema/generate.mjs: change that, not this.\n";

/** wire type → its AssemblyScript type, its empty value, its letter in a shape, its TypeScript type */
const scalars = {
  i64: ["i64", "0", "l", "number | bigint"],
  i32: ["i32", "0", "i", "number"],
  f64: ["f64", "0", "f", "number"],
  bool: ["bool", "false", "b", "boolean"],
  string: ["string", '""', "s", "string"],
  time: ["f64", "NaN", "t", "string"],
  json: ["string", '"null"', "j", "unknown"],
};
/** A number has no null in AssemblyScript: these values stand for it. */
const absent = { time: "NaN", f64: "NaN", i64: "i64.MIN_VALUE", i32: "i32.MIN_VALUE" };
const names = Object.keys(records);
/** In a shape, records are the letters from À on. */
const FIRST_RECORD = 0xc0;

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

/** What assemb../shapes.ts reads a record by. */
function shapeOf(fields) {
  const shapes = Object.entries(fields).map(([wire, spec]) => {
    const { base, list, nullable } = parse(spec);
    const type = scalars[base]?.[2] ?? String.fromCharCode(FIRST_RECORD + names.indexOf(base));
    return `${list ? "*" : nullable ? "?" : ""}${type}${wire} `;
  });
  return JSON.stringify(shapes.join(""));
}

function classOf(name, fields) {
  const members = Object.entries(fields).map(
    ([wire, spec]) => `  ${declaration(camel(wire), parse(spec))}\n`,
  );
  return `export class ${name} {\n${members.join("")}}

export function read${name}(r: JsonReader): ${name} {
  return changetype<${name}>(shapes.read(r, ${names.indexOf(name)}));
}\n`;
}

function assemblyRecords(entries) {
  const shapes = entries.map(([, fields]) => `    ${shapeOf(fields)},\n`).join("");
  const classes = names.map((name) => `    (idof<${name}>() << 16) | <u32>offsetof<${name}>(),\n`);
  return `import { JsonReader } from "../lib/json-reader";
import { Shapes } from "../shapes";

const shapes = new Shapes(
  [
${shapes}  ],
  [
${classes.join("")}  ],
);

${entries.map((entry) => classOf(...entry)).join("\n")}`;
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
  const typescript = entries.map((entry) => interfaceOf(...entry)).join("\n");
  return new Map([
    ["assembly/generated/records.ts", `${note}${assemblyRecords(entries)}`],
    ["generated/records.ts", `${note}\n${typescript}`],
  ]);
}
