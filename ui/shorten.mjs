/**
 * Says what AssemblyScript says in fewer bytes, before the module is optimised. A list in brackets becomes a
 * call with its items: it was an array in a local and an assignment for each index. A text of several parts
 * becomes a chain of calls that each append one: it was a table to be filled and joined. A record that is made
 * is an empty one by its shape: it was an assignment for each of its fields.
 */
import binaryen from "assemblyscript/binaryen";
import { bodiesOf, constantOf, infoOf, partsOf } from "./expressions.mjs";
import { HEAD, imageOf, setImage } from "./literals.mjs";
import { records } from "./schema/api.mjs";

const { i32, BlockId, LocalGetId, LocalSetId } = binaryen;
/** Where an array has the address of its items: std/assembly/array.ts. */
const DATA = 4;
/** Of references: two bits of an address, four bytes. */
const ALIGNMENT = 2;
const NEW_LIST = "~lib/rt/__newArray";
const SET_ITEM = /^~lib\/array\/Array<.*>#__set$/;
const SET_PART = "~lib/staticarray/StaticArray<~lib/string/String>#__uset";
const JOIN = "~lib/staticarray/StaticArray<~lib/string/String>#join";
const TEXT_LENGTH = "~lib/string/String#get:length";
const APPEND = "~lib/string/String#concat";
/** Of a string, what goes to its end where that is not given: then a table chose what stands for it. */
const OPEN_ENDED = /^(~lib\/string\/String#(?:substring|split|lastIndexOf))@varargs$/;
const GIVEN = "~argumentsLength";
const RECORDS = "assembly/generated/records/";
const EMPTY_RECORD = "assembly/shapes/Shapes#empty";

/** A transform of asc, which calls it when everything is compiled. */
export class Shorten {
  #module;
  #image;
  /** Functions that make lists, by their names: which class, how many items. */
  #makers = new Map();

  afterCompile(module) {
    this.#module = module;
    this.#image = imageOf(module);
    for (const body of bodiesOf(module)) this.#visit(body);
    for (const [name, { id, count }] of this.#makers) defineMaker(module, name, id, count);
    setImage(module, this.#image);
    if (module.getFunction(EMPTY_RECORD)) shortenConstructors(module);
  }

  #visit(expression) {
    const info = infoOf(expression);
    for (const [part] of partsOf(info)) this.#visit(part);
    if (info.target === NEW_LIST) this.#shortenEmpty(expression, info);
    if (OPEN_ENDED.test(info.target)) this.#shortenOpenEnded(expression, info);
    if (info.op === binaryen.GtSInt32) shortenFilled(expression, info);
    if (info.id !== BlockId) return;
    const shorter = this.#list(info.children) ?? this.#text(info.children);
    if (shorter !== undefined) binaryen.Block.setChildren(expression, shorter);
  }

  #shortenEmpty(expression, { operands }) {
    const [length, alignment, id, from] = operands.map(constantOf);
    if (length !== 0 || alignment !== ALIGNMENT || !id || !from) return;
    this.#forget(from);
    binaryen.Call.setTarget(expression, this.#maker(id, 0));
    binaryen.Call.setOperands(expression, []);
  }

  #shortenOpenEnded(expression, { target, operands }) {
    const [given] = infoOf(operands.at(-1)).children?.map(infoOf) ?? [];
    if (given?.name !== GIVEN || constantOf(given.value) !== operands.length - 2) return;
    binaryen.Call.setTarget(expression, OPEN_ENDED.exec(target)[1]);
    binaryen.Call.setOperandAt(expression, operands.length - 1, this.#module.i32.const(0x7fffffff));
  }

  /** The name of the function that makes such a list. */
  #maker(id, count) {
    const name = `list/${id}/${count}`;
    this.#makers.set(name, { id, count });
    return name;
  }

  /** `local = new; local[0] = …; local[1] = …; local` */
  #list(children) {
    const [first, ...items] = children.map(infoOf);
    const last = items.pop();
    if (first?.id !== LocalSetId || last?.id !== LocalGetId || last.index !== first.index) return;
    const made = infoOf(first.value);
    if (made.target !== NEW_LIST) return;
    const [length, alignment, id, from] = made.operands.map(constantOf);
    if (length !== items.length || alignment !== ALIGNMENT || !id || from !== 0) return;
    const isItem = ({ target, operands }, i) =>
      SET_ITEM.test(target) &&
      infoOf(operands[0]).index === first.index &&
      constantOf(operands[1]) === i;
    if (!items.every(isItem)) return;
    const values = items.map(({ operands }) => operands[2]);
    return [this.#module.call(this.#maker(id, length), values, i32)];
  }

  /** `a = …; table[1] = a; b = …; table[3] = b; join(table)` */
  #text(children) {
    const infos = children.map(infoOf);
    const { target, operands } = infos.at(-1) ?? {};
    if (target !== JOIN) return;
    const table = constantOf(operands[0]);
    const steps = infos.slice(0, -1);
    const isPart = (info) => info.target === SET_PART && constantOf(info.operands[0]) === table;
    const parts = steps.filter(isPart);
    const isPlain = ({ operands: [, , value] }) => binaryen.getExpressionId(value) === LocalGetId;
    const isStep = (info) => info.id === LocalSetId || isPart(info);
    if (
      !table ||
      parts.length === 0 ||
      !this.#module.getFunction(APPEND) ||
      !steps.every(isStep) ||
      !parts.every(isPlain)
    )
      return;
    const words = new DataView(this.#image.buffer);
    const texts = Array.from({ length: words.getUint32(table - 4, true) / 4 }, (_, i) => {
      const literal = words.getUint32(table + i * 4, true);
      const part = parts.find((one) => constantOf(one.operands[1]) === i);
      if (part !== undefined) return part.operands[2];
      return words.getUint32(literal - 4, true) === 0 ? 0 : this.#module.i32.const(literal);
    }).filter((text) => text !== 0);
    this.#forget(table);
    const joined = texts.reduce((text, next) => this.#module.call(APPEND, [text, next], i32));
    return [...children.filter((_, i) => steps[i]?.id === LocalSetId), joined];
  }

  /** Nothing refers to a static object any more. */
  #forget(at) {
    const size = new DataView(this.#image.buffer).getUint32(at - 4, true);
    this.#image.fill(0, at - HEAD, at + size);
  }
}

/** `text.length > 0`: it is never less, and what is not zero is true. */
function shortenFilled(expression, { left, right }) {
  if (infoOf(left).target === TEXT_LENGTH && constantOf(right) === 0) {
    binaryen.Binary.setOp(expression, binaryen.NeInt32);
  }
}

/** A function that makes a list of the items that it is given. */
function defineMaker(module, name, id, count) {
  const numbers = [count, ALIGNMENT, id, 0].map((n) => module.i32.const(n));
  const list = () => module.local.get(count, i32);
  const body = [module.local.set(count, module.call(NEW_LIST, numbers, i32))];
  for (let i = 0; i < count; i++) {
    const items = module.i32.load(DATA, 4, list());
    body.push(module.i32.store(i << ALIGNMENT, 4, items, module.local.get(i, i32)));
  }
  const params = binaryen.createType(new Array(count).fill(i32));
  module.addFunction(name, params, i32, [i32], module.block(null, [...body, list()], i32));
}

function shortenConstructors(module) {
  for (const [number, record] of Object.keys(records).entries()) {
    const name = `${RECORDS}${record}#constructor`;
    if (!module.getFunction(name)) continue;
    const shapes = module.global.get(`${RECORDS}shapes`, i32);
    const empty = module.call(EMPTY_RECORD, [shapes, module.i32.const(number)], i32);
    module.removeFunction(name);
    module.addFunction(name, i32, i32, [], empty);
  }
}
