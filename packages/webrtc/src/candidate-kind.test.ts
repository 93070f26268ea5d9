import { expect, test } from 'vitest';
import { pairOf } from './candidate-kind.ts';

test('an address that was not announced is of the other end on a local network, and otherwise of a router', () => {
  const side = (type: string, address: string) => ({ type, address, port: 7 });
  const kinds = (type: string, address: string) => pairOf({ local: side(type, address), remote: side(type, address) });
  const both = (kind: string, remoteAddress: string) => ({ local: kind, remote: kind, remoteAddress });
  for (const address of ['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', '169.254.1.1'])
    expect(kinds('prflx', address)).toEqual(both('host', `${address}:7`));
  for (const address of ['::1', 'fd00::2', 'fe80::1'])
    expect(kinds('prflx', address)).toEqual(both('host', `[${address}]:7`));
  for (const address of ['203.0.113.1', '172.32.0.1', '2001:db8::1'])
    expect(kinds('prflx', address).remote).toBe('stun');
  expect(kinds('prflx', '').local).toBe('host');
  expect(kinds('srflx', '10.1.2.3').local).toBe('stun');
  expect(kinds('relay', '10.1.2.3').local).toBe('relay');
  expect(kinds('host', '203.0.113.1').local).toBe('host');
});
