/**
 * Compiles AssemblyScript to WebAssembly and makes the client's module small. The same sources give the
 * same bytes, with names or without: a trap of the shipped module shows the numbers of functions, which
 * are those of `node ui/build.mjs --names`.
 */
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import binaryen from "assemblyscript/binaryen";
import { packLiterals } from "./literals.mjs";
import { templatesAsSums } from "./templates.mjs";

/** The host collects the memory between frames, which is all that the minimal runtime needs. */
const ascOptions = [
  ...["--runtime", "minimal", "--exportRuntime", "--bindings", "raw"],
  // Asserts stay. A trap shows its function; the message and the line would take a kilobyte.
  ...["--use", "abort="],
  ...["--optimizeLevel", "3", "--shrinkLevel", "2", "--debug"],
  // 235: what can't be exported isn't. 210: TypeScript needs a `!` that AssemblyScript does not.
  ...["--disableWarning", "235", "--disableWarning", "210"],
];

/** Compiles an entry below ui/ to `<name>.wasm`, with its glue beside it: files by their names. */
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
  const { error, stderr } = await asc.main(args, { writeFile, transforms: [templatesAsSums] });
  if (error)
    throw new Error(`asc: ${entry} does not compile\n${stderr.toString()}`, { cause: error });
  return files;
}

const { MutableGlobals, SignExt, NontrappingFPToInt, BulkMemory, BulkMemoryOpt } =
  binaryen.Features;

/** The same module in fewer bytes; with the names of its functions where they are wanted. */
export function shrink(wasm, { names = false } = {}) {
  binaryen.setOptimizeLevel(3);
  binaryen.setShrinkLevel(2);
  binaryen.setLowMemoryUnused(true);
  binaryen.setAlwaysInlineMaxSize(4);
  binaryen.setFlexibleInlineMaxSize(30);
  binaryen.setDebugInfo(names);
  const module = binaryen.readBinary(wasm);
  module.setFeatures(MutableGlobals | SignExt | NontrappingFPToInt | BulkMemory | BulkMemoryOpt);
  // Wider inlining, a second round and locals by their use: 450 bytes less under brotli.
  module.runPasses(["dae2"]);
  module.optimize();
  module.optimize();
  module.runPasses(["coalesce-locals-learning", "reorder-locals", "vacuum"]);
  // Functions of one file are similar and compress well side by side.
  module.runPasses(["reorder-functions-by-name"]);
  packLiterals(module);
  const bytes = module.emitBinary();
  module.dispose();
  return bytes;
}
