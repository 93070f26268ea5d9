import { expect, test } from 'vitest';
import { publicVersion } from './public-version.ts';

test('public clients do not take versions of our machine-server for old ones of the public machine-server', () => {
  expect(publicVersion('0.1.0')).toBe('platform-0.1.0');
  expect(['0.90.0', '0.124.0', '1.9.2', 'platform-0.1.0', ''].map(publicVersion)).toEqual([
    ...['0.90.0', '0.124.0', '1.9.2', 'platform-0.1.0', ''],
  ]);
});
