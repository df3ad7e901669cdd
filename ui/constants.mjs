/**
 * Gives the numbers that a module names most often, mostly addresses of literals, names of their own: a
 * constant of three bytes and its instruction become a reference to a global of one.
 */
import binaryen from "assemblyscript/binaryen";
import { bodiesOf, constantOf, infoOf, partsOf } from "./expressions.mjs";

const { i32 } = binaryen;
/** The numbers of so many globals take one byte. */
const MOST_GLOBALS = 128;
/** A global takes seven bytes, a reference to it two. */
const SHORTEST = 64 * 128;
const FEWEST_USES = 5;

/** To be done last: the optimiser would put the numbers back. */
export function nameConstants(module) {
  const uses = new Map();
  const places = [];
  const visit = (expression) => {
    for (const [part, replace] of partsOf(infoOf(expression))) {
      const value = constantOf(part);
      if (value === undefined) visit(part);
      else if (value >= SHORTEST) {
        uses.set(value, (uses.get(value) ?? 0) + 1);
        places.push({
          value,
          replace: (name) => replace(expression, module.global.get(name, i32)),
        });
      }
    }
  };
  for (const body of bodiesOf(module)) visit(body);
  const named = [...uses]
    .filter(([, count]) => count >= FEWEST_USES)
    .sort(([a, n], [b, m]) => m - n || a - b)
    .slice(0, Math.max(0, MOST_GLOBALS - module.getNumGlobals()))
    .map(([value]) => value);
  const names = new Map(named.map((value) => [value, `constant/${value}`]));
  for (const [value, name] of names) module.addGlobal(name, i32, false, module.i32.const(value));
  for (const { value, replace } of places) {
    const name = names.get(value);
    if (name !== undefined) replace(name);
  }
  // Those that are used most come first.
  module.runPasses(["reorder-globals"]);
}
