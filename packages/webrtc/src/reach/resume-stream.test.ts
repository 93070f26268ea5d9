import { PlatformError, unavailable } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { resumeStream } from './resume-stream.ts';

test('a stream goes on after UNAVAILABLE, at once and then with growing waits, and ends as the stream does', async () => {
  const clock = new FakeClock();
  const lost: string[] = [];
  let opened = 0;
  async function* open(): AsyncGenerator<number> {
    opened++;
    if (opened === 2 || opened === 3) throw unavailable(`attempt ${opened}`);
    yield opened;
    if (opened === 1) throw unavailable('the path was lost');
  }
  const read = all(resumeStream(open, { onLost: ({ message }) => lost.push(message), clock }));
  await clock.advance(0);
  expect(opened).toBe(2);
  await clock.advance(2_000);
  expect(await read).toEqual([1, 4]);
  expect(lost).toEqual(['the path was lost', 'attempt 2', 'attempt 3']);
});

test('other errors end it, and so does its signal', async () => {
  const refused = async function* (): AsyncGenerator<number> {
    yield 1;
    throw new PlatformError('permission_denied', 'you may not');
  };
  await expect(all(resumeStream(refused))).rejects.toThrow('you may not');
  const stop = new AbortController();
  const cut = async function* ({ signal }: { readonly signal?: AbortSignal }): AsyncGenerator<number> {
    yield 1;
    expect(signal).toBe(stop.signal);
    stop.abort();
    throw unavailable('cut');
  };
  await expect(all(resumeStream(cut, { signal: stop.signal }))).rejects.toThrow('cut');
});

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const messages: T[] = [];
  for await (const message of stream) messages.push(message);
  return messages;
}
