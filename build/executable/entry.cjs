// The first script of the executable. The command consists of pieces: assets of the executable, each run when it is
// first required, as Node would run files. The pieces that short commands need are one script, for which the executable
// has V8's compiled code if it was built on its own platform (short-script.mjs).
"use strict";
const { getRawAsset } = require("node:sea");
const { pathToFileURL } = require("node:url");
const { Script, constants } = require("node:vm");

const directory = require("node:path").dirname(process.execPath);
const url = pathToFileURL(process.execPath).href;
const modules = new Map();
const short = evaluated("short.js", Buffer.from(getRawAsset("short.cache")));

function evaluated(name, cachedData) {
  // The bytes can be read as Latin-1, because esbuild escapes all characters beyond ASCII, except in comments.
  const source = Buffer.from(getRawAsset(name)).latin1Slice();
  return new Script(source, {
    filename: name,
    cachedData,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  }).runInThisContext();
}

function requireFrom(id) {
  return id.startsWith("./") ? piece(id.slice(2)) : require(id);
}

function piece(name) {
  const known = modules.get(name);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  modules.set(name, module);
  const run = short[name] ?? evaluated(name);
  run(module.exports, requireFrom, module, process.execPath, directory, url);
  return module.exports;
}

piece("main.js");
