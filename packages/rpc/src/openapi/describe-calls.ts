/**
 * Describes the plain JSON interface of a server: each implemented unary method at its path, and the REST routes of methods. Streaming
 * methods need gRPC, gRPC-Web or Connect, and are only named.
 */
import type { DescField, DescMethod, JsonObject } from '@bufbuild/protobuf';
import { restRoutes } from '../codecs/rest-routes.ts';
import type { ServiceBinding } from '../core/binding.ts';
import { standardServices } from '../standard/standard-services.ts';
import { type MessageSchemas, messageSchemas } from './message-schemas.ts';

export interface DescribedCalls {
  /**
   * Path items. Operations refer to the responses `CallError` and `RestError` and, unless their method is open, to the security scheme
   * `bearer`, which the document defines.
   */
  readonly paths: Readonly<Record<string, JsonObject>>;
  readonly schemas: JsonObject;
  /** Names of the services that have a path. */
  readonly services: readonly string[];
  /** Paths of implemented methods that stream. */
  readonly streaming: readonly string[];
}

/**
 * @param served the services of the server except the standard ones, which are added @param open paths of methods without authentication
 */
export function describeCalls(served: readonly ServiceBinding[], open: readonly string[]): DescribedCalls {
  const standard = standardServices(served, () => []);
  const isOpen = new Set([...open, ...standard.open]);
  const schemas = messageSchemas();
  const paths: Record<string, JsonObject> = {};
  const streaming: string[] = [];
  const unary = new Map<string, DescMethod>();
  for (const bound of [...served, ...standard.services].flatMap(({ methods }) => methods)) {
    if (!bound.implemented || bound.raw) continue;
    if (bound.kind === 'unary') unary.set(bound.path, bound.method);
    else streaming.push(bound.path);
  }
  for (const [path, method] of unary) {
    paths[path] = {
      post: {
        operationId: `${method.parent.typeName}.${method.name}`,
        ...operation(method, isOpen.has(path)),
        requestBody: bodyOf(method, schemas),
        responses: responsesOf(method, schemas, 'CallError'),
      },
    };
  }
  for (const { verb, path, method: called } of restRoutes) {
    const method = unary.get(called);
    if (method === undefined) continue;
    paths[path] = {
      [verb.toLowerCase()]: {
        operationId: `${method.parent.typeName}.${method.name}.rest`,
        ...operation(method, isOpen.has(called)),
        ...inputOf(verb, path, method, schemas),
        responses: responsesOf(method, schemas, 'RestError'),
      },
    };
  }
  const services = new Set([...unary.values()].map(({ parent }) => parent.typeName));
  return { paths, schemas: schemas.collected(), services: [...services].sort(), streaming: streaming.sort() };
}

function operation(method: DescMethod, isOpen: boolean): JsonObject {
  return {
    summary: method.name,
    tags: [method.parent.typeName],
    security: isOpen ? [] : [{ bearer: [] }],
    ...(method.proto.options?.deprecated === true && { deprecated: true }),
  };
}

function bodyOf({ input }: DescMethod, schemas: MessageSchemas): JsonObject {
  return { required: true, content: { 'application/json': { schema: schemas.of(input) } } };
}

function responsesOf({ output }: DescMethod, schemas: MessageSchemas, error: string): JsonObject {
  return {
    '200': { description: 'The answer.', content: { 'application/json': { schema: schemas.of(output) } } },
    default: { $ref: `#/components/responses/${error}` },
  };
}

/** Segments of the path and, for GET, parameters of the query become fields of the request; a POST has a body. */
function inputOf(verb: 'GET' | 'POST', path: string, method: DescMethod, schemas: MessageSchemas): JsonObject {
  const segments = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  const inPath = (field: DescField): boolean => segments.has(field.name);
  const parameter = (field: DescField): JsonObject => ({
    name: inPath(field) ? field.name : field.jsonName,
    in: inPath(field) ? 'path' : 'query',
    ...(inPath(field) && { required: true }),
    schema: { type: 'string' },
  });
  const asParameters = method.input.fields.filter(
    (one) => inPath(one) || (verb === 'GET' && one.fieldKind === 'scalar'),
  );
  return {
    ...(asParameters.length > 0 && { parameters: asParameters.map(parameter) }),
    ...(verb === 'POST' && { requestBody: bodyOf(method, schemas) }),
  };
}
