import type { Call } from '@platform/rpc/server';
import { expect, test } from 'vitest';
import { MachineAuth, type Secrets } from './authenticate.ts';

const secrets = (keys: Readonly<Record<string, string>>, locationSecrets: readonly string[] = []): Secrets => ({
  keys: new Map(Object.entries(keys)),
  locationSecrets,
});

async function signIn(auth: MachineAuth, type: string, entity: string, payload: string): Promise<string> {
  const [method] = auth.binding.methods;
  if (method?.kind !== 'unary') throw new Error('expected Authenticate');
  const { accessToken } = (await method.handler({ entity, credentials: { type, payload } } as never, {} as never)) as {
    readonly accessToken: string;
  };
  return accessToken;
}

const isKnown = (auth: MachineAuth, token: string): Promise<boolean> =>
  auth.authenticate({ method: 'm', metadata: new Headers({ authorization: `Bearer ${token}` }) } as Call).then(
    () => true,
    () => false,
  );

test('D5 a token of a machine lives until its own secret is gone from the configuration, whatever happens to others', async () => {
  const auth = new MachineAuth({ isPublic: true });
  auth.configure(secrets({ a: '1' }, ['secret']));
  const [ofKey, ofLocation] = [
    await signIn(auth, 'api-key', 'a', '1'),
    await signIn(auth, 'robot-location-secret', 'anything', 'secret'),
  ];
  auth.configure(secrets({ a: '1', b: '2' }, ['other', 'secret']));
  expect([await isKnown(auth, ofKey), await isKnown(auth, ofLocation)]).toEqual([true, true]);
  auth.configure(secrets({ a: 'rotated', b: '1' }, ['secret']));
  expect([await isKnown(auth, ofKey), await isKnown(auth, ofLocation)]).toEqual([false, true]);
  auth.configure(secrets({ a: '1' }));
  expect([await isKnown(auth, ofKey), await isKnown(auth, ofLocation)]).toEqual([false, false]);
});

test('a caller is known by its secret, for the audit trail; on an open machine by none', async () => {
  const auth = new MachineAuth({ isPublic: false });
  const directOf = async (token: string) =>
    (await auth.authenticate({ method: 'm', metadata: new Headers({ authorization: `Bearer ${token}` }) } as Call))
      .direct;
  const stranger = await signIn(auth, 'api-key', 'a', 'guessed');
  expect(await directOf(stranger)).toEqual({ caller: '', name: '', path: 'direct' });
  auth.configure(secrets({ a: '1' }, ['secret']));
  expect(await isKnown(auth, stranger)).toBe(false);
  const callers = [await signIn(auth, 'api-key', 'a', '1'), await signIn(auth, 'robot-location-secret', 'b', 'secret')];
  expect(await Promise.all(callers.map(directOf))).toEqual([
    { caller: 'api-key:a', name: '', path: 'direct' },
    { caller: 'location-secret', name: '', path: 'direct' },
  ]);
});

test('D39 an API key that this machine does not know learns which command makes one that it does', async () => {
  const auth = new MachineAuth({ isPublic: true });
  auth.configure(secrets({ a: '1' }));
  const command =
    'This API key does not reach the machine; an owner makes one that does: platform api-keys create NAME --role operator --machine MACHINE';
  await expect(signIn(auth, 'api-key', 'b', '1')).rejects.toThrow(command);
  await expect(signIn(auth, 'api-key', 'a', '2')).rejects.toThrow(command);
  await expect(signIn(auth, 'robot-secret', 'a', '1')).rejects.toThrow(
    /found type "robot-secret" for "a"; this is a machine, not a cloud$/,
  );
});
