// What the executable runs first: it finds the pieces of the command among the executable's assets
// and runs each when it is first asked for, as Node would run files.
"use strict";
const { getAsset } = require("node:sea");
const { pathToFileURL } = require("node:url");
const { compileFunction, constants } = require("node:vm");

const directory = require("node:path").dirname(process.execPath);
const url = pathToFileURL(process.execPath).href;
const parameters = ["exports", "require", "module", "__filename", "__dirname", "__importMetaUrl"];
const modules = new Map();

function requireFrom(id) {
  return id.startsWith("./") ? piece(id.slice(2)) : require(id);
}

function piece(name) {
  const known = modules.get(name);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  modules.set(name, module);
  const run = compileFunction(getAsset(name, "utf8"), parameters, {
    filename: name,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  run(module.exports, requireFrom, module, process.execPath, directory, url);
  return module.exports;
}

piece("main.js");
