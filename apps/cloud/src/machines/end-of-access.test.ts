import { systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { type Authenticator, createAuthenticator } from '../access/authenticate.ts';
import { createGuessLimit } from '../access/guess-limit.ts';
import { createKey } from '../access/keys.ts';
import { noSessions, noShares } from '../access/testing/no-sessions.ts';
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
