/**
 * Says what AssemblyScript says in fewer bytes, before the module is optimised. A list in brackets becomes a
 * chain of calls that each add an item: it was an array in a local and an assignment for each index. A text
 * of several parts becomes a chain of calls that each append one: it was a table to be filled and joined.
 */
import binaryen from "assemblyscript/binaryen";
import { HEAD, imageOf, setImage } from "./literals.mjs";

const { i32, BlockId, ConstId, LocalGetId, LocalSetId, NopId, UnreachableId } = binaryen;
/** Fields of an array: std/assembly/array.ts. */
const DATA = 4;
const LENGTH = 12;
/** Of references: two bits of an address, four bytes. */
const ALIGNMENT = 2;
const NEW_LIST = "~lib/rt/__newArray";
const SET_ITEM = /^~lib\/array\/Array<.*>#__set$/;
const SET_PART = "~lib/staticarray/StaticArray<~lib/string/String>#__uset";
const JOIN = "~lib/staticarray/StaticArray<~lib/string/String>#join";
const APPEND = "~lib/string/String#concat";
const ADD = "list/add";

/** A transform of asc, which calls it when everything is compiled. */
export class Shorten {
  #module;
  #image;
  /** Classes of lists, by their numbers at run time. */
  #classes = new Set();

  afterCompile(module) {
    this.#module = module;
    this.#image = imageOf(module);
    for (let n = module.getNumFunctions() - 1; n >= 0; n--) {
      const { body } = binaryen.getFunctionInfo(module.getFunctionByIndex(n));
      if (body !== 0) this.#visit(body);
    }
    for (const id of this.#classes) defineList(module, id);
    defineAdd(module);
    setImage(module, this.#image);
  }

  #visit(expression) {
    const info = infoOf(expression);
    for (const child of childrenOf(info)) this.#visit(child);
    if (info.target === NEW_LIST) this.#shortenEmpty(expression, info);
    if (info.id !== BlockId) return;
    const shorter = this.#list(info.children) ?? this.#text(info.children);
    if (shorter !== undefined) binaryen.Block.setChildren(expression, shorter);
  }

  #shortenEmpty(expression, { operands }) {
    const [length, alignment, id, from] = operands.map(constantOf);
    if (length !== 0 || alignment !== ALIGNMENT || !id || !from) return;
    this.#forget(from);
    this.#classes.add(id);
    binaryen.Call.setTarget(expression, listOf(id));
    binaryen.Call.setOperands(expression, [operands[0]]);
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
    this.#classes.add(id);
    const call = (target, operands) => this.#module.call(target, operands, i32);
    const empty = call(listOf(id), [made.operands[0]]);
    return [items.reduce((list, { operands }) => call(ADD, [list, operands[2]]), empty)];
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

const listOf = (id) => `list/${id}`;

/** A list of no items, with room for so many. */
function defineList(module, id) {
  const made = module.call(
    NEW_LIST,
    [0, ALIGNMENT, id, 0].map((n, i) => (i === 0 ? module.local.get(0, i32) : module.i32.const(n))),
    i32,
  );
  const body = module.block(
    null,
    [
      module.i32.store(LENGTH, 4, module.local.tee(1, made, i32), module.i32.const(0)),
      module.local.get(1, i32),
    ],
    i32,
  );
  module.addFunction(listOf(id), i32, i32, [i32], body);
}

/** Adds an item, for which there must be room; gives the list. */
function defineAdd(module) {
  const list = () => module.local.get(0, i32);
  const length = () => module.i32.load(LENGTH, 4, list());
  const offset = module.i32.shl(length(), module.i32.const(ALIGNMENT));
  const place = module.i32.add(module.i32.load(DATA, 4, list()), offset);
  const body = module.block(
    null,
    [
      module.i32.store(0, 4, place, module.local.get(1, i32)),
      module.i32.store(LENGTH, 4, list(), module.i32.add(length(), module.i32.const(1))),
      list(),
    ],
    i32,
  );
  module.addFunction(ADD, binaryen.createType([i32, i32]), i32, [], body);
}

function infoOf(expression) {
  const id = binaryen.getExpressionId(expression);
  // Binaryen has nothing to say of these two.
  return id === NopId || id === UnreachableId ? { id } : binaryen.getExpressionInfo(expression);
}

/** The number that an expression is, if it is one. */
function constantOf(expression) {
  const { id, type, value } = infoOf(expression);
  return id === ConstId && type === i32 ? value : undefined;
}

const CHILDREN = [
  ...["condition", "ifTrue", "ifFalse", "body", "value", "target", "ptr", "left", "right"],
  ...["delta", "dest", "source", "size"],
];

function childrenOf(info) {
  if (info.id === ConstId) return [];
  const single = CHILDREN.map((name) => info[name]).filter((one) => typeof one === "number" && one);
  return [...single, ...(info.operands ?? []), ...(info.children ?? [])];
}
