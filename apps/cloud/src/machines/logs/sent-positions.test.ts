import { PlatformError } from '@platform/base';
import { expect, test } from 'vitest';
import { SentPositions, sentPositionOf } from './sent-positions.ts';

function rig() {
  const positions = new SentPositions();
  const stored: string[] = [];
  const store = async (entries: readonly string[]): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    stored.push(...entries);
  };
  return { positions, stored, store };
}

test('lines sent again are stored once, even while the first call still runs; other streams and parts are distinguished', async () => {
  const { positions, stored, store } = rig();
  const a = (first: number) => ({ stream: 'a', first });
  await Promise.all([
    positions.once('p', a(10), ['10', '11', '12'], store),
    positions.once('p', a(10), ['10', '11', '12', '13'], store),
    positions.once('p', a(12), ['12', '13'], store),
    positions.once('q', a(10), ['q'], store),
  ]);
  expect(stored.toSorted()).toEqual(['10', '11', '12', '13', 'q']);
  // A gap is not a repetition, and neither are the numbers of another stream.
  await positions.once('p', a(20), ['20'], store);
  await positions.once('p', { stream: 'b', first: 1 }, ['b1'], store);
  await positions.once('p', undefined, ['20'], store);
  expect(stored.slice(5)).toEqual(['20', 'b1', '20']);
});

test('lines that could not be stored are stored when they are sent again', async () => {
  const { positions, stored, store } = rig();
  const fail = (): Promise<void> => Promise.reject(new PlatformError('resource_exhausted', 'full'));
  await expect(positions.once('p', { stream: 'a', first: 1 }, ['1', '2'], fail)).rejects.toThrow('full');
  await positions.once('p', { stream: 'a', first: 1 }, ['1', '2'], store);
  expect(stored).toEqual(['1', '2']);
});

test('a position is a stream and a number; with anything else, lines have no numbers', () => {
  expect(sentPositionOf('0f9c-x 4294967296')).toEqual({ stream: '0f9c-x', first: 4_294_967_296 });
  for (const header of [null, '', 'a', 'a b', 'a 1 2', ' 1', `${'a'.repeat(65)} 1`, 'a -1', `a ${'1'.repeat(17)}`])
    expect(sentPositionOf(header)).toBeUndefined();
});
