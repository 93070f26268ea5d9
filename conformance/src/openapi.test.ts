/** `GET /openapi.json` of a running cloud: a valid document of exactly the served calls, which matches answers and refusals. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { methodsServed } from './access/matrix.ts';
import { readTable } from './access/table.ts';
import { smallestPng } from './access/world.ts';
import { type CloudProcess, startCloud } from './start-cloud.ts';

interface Operation {
  readonly operationId?: string;
  readonly tags: readonly string[];
  readonly security: readonly Record<string, unknown>[];
  readonly responses: Readonly<Record<string, object>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let cloud: CloudProcess;
let document: Document;
let token: string;
beforeAll(async () => {
  cloud = await startCloud();
  const answer = await fetch(`${cloud.url}/openapi.json`);
  expect(answer.headers.get('content-type')).toContain('application/json');
  document = (await answer.json()) as Document;
  const credentials = { entity: cloud.keyId, credentials: { type: 'api-key', payload: cloud.key } };
  token = ((await (await post('/rpc/v1/authenticate', credentials)).json()) as { accessToken: string }).accessToken;
});
afterAll(() => cloud[Symbol.asyncDispose]());

function post(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${cloud.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, operation]) => ({ path, verb: verb.toUpperCase(), operation })),
  );

test('the document is valid OpenAPI 3.1, every reference resolves, and operation ids are unique', async () => {
  const validator = new Validator();
  expect(await validator.validate({ ...structuredClone(document) })).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
  const text = JSON.stringify(document);
  const references = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path));
  const target = (path: string): unknown =>
    path.split('/').reduce<unknown>((at, key) => Reflect.get(Object(at), key), document);
  expect(references.size).toBeGreaterThan(300);
  expect([...references].filter((path) => target(path) === undefined)).toEqual([]);
  const ids = operations().flatMap(({ operation }) => operation.operationId ?? []);
  expect(ids.length).toBe(new Set(ids).size);
});

test('its calls are exactly the unary methods that docs/specs/access.md allows to at least one caller', () => {
  const rows = readTable();
  const served = [...methodsServed()].flatMap(([name, method]) =>
    method.methodKind === 'unary' && rows.get(name)?.needs !== 'nobody'
      ? [`/${method.parent.typeName}/${method.name}`]
      : [],
  );
  const described = Object.keys(document.paths).filter((path) => /^\/[\w.]+\.\w+\/\w+$/.test(path));
  expect(described.toSorted()).toEqual(served.toSorted());
});

test('every operation exists on the port, and refuses callers without credentials where the document says so', async () => {
  const bearer = { authorization: `Bearer ${token}` };
  const logo = Buffer.from(smallestPng).toString('base64');
  const app = '/platform.app.v1.AppService';
  await post(`${app}/OrganizationSetLogo`, { orgId: cloud.organizationId, logo }, bearer);
  const shown = await post(`${app}/OrganizationGetLogo`, { orgId: cloud.organizationId }, bearer);
  const existing = new Map([['/logos/{id}', new URL(((await shown.json()) as { url: string }).url).pathname]]);
  for (const { path, verb, operation } of operations()) {
    const url = `${cloud.url}${existing.get(path) ?? path.replaceAll(/\{\w+\}/g, 'x')}`;
    const answer = await fetch(url, {
      method: verb,
      ...(verb === 'POST' && { headers: { 'content-type': 'application/json' }, body: '{}' }),
    });
    const text = await answer.text();
    expect.soft([405, 415, 501], `${verb} ${path}: ${text}`).not.toContain(answer.status);
    expect.soft(text, `${verb} ${path}`).not.toMatch(/no such route|not implemented/);
    const isOpen = operation.security.length === 0 || operation.security.some((one) => Object.keys(one).length === 0);
    if (!isOpen) expect.soft(answer.status, `${verb} ${path}: ${text}`).toBe(401);
  }
});

test('answers and refusals have the described shape', async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'api');
  const check = async (route: string, answer: Response): Promise<void> => {
    const [verb = '', path = ''] = route.split(' ');
    const status = answer.ok ? '200' : 'default';
    const pointer = (text: string): string => encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
    const responses = `paths/${pointer(path)}/${verb.toLowerCase()}/responses`;
    const named = document.paths[path]?.[verb.toLowerCase()]?.responses[status] as { $ref?: string } | undefined;
    const at = named?.$ref?.slice(2) ?? `${responses}/${status}`;
    const validate = ajv.getSchema(`api#/${at}/content/${pointer('application/json')}/schema`);
    const body: unknown = await answer.json();
    expect(validate?.(body), `${route}: ${JSON.stringify(body)}: ${JSON.stringify(validate?.errors)}`).toBe(true);
  };
  const app = '/platform.app.v1.AppService';
  const bearer = { authorization: `Bearer ${token}` };
  const { organizationId, locationId, partId, machineId: robotId } = cloud;
  for (const [path, request] of [
    [`${app}/ListOrganizations`, {}],
    [`${app}/ListLocations`, { organizationId }],
    [`${app}/ListRobots`, { location_id: locationId }],
    [`${app}/GetRobotParts`, { robotId }],
    [`${app}/ListMachineSummaries`, { organizationId }],
    [`${app}/ListKeys`, { orgId: organizationId }],
    [`${app}/LocationAuth`, { locationId }],
    ['/platform.fleet.v1.FleetService/ListAuditEntries', { organizationId }],
    ['/platform.fleet.v1.FleetService/GetPartStatus', { partId }],
    ['/platform.app.data.v1.DataService/TabularDataBySQL', { organizationId, sqlQuery: 'SELECT * FROM readings' }],
  ] as const) {
    const answer = await post(path, request, bearer);
    expect(answer.status, path).toBe(200);
    await check(`POST ${path}`, answer);
  }
  await check(`POST ${app}/ListRobots`, await post(`${app}/ListRobots`, { locationId: 'nobody' }, bearer));
  await check(`POST ${app}/ListRobots`, await post(`${app}/ListRobots`, {}));
  await check('POST /rpc/v1/authenticate', await post('/rpc/v1/authenticate', { entity: 'nobody' }));
  await check('POST /api/query', await post('/api/query', { sql: 'SELECT 1 AS one' }, bearer));
  await check('POST /api/query', await post('/api/query', { sql: 'SELEKT' }, bearer));
  await check('GET /healthz', await fetch(`${cloud.url}/healthz`));
});
