import { expect, test } from 'vitest';
import { readAddress } from './read-address.ts';

const part = '0b0e4c1e-3f0a-4c55-9d1d-5f0a6d2f8f11';

test.each([
  [`${part}.machines.example.com`, { kind: 'name', cloudUrl: `https://${part}.machines.example.com` }],
  [`${part}.machines.example.com:8080`, { kind: 'name', cloudUrl: `https://${part}.machines.example.com:8080` }],
  [`https://${part}.machines.example.com:8080/`, { kind: 'name', name: `${part}.machines.example.com` }],
  [`http://${part}.machines.internal:8080`, { kind: 'name', cloudUrl: `http://${part}.machines.internal:8080` }],
  [`${part}.local:8080`, { kind: 'direct', url: `https://${part}.local:8080` }],
  ['localhost:8080', { kind: 'direct', url: 'http://localhost:8080' }],
  ['127.0.0.1:8080', { kind: 'direct', url: 'http://127.0.0.1:8080' }],
  ['[::1]:8080', { kind: 'direct', url: 'http://[::1]:8080' }],
  ['pi.local:8080', { kind: 'direct', url: 'https://pi.local:8080' }],
  ['http://10.1.2.3:8080', { kind: 'direct', url: 'http://10.1.2.3:8080' }],
])('%s alone', (address, expected) => {
  expect(readAddress(address, undefined)).toMatchObject(expected);
});

test('with a cloud, every address is a name that it knows', () => {
  expect(readAddress('press-7.acme.example', 'http://127.0.0.1:8080')).toEqual({
    ...{ kind: 'name', name: 'press-7.acme.example', cloudUrl: 'http://127.0.0.1:8080' },
  });
});

test.each(['', 'two words', 'https://pi.local/path', 'pi:port'])(
  '"%s" is refused, with what is expected',
  (address) => {
    expect(() => readAddress(address, undefined)).toThrow(/expected the full name of a machine, or its address/);
  },
);
