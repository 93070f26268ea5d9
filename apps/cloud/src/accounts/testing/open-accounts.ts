/** The accounts feature after a first start, for tests; called as from the API, by real keys and people. */
import { create, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { newId, systemClock } from '@platform/base';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { issueToken } from '../../access/access-token.ts';
import { createAuthenticator } from '../../access/authenticate.ts';
import { createAccess } from '../../access/authorize.ts';
import { addGrant } from '../../access/grants.ts';
import { createGuessLimit } from '../../access/guess-limit.ts';
import { createKey } from '../../access/keys.ts';
import type { SignedIn } from '../../access/ports.ts';
import type { Grant, Principal, Role } from '../../access/principal.ts';
import { callOf } from '../../access/testing/call-of.ts';
import { machineNamesIn } from '../../machines/part-places.ts';
import { openRegistry, type Registry } from '../../machines/registry.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { type Accounts, createAccounts } from '../feature.ts';
import { intactPlaces } from '../intact-places.ts';
import { type FirstAccount, openFirstAccount } from './open-first-account.ts';

type Methods = typeof AppService.method;
type Name = Exclude<keyof Methods, 'tailRobotPartLogs' | 'createRegistryItem'>;

/** The holder of a token; its roles are read at each call. */
export interface Caller {
  readonly principal: () => Promise<Principal>;
}

export interface TestAccounts extends FirstAccount {
  readonly accounts: Accounts;
  readonly registry: Registry;
  /** An owner of the first organization. */
  readonly owner: Caller;
  /** A key with one role, or without roles if none is given. */
  key(role?: Role, on?: Partial<Omit<Grant, 'role'>>): Promise<Caller>;
  person(role?: Role, on?: Partial<Omit<Grant, 'role'>>): Promise<Caller>;
  readonly part: Caller;
  /** Calls the handler without a transport: returns its answer with all defaults. */
  ask<K extends Name>(
    caller: Caller,
    name: K,
    request: MessageInitShape<Methods[K]['input']>,
  ): Promise<MessageShape<Methods[K]['output']>>;
}

export async function openAccounts(overrides: Partial<AccountsDeps> = {}): Promise<TestAccounts> {
  const first = await openFirstAccount();
  const { db, tree, instanceKey, organizationId } = first;
  const registry = await openRegistry(db, tree, instanceKey);
  const access = createAccess(tree, {
    locationOfMachine: (id) => registry.machine(id)?.location_id,
    machineOfPart: (id) => registry.part(id)?.machine_id,
  });
  const people = new Map<string, SignedIn>();
  const authenticator = createAuthenticator({
    rows: first.rows,
    requirePlaces: intactPlaces(first.rows),
    db,
    instanceKey,
    partSecrets: {
      check: (partId, secret) => registry.secrets.check(partId, secret),
      isCurrent: async (partId, epoch) => registry.secrets.isCurrent(partId, epoch),
      deletedPlace: (id, secret) => registry.secrets.deleted.placeOf(id, secret),
    },
    sessions: { personOf: async (id) => people.get(id), personWith: async (id) => people.get(id) },
    shares: tree,
    guesses: createGuessLimit(systemClock),
    clock: systemClock,
    keyUsed: () => {},
  });
  const accounts = createAccounts({
    db,
    tree,
    access,
    instanceKey,
    clock: systemClock,
    machinesOf: (locationId) => registry.machinesOf(locationId),
    machineNamesIn,
    seesFragment: () => true,
    baseUrl: () => 'http://cloud.test',
    accessChanged: () => authenticator.forget(),
    keysEnded: (keys, place) => {
      for (const { id, hashes } of keys) registry.secrets.deleted.put(id, hashes, place);
    },
    organizationDeleting: [],
    ...overrides,
  });

  const withToken = (token: string): Caller => ({
    principal: () => authenticator.principalOf(new Headers({ authorization: `Bearer ${token}` })),
  });
  const grantOf = (role: Role, on: Partial<Omit<Grant, 'role'>>): Grant => ({
    role,
    organizationId: on.organizationId ?? organizationId,
    locationId: on.locationId ?? null,
    robotId: on.robotId ?? null,
  });
  const key: TestAccounts['key'] = async (role, on = {}) => {
    const made = await createKey(db, instanceKey, 'test', role === undefined ? [] : [grantOf(role, on)], 1);
    return withToken(
      await authenticator.signIn({ entity: made.id, type: 'api-key', payload: made.key }, '127.0.0.1:1'),
    );
  };
  return {
    ...first,
    accounts,
    registry,
    key,
    owner: await key('owner'),
    part: { principal: async () => ({ kind: 'part', partId: 'some-part' }) },
    async person(role, on = {}) {
      const [personId, sessionId] = [newId(), newId()];
      const email = `${personId}@example.com`;
      await db.insertInto('people').values({ id: personId, email, name: 'p', created_ms: 1 }).execute();
      if (role !== undefined) await addGrant(db, { type: 'person', id: personId }, grantOf(role, on));
      people.set(sessionId, { personId, sessionId, email });
      return withToken(issueToken(instanceKey, { kind: 'session', id: sessionId, epoch: 1 }));
    },
    async ask(caller, name, request) {
      const { input, output } = AppService.method[name];
      const handler = accounts.appHandlers[name] as
        | ((
            request: unknown,
            call: unknown,
          ) => MessageInitShape<typeof output> | Promise<MessageInitShape<typeof output>>)
        | undefined;
      if (handler === undefined) throw new Error(`${name} has no handler`);
      const principal = await caller.principal();
      const call = { ...callOf(principal), method: `/platform.app.v1.AppService/${name}` };
      // One function serves all operations: its signature relates the types of request and answer.
      return create(output, await handler(create(input, request), call)) as never;
    },
  };
}
