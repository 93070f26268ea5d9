/** Lists, counts and non-RPC routes show each caller everything that the caller may see, and nothing else. */
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { AppService, type FragmentUsage } from '@platform/proto/platform/app/v1/app';
import { type Client, connect, type Link } from '@platform/rpc/client';
import { rollingSeed } from '@platform/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { createCallers } from './callers.ts';
import { crossTenantRequests } from './cross-tenant-requests.ts';
import { methodsServed } from './matrix.ts';
import { RawCaller } from './raw-call.ts';
import { type Caller, chainOf, organizationOf, type Place } from './rules.ts';
import { buildWorld, type World } from './world.ts';

let cloud: CloudProcess;
let world: World;
let callers: readonly Caller[];
let link: Link;
let app: Client<typeof AppService>;
let files: Client<typeof DataService>;

beforeAll(async () => {
  cloud = await startCloud();
  const built = await buildWorld(cloud);
  const created = await createCallers(built);
  world = { ...built, bystanders: created.bystanders };
  callers = created.all;
  link = connect({ baseUrl: cloud.url });
  app = link.client(AppService);
  files = link.client(DataService);
});
afterAll(async () => {
  await link[Symbol.asyncDispose]();
  await world.admin[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

const as = ({ token = '' }: Caller) => ({ headers: { authorization: `Bearer ${token}` } });
const withBigInts = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}` : value);
const usersAndKeys = (): Caller[] => callers.filter(({ kind }) => kind === 'person' || kind === 'key');
const labelsOf = (ids: readonly string[]): string[] =>
  ids.map((id) => [...world.places.values()].find((place) => place.id === id)?.label ?? id).sort();
const fileOf = (id: string): string => world.files.find((file) => file.id === id)?.label ?? id;
const placesOf = (kind: Place['kind'], fits: (place: Place) => boolean): string[] =>
  [...world.places.values()]
    .filter((place) => place.kind === kind && fits(place))
    .map(({ label }) => label)
    .sort();

test('access matrix: lists contain exactly what the caller may see, and locations count the machines that the caller sees', async () => {
  const { rules } = world;
  const problems: string[] = [];
  const compare = (caller: Caller, list: string, found: readonly string[], expected: readonly string[]): void => {
    if (found.join() !== expected.join())
      problems.push(`${list} · ${caller.label}: expected ${expected.join()}, found ${found.join()}`);
  };
  for (const caller of usersAndKeys()) {
    const { organizations } = await app.listOrganizations({}, as(caller));
    const own = new Set(caller.grants.map(({ on }) => organizationOf(on)));
    const known = organizations.map(({ id }) => id).filter((id) => id !== cloud.organizationId);
    compare(
      caller,
      'ListOrganizations',
      labelsOf(known),
      placesOf('organization', (one) => own.has(one)),
    );
    const { data } = await files.binaryDataByFilter({ dataRequest: { limit: 1_000n } }, as(caller));
    const operated = world.files.filter(({ keptBy }) => rules.holds(caller, 'operator', keptBy));
    compare(
      caller,
      'BinaryDataByFilter',
      data.map(({ metadata }) => fileOf(metadata?.binaryDataId ?? '')).toSorted(),
      operated.map(({ label }) => label).toSorted(),
    );
    const { count } = await files.binaryDataByFilter({ countOnly: true }, as(caller));
    compare(caller, 'BinaryDataByFilter count', [`${count}`], [`${operated.length}`]);
    for (const label of ['A', 'B', 'C']) {
      const organization = world.place(label);
      const publicNamespace = world.contents.get(organization)?.namespace ?? '';
      const found = await app.searchOrganizations({ publicNamespace }, as(caller));
      const guessed = found.organizations.map(({ orgId }) => orgId);
      const told = rules.holds(caller, 'operator', organization) ? [label] : [];
      compare(caller, `SearchOrganizations by the namespace of ${label}`, labelsOf(guessed), told);
      if (!rules.sees(caller, organization)) continue;
      const operates = (place: Place): boolean =>
        organizationOf(place) === organization && rules.holds(caller, 'operator', place);
      const { locations } = await app.listLocations({ organizationId: organization.id }, as(caller));
      // Guests also find shared locations in the list of their own organization.
      const guests = caller.grants.some(({ on }) => on === organization);
      const shared = ['H', 'HB'].map(world.place).filter((one) => guests && rules.sharedWith(one, organization));
      const expected = placesOf(
        'location',
        (one) =>
          (organizationOf(one) === organization && rules.sees(caller, one)) ||
          shared.some((location) => chainOf(one).includes(location)),
      );
      compare(caller, `ListLocations ${label}`, labelsOf(locations.map(({ id }) => id)), expected);
      for (const { id, robotCount } of locations) {
        const machines = placesOf('machine', (one) => one.parent?.id === id && rules.holds(caller, 'operator', one));
        compare(caller, `robot_count of ${labelsOf([id]).join()}`, [`${robotCount}`], [`${machines.length}`]);
        const { robots } = await app.listRobots({ locationId: id }, as(caller));
        compare(caller, `ListRobots ${labelsOf([id]).join()}`, labelsOf(robots.map((robot) => robot.id)), machines);
        const one = await app.getLocation({ locationId: id }, as(caller));
        compare(caller, 'GetLocation robot_count', [`${one.location?.robotCount}`], [`${machines.length}`]);
      }
      const { robots } = await app.listRobotsForOrg({ orgId: organization.id }, as(caller));
      compare(caller, `ListRobotsForOrg ${label}`, labelsOf(robots.map(({ id }) => id)), placesOf('machine', operates));
      const { locationSummaries } = await app.listMachineSummaries({ organizationId: organization.id }, as(caller));
      const summed = locationSummaries.flatMap(({ machineSummaries }) => machineSummaries.map((one) => one.machineId));
      compare(caller, `ListMachineSummaries ${label}`, labelsOf(summed), placesOf('machine', operates));
      if (!rules.ownsAnythingIn(caller, organization)) continue;
      const { apiKeys } = await app.listKeys({ orgId: organization.id }, as(caller));
      const listed = world.keys.filter(({ id }) => apiKeys.some(({ apiKey }) => apiKey?.id === id));
      const managed = world.keys.filter(
        ({ grants }) =>
          grants.some(({ on }) => organizationOf(on) === organization) &&
          grants.every(({ on }) => rules.holds(caller, 'owner', on)),
      );
      compare(
        caller,
        `ListKeys ${label}`,
        listed.map((key) => key.label),
        managed.map((key) => key.label),
      );
    }
  }
  expect(problems).toEqual([]);
});

test('R11 callers who do not own a fragment’s organization learn of no use of it outside their own organization', async () => {
  const admin = world.admin.client(AppService);
  const used = world.fragments.get('F.A.public')?.id ?? '';
  const unused = world.fragments.get('F.B.public')?.id ?? '';
  for (const label of ['P.2', 'P.LB']) {
    const { id, name } = world.place(label);
    await admin.updateRobotPart({ id, name, robotConfig: { fragments: [used] } });
  }
  const told = async (caller: Caller, fragmentId: string): Promise<unknown> => {
    const { versionUsages } = await app.getFragmentUsage({ fragmentId }, as(caller));
    const { fragment, fragmentUsage } = await app.getFragment({ id: fragmentId }, as(caller));
    const counts = (one: FragmentUsage | undefined) => [one?.organizations, one?.machines, one?.machinesInCurrentOrg];
    return [
      versionUsages.map(counts),
      counts(fragmentUsage),
      fragment?.robotPartCount,
      fragment?.organizationCount,
      fragment?.onlyUsedByOwner,
    ];
  };
  const find = (label: string): Caller => {
    const caller = callers.find((one) => one.label === label);
    if (caller === undefined) throw new Error(`expected a caller ${label}`);
    return caller;
  };
  for (const label of ['key: stranger', 'key: owner of LC', 'key: operator of C', 'person: owner of C'])
    expect([label, await told(find(label), used)]).toEqual([label, await told(find(label), unused)]);
  expect(JSON.stringify(await told(find('person: owner of A'), used))).toContain('2');
  expect(JSON.stringify(await told(find('key: owner of B'), used))).not.toContain('2');
});

test('access matrix: foreign ids beside own ones, or with invalid content, get the same answer as ids that do not exist', async () => {
  using wire = new RawCaller(cloud.target);
  const methods = methodsServed();
  const problems: string[] = [];
  const askers = usersAndKeys().filter(({ grants }) => grants.every(({ on }) => organizationOf(on).label === 'A'));
  const shared = new Set<string>();
  let cases = 0;
  // Each is sent by every second caller, the others at another run.
  let turn = rollingSeed();
  for (const { operation, about, foreign, unknown, request } of crossTenantRequests(world)) {
    turn++;
    const method = methods.get(operation);
    if (method === undefined) throw new Error(`expected an operation ${operation}`);
    const mutates = /\.(Update|Share|Create|Set)/.test(operation);
    for (const caller of askers.filter((_one, index) => (turn + index) % 2 === 0)) {
      const answers: string[] = [];
      for (const id of [foreign, unknown]) {
        cases++;
        const { code, message, body, headers } = await wire.call(method, [request(id)], caller.token);
        if (operation === 'AppService.ShareLocation' && code === 'OK') shared.add(id);
        const text = `${code} ${message}\n${headers}${mutates && code === 'OK' ? '' : body}`;
        for (const what of world.canaries.found(
          caller,
          operation,
          `${message}${headers}${body}`,
          JSON.stringify(request(id), withBigInts),
        ))
          problems.push(`LEAK ${operation} ${about} · ${caller.label}: ${what}`);
        // The revision of a validated document is a hash of the document, which contains the id.
        const checks = operation === 'FleetService.ValidateConfiguration';
        answers.push(text.replaceAll(id, '<>').replaceAll(/[0-9a-f]{32}$/g, checks ? '<revision>' : '$&'));
      }
      if (answers[0] !== answers[1])
        problems.push(`UNEQUAL ${operation} ${about} · ${caller.label}: foreign ${answers[0]} | unknown ${answers[1]}`);
    }
  }
  // The owner has shared it, but the following tests expect the original state.
  for (const organizationId of shared)
    await world.admin.client(AppService).unshareLocation({ locationId: world.place('S').id, organizationId });
  console.info(`access matrix: ${cases} crossed requests by ${askers.length} callers`);
  expect(problems).toEqual([]);
}, 600_000);

test('access matrix: non-RPC routes answer each caller as docs/specs/access.md specifies, and nothing leaks', async () => {
  const { rules, canaries } = world;
  const problems: string[] = [];
  const caught = canaries.make('a webhook that was caught', () => false);
  await fetch(`${cloud.url}/test-inbox/webhooks/hook?${caught}`, { method: 'POST', body: caught });
  let cases = 0;
  const ask = async (
    caller: Caller,
    path: string,
    expected: readonly number[],
    init: RequestInit = {},
  ): Promise<string> => {
    cases++;
    const answer = await fetch(`${cloud.url}${path}`, { redirect: 'manual', ...init });
    const text = await answer.text();
    const headers = [...answer.headers].filter(([name]) => name !== 'date').join('\n');
    const about = `${init.method ?? 'GET'} ${path} · ${caller.label}`;
    if (!expected.includes(answer.status))
      problems.push(`WRONG ${about}: expected ${expected.join(' or ')}, found ${answer.status} ${text.slice(0, 200)}`);
    const sent = `${path}${JSON.stringify(init)}`;
    for (const what of canaries.found(caller, path, `${text}\n${headers}`, sent))
      problems.push(`LEAK ${about}: ${what}`);
    return `${answer.status} ${text}`;
  };
  const foreignSessions = new Map<Caller, string>();
  for (const caller of callers.filter(({ kind }) => kind === 'person')) {
    const answer = await fetch(`${cloud.url}/api/sessions`, as(caller));
    foreignSessions.set(caller, String(/"id":"([^"]+)"/.exec(await answer.text())?.[1]));
  }
  for (const caller of callers) {
    const { kind, token } = caller;
    const bearer = { ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    const post = (body: object) => ({
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const none = kind === 'none';
    await ask(caller, '/api/whoami', [none ? 401 : 200], { headers: bearer });
    await ask(caller, '/api/sessions', [none ? 401 : kind === 'person' ? 200 : 403], { headers: bearer });
    await ask(caller, '/test-inbox/requests', none ? [401] : [200, 401], { headers: bearer });
    const { session = {} } = caller;
    const person = kind === 'person';
    await ask(caller, '/test-inbox/requests', person ? [200, 401] : [401], { headers: session });
    await ask(caller, '/api/status', person ? [200, 403] : [401], { headers: session });
    await ask(caller, '/api/status', [401, 403], { headers: bearer });
    await ask(caller, '/', [200, 401, 303], { headers: session });
    await ask(caller, '/account', person ? [200] : [303], { headers: session });

    const foreign = [...foreignSessions].find(([other]) => other !== caller)?.[1] ?? '';
    const ended = await Promise.all(
      [foreign, foreign.replace(/^./, (first) => (first === '0' ? '1' : '0'))].map(async (id) => {
        const expected = none ? [401] : kind === 'person' ? [404] : [403];
        return (await ask(caller, '/api/sessions/end', expected, post({ id }))).replaceAll(id, '<>');
      }),
    );
    if (ended[0] !== ended[1]) problems.push(`UNEQUAL /api/sessions/end · ${caller.label}: ${ended.join(' | ')}`);

    for (const { organization, email, grants } of world.invitations) {
      const places = grants.length === 0 ? [organization] : grants.map(({ on }) => on);
      const expected = ((): number[] => {
        if (none) return [401];
        if (!rules.sees(caller, organization)) return [404];
        return places.every((place) => rules.holds(caller, 'owner', place)) ? [200] : [403];
      })();
      await ask(caller, '/api/invitations/link', expected, post({ organizationId: organization.id, email }));
    }
    const unseen = new Set<string>();
    for (const { id, keptBy: part } of [...world.files, { id: cloud.keyId, keptBy: undefined }]) {
      const may = part !== undefined && rules.holds(caller, 'operator', part);
      const answer = await ask(caller, `/binary-data/${id}`, [none ? 401 : may ? 200 : 404], { headers: bearer });
      if (!may) unseen.add(answer.replaceAll(id, '<>'));
    }
    if (unseen.size > 1) problems.push(`UNEQUAL /binary-data/ · ${caller.label}: ${[...unseen].join(' | ')}`);
    if (caller.secret === undefined) continue;
    const headers = { key_id: caller.id, key: caller.secret };
    const refusals = new Set<string>();
    for (const id of [...placesOf('part', () => true).map((label) => world.place(label).id), cloud.keyId]) {
      const part = [...world.places.values()].find((place) => place.id === id);
      const may = part !== undefined && rules.holds(caller, 'operator', part);
      const answer = await ask(caller, `/api/json1/config?id=${id}&client=true`, [may ? 200 : 404], { headers });
      if (!may) refusals.add(answer.replaceAll(id, '<>'));
    }
    if (refusals.size > 1) problems.push(`UNEQUAL /api/json1/config · ${caller.label}: ${[...refusals].join(' | ')}`);
  }
  console.info(`access matrix: ${cases} cases of routes`);
  expect(problems).toEqual([]);
});
