/** Looks into the expressions of a module, as Binaryen has them. */
import binaryen from "assemblyscript/binaryen";

const { ConstId, NopId, UnreachableId, i32 } = binaryen;
/** Of any kind of expression, the fields that are expressions, or lists of them. */
const SINGLE = [
  ...["condition", "ifTrue", "ifFalse", "body", "value", "target", "ptr", "left", "right"],
  ...["delta", "dest", "source", "size"],
];
const LISTS = ["operands", "children"];
/** Binaryen's kinds by their numbers. */
const kinds = new Map(
  Object.keys(binaryen)
    .filter((name) => name.endsWith("Id"))
    .map((name) => [binaryen[name], binaryen[name.slice(0, -2)]]),
);

export function infoOf(expression) {
  const id = binaryen.getExpressionId(expression);
  // Binaryen has nothing to say of these two.
  return id === NopId || id === UnreachableId ? { id } : binaryen.getExpressionInfo(expression);
}

/** The number that an expression is, if it is one of 32 bits. */
export function constantOf(expression) {
  const { id, type, value } = infoOf(expression);
  return id === ConstId && type === i32 ? value : undefined;
}

/** The expressions that one is made of, each with a function that puts another in its place. */
export function partsOf(info) {
  if (info.id === ConstId) return [];
  const single = SINGLE.filter((name) => typeof info[name] === "number" && info[name] !== 0);
  const setter = (name) => `set${name[0].toUpperCase()}${name.slice(1)}`;
  const one = (name) => [info[name], (at, part) => kinds.get(info.id)[setter(name)](at, part)];
  const many = (name) => {
    const set = `set${name === "operands" ? "Operand" : "Child"}At`;
    return info[name].map((part, i) => [
      part,
      (at, other) => kinds.get(info.id)[set](at, i, other),
    ]);
  };
  return [...single.map(one), ...LISTS.filter((name) => info[name]).flatMap(many)];
}

/** The bodies of a module's functions. */
export function bodiesOf(module) {
  const all = [];
  for (let n = 0; n < module.getNumFunctions(); n++) {
    const { body } = binaryen.getFunctionInfo(module.getFunctionByIndex(n));
    if (body !== 0) all.push(body);
  }
  return all;
}
