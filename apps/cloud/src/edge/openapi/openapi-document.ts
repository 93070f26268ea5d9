/**
 * `GET /openapi.json`: the calls and routes that the port answers in plain JSON, as OpenAPI 3.1. Calls come from the descriptors of the
 * served methods; only the plain routes are described by hand, in plain-paths.ts. The document is built for each request and not kept.
 */
import type { JsonObject } from '@bufbuild/protobuf';
import { codes } from '@platform/base';
import { describeCalls } from '@platform/rpc/openapi';
import type { ServiceBinding } from '@platform/rpc/server';
import type { CloudBinding } from '../../access/principal.ts';
import { secretHeader } from '../browser-session.ts';
import { plainPaths, plainTag } from './plain-paths.ts';

export interface ServedApi {
  readonly services: readonly CloudBinding[];
  /** Paths of methods without authentication. */
  readonly open: readonly string[];
  readonly version: string;
}

export function openApiDocument({ services, open, version }: ServedApi): JsonObject {
  const calls = describeCalls(services as readonly ServiceBinding[], open);
  return {
    openapi: '3.1.0',
    info: { title: 'Platform API', version, description },
    // Relative to the address of this document, so that it also works behind a proxy.
    servers: [{ url: '/' }],
    tags: [...calls.services, plainTag].map((name) => ({ name })),
    paths: { ...calls.paths, ...plainPaths() },
    components: { schemas: calls.schemas, responses, securitySchemes },
    'x-streaming-methods': [...calls.streaming],
  };
}

const description = [
  'Calls are `POST /<package>.<Service>/<Method>` with the request as a JSON object (`content-type: application/json`; `{}` for an empty one), and answer with a JSON object: the Connect protocol for unary methods. Calls need `authorization: Bearer <token>`, where the token comes from `platform token` or from `AuthService.Authenticate` with an API key. Plain routes also take a key by itself, in the headers `key_id` and `key`.',
  'Fields with their default value (0, `""`, `false`, an empty list) are left out of answers. Field names may also be written as in the `.proto` files (`part_id` for `partId`). Integers of 64 bits are text in answers; requests may also give numbers. A request with an unknown field is refused.',
  'The package names of the public API are accepted as well, so that each path exists under both names. Methods that stream need gRPC, gRPC-Web or Connect; `x-streaming-methods` lists them.',
].join('\n\n');

const error = (what: string, code: JsonObject): JsonObject => ({
  description: what,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: {
          code,
          message: { type: 'string', description: 'What was expected, what was found, and where.' },
          details: { type: 'array', items: {} },
        },
        required: ['code'],
      },
    },
  },
});
const word: JsonObject = { type: 'string', enum: Object.keys(codes) };
const number: JsonObject = { type: 'integer', enum: Object.values(codes) };

const responses: JsonObject = {
  CallError: error('The call was refused or failed. The status follows from the code.', word),
  RestError: error('The call was refused or failed. The status follows from the code, which is a number here.', number),
  PlainError: error('The request was refused or failed. The status follows from the code.', word),
};

const header = (name: string, what: string): JsonObject => ({
  type: 'apiKey',
  in: 'header',
  name,
  description: what,
});

const securitySchemes: JsonObject = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token: of AuthService.Authenticate or of a login.',
  },
  keyId: header('key_id', 'Id of an API key; together with the header key.'),
  key: header('key', 'The API key.'),
  partId: header('part_id', 'Id of a part; together with the header secret.'),
  partSecret: header('secret', 'The secret of the part.'),
  session: header(
    secretHeader,
    'The secret of the session of a signed-in browser, together with its cookie; only for pages of this cloud.',
  ),
  metricsToken: { type: 'http', scheme: 'bearer', description: 'PLATFORM_METRICS_TOKEN of the cloud.' },
};
