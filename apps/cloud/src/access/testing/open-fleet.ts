/**
 * Two organizations with locations and machines in a real database, and all access control for them, for tests.
 *
 * acme: plant > hall (machine press, part press-main), office (machine mill, part mill-main). umbrella: lab (machine probe).
 */
import type { MessageShape } from '@bufbuild/protobuf';
import { create, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import { type Clock, newId } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import type { InstanceKey } from '../../instance/instance-key.ts';
import type { Database } from '../../metadata/tables.ts';
import { type Authenticator, createAuthenticator } from '../authenticate.ts';
import { type Access, createAccess } from '../authorize.ts';
import { type AccessRpc, createAccessRpc } from '../feature.ts';
import { createGuessLimit } from '../guess-limit.ts';
import { createKeyUse, type KeyUse } from '../key-use.ts';
import { createKey, type NewKey } from '../keys.ts';
import type { SharedLocation, SignedIn } from '../ports.ts';
import type { CloudCall, Grant, Principal, Role } from '../principal.ts';
import { callOf } from './call-of.ts';

export const locations: Readonly<Record<string, { organizationId: string; parents: readonly string[] }>> = {
  plant: { organizationId: 'acme', parents: ['plant'] },
  hall: { organizationId: 'acme', parents: ['hall', 'plant'] },
  office: { organizationId: 'acme', parents: ['office'] },
  lab: { organizationId: 'umbrella', parents: ['lab'] },
};
export const machines: Readonly<Record<string, string>> = { press: 'hall', mill: 'office', probe: 'lab' };

export interface Fleet {
  readonly db: Database;
  /** Runs a statement without the cloud's knowledge. */
  alterRows(statement: string): Promise<void>;
  readonly instanceKey: InstanceKey;
  readonly clock: FakeClock;
  readonly access: Access;
  readonly authenticator: Authenticator;
  readonly handlers: { readonly app: AccessRpc['appHandlers']; readonly fleet: AccessRpc['fleetHandlers'] };
  readonly keyUse: KeyUse;
  /** Locations shared with each organization; tests change them. */
  readonly shared: Map<string, SharedLocation[]>;
  /** Valid sessions by the id in their token; tests change them. */
  readonly sessions: Map<string, SignedIn>;
  /** Creates a key with these roles, and its token. */
  keyWith(...grants: Grant[]): Promise<NewKey & { readonly token: string }>;
  /** Creates a person with these roles. Returns the id. */
  personWith(...grants: Grant[]): Promise<string>;
  principalOf(token: string): Promise<Principal>;
}

export const on = {
  organization: (role: Role, organizationId = 'acme'): Grant => ({
    role,
    organizationId,
    locationId: null,
    robotId: null,
  }),
  location: (role: Role, locationId: string, organizationId = 'acme'): Grant => ({
    role,
    organizationId,
    locationId,
    robotId: null,
  }),
  machine: (role: Role, robotId: string, organizationId = 'acme'): Grant => ({
    role,
    organizationId,
    locationId: null,
    robotId,
  }),
};

export async function openFleet(): Promise<Fleet> {
  const { db, rows, instanceKey, alterRows } = await openFirstAccount();
  const clock = new FakeClock();
  for (const id of ['acme', 'umbrella'])
    await db
      .insertInto('organizations')
      .values({ id, name: id, created_ms: 1, webhook_secret: instanceKey.encrypt('secret') })
      .execute();
  for (const [id, { organizationId, parents }] of Object.entries(locations))
    await db
      .insertInto('locations')
      .values({ id, organization_id: organizationId, parent_id: parents[1] ?? null, name: id, created_ms: 1 })
      .execute();
  const access = fleetAccess();
  const shared = new Map<string, SharedLocation[]>();
  const sessions = new Map<string, SignedIn>();
  const keyUse = createKeyUse(db, clock);
  const authenticator = createAuthenticator({
    rows,
    requirePlaces: async () => {},
    db,
    instanceKey,
    partSecrets: {
      check: async (partId, secret) => (secret === `secret of ${partId}` ? 1 : undefined),
      isCurrent: async (_partId, epoch) => epoch === 1,
      deletedPlace: () => undefined,
    },
    sessions: { personOf: async (id) => sessions.get(id), personWith: async (id) => sessions.get(id) },
    shares: { sharesTo: (organizationId) => shared.get(organizationId) ?? [] },
    guesses: createGuessLimit(clock),
    clock,
    keyUsed: (keyId) => keyUse.used(keyId),
  });
  const now: Clock['now'] = () => clock.now();
  const { appHandlers, fleetHandlers } = createAccessRpc({
    db,
    instanceKey,
    access,
    keyUse,
    now,
    rotationOverlapMs: 86_400_000,
    changed: () => authenticator.forget(),
  });
  return {
    db,
    instanceKey,
    clock,
    access,
    authenticator,
    alterRows,
    handlers: { app: appHandlers, fleet: fleetHandlers },
    keyUse,
    shared,
    sessions,
    async keyWith(...grants) {
      const made = await createKey(db, instanceKey, 'test key', grants, clock.now());
      const credentials = { entity: made.id, type: 'api-key', payload: made.key };
      return { ...made, token: await authenticator.signIn(credentials, '127.0.0.1:1') };
    },
    async personWith(...grants) {
      const id = newId();
      await db
        .insertInto('people')
        .values({ id, email: `${id}@example.com`, name: 'a person', created_ms: 1 })
        .execute();
      for (const grant of grants)
        await db
          .insertInto('grants')
          .values({
            identity_id: id,
            identity_type: 'person',
            role: grant.role,
            organization_id: grant.organizationId,
            location_id: grant.locationId,
            robot_id: grant.robotId,
          })
          .execute();
      return id;
    },
    principalOf: (token) => authenticator.principalOfToken(token),
  };
}

/** Only the access rules, for the locations and machines above. */
export function fleetAccess(): Access {
  return createAccess(
    {
      organization: (id) => (id === 'acme' || id === 'umbrella' ? id : undefined),
      organizations: () => [{ id: 'acme' }, { id: 'umbrella' }],
      organizationOfLocation: (id) => locations[id]?.organizationId,
      ancestors: (id) => locations[id]?.parents ?? [],
      descendants: (id) => Object.keys(locations).filter((other) => locations[other]?.parents.includes(id)),
    },
    {
      locationOfMachine: (id) => machines[id],
      machineOfPart: (id) => Object.keys(machines).find((machine) => id === `${machine}-main`),
    },
  );
}

/** Calls a handler with a complete request made from `init`. @throws if there is no such handler */
export async function ask<I extends DescMessage, O>(
  handler: ((request: MessageShape<I>, call: CloudCall) => Promise<O> | O) | undefined,
  schema: I,
  init: MessageInitShape<I>,
  principal: Principal,
): Promise<O> {
  if (handler === undefined) throw new Error(`no handler for ${schema.typeName}`);
  return handler(create(schema, init), callOf(principal));
}
