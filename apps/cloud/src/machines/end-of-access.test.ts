import { isOfDeletedMachine, systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { type Authenticator, createAuthenticator } from '../access/authenticate.ts';
import type { DeletedPlace } from '../access/deleted-secrets.ts';
import type { EndedKey } from '../access/grants.ts';
import { createGuessLimit } from '../access/guess-limit.ts';
import { createKey } from '../access/keys.ts';
import type { Grant } from '../access/principal.ts';
import { noSessions, noShares } from '../access/testing/no-sessions.ts';
import type { AccountsDeps } from '../accounts/accounts-deps.ts';
import { deleteLocation } from '../accounts/locations/delete-location.ts';
import { deleteOrganization } from '../accounts/organizations/delete-organization.ts';
import { machineNamesIn } from './part-places.ts';
import { app, openMachines, type TestMachines } from './testing/open-machines.ts';

async function given(): Promise<TestMachines & { authenticator: Authenticator }> {
  const machines = await openMachines({ accessChanged: () => authenticator.forget() });
  // The clock does not advance, so no cached answer expires.
  const clock = { ...systemClock, monotonic: () => 0 };
  const authenticator = createAuthenticator({
    rows: { requireComplete: async () => {} },
    requirePlaces: async () => {},
    db: machines.db,
    instanceKey: machines.instanceKey,
    partSecrets: machines.machines.partSecrets,
    sessions: noSessions,
    shares: noShares,
    guesses: createGuessLimit(clock),
    clock,
    keyUsed: () => {},
  });
  return { ...machines, authenticator };
}

const signedIn = async (
  authenticator: Authenticator,
  type: string,
  entity: string,
  payload: string,
): Promise<string> => {
  const token = await authenticator.signIn({ type, entity, payload }, '127.0.0.1:9');
  await authenticator.principalOfToken(token);
  return token;
};

test('R16 the part of a deleted machine, and a key whose only role was on it, are refused from the next call on', async () => {
  const { ask, authenticator, db, instanceKey, organizationId, owner, machineId, partId, partSecret } = await given();
  const grant = { role: 'operator', organizationId, locationId: null, robotId: machineId } as const;
  const key = await createKey(db, instanceKey, 'of the machine', [grant], 1);
  const tokens = [
    await signedIn(authenticator, 'robot-secret', partId, partSecret),
    await signedIn(authenticator, 'api-key', key.id, key.key),
  ];
  await ask(owner, app.deleteRobot, { id: machineId });
  for (const token of tokens)
    await expect(authenticator.principalOfToken(token)).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('the server of a deleted machine or part is told so, for its right secret only', async () => {
  const { ask, authenticator, owner, machineId, partId, partSecret } = await given();
  const added = (await ask(owner, app.newRobotPart, { robotId: machineId, partName: 'arm' })).partId;
  const ofArm = (await ask(owner, app.getRobotPart, { id: added })).part?.secret ?? '';
  const signIn = (entity: string, payload: string) =>
    authenticator.signIn({ type: 'robot-secret', entity, payload }, '127.0.0.1:9');
  await ask(owner, app.deleteRobotPart, { partId: added });
  await ask(owner, app.deleteRobot, { id: machineId });
  // As often as its server asks: a right secret is no guess.
  for (let attempt = 0; attempt < 20; attempt++)
    for (const [id, secret] of [
      [partId, partSecret],
      [added, ofArm],
    ] as const)
      await expect(signIn(id, secret)).rejects.toMatchObject({
        code: 'permission_denied',
        message: expect.stringContaining('the cloud has deleted this machine'),
      });
  await expect(signIn(partId, ofArm)).rejects.toThrow('a wrong secret or an unknown part');
});

test('the servers of parts whose location or organization was deleted are told so, also those that sign in with a key that ended with it', async () => {
  const told = await given();
  const { ask, authenticator, owner, machineId, partId, partSecret, organizationId, locationId } = told;
  const keyOn = (on: Partial<Grant>) =>
    createKey(
      told.db,
      told.instanceKey,
      'of a server',
      [{ role: 'operator', organizationId, locationId: null, robotId: null, ...on }],
      1,
    );
  const [ofMachine, ofLocation, ofOrganization] = [
    await keyOn({ robotId: machineId }),
    await keyOn({ locationId }),
    await keyOn({}),
  ];
  const said = (type: string, entity: string, payload: string) =>
    authenticator.signIn({ type, entity, payload }, '127.0.0.1:9').catch((refusal) => refusal);
  const deps = {
    ...told,
    clock: systemClock,
    machineNamesIn,
    organizationDeleting: [],
    keysEnded: (keys: readonly EndedKey[], place: DeletedPlace) => {
      for (const { id, hashes } of keys) told.registry.secrets.deleted.put(id, hashes, place);
    },
    accessChanged: () => authenticator.forget(),
  } as unknown as AccountsDeps;
  const by = { principal: owner, peerAddress: '127.0.0.1:1' };

  await ask(owner, app.deleteRobot, { id: machineId });
  await deleteLocation(deps, by, locationId);
  await deleteOrganization(deps, by, organizationId);
  const isTold = (text: string) => ({ code: 'permission_denied', message: expect.stringContaining(text) });
  expect(await said('robot-secret', partId, partSecret)).toMatchObject(isTold('has deleted this machine'));
  expect(await said('api-key', ofMachine.id, ofMachine.key)).toMatchObject(isTold('has deleted this machine'));
  expect(await said('api-key', ofLocation.id, ofLocation.key)).toMatchObject(isTold('the location of this key'));
  const refused = await said('api-key', ofOrganization.id, ofOrganization.key);
  expect(refused).toMatchObject(isTold('the organization of this key'));
  expect(isOfDeletedMachine(refused)).toBe(true);
  expect(await said('api-key', ofLocation.id, ofOrganization.key)).toMatchObject(isTold('a wrong or ended key'));
});

test('R16 a deleted part, and a caller signed in with a deleted part secret, are refused from the next call on', async () => {
  const { ask, authenticator, owner, machineId, partId, partSecret } = await given();
  const token = await signedIn(authenticator, 'robot-secret', partId, partSecret);
  const { part } = await ask(owner, app.createRobotPartSecret, { partId });
  const [first] = part?.secrets ?? [];
  await ask(owner, app.deleteRobotPartSecret, { partId, secretId: first?.id ?? '' });
  await expect(authenticator.principalOfToken(token)).rejects.toMatchObject({ code: 'unauthenticated' });

  const added = (await ask(owner, app.newRobotPart, { robotId: machineId, partName: 'arm' })).partId;
  const secret = (await ask(owner, app.getRobotPart, { id: added })).part?.secret ?? '';
  const ofArm = await signedIn(authenticator, 'robot-secret', added, secret);
  await ask(owner, app.deleteRobotPart, { partId: added });
  await expect(authenticator.principalOfToken(ofArm)).rejects.toMatchObject({ code: 'unauthenticated' });
});
