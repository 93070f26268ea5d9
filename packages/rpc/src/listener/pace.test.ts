import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { paced } from './pace.ts';

const options = { path: '/s/M', slowBodyMs: 15_000, owed: () => true, onSlow: () => {} };

/** Delivers a chunk of this many bytes each time one is requested. */
async function* chunks(clock: FakeClock, bytes: number, everyMs: number): AsyncGenerator<Uint8Array> {
  for (;;) {
    await clock.sleep(everyMs);
    yield new Uint8Array(bytes);
  }
}

test('a body whose reading stops leaves no timer behind, even if it was not closed', async () => {
  const clock = new FakeClock();
  const body = paced(chunks(clock, 1, 10), { ...options, clock })[Symbol.asyncIterator]();
  const first = body.next();
  await clock.advance(10);
  expect((await first).done).toBe(false);
  expect(clock.waiting).toBe(0);
});

test('time in which the server does not read does not count against the client', async () => {
  const clock = new FakeClock();
  const body = paced(chunks(clock, 100, 10), { ...options, clock })[Symbol.asyncIterator]();
  for (let number = 0; number < 5; number++) {
    const next = body.next();
    await clock.advance(10);
    expect((await next).done).toBe(false);
    await clock.advance(60_000);
  }
});

test.each([
  [4_096, true],
  [4_095, false],
])('%i bytes in a window suffice: %s', async (bytes, isEnough) => {
  const clock = new FakeClock();
  const body = paced(chunks(clock, bytes, 14_999), { ...options, clock })[Symbol.asyncIterator]();
  const read = (async () => {
    for (let number = 0; number < 3; number++) await body.next();
    return 'whole';
  })().catch(({ message }: Error) => message);
  for (let second = 0; second < 60; second++) await clock.advance(1_000);
  expect(await read).toMatch(
    isEnough ? /^whole$/ : /expected at least 4096 bytes of the request of \/s\/M in 15000 ms/,
  );
});
