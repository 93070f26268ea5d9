import { expect, test } from 'vitest';
import { readRemotes } from './remote-config.ts';
import { wayToRemote } from './way-to-remote.ts';

const own = { url: 'http://127.0.0.1:8080', ca: 'pem', fqdn: 'aaaa.machines.example.com' };
const part = '0b0e4c1e-3f0a-4c55-9d1d-5f0a6d2f8f11';

function wayTo(more: object, allowInsecure = false) {
  const [remote] = readRemotes([{ name: 'b', ...more }]).remotes;
  if (remote === undefined) throw new Error('expected a remote');
  return wayToRemote(remote, own, allowInsecure);
}

test('a machine of the same cloud is called where this machine reaches the cloud; others at their own address', () => {
  const name = `${part}.machines.example.com`;
  for (const address of [name, `${name}:443`, `https://${name}`])
    expect(wayTo({ address })).toMatchObject({ address: name, cloudUrl: own.url, ca: 'pem' });
  expect(wayTo({ address: `${part}.machines.elsewhere.com` }).cloudUrl).toBeUndefined();
  expect(wayTo({ address: '10.0.0.7:8080' })).toMatchObject({
    address: '10.0.0.7:8080',
    allowInsecureCredentials: false,
  });
});

test('plaintext is for addresses that ask for it, and takes credentials only if the machine-server allows it', () => {
  const insecure = { address: '10.0.0.7:8080', insecure: true };
  expect(wayTo(insecure)).toMatchObject({ address: 'http://10.0.0.7:8080', allowInsecureCredentials: false });
  expect(wayTo(insecure, true)).toMatchObject({ allowInsecureCredentials: true });
  expect(wayTo({ address: '10.0.0.7:8080' }, true)).toMatchObject({ allowInsecureCredentials: false });
});

test('its credentials are the key in auth, or the secret of its location', () => {
  const address = '10.0.0.7:8080';
  const auth = { entity: 'id', credentials: { type: 'api-key', payload: 'key' } };
  expect(wayTo({ address, auth }).credentials).toEqual({ entity: 'id', type: 'api-key', payload: 'key' });
  expect(wayTo({ address, secret: 's' }).credentials).toEqual({
    ...{ entity: address, type: 'robot-location-secret', payload: 's' },
  });
  expect(wayTo({ address }).credentials).toBeUndefined();
});
