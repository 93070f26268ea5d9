import { expect, test } from 'vitest';
import { networkOf } from './network-of.ts';
import { peerAddressOf, withoutPort } from './peer-address.ts';

test.each([
  ['192.0.2.1', 80, '192.0.2.1:80', '192.0.2.1'],
  ['::ffff:192.0.2.1', 4_711, '192.0.2.1:4711', '192.0.2.1'],
  ['2001:db8::7', 4_711, '[2001:db8::7]:4711', '2001:db8::7'],
  ['fe80::1%eth0', undefined, '[fe80::1]', 'fe80::1'],
  ['203.0.113.7', undefined, '203.0.113.7', '203.0.113.7'],
])('the peer %s with port %s is named %s', (address, port, named, alone) => {
  expect(peerAddressOf(address, port)).toBe(named);
  expect(withoutPort(named)).toBe(alone);
  expect(withoutPort(address)).toBe(alone);
});

test('the port of a peer never changes the network for which it counts', () => {
  // Without brackets, a port of up to four digits would be a part of the address.
  for (const port of [80, 4_711, 54_321])
    expect(networkOf(peerAddressOf('2001::1:2:3:4:5', port))).toBe(networkOf('2001::1:2:3:4:5'));
});
