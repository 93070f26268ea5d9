/** Describes the routes of plain HTTP, for the OpenAPI document. Pages for people (sign-in, account, status page) are omitted. */
import type { JsonObject } from '@bufbuild/protobuf';
import { answerForms } from '../query-request.ts';

/** Any of these: a token, a key, a part's secret, the session of a browser. */
const anyCaller: readonly JsonObject[] = [
  { bearer: [] },
  { keyId: [], key: [] },
  { partId: [], partSecret: [] },
  { session: [] },
];
const tokenOrSession: readonly JsonObject[] = [{ bearer: [] }, { session: [] }];

const text: JsonObject = { type: 'string' };
const object: JsonObject = { type: 'object' };
const rows = { type: 'array', items: object };

interface Plain {
  readonly summary: string;
  readonly description?: string;
  /** Names of the parameters in path and query; in the path they are in braces. */
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** Default JSON. */
  readonly bodyType?: string;
  /** By content type. */
  readonly answer: Readonly<Record<string, JsonObject>>;
  /** Empty: none is needed. */
  readonly security: readonly JsonObject[];
}

const queryBody: JsonObject = {
  type: 'object',
  properties: {
    organization_id: { ...text, description: 'Optional for callers with only one organization.' },
    sql: { ...text, description: 'A statement of SQL. Either this or mql.' },
    mql: { type: 'array', items: object, description: 'The stages of a pipeline, in relaxed or Extended JSON.' },
    since: {
      type: 'string',
      format: 'date-time',
      description: 'Only readings that arrived at or after it (time_received).',
    },
    until: {
      type: 'string',
      format: 'date-time',
      description: 'Only readings that arrived before it (time_received); later than since.',
    },
    format: { type: 'string', enum: [...answerForms], description: 'Default: by the header Accept, otherwise json.' },
  },
  additionalProperties: false,
  oneOf: [{ required: ['sql'] }, { required: ['mql'] }],
};
const binary: JsonObject = { type: 'string', contentMediaType: 'application/octet-stream' };
const link = { signature: 'Part of a signed address, which needs no other credentials.' };

const plain: Readonly<Record<string, Plain>> = {
  'POST /api/query': {
    summary: 'Query readings in SQL or MQL',
    body: queryBody,
    answer: {
      'application/json': rows,
      'application/x-ndjson': text,
      'application/vnd.apache.arrow.stream': {
        type: 'string',
        contentMediaType: 'application/vnd.apache.arrow.stream',
      },
    },
    security: anyCaller,
  },
  'PUT /uploads/{part}/{key}': {
    summary: 'Send a long piece of a large file',
    description:
      'Like UploadService.WriteUpload, for a piece of up to max_body_bytes of BeginUpload. The key is in hexadecimal.',
    query: { offset: 'Where the upload stands.' },
    body: binary,
    bodyType: 'application/octet-stream',
    answer: { 'application/json': { type: 'object', properties: { offset: { type: 'integer' } } } },
    security: anyCaller,
  },
  'POST /webhooks/stripe': {
    summary: 'Receive an event of the payment provider stripe',
    description: 'For Stripe. The header stripe-signature signs the body.',
    body: object,
    answer: { 'application/json': { type: 'object', properties: { received: { type: 'boolean' } } } },
    security: [],
  },
  'GET /metrics': {
    summary: 'Metrics of the cloud in the text format of Prometheus',
    description:
      'Open on loopback; elsewhere the bearer token is PLATFORM_METRICS_TOKEN of the cloud, not an access token.',
    answer: { 'text/plain': text },
    security: [{}, { metricsToken: [] }],
  },
  'GET /healthz': {
    summary: 'Whether the cloud answers',
    answer: { 'application/json': { type: 'object', properties: { ok: { type: 'boolean' } } } },
    security: [],
  },
  'GET /openapi.json': {
    summary: 'This document',
    answer: { 'application/json': object },
    security: [],
  },
  'GET /packages/{id}/{file}': {
    summary: 'Download the archive of a package',
    description: 'At an address from GetPackage, ListPackages or UploadModuleFile. Supports HEAD and Range.',
    query: link,
    answer: { 'application/x-gzip': binary },
    security: [{}, ...anyCaller],
  },
  'GET /binary-data/{id}': {
    summary: 'Download a picture or a file',
    description:
      'At the uri of the metadata, or at an address from CreateBinaryDataSignedURL. Supports HEAD and Range.',
    query: link,
    answer: { '*/*': binary },
    security: [{}, ...anyCaller],
  },
  'GET /logos/{id}': {
    summary: 'The logo of an organization',
    description: 'At the address from OrganizationGetLogo.',
    answer: { 'image/*': binary },
    security: [],
  },
  'GET /api/json1/config': {
    summary: 'The configuration with which a machine-server of a part starts',
    query: { id: 'Id of the part.' },
    answer: { 'application/json': object },
    security: [{ keyId: [], key: [] }],
  },
  'GET /api/status': {
    summary: 'What the status page shows',
    description: 'For people who own every organization of the installation.',
    answer: { 'application/json': object },
    security: [{ session: [] }],
  },
  'GET /api/whoami': {
    summary: 'The caller and its roles',
    answer: { 'application/json': object },
    security: tokenOrSession,
  },
  'GET /api/sessions': {
    summary: 'Sessions of the signed-in person',
    answer: { 'application/json': { type: 'object', properties: { sessions: rows } } },
    security: tokenOrSession,
  },
  'POST /api/sessions/end': {
    summary: 'End a session of the signed-in person',
    body: { type: 'object', properties: { id: text }, required: ['id'] },
    answer: { 'application/json': object },
    security: tokenOrSession,
  },
  'POST /api/invitations/link': {
    summary: 'The link of an invitation, for an owner of everything that it grants',
    body: {
      type: 'object',
      properties: { organizationId: text, email: text },
      required: ['organizationId', 'email'],
    },
    answer: { 'application/json': object },
    security: tokenOrSession,
  },
};

export const plainTag = 'Plain HTTP';

/** Path items of the plain routes. Refusals are the response `PlainError`. */
export function plainPaths(): Record<string, JsonObject> {
  return Object.fromEntries(
    Object.entries(plain).map(([route, asked]) => {
      const [verb = '', path = ''] = route.split(' ');
      return [path, { [verb.toLowerCase()]: operation(path, asked) }];
    }),
  );
}

function operation(
  path: string,
  { summary, description, query = {}, body, bodyType = 'application/json', answer, security }: Plain,
): JsonObject {
  const parameters: JsonObject[] = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({ name, in: 'path', required: true, schema: text })),
    ...Object.entries(query).map(([name, what]) => ({ name, in: 'query', description: what, schema: text })),
  ];
  return {
    summary,
    ...(description !== undefined && { description }),
    tags: [plainTag],
    security: [...security],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: true, content: { [bodyType]: { schema: body } } } }),
    responses: {
      '200': {
        description: 'The answer.',
        content: Object.fromEntries(Object.entries(answer).map(([type, schema]) => [type, { schema }])),
      },
      default: { $ref: '#/components/responses/PlainError' },
    },
  };
}
