import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { openAccounts } from '../testing/open-accounts.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const account = {
  type: 'service_account',
  project_id: 'press',
  client_email: 'push@press.iam.gserviceaccount.com',
  private_key: privateKey,
  token_uri: 'https://oauth2.googleapis.com/token',
};

test('push credentials are sealed in the store and given only to the sender; the API returns only their app', async () => {
  const { accounts, ask, owner, key, db, organizationId: orgId } = await openAccounts();
  await expect(ask(owner, 'getFirebaseConfig', { orgId })).rejects.toMatchObject({ code: 'not_found' });
  const configJson = JSON.stringify(account);
  await ask(owner, 'setFirebaseConfig', { orgId, appId: 'com.example.first', configJson });
  await ask(owner, 'setFirebaseConfig', { orgId, appId: 'com.example.second', configJson });
  expect((await ask(owner, 'getFirebaseConfig', { orgId })).appId).toBe('com.example.second');
  expect(await accounts.pushConfiguration(orgId)).toEqual({ appId: 'com.example.second', credentials: configJson });
  const [row] = await db.selectFrom('push_configurations').selectAll().execute();
  expect(Buffer.from(row?.credentials ?? []).includes('press')).toBe(false);
  expect(JSON.stringify(await db.selectFrom('audit_entries').selectAll().execute())).not.toContain('PRIVATE KEY');
  for (const name of ['getFirebaseConfig', 'deleteFirebaseConfig', 'setFirebaseConfig'] as const)
    await expect(ask(await key('operator'), name, { orgId, appId: 'x', configJson })).rejects.toMatchObject({
      code: 'permission_denied',
    });
  await expect(ask(owner, 'deleteFirebaseConfig', { orgId, appId: 'com.example.first' })).rejects.toMatchObject({
    code: 'not_found',
  });
  await ask(owner, 'deleteFirebaseConfig', { orgId, appId: 'com.example.second' });
  expect(await accounts.pushConfiguration(orgId)).toBeUndefined();
});

test('unusable push credentials are refused when they are set, and the message quotes none of them', async () => {
  const { ask, owner, organizationId: orgId } = await openAccounts();
  const wrongs: readonly (readonly [string, RegExp])[] = [
    ['canary {', /the JSON of a service account/],
    ['"canary"', /the JSON of a service account/],
    [JSON.stringify({ ...account, type: 'canary' }), /service_account/],
    [JSON.stringify({ ...account, project_id: 7 }), /project_id/],
    [JSON.stringify({ ...account, private_key: 'canary' }), /private_key/],
    [JSON.stringify({ ...account, token_uri: 'http://169.254.169.254/canary' }), /token_uri/],
    [JSON.stringify({ ...account, padding: 'canary'.repeat(5_000) }), /at most 16384 bytes/],
  ];
  for (const [configJson, expected] of wrongs) {
    const refused = ask(owner, 'setFirebaseConfig', { orgId, appId: 'app', configJson });
    await expect(refused).rejects.toThrow(expected);
    await expect(refused).rejects.not.toThrow(/canary/);
  }
  for (const appId of ['', '<b>', 'a b', 'x'.repeat(10_000)])
    await expect(
      ask(owner, 'setFirebaseConfig', { orgId, appId, configJson: JSON.stringify(account) }),
    ).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('device tokens belong to the signed-in person; when a device changes hands, its former owner loses it', async () => {
  const { ask, owner, part, person } = await openAccounts();
  const [anna, ben] = [await person(), await person()];
  const device = { appId: 'app', deviceUuid: 'phone-1', deviceToken: 'token-1' };
  const tokens = async (by: typeof anna): Promise<string[]> =>
    (await ask(by, 'getDevicePushTokens', { appId: 'app' })).deviceTokens;
  await ask(anna, 'uploadDevicePushToken', device);
  await ask(anna, 'uploadDevicePushToken', { ...device, deviceToken: 'token-2' });
  expect(await tokens(anna)).toEqual(['token-2']);
  expect(await tokens(ben)).toEqual([]);
  await expect(ask(ben, 'deleteDevicePushToken', device)).rejects.toMatchObject({ code: 'not_found' });
  await ask(ben, 'uploadDevicePushToken', { ...device, deviceToken: 'token-2' });
  expect([await tokens(anna), await tokens(ben)]).toEqual([[], ['token-2']]);
  await ask(ben, 'deleteDevicePushToken', device);
  expect(await tokens(ben)).toEqual([]);
  for (const caller of [owner, part])
    for (const name of ['uploadDevicePushToken', 'deleteDevicePushToken', 'getDevicePushTokens'] as const)
      await expect(ask(caller, name, device)).rejects.toMatchObject({ code: 'permission_denied' });
  for (const wrong of [{ deviceToken: '' }, { deviceToken: 'a b' }, { deviceUuid: '\u0000' }, { appId: '<b>' }])
    await expect(ask(anna, 'uploadDevicePushToken', { ...device, ...wrong })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
});

test('a person keeps their 50 newest devices', async () => {
  const { ask, person, db } = await openAccounts();
  const anna = await person();
  for (let index = 0; index < 52; index++) {
    const device = { appId: 'app', deviceUuid: `phone-${index}`, deviceToken: `token-${index}` };
    await ask(anna, 'uploadDevicePushToken', device);
    // A fast machine sets them in the same millisecond; give them the distinct times by which the store orders them.
    await db.updateTable('device_push_tokens').set({ set_ms: index }).where('token', '=', device.deviceToken).execute();
  }
  const { deviceTokens } = await ask(anna, 'getDevicePushTokens', { appId: 'app' });
  expect(deviceTokens).toHaveLength(50);
  expect(deviceTokens).not.toContain('token-1');
});
