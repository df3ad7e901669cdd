/** Generates AssemblyScript readers and TypeScript interfaces from the records of api.mjs. */
import { records } from "./api.mjs";

const note =
  "// Generated from ui/schema/api.mjs by ui/schema/generate.mjs. Do not change this file: change api.mjs.\n";

/**
 * Maps each simple type of api.mjs to its AssemblyScript type, its letter in a shape (assembly/shapes.ts), and its
 * TypeScript type.
 */
const scalars = {
  i64: ["i64", "l", "number | bigint"],
  i32: ["i32", "i", "number"],
  f64: ["f64", "f", "number"],
  bool: ["bool", "b", "boolean"],
  string: ["string", "s", "string"],
  time: ["f64", "t", "string"],
  json: ["string", "j", "unknown"],
};
/** In AssemblyScript a number cannot be null, so assembly/shapes.ts stores another value in place of null. */
const isNumber = (base) => ["i64", "i32", "f64", "time"].includes(base);
const names = Object.keys(records);
/** In a shape, the letters from À on mean records. */
const FIRST_RECORD = 0xc0;

const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
const parse = (spec) => ({
  base: spec.replace(/\[\]|\?/g, ""),
  list: spec.endsWith("[]"),
  nullable: spec.endsWith("?"),
});

function declaration(name, { base, list, nullable }) {
  const [type] = scalars[base] ?? [base];
  if (list) return `${name}: ${type}[];`;
  return nullable && !isNumber(base) ? `${name}: ${type} | null;` : `${name}: ${type};`;
}

/** Returns the shape by which assembly/shapes.ts reads a record. */
function shapeOf(fields) {
  const shapes = Object.entries(fields).map(([wire, spec]) => {
    const { base, list, nullable } = parse(spec);
    const type = scalars[base]?.[1] ?? String.fromCharCode(FIRST_RECORD + names.indexOf(base));
    return `${list ? "*" : nullable ? "?" : ""}${type}${wire} `;
  });
  return JSON.stringify(shapes.join(""));
}

function classOf(name, fields) {
  const members = Object.entries(fields).map(
    ([wire, spec]) => `  ${declaration(camel(wire), parse(spec))}\n`,
  );
  const number = names.indexOf(name);
  return `export class ${name} {
${members.join("")}
  static empty(): ${name} {
    return changetype<${name}>(shapes.empty(${number}));
  }
}

export function read${name}(r: JsonReader): ${name} {
  return changetype<${name}>(shapes.read(r, ${number}));
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
    const type = scalars[base]?.[2] ?? base;
    return `  ${wire}: ${list ? `(${type})[]` : type}${nullable ? " | null" : ""};\n`;
  });
  return `export interface ${name} {\n${members.join("")}}\n`;
}

/** Returns the files to write, by their paths below ui/. */
export function generateRecords() {
  const entries = Object.entries(records);
  const typescript = entries.map((entry) => interfaceOf(...entry)).join("\n");
  return new Map([
    ["assembly/generated/records.ts", `${note}${assemblyRecords(entries)}`],
    ["generated/records.ts", `${note}\n${typescript}`],
  ]);
}
