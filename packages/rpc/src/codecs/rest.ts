/** REST for unary methods: JSON in, JSON out, errors as `{code, message, details}` with the HTTP status of the code. */
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import {
  readAllBytes,
  type UniversalHandler,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from '@connectrpc/connect/protocol';
import { codes, invalidArgument, PlatformError, unimplemented } from '@platform/base';
import { fromConnectError } from '../core/errors.ts';
import type { RestMatch } from './rest-routes.ts';

const json = 'application/json';

/** HTTP status for a body that could not be read. */
const statusOf: ReadonlyMap<string, number> = new Map([
  ['resource_exhausted', 413],
  ['canceled', 499],
  ['deadline_exceeded', 408],
]);

/**
 * Answers a REST request through the Connect-JSON codec of its method. Path segments and, for GET, query parameters
 * become request fields; a POST body is the request message.
 */
export async function answerRest(
  handler: UniversalHandler,
  match: RestMatch,
  request: UniversalServerRequest,
  maxBytes: number,
): Promise<UniversalServerResponse> {
  const { route, fields } = match;
  if (request.method !== route.verb) {
    const error = unimplemented(`expected ${route.verb} for ${route.path}, found ${request.method}`);
    return {
      status: 405,
      header: new Headers({ allow: route.verb, 'content-type': json }),
      body: once(errorBody(error.code, error.message)),
    };
  }
  const header = new Headers(request.header);
  header.set('content-type', json);
  // The body is decoded here, so it must not be compressed, and Connect's own protocol fields are not used in REST.
  for (const name of ['content-encoding', 'content-length', 'connect-protocol-version', 'accept-encoding'])
    header.delete(name);
  const timeoutMs = timeoutOf(request.header.get('grpc-timeout'));
  if (timeoutMs !== undefined) header.set('connect-timeout-ms', String(timeoutMs));
  let message: JsonObject;
  try {
    const given =
      route.verb === 'GET' ? fromQuery(new URL(request.url).searchParams) : await fromBody(request, maxBytes);
    message = { ...given, ...fields };
  } catch (caught) {
    const error = caught instanceof PlatformError ? caught : invalidArgument(String(caught), caught);
    const status = statusOf.get(error.code) ?? 400;
    return { status, header: new Headers({ 'content-type': json }), body: once(errorBody(error.code, error.message)) };
  }
  const url = new URL(handler.requestPath, request.url).toString();
  const response = await handler({ ...request, method: 'POST', url, header, body: message });
  return response.status === 200 ? response : await asRestError(response);
}

function fromQuery(query: URLSearchParams): Record<string, JsonValue> {
  return Object.fromEntries(query);
}

async function fromBody(request: UniversalServerRequest, maxBytes: number): Promise<JsonObject> {
  const { body } = request;
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return {};
  const bytes = await readAllBytes(body as AsyncIterable<Uint8Array>, maxBytes).catch((caught: unknown) => {
    throw caught instanceof ConnectError ? fromConnectError(caught) : caught;
  });
  if (bytes.byteLength === 0) return {};
  const value = parsed(new TextDecoder().decode(bytes));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidArgument('expected a JSON object as the body, found another JSON value');
  }
  return value;
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (caught) {
    const why = caught instanceof Error ? caught.message : String(caught);
    throw invalidArgument(`expected a JSON object as the body: ${why}`, caught);
  }
}

/** `5S`, `300m` as gRPC writes deadlines; undefined when absent or malformed. */
function timeoutOf(text: string | null): number | undefined {
  const found = /^(\d{1,8})([HMSmun])$/.exec(text ?? '');
  if (found === null) return undefined;
  const unitMs = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }[found[2] ?? 'm'] ?? 1;
  return Math.max(1, Math.ceil(Number(found[1]) * unitMs));
}

async function asRestError(response: UniversalServerResponse): Promise<UniversalServerResponse> {
  const bytes = response.body === undefined ? new Uint8Array() : await readAllBytes(response.body, 1024 * 1024);
  const header = new Headers(response.header);
  for (const name of ['content-length', 'content-encoding']) header.delete(name);
  header.set('content-type', json);
  let code = 'internal';
  let message = '';
  try {
    const error: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof error === 'object' && error !== null) {
      if ('code' in error && typeof error.code === 'string') code = error.code;
      if ('message' in error && typeof error.message === 'string') message = error.message;
    }
  } catch {
    message = `HTTP status ${response.status}`;
  }
  return { status: response.status, header, body: once(errorBody(code, message)) };
}

function errorBody(code: string, message: string): Uint8Array {
  const number = Object.entries(codes).find(([name]) => name === code)?.[1] ?? codes.internal;
  return new TextEncoder().encode(JSON.stringify({ code: number, message, details: [] }));
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}
