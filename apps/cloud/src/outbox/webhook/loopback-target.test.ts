import { expect, test } from 'vitest';
import { isLoopbackAddress, readLoopbackTarget, targetText } from './loopback-target.ts';

test.each([
  ['127.0.0.1:1880', '127.0.0.1:1880'],
  ['127.8.0.9:65535', '127.8.0.9:65535'],
  ['[::1]:80', '[::1]:80'],
  ['[0:0:0:0:0:0:0:1]:80', '[::1]:80'],
])('D43 %s can be allowed', (given, shown) => {
  expect(targetText(readLoopbackTarget(given, 'target'))).toBe(shown);
});

test.each([
  ['169.254.169.254:80', 'which is a cloud metadata address'],
  ['100.100.100.200:80', 'which is a cloud metadata address'],
  ['[fd00:ec2::254]:80', 'which is a cloud metadata address'],
  ['169.254.0.1:80', 'which is link-local'],
  ['[fe80::1]:80', 'which is link-local'],
  ['0.0.0.0:80', 'which is this host'],
  ['[::]:80', 'which is this host'],
  ['[::ffff:127.0.0.1]:80', 'no setting allows it'],
  ['[64:ff9b::7f00:1]:80', 'no setting allows it'],
  ['192.168.0.10:80', 'PLATFORM_WEBHOOK_ALLOW_PRIVATE'],
  ['[fd12::1]:80', 'PLATFORM_WEBHOOK_ALLOW_PRIVATE'],
  ['93.184.216.34:80', 'public addresses need no permission'],
  ['[2606:4700::1]:80', 'public addresses need no permission'],
  ['localhost:80', 'expected a loopback address and a port'],
  ['127.1:80', 'expected a loopback address and a port'],
  ['127.0.0.01:80', 'expected a loopback address and a port'],
  ['2130706433:80', 'expected a loopback address and a port'],
  ['127.0.0.1', 'expected a loopback address and a port'],
  ['127.0.0.1:0', 'expected a loopback address and a port'],
  ['127.0.0.1:65536', 'expected a loopback address and a port'],
  ['::1:80', 'expected a loopback address and a port'],
  ['[127.0.0.1]:80', 'expected a loopback address and a port'],
  ['http://127.0.0.1:80', 'expected a loopback address and a port'],
  ['127.0.0.0/8:80', 'expected a loopback address and a port'],
])('D43 %s cannot be allowed: %s', (given, why) => {
  expect(() => readLoopbackTarget(given, 'target')).toThrow(why);
});

test('D43 only addresses in their usual form count as loopback', () => {
  expect(['127.0.0.1', '127.255.0.1', '::1'].every(isLoopbackAddress)).toBe(true);
  expect(['::ffff:127.0.0.1', '::127.0.0.1', '0.0.0.0', '::', '10.0.0.1', ''].some(isLoopbackAddress)).toBe(false);
});
