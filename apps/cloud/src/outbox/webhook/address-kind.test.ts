import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressKind } from './address-kind.ts';

test.each([
  ['8.8.8.8', 'public'],
  ['1.1.1.1', 'public'],
  ['172.15.255.255', 'public'],
  ['172.32.0.0', 'public'],
  ['100.63.255.255', 'public'],
  ['100.128.0.0', 'public'],
  ['2606:4700::1111', 'public'],
  ['::ffff:8.8.8.8', 'public'],
  ['64:ff9b::808:808', 'public'],
  ['10.1.2.3', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'private'],
  ['fd12:3456::1', 'private'],
  ['::ffff:10.0.0.1', 'private'],
  ['64:ff9b::a00:1', 'private'],
  ['127.0.0.1', 'local'],
  ['0.0.0.0', 'local'],
  ['169.254.169.254', 'local'],
  ['100.100.100.200', 'local'],
  ['168.63.129.16', 'local'],
  ['224.0.0.1', 'local'],
  ['255.255.255.255', 'local'],
  ['::1', 'local'],
  ['::', 'local'],
  ['fe80::1%eth0', 'local'],
  ['fd00:ec2::254', 'local'],
  ['::7f00:1', 'local'],
  ['::ffff:0:7f00:1', 'local'],
  ['2002:7f00:1::', 'local'],
  ['64:ff9b:1::1', 'local'],
  ['2001::1', 'local'],
  ['2607:f8b0::5efe:7f00:1', 'local'],
  ['ff02::1', 'local'],
  ['', 'local'],
  ['localhost', 'local'],
  ['127.1', 'local'],
] as const)('D23 %s is %s', (address, kind) => {
  expect(addressKind(address).kind).toBe(kind);
});

const octet = fc.integer({ min: 0, max: 255 });
const hex = (high: number, low: number): string => (high * 256 + low).toString(16);

test('D23 an IPv4 address is classified the same in every IPv6 form that leads to it', () => {
  fc.assert(
    fc.property(octet, octet, octet, octet, (a, b, c, d) => {
      const kind = addressKind(`${a}.${b}.${c}.${d}`).kind;
      const [high, low] = [hex(a, b), hex(c, d)];
      for (const form of [
        `::ffff:${a}.${b}.${c}.${d}`,
        `::ffff:${high}:${low}`,
        `0:0:0:0:0:FFFF:${high.toUpperCase()}:${low}`,
        `64:ff9b::${high}:${low}`,
        `64:ff9b::${a}.${b}.${c}.${d}`,
        `2002:${high}:${low}::1`,
        `::ffff:0:${high}:${low}`,
      ]) {
        expect([form, addressKind(form).kind]).toEqual([form, kind]);
      }
    }),
  );
});
