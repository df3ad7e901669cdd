/**
 * Unpacks the application's module, as ui/pack.mjs packs it: its instructions stand apart from what they are
 * about. A module of its own, which is served with the packed one in its memory, and runs once.
 */

/** The words that the memory begins with: where the next of each part stands, and some sizes. */
const enum Part {
  /** All sections behind the code. */
  After,
  Offsets,
  /** The locals that a function has. */
  Declared,
  /** Addresses, by when they were named first: the lower byte of that. */
  Low,
  /** Addresses that are named for the first time, by how far they are from the one before. */
  New,
  /** Of addresses that were named, the upper byte. */
  High,
  Locals,
  /** Instructions, with the types of blocks and the functions that are called. */
  Code,
  /** All sections before the code. */
  Before,
  Numbers,
  Labels,
  Rest,
  /** Where the parts end and the module begins. */
  End,
  Functions,
}

/** Behind them, the addresses that were named. */
const NAMED: usize = 64;
// Instructions that there are not: a number that is an address.
const NEW: u32 = 0xe0;
const KNOWN: u32 = 0xe1;
/** Two bits for each load and store: how it is aligned. */
const ALIGNMENTS: u64 = 0x244eea5050ee;

/** Where the module stands. */
export const start: usize = word(Part.End);
export let end: usize = start;

let named: usize = NAMED;
let last: i32 = 0;
unpack();

function unpack(): void {
  const after = word(Part.Offsets);
  section(Part.Before, word(Part.Numbers));
  // Sizes are written in a fixed number of bytes when they are known.
  const size = end;
  end += 4;
  let functions = word(Part.Functions);
  put(functions | 0x80);
  put(functions >> 7);
  for (; functions > 0; functions--) unpackFunction();
  close(size, 4);
  section(Part.After, after);
}

function unpackFunction(): void {
  const size = end;
  end += 3;
  for (let groups = leb(Part.Declared); groups > 0; groups--) {
    leb(Part.Declared);
    byte(Part.Declared);
  }
  for (let depth = 1; depth > 0; ) {
    const op = next(Part.Code);
    if (op === NEW || op === KNOWN) {
      address(op);
      continue;
    }
    put(op);
    if (op === 0x0b) depth--;
    else if (op >= 0x02 && op <= 0x04) {
      depth++;
      byte(Part.Code);
    } else if (op === 0x10) call();
    else operands(op);
  }
  close(size, 3);
}

/** What an instruction is about. */
function operands(op: u32): void {
  if (op >= 0x20 && op <= 0x22) leb(Part.Locals);
  else if (op === 0x41) leb(Part.Numbers);
  else if (op >= 0x28 && op <= 0x3e) {
    put(<u32>(ALIGNMENTS >> ((op - 0x28) << 1)) & 3);
    leb(Part.Offsets);
  } else if (op === 0x0c || op === 0x0d) leb(Part.Labels);
  else if (op === 0x0e) for (let n = leb(Part.Labels) + 1; n > 0; n--) leb(Part.Labels);
  else if (op === 0x11) {
    leb(Part.Rest);
    leb(Part.Rest);
  } else if (op === 0x43 || op === 0x44)
    for (let n = op === 0x43 ? 4 : 8; n > 0; n--) byte(Part.Rest);
  else if (op === 0xfc) {
    const more = leb(Part.Rest);
    if (more === 10) leb(Part.Rest);
    if (more === 10 || more === 11) leb(Part.Rest);
  } else if (op === 0x23 || op === 0x24 || op === 0x3f || op === 0x40 || op === 0x42)
    leb(Part.Rest);
}

function call(): void {
  const high = next(Part.Code);
  const low = next(Part.Code);
  if (high > 0) put(low | 0x80);
  put(high > 0 ? high : low);
}

function address(op: u32): void {
  if (op === NEW) {
    // An even distance is one forwards. It is copied as all numbers are, and the copy overwritten.
    const before = end;
    const distance = leb(Part.New);
    end = before;
    last += (distance >> 1) ^ -(distance & 1);
    store<i32>(named, last);
    named += 4;
  }
  const at =
    op === NEW ? last : load<i32>(NAMED + (((next(Part.High) << 8) | next(Part.Low)) << 2));
  // In four bytes at most; the last has a bit for the sign.
  let rest = at << 4;
  put(0x41);
  for (; rest > 63; rest >>= 7) put((rest & 127) | 128);
  put(rest);
}

/** Writes a size where room was left for it. */
function close(at: usize, bytes: usize): void {
  let size = end - at - bytes;
  for (; bytes > 1; bytes--) {
    store<u8>(at++, (size & 127) | 128);
    size >>= 7;
  }
  store<u8>(at, size);
}

/** Copies a part that is no code. */
function section(part: Part, until: usize): void {
  const from = word(part);
  memory.copy(end, from, until - from);
  end += until - from;
}

/** Copies a number and gives it. */
function leb(part: Part): i32 {
  let value = 0;
  let shift = 0;
  let c: u32;
  do {
    c = byte(part);
    value |= (c & 127) << shift;
    shift += 7;
  } while (c & 128);
  return value;
}

function byte(part: Part): u32 {
  const c = next(part);
  put(c);
  return c;
}

function next(part: Part): u32 {
  const at = word(part);
  store<u32>(part << 2, at + 1);
  return load<u8>(at);
}

function word(part: Part): u32 {
  return load<u32>(part << 2);
}

function put(c: u32): void {
  store<u8>(end++, c);
}
