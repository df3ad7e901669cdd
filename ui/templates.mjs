/**
 * A transform of AssemblyScript's compiler. It replaces the template `${a} jobs` by `a.toString() + " jobs"`. Without
 * the transform, the compiler would make a list of the parts of each template, which takes three times as many bytes.
 */
import { LiteralKind, Node, NodeKind, SourceKind, Token } from "assemblyscript";

export const templatesAsSums = {
  afterParse({ sources }) {
    for (const source of sources) {
      if (source.sourceKind <= SourceKind.UserEntry) replaceIn(source.statements);
    }
  },
};

/** Replaces the templates in a node, or in a list of nodes. */
function replaceIn(parent) {
  for (const [name, child] of Object.entries(parent)) {
    if (name === "range" || child === null || typeof child !== "object") continue;
    replaceIn(child);
    const isTemplate =
      child.kind === NodeKind.Literal && child.literalKind === LiteralKind.Template;
    if (isTemplate) parent[name] = sumOf(child);
  }
}

function sumOf({ parts, expressions, range }) {
  const texts = parts.map((part) =>
    part === "" ? [] : [Node.createStringLiteralExpression(part, range)],
  );
  const terms = expressions.flatMap((expression, index) => [
    ...texts[index],
    callOf(expression, "toString", range),
  ]);
  return [...terms, ...texts.at(-1)].reduce((sum, term) =>
    Node.createBinaryExpression(Token.Plus, sum, term, range),
  );
}

function callOf(object, method, range) {
  const name = Node.createIdentifierExpression(method, range);
  const property = Node.createPropertyAccessExpression(object, name, range);
  return Node.createCallExpression(property, null, [], range);
}
