import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { Code, expectRefused, unknownId, type World } from './world.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

export function pushTests(world: () => World): void {
  test('credentials are set, listed only by app, and deleted', async () => {
    const { owner, cloud } = world();
    const org_id = cloud.organizationId;
    const config_json = JSON.stringify({
      type: 'service_account',
      project_id: 'press',
      client_email: 'push@example.com',
      private_key: privateKey,
    });
    await expectRefused(owner.ask('GetFirebaseConfig', { org_id }), Code.notFound, /SetFirebaseConfig/);
    await owner.ask('SetFirebaseConfig', { org_id, app_id: 'com.example.press', config_json });
    expect(await owner.ask('GetFirebaseConfig', { org_id })).toEqual({ app_id: 'com.example.press' });
    const broken = owner.ask('SetFirebaseConfig', { org_id, app_id: 'com.example.press', config_json: '{' });
    await expectRefused(broken, Code.invalidArgument, /config_json/);
    const other = owner.ask('DeleteFirebaseConfig', { org_id, app_id: 'com.example.other' });
    await expectRefused(other, Code.notFound, /push configuration/);
    await owner.ask('DeleteFirebaseConfig', { org_id, app_id: 'com.example.press' });
    await expectRefused(owner.ask('GetFirebaseConfig', { org_id }), Code.notFound, /SetFirebaseConfig/);
    await expectRefused(owner.ask('GetFirebaseConfig', { org_id: unknownId }), Code.notFound, /organization/);
  });

  test('device tokens belong to people: one for each device, newest first', async () => {
    const { owner, ada } = world();
    const app_id = 'com.example.press';
    const phone = { app_id, device_uuid: 'phone', device_token: 'token-1' };
    await ada.ask('UploadDevicePushToken', phone);
    await ada.ask('UploadDevicePushToken', { app_id, device_uuid: 'tablet', device_token: 'token-2' });
    await ada.ask('UploadDevicePushToken', { ...phone, device_token: 'token-3' });
    const { device_tokens } = await ada.ask('GetDevicePushTokens', { app_id });
    expect(device_tokens).toHaveLength(2);
    expect(device_tokens).toEqual(expect.arrayContaining(['token-2', 'token-3']));
    await ada.ask('DeleteDevicePushToken', { app_id, device_uuid: 'phone' });
    expect(await ada.ask('GetDevicePushTokens', { app_id })).toEqual({ device_tokens: ['token-2'] });
    const gone = ada.ask('DeleteDevicePushToken', { app_id, device_uuid: 'phone' });
    await expectRefused(gone, Code.notFound, /device/);
    await expectRefused(owner.ask('GetDevicePushTokens', { app_id }), Code.permissionDenied, /person/);
    await expectRefused(owner.ask('UploadDevicePushToken', phone), Code.permissionDenied, /person/);
  });
}
