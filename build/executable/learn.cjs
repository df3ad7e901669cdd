// Runs entry.cjs as an executable does, with the files of the working directory as its assets. When the process ends,
// it writes what V8 has compiled of each script to that directory.
"use strict";
const { readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const vm = require("node:vm");

const scripts = new Map();
class Script extends vm.Script {
  constructor(source, options) {
    super(source, options);
    scripts.set(options.filename, this);
  }
}
const parts = {
  "node:sea": { getRawAsset: (name) => readFileSync(name) },
  "node:vm": { ...vm, Script },
};
const entry = readFileSync(join(__dirname, "entry.cjs"), "utf8");
process.on("exit", () => {
  for (const [name, script] of scripts) writeFileSync(`${name}.cache`, script.createCachedData());
});
vm.compileFunction(entry, ["require"])((id) => parts[id] ?? require(id));
