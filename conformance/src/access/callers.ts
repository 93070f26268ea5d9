/** The callers: people, keys and parts with every role at every level, with real tokens. */
import { AppService } from '@platform/proto/platform/app/v1/app';
import { connect } from '@platform/rpc/client';
import { joinByInvitation, signIn } from './people.ts';
import { type Caller, type Grant, organizationOf, type Person, type Role } from './rules.ts';
import { authorizationOn } from './wire-roles.ts';
import type { World } from './world.ts';

type Given = readonly (readonly [Role, string])[];

const roles = ['owner', 'operator'] as const;
const graded = ['A', 'L', 'K', 'M.L'].flatMap((on) => roles.map((role): Given => [[role, on]]));
const people: readonly Given[] = [
  ...graded,
  [['operator', 'B']],
  [['owner', 'C']],
  [
    ['owner', 'M.L'],
    ['owner', 'LB'],
  ],
];
const keys: readonly Given[] = [
  ...graded,
  [['owner', 'B']],
  [['operator', 'C']],
  [['owner', 'LC']],
  [
    ['operator', 'A'],
    ['owner', 'L'],
  ],
];
const parts = ['P.L', 'P.HK'];

/** The app for which people's phones are registered. */
export const appId = 'some-app';
/** The device registered by each person, by the person's id. */
export const phoneOf = (personId: string): string => `phone-${personId}`;

export interface Callers {
  readonly all: readonly Caller[];
  /** The callers who are people, with all data that others may know about them. */
  readonly people: readonly Person[];
  /** People who do nothing. */
  readonly bystanders: readonly Person[];
}

export async function createCallers(world: World): Promise<Callers> {
  const { cloud, admin, adminToken, canaries, rules } = world;
  const app = admin.client(AppService);
  const known: Person[] = [];
  const grantsOf = (given: Given): Grant[] => given.map(([role, on]) => ({ role, on: world.place(on) }));
  const labelOf = (kind: string, given: Given): string => `${kind}: ${given.map((one) => one.join(' of ')).join(', ')}`;
  const makePerson = async (label: string, given: Given, canary: boolean): Promise<Caller> => {
    const grants = grantsOf(given);
    // Operators see the actions of people on their resources, so only names of people who do nothing are canaries.
    const memberOf = [...new Set(grants.map(({ on }) => organizationOf(on)))];
    const herself = (caller: Caller): boolean => caller.label === label;
    const seen = (caller: Caller): boolean =>
      herself(caller) ||
      memberOf.some((one) => rules.holds(caller, 'operator', one)) ||
      grants.some(({ on }) => rules.holds(caller, 'owner', on));
    const name = canary ? canaries.make(`name of ${label}`, seen) : label;
    const email =
      `${canary ? canaries.make(`e-mail of ${label}`, seen) : label.replaceAll(/\W/g, '-')}@example.com`.toLowerCase();
    const { id, token, session } = await joinByInvitation(
      { url: cloud.url, admin, adminToken },
      { email, name, grants },
    );
    if (canary) canaries.watch(id, `id of ${label}`, seen);
    const deviceToken = canaries.make(`push token of ${label}`, herself);
    await using link = connect({ baseUrl: cloud.url });
    await link
      .client(AppService)
      .uploadDevicePushToken(
        { appId, deviceToken, deviceUuid: phoneOf(id) },
        { headers: { authorization: `Bearer ${token}` } },
      );
    known.push({ id, email, memberOf });
    return { label, kind: 'person', id, token, session, grants };
  };
  const makeKey = async (given: Given): Promise<Caller> => {
    const grants = grantsOf(given);
    const label = labelOf('key', given);
    const authorizations = grants.map(({ on, role }) => authorizationOn(on, role));
    const { id, key } = await app.createKey({ name: label, authorizations });
    const token = await signIn(cloud.url, { entity: id, type: 'api-key', payload: key });
    return { label, kind: 'key', id, token, grants, secret: key };
  };
  const makePart = async (label: string): Promise<Caller> => {
    const part = world.place(label);
    const secret = (await app.getRobotPart({ id: part.id })).part?.secret ?? '';
    const token = await signIn(cloud.url, { entity: part.id, type: 'robot-secret', payload: secret });
    return { label: `part ${label}`, kind: 'part', id: part.id, token, grants: [], part };
  };
  const all: Caller[] = [];
  for (const given of people) all.push(await makePerson(labelOf('person', given), given, false));
  const actors = known.length;
  for (const organization of ['A', 'B', 'C'])
    await makePerson(`bystander ${organization}`, [['operator', organization]], true);
  const bystanders = known.slice(actors);
  for (const given of keys) all.push(await makeKey(given));
  for (const label of parts) all.push(await makePart(label));

  // A member of an organization unrelated to the three.
  const [stranger] = await Promise.all([
    app.createKey({
      name: 'stranger',
      authorizations: [
        {
          authorizationType: 'role',
          authorizationId: 'organization_operator',
          resourceType: 'organization',
          resourceId: cloud.organizationId,
          organizationId: cloud.organizationId,
        },
      ],
    }),
  ]);
  const strangerToken = await signIn(cloud.url, { entity: stranger.id, type: 'api-key', payload: stranger.key });
  all.push({
    label: 'key: stranger',
    kind: 'key',
    id: stranger.id,
    token: strangerToken,
    grants: [],
    secret: stranger.key,
  });

  const endedKey = await makeKey([['owner', 'A']]);
  await app.deleteKey({ id: endedKey.id });
  const endedPerson = await makePerson('person who signed out', [['owner', 'A']], false);
  await fetch(`${cloud.url}/sign-out`, { method: 'POST', headers: { authorization: `Bearer ${endedPerson.token}` } });
  const nobody = { kind: 'none', id: '', grants: [] } as const;
  all.push(
    { ...nobody, label: 'without a token', token: undefined },
    { ...nobody, label: 'with a token of nobody', token: 'x'.repeat(43) },
    { ...nobody, label: 'with a token of a deleted key', token: endedKey.token },
    { ...nobody, label: 'with a token of an ended session', token: endedPerson.token },
  );
  return { all, people: known, bystanders };
}
