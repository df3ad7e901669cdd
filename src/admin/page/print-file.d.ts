// The build makes this file of ui/print (ui/build.mjs); the sources must compile without it.
declare module "*/dist/ui/print.js" {
  /** Gives what draws the first picture of the module: markup, of what the page would be told. */
  export function createPrinter(
    wasm: Uint8Array,
  ): Promise<(facts: import("./first-picture.ts").FirstFacts) => string>;
}
