import { expect, test } from 'vitest';
import { compareVersions, parseFilter } from './filter.ts';
import type { FleetRow } from './rows.ts';

const row = (name: string, given: Partial<FleetRow> = {}): FleetRow => ({
  ...{ id: name, name, locationId: 'l', location: 'Plant', state: 'online', lastSeen: undefined },
  ...{ version: '0.3.1', platform: 'linux/arm64', parts: 1, mainPartId: 'p' },
  ...{ configuration: 'applied', waitingFiles: 0, oldestWaiting: undefined, ...given },
});
const fleet = [
  row('press-7', { state: 'offline', configuration: 'failed', waitingFiles: 3 }),
  row('oven', { location: 'Old Bakery', version: '0.10.0' }),
  row('new', { state: 'waiting', version: '' }),
];
const found = (text: string): string[] => fleet.filter(parseFilter(text)).map(({ name }) => name);

test.each([
  ['', ['press-7', 'oven', 'new']],
  ['offline', ['press-7']],
  ['down loc:plant', ['press-7']],
  ['LOC:bak', ['oven']],
  ['loc:old-bakery', ['oven']],
  ['v<0.4', ['press-7']],
  ['v>=0.10', ['oven']],
  ['v=0.3.1', ['press-7']],
  ['waiting', ['new']],
  ['press', ['press-7']],
  ['press online', []],
  ['failed', ['press-7']],
  ['syncing', ['press-7']],
  ['held', []],
])('%j finds %j', (text, names) => {
  expect(found(text)).toEqual(names);
});

test('versions compare number by number', () => {
  expect(compareVersions('0.10', '0.9')).toBeGreaterThan(0);
  expect(compareVersions('1', '1.0.0')).toBe(0);
});
