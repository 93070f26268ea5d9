import { expect, test } from 'vitest';
import { matching } from './versions.ts';

const given = ['1.0.0', '1.2.0', '1.10.0', '2.0.0-rc.2', '2.0.0-rc.10', '1.2.1'];
const newestOf = (wanted: string, versions: readonly string[] = given): string | undefined =>
  matching(
    versions.map((version, index) => ({ version, created_ms: index })),
    wanted,
  )[0]?.version;

test.each([
  ['', '1.10.0'],
  ['latest', '1.10.0'],
  ['latest-with-prerelease', '2.0.0-rc.10'],
  ['1', '1.10.0'],
  ['1.2', '1.2.1'],
  ['1.2.0', '1.2.0'],
  ['2.0.0-rc.2', '2.0.0-rc.2'],
  ['2', '2.0.0-rc.10'],
  ['1.3', undefined],
  ['3.0.0', undefined],
])('%j selects %j', (wanted, found) => {
  expect(newestOf(wanted)).toBe(found);
});

test('versions that are not semantic are ordered by date, after all semantic ones', () => {
  expect(newestOf('latest', ['z', 'a'])).toBe('a');
  expect(newestOf('latest', ['0.0.1', '1700000000000'])).toBe('0.0.1');
});
