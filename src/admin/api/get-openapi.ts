// GET /api/openapi.json: the document of all routes, made from the route table and from the same
// declarations that check the requests.
import { VERSION } from "../../base/version.ts";
import { json } from "../../http/response.ts";
import type { AdminRoute, Operation } from "../admin.ts";
import { record } from "../answers.ts";
import { CSRF_HEADER } from "../csrf.ts";
import { documentOf, type JsonSchema } from "../wire.ts";

export const getOpenapi: Operation = {
  summary: "This document",
  answer: { type: "object" },
  run: ({ routes, config }) => json(openapi(routes, config.basePath)),
};

const errorSchema = record({ error: "string", code: "string" });

export function openapi(routes: readonly AdminRoute[], basePath: string): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = operationOf(route);
    paths[route.path] = path;
  }
  return {
    openapi: "3.1.0",
    info: { title: "worker admin", version: VERSION },
    servers: [{ url: basePath }],
    paths,
    components: { schemas: { Error: errorSchema } },
  };
}

function operationOf({ access, operation, path, method }: AdminRoute) {
  const { summary, answer, body } = operation;
  const answered =
    typeof answer === "string" ? { [answer]: {} } : { "application/json": { schema: answer } };
  const error = {
    description: "Refused or failed",
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[^A-Za-z0-9]+(\w|$)/g, (_, c) => c.toUpperCase())}`,
    summary,
    "x-access": access,
    parameters: parametersOf(path, access === "write", operation),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "application/json": { schema: documentOf(body) } },
          },
        }),
    responses: { 200: { description: summary, content: answered }, default: error },
  };
}

function parametersOf(path: string, isWrite: boolean, { query = {} }: Operation) {
  const string = { type: "string" };
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: "path",
      required: true,
      schema: string,
    })),
    ...Object.entries(query).map(([name, { doc }]) => ({
      name,
      in: "query",
      required: false,
      schema: doc,
    })),
    ...(isWrite ? [{ name: CSRF_HEADER, in: "header", required: true, schema: string }] : []),
  ];
}
