/**
 * A transform of AssemblyScript's compiler. A list literal such as `[cls("num"), title]` becomes a call of a generated
 * function that returns the list. The call takes a fifth of the bytes of the code that fills a list in place.
 */
import { posix } from "node:path";
import { CommonFlags, LiteralKind, Node, NodeKind, SourceKind } from "assemblyscript";

/** The largest number of items of a list that is compiled as a call. */
const MOST = 12;
const PATH = "assembly/lists.ts";

export const listsAsCalls = {
  afterParse(parser) {
    const sources = parser.sources.filter(({ sourceKind }) => sourceKind <= SourceKind.UserEntry);
    const declared = declarationsIn(sources);
    const makers = new Map();
    for (const { statements } of sources)
      replaceIn(statements, { declared, makers, returned: null });
    const imports = [...new Set([...makers.values()].map(({ item }) => item))]
      .filter((item) => declared.classes.has(item))
      .map((item) => `import { ${item} } from "${pathTo(declared.classes.get(item))}";\n`);
    const text = [...imports, ...[...makers.values()].map(makerText)].join("");
    parser.parseFile(text, PATH, false);
  },
};

const pathTo = (source) => `./${posix.relative("assembly", source)}`;

/**
 * Returns the path of each exported class, and the types in the signature of each function, method and constructor, by
 * name. If functions of one name have different signatures, their types are unknown.
 */
function declarationsIn(sources) {
  const classes = new Map();
  const functions = new Map();
  const enter = (node, path) => {
    if (node.kind === NodeKind.ClassDeclaration) {
      if (node.flags & CommonFlags.Export) classes.set(node.name.text, path);
      for (const member of node.members) enter(member, path);
      const maker = node.members.find(({ name }) => name.text === "constructor");
      if (maker !== undefined) functions.set(node.name.text, signatureOf(maker));
    }
    if (node.signature === undefined || node.name.text === "constructor") return;
    const { text } = node.name;
    const signature = signatureOf(node);
    const known = functions.get(text);
    const isOther = known !== undefined && JSON.stringify(known) !== JSON.stringify(signature);
    functions.set(text, isOther ? { parameters: [], result: null } : signature);
  };
  for (const { statements, internalPath } of sources)
    for (const statement of statements) enter(statement, internalPath);
  return { classes, functions };
}

const signatureOf = ({ signature: { parameters, returnType } }) => ({
  parameters: parameters.map(({ type }) => nameOf(type)),
  result: nameOf(returnType),
});

/** Returns the name of a type, such as `Node` or `Node[]`; null if the type may be null or has no name. */
function nameOf(type) {
  const name = type?.name?.identifier.text;
  if (name === undefined || type.isNullable) return null;
  return name === "Array" ? `${nameOf(type.typeArguments[0])}[]` : name;
}

const itemOf = (type) => (type?.endsWith("[]") ? type.slice(0, -2) : null);

/** `context.returned`: the enclosing function's return type. */
function replaceIn(parent, context) {
  const { functions } = context.declared;
  for (const [name, child] of Object.entries(parent)) {
    if (name === "range" || child === null || typeof child !== "object") continue;
    const { signature, kind } = child;
    const returned = signature === undefined ? context.returned : nameOf(signature.returnType);
    const inner = { ...context, returned };
    replaceIn(child, inner);
    const put = (list, type) => made(list, itemOf(type), context);
    if (kind === NodeKind.Call || kind === NodeKind.New) {
      const types = functions.get(calleeOf(child))?.parameters ?? [];
      for (const [index, argument] of child.args.entries())
        child.args[index] = put(argument, types[index]);
    } else if (kind === NodeKind.Return) child.value = put(child.value, returned);
    else if (kind === NodeKind.VariableDeclaration || kind === NodeKind.FieldDeclaration)
      child.initializer = put(child.initializer, nameOf(child.type));
  }
}

function calleeOf({ kind, expression, typeName }) {
  if (kind === NodeKind.New) return typeName.identifier.text;
  return (expression.kind === NodeKind.PropertyAccess ? expression.property : expression).text;
}

/**
 * If `list` is a list literal that can be compiled as a call, returns the call, and otherwise `list`. `item`: the type
 * of the items; null: unknown.
 */
function made(list, item, context) {
  if (list === null) return list;
  if (list.kind === NodeKind.Ternary) {
    list.ifThen = made(list.ifThen, item, context);
    list.ifElse = made(list.ifElse, item, context);
    return list;
  }
  if (list.kind === NodeKind.Parenthesized) {
    list.expression = made(list.expression, item, context);
    return list;
  }
  if (list.kind !== NodeKind.Literal || list.literalKind !== LiteralKind.Array) return list;
  const { elementExpressions: items, range } = list;
  const type =
    item ?? items.map((one) => typeOf(one, context.declared)).find((one) => one !== null);
  const isConstant = items.length > 0 && items.every(({ kind }) => kind === NodeKind.Literal);
  if (type == null || isConstant || items.length > MOST) return list;
  if (type !== "string" && !context.declared.classes.has(type)) return list;
  const name = `${type.toLowerCase()}s${items.length}`;
  context.makers.set(name, { name, item: type, count: items.length });
  const maker = Node.createIdentifierExpression(name, range);
  return Node.createCallExpression(maker, null, items, range);
}

/** Returns the type of an expression; null: unknown. */
function typeOf(expression, { functions, classes }) {
  if (expression.kind === NodeKind.Ternary)
    return (
      typeOf(expression.ifThen, { functions, classes }) ??
      typeOf(expression.ifElse, { functions, classes })
    );
  if (expression.kind === NodeKind.New) return expression.typeName.identifier.text;
  return expression.kind === NodeKind.Call
    ? (functions.get(calleeOf(expression))?.result ?? null)
    : null;
}

function makerText({ name, item, count }) {
  const names = Array.from({ length: count }, (_, index) => `a${index}`);
  const parameters = names.map((one) => `${one}: ${item}`).join(", ");
  return `@global function ${name}(${parameters}): ${item}[] { return [${names.join(", ")}]; }\n`;
}
