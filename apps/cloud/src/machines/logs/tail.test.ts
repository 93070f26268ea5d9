import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { type Line, ownLineOf } from './line.ts';
import { createTails } from './tail.ts';

const line = (message: string, partId = 'p'): Line => ownLineOf(partId, { level: 'info', loggerName: 'x', message }, 0);
const texts = (lines: readonly Line[]): string[] => lines.map(({ message }) => message);
const never = new AbortController().signal;

test('a reader gets the matching lines of its part as they arrive', async () => {
  const tails = createTails(new FakeClock());
  using tail = tails.open('p', ({ message }) => message !== 'unfit');
  tails.publish([line('a'), line('unfit'), line('of another', 'q')]);
  expect(texts(await tail.next(1_000, never))).toEqual(['a']);
  const waiting = tail.next(1_000, never);
  tails.publish([line('b')]);
  expect(texts(await waiting)).toEqual(['b']);
});

test('without new lines, next() returns when the wait ends or its signal aborts', async () => {
  const clock = new FakeClock();
  using tail = createTails(clock).open('p', () => true);
  const waiting = tail.next(2_000, never);
  await clock.advance(2_000);
  expect(await waiting).toEqual([]);
  const gone = new AbortController();
  const stopped = tail.next(2_000, gone.signal);
  gone.abort(new Error('left'));
  await expect(stopped).rejects.toThrow('left');
});

test('a slow reader gets the buffered lines, then the number of missing lines, then the following lines', async () => {
  const tails = createTails(new FakeClock());
  using tail = tails.open('p', () => true);
  for (let index = 0; index < 1_234; index++) tails.publish([line(`${index}`)]);
  const read: string[] = [];
  while (read.length < 1_001) read.push(...texts(await tail.next(1_000, never)));
  expect(read.slice(0, 1_000)).toEqual(Array.from({ length: 1_000 }, (_, index) => `${index}`));
  expect(read[1_000]).toMatch(/^234 lines were left out of this tail/);
  tails.publish([line('after')]);
  expect(texts(await tail.next(1_000, never))).toEqual(['after']);
});

test('long lines fill a buffer, too', async () => {
  const tails = createTails(new FakeClock());
  using tail = tails.open('p', () => true);
  for (let index = 0; index < 200; index++) tails.publish([line('x'.repeat(16_000))]);
  const read = texts(await tail.next(1_000, never));
  expect(read.length).toBeLessThan(80);
  expect(read.at(-1)).toMatch(/lines were left out of this tail/);
});

test('the number of readers of a part is limited, and one that ends makes room', () => {
  const tails = createTails(new FakeClock());
  const open = Array.from({ length: 50 }, () => tails.open('p', () => true));
  expect(() => tails.open('p', () => true)).toThrow(/at most 50 readers/);
  tails.open('q', () => true);
  open[0]?.[Symbol.dispose]();
  expect(() => tails.open('p', () => true)).not.toThrow();
});
