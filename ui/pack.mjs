/**
 * Packs the client's module so that brotli finds more in it: its instructions stand apart from the locals,
 * offsets and numbers that they are about, and addresses are told by when they were first named. What is
 * served is a module still: assembly/unpack.ts, with the packed one in its memory.
 */
import binaryen from "assemblyscript/binaryen";
import { brotli } from "./brotli.mjs";
import { objects } from "./literals.mjs";

const PAGE = 65536;
const CODE_SECTION = 10;
/** The parts, as in assembly/unpack.ts. */
const PARTS = [
  ...["after", "offsets", "declared", "low", "new", "high", "locals"],
  ...["code", "before", "numbers", "labels", "rest"],
];
/**
 * Orders in which they stand; `after` ends where `offsets` begins, `before` at `numbers`. Which of them
 * brotli makes the least of, by up to half a percent, changes with every line of the client: each is tried.
 */
const LAYOUTS = [
  "after offsets declared low code high labels before numbers new locals rest",
  "after offsets declared low code before numbers high labels new locals rest",
  "after offsets low code before numbers declared high locals labels new rest",
  "after offsets labels rest new locals before numbers high code declared low",
].map((layout) => layout.split(" "));
/** Where the addresses that were named are kept meanwhile. */
const NAMED = 64;
const NEW = 0xe0;
const KNOWN = 0xe1;
/** Below, a number is more likely just a number. */
const FIRST_ADDRESS = 4096;

/** The unpacker with a module in it, in fewest bytes for brotli; `image`: what that has in its memory. */
export function pack(wasm, image, unpacker) {
  const packed = new Packer(wasm, image).pack();
  const modules = LAYOUTS.map((layout) => layOut(packed, layout, unpacker));
  const sizes = modules.map((module) => brotli(module).length);
  return modules[sizes.indexOf(Math.min(...sizes))];
}

function layOut({ parts, functions, named, length }, layout, unpacker) {
  const words = new Uint32Array(NAMED / 4);
  let at = NAMED + named * 4;
  for (const name of layout) {
    words[PARTS.indexOf(name)] = at;
    at += parts[name].length;
  }
  words.set([at, functions], PARTS.length);
  const module = binaryen.readBinary(unpacker);
  const pages = Math.ceil((at + 2 * length) / PAGE);
  const first = { offset: module.i32.const(0), data: new Uint8Array(words.buffer) };
  const all = layout.flatMap((name) => parts[name]);
  const rest = { offset: module.i32.const(words[0]), data: Uint8Array.from(all) };
  module.setMemory(pages, pages, null, [first, rest], false, false, "0");
  const bytes = module.emitBinary();
  module.dispose();
  return bytes;
}

class Packer {
  #wasm;
  #at = 8;
  #parts = Object.fromEntries(PARTS.map((name) => [name, []]));
  #addresses;
  /** When each address was named first. */
  #named = new Map();
  #last = 0;

  constructor(wasm, image) {
    this.#wasm = wasm;
    this.#addresses = new Set([...objects(image)].map(({ at }) => at));
  }

  pack() {
    const wasm = this.#wasm;
    while (wasm[this.#at] !== CODE_SECTION) {
      this.#at++;
      const size = this.#number();
      this.#at += size;
    }
    const begin = ++this.#at;
    const size = this.#number();
    const end = this.#at + size;
    const functions = this.#number();
    for (let n = 0; n < functions; n++) this.#function();
    if (this.#at !== end || functions >= 1 << 14) throw new Error("the code can't be packed");
    this.#parts.before.push(...wasm.subarray(0, begin));
    this.#parts.after.push(...wasm.subarray(end));
    const { size: named } = this.#named;
    return { parts: this.#parts, functions, named, length: wasm.length };
  }

  #function() {
    const size = this.#number();
    const end = this.#at + size;
    for (let groups = this.#copy("declared"); groups > 0; groups--) {
      this.#copy("declared");
      this.#bytes("declared", 1);
    }
    while (this.#at < end) this.#instruction();
  }

  #instruction() {
    const op = this.#wasm[this.#at++];
    if (op === 0x41 && this.#isAddress()) return;
    this.#parts.code.push(op);
    if (op >= 0x02 && op <= 0x04) this.#bytes("code", 1);
    else if (op === 0x10) {
      const callee = this.#number();
      this.#parts.code.push(callee >> 7, callee & 127);
    } else this.#operands(op);
  }

  #operands(op) {
    if (op >= 0x20 && op <= 0x22) this.#copy("locals");
    else if (op === 0x41) this.#copy("numbers");
    else if (op >= 0x28 && op <= 0x3e) {
      // The alignment is a hint.
      this.#number();
      this.#copy("offsets");
    } else if (op === 0x0c || op === 0x0d) this.#copy("labels");
    else if (op === 0x0e) for (let n = this.#copy("labels") + 1; n > 0; n--) this.#copy("labels");
    else if (op === 0x11) for (let n = 0; n < 2; n++) this.#copy("rest");
    else if (op === 0x43 || op === 0x44) this.#bytes("rest", op === 0x43 ? 4 : 8);
    else if (op === 0xfc) {
      const more = { 10: 2, 11: 1 };
      this.#bytes("rest", more[this.#copy("rest")] ?? 0);
    } else if ([0x23, 0x24, 0x3f, 0x40, 0x42].includes(op)) this.#copy("rest");
    else if (!PLAIN.has(op)) throw new Error(`instruction ${op} can't be packed`);
  }

  /** Whether the number here is an address, which is then packed. */
  #isAddress() {
    const before = this.#at;
    const value = this.#number(true);
    const isAddress = value >= FIRST_ADDRESS && this.#addresses.has(value);
    if (!isAddress) {
      this.#at = before;
      return false;
    }
    const { code, high, low, new: fresh } = this.#parts;
    const known = this.#named.get(value);
    if (known === undefined) {
      code.push(NEW);
      const block = value >> 4;
      const distance = block - this.#last;
      this.#last = block;
      fresh.push(...leb((distance << 1) ^ (distance >> 31)));
      this.#named.set(value, this.#named.size);
    } else {
      code.push(KNOWN);
      high.push(known >> 8);
      low.push(known & 255);
    }
    return true;
  }

  #bytes(part, count) {
    this.#parts[part].push(...this.#wasm.subarray(this.#at, this.#at + count));
    this.#at += count;
  }

  /** Copies a number and gives it. */
  #copy(part) {
    const from = this.#at;
    const value = this.#number();
    this.#parts[part].push(...this.#wasm.subarray(from, this.#at));
    return value;
  }

  #number(isSigned = false) {
    let value = 0;
    let shift = 0;
    let byte;
    do {
      byte = this.#wasm[this.#at++];
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte & 128);
    return isSigned && shift < 32 && byte & 64 ? value | (-1 << shift) : value;
  }
}

/** Instructions that are about nothing but what is on the stack. */
const PLAIN = new Set([0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b]);
for (let op = 0x45; op <= 0xc4; op++) PLAIN.add(op);

function leb(value) {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)];
}
