/**
 * Compiles AssemblyScript to WebAssembly and reduces the size of the client's module. A trap in the shipped module
 * shows only the numbers of functions: `node ui/build.mjs --names` builds a module that also has their names.
 */
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import binaryen from "assemblyscript/binaryen";
import { listsAsCalls } from "./lists.mjs";
import { packLiterals } from "./literals.mjs";
import { templatesAsSums } from "./templates.mjs";

/** The host collects garbage after each draw, so the minimal runtime is enough. */
const ascOptions = [
  ...["--runtime", "minimal", "--exportRuntime", "--bindings", "raw"],
  // A failed assert traps without a message and a line number, because these would take a kilobyte.
  ...["--use", "abort="],
  ...["--optimizeLevel", "3", "--shrinkLevel", "2", "--debug"],
  // Warning 235: an export that WebAssembly does not support is left out. Warning 210: a `!`, which only TypeScript
  // needs, has no effect.
  ...["--disableWarning", "235", "--disableWarning", "210"],
];

/** Compiles `entry`, a path relative to ui/, to `<name>.wasm` and its bindings. Returns the files, by their names. */
export async function compileAssembly(entry, name) {
  const files = new Map();
  const out = [
    "--baseDir",
    fileURLToPath(new URL(".", import.meta.url)),
    "--outFile",
    `${name}.wasm`,
  ];
  const writeFile = (file, contents) => files.set(basename(file), contents);
  const args = [entry, ...out, ...ascOptions];
  const { error, stderr } = await asc.main(args, {
    writeFile,
    transforms: [templatesAsSums, listsAsCalls],
  });
  if (error)
    throw new Error(`asc: ${entry} does not compile\n${stderr.toString()}`, { cause: error });
  return files;
}

const { MutableGlobals, SignExt, NontrappingFPToInt, BulkMemory, BulkMemoryOpt } =
  binaryen.Features;

/** Returns the same module in fewer bytes, with the names of its functions if `names` is set. */
export function shrink(wasm, { names = false } = {}) {
  binaryen.setOptimizeLevel(3);
  binaryen.setShrinkLevel(2);
  binaryen.setLowMemoryUnused(true);
  binaryen.setAlwaysInlineMaxSize(4);
  binaryen.setFlexibleInlineMaxSize(30);
  // This option is global, and the AssemblyScript compiler has set it to 80.
  binaryen.setOneCallerInlineMaxSize(450);
  binaryen.setDebugInfo(names);
  const module = binaryen.readBinary(wasm);
  // Exports of AssemblyScript's runtime that the host does not use.
  for (const name of ["__pin", "__unpin", "__rtti_base"]) module.removeExport(name);
  module.setFeatures(MutableGlobals | SignExt | NontrappingFPToInt | BulkMemory | BulkMemoryOpt);
  // The inlining limits above, the second optimize() and the order of locals save 450 bytes after brotli compression.
  module.runPasses(["dae2"]);
  module.optimize();
  module.optimize();
  module.runPasses(["coalesce-locals-learning", "reorder-locals", "vacuum"]);
  // Functions of one file are similar, so they compress better side by side.
  module.runPasses(["reorder-functions-by-name"]);
  packLiterals(module);
  const bytes = module.emitBinary();
  module.dispose();
  return bytes;
}
