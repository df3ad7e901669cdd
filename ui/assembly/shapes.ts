/**
 * Reads records from JSON by the shapes of their classes, so that no class needs its own code for reading. A shape is a
 * text that lists the fields of a class in their order. The text of a field is a mark if needed (`?`: may be null, `*`:
 * a list), a letter for the type, the name, and a space.
 */
import { JsonReader } from "./lib/json-reader";

const SPACE = 0x20;
const LIST = 0x2a;
const NULLABLE = 0x3f;
// The letters of types. The letter of a record is RECORD plus the number of the record.
const BOOL = 0x62;
const F64 = 0x66;
const I32 = 0x69;
const JSON = 0x6a;
const I64 = 0x6c;
const STRING = 0x73;
const TIME = 0x74;
const RECORD = 0xc0;

/** The type of a record in a list, for the compiler only. */
class Item {}

export class Shapes {
  constructor(
    private readonly shapes: StaticArray<string>,
    /** The runtime id of each class in the upper 16 bits, and its size in bytes in the lower 16. */
    private readonly classes: StaticArray<u32>,
  ) {}

  read(r: JsonReader, record: i32): usize {
    const target = this.empty(record);
    const field = new Field(this.shapes[record]);
    r.beginObject();
    while (r.nextKey()) {
      if (!field.find(r)) r.skip();
      else if (field.mark === LIST) this.addAll(r, load<usize>(target + field.at), field.type);
      else if (field.mark !== NULLABLE || !r.takeNull())
        this.store(r, target + field.at, field.type);
    }
    return target;
  }

  /** Returns the address of a new record with default values. */
  empty(record: i32): usize {
    const size = this.classes[record] & 0xffff;
    const target = __new(size, this.classes[record] >> 16);
    memory.fill(target, 0, size);
    const field = new Field(this.shapes[record]);
    while (field.next()) {
      const to = target + field.at;
      const type = field.type;
      if (field.mark === LIST) store<usize>(to, listOf(type));
      else if (field.mark === NULLABLE) storeAbsent(to, type);
      else if (type === TIME) store<f64>(to, NaN);
      else if (type === STRING) store<usize>(to, changetype<usize>(""));
      else if (type === JSON) store<usize>(to, changetype<usize>("null"));
      else if (type >= RECORD) store<usize>(to, this.empty(type - RECORD));
    }
    return target;
  }

  private store(r: JsonReader, to: usize, type: i32): void {
    if (type === I64) store<i64>(to, r.i64());
    else if (type === I32) store<i32>(to, r.i32());
    else if (type === F64) store<f64>(to, r.f64());
    else if (type === TIME) store<f64>(to, r.time());
    else if (type === BOOL) store<bool>(to, r.bool());
    else if (type === STRING) store<usize>(to, changetype<usize>(r.string()));
    else if (type === JSON) store<usize>(to, changetype<usize>(r.raw()));
    else store<usize>(to, this.read(r, type - RECORD));
  }

  private addAll(r: JsonReader, list: usize, type: i32): void {
    r.beginArray();
    while (r.nextItem()) {
      if (type === I64) changetype<i64[]>(list).push(r.i64());
      else if (type === F64) changetype<f64[]>(list).push(r.f64());
      else if (type === TIME) changetype<f64[]>(list).push(r.time());
      else if (type === BOOL) changetype<bool[]>(list).push(r.bool());
      else if (type === STRING) changetype<string[]>(list).push(r.string());
      else changetype<Item[]>(list).push(changetype<Item>(this.read(r, type - RECORD)));
    }
  }
}

function listOf(type: i32): usize {
  if (type === I64) return changetype<usize>([] as i64[]);
  if (type === F64 || type === TIME) return changetype<usize>([] as f64[]);
  if (type === BOOL) return changetype<usize>([] as bool[]);
  if (type === STRING) return changetype<usize>([] as string[]);
  return changetype<usize>([] as Item[]);
}

/** Stores the value that replaces null in a numeric field. Fields of other types keep 0. */
function storeAbsent(to: usize, type: i32): void {
  if (type === I64) store<i64>(to, i64.MIN_VALUE);
  else if (type === I32) store<i32>(to, i32.MIN_VALUE);
  else if (type === F64 || type === TIME) store<f64>(to, NaN);
}

/**
 * A position in a shape, and the field at this position. JSON mostly has the keys in the order of the shape, so find()
 * begins at the position.
 */
class Field {
  mark: i32 = 0;
  type: i32 = 0;
  /** The offset of the field in the record. */
  at: usize = 0;
  private size: usize = 0;
  private name: i32 = 0;
  private end: i32 = 0;

  constructor(private readonly shape: string) {}

  /** Moves to the next field. After the last field, moves back to the beginning and returns false. */
  next(): bool {
    const shape = this.shape;
    let i = this.end;
    if (i === shape.length) {
      this.end = 0;
      this.at = 0;
      this.size = 0;
      return false;
    }
    let c = shape.charCodeAt(i++);
    this.mark = c;
    if (c === LIST || c === NULLABLE) c = shape.charCodeAt(i++);
    this.type = c;
    this.name = i;
    while (shape.charCodeAt(i) !== SPACE) i++;
    this.end = i + 1;
    const size = this.mark === LIST ? sizeof<usize>() : sizeOf(c);
    this.at = (this.at + this.size + size - 1) & ~(size - 1);
    this.size = size;
    return true;
  }

  /** Moves to the field that has the reader's key as its name; returns false if there is none. */
  find(r: JsonReader): bool {
    for (let round = 0; round < 2; round++) {
      while (this.next()) if (r.keyIn(this.shape, this.name, this.end - 1)) return true;
    }
    return false;
  }
}

function sizeOf(type: i32): usize {
  if (type === BOOL) return sizeof<bool>();
  if (type === I64 || type === F64 || type === TIME) return sizeof<i64>();
  return sizeof<usize>();
}
