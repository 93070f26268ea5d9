import { PlatformError } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import type { BoundMethod } from './binding.ts';
import { meterCalls } from './meter-calls.ts';

type Handler = (request: unknown, call: unknown) => unknown;

/** Binds a function as the only method, and returns the measured one. */
function meteredOf(kind: BoundMethod<unknown>['kind'], handler: Handler) {
  const clock = new FakeClock();
  const ended: [string, string, number][] = [];
  const bound = { path: '/a.B/C', kind, handler } as unknown as BoundMethod<unknown>;
  const [service] = meterCalls([{ methods: [bound] }], (...call) => ended.push(call), clock);
  return { clock, ended, metered: service?.methods[0]?.handler as unknown as Handler };
}

test('a call is measured until its answer, with the code of its error', async () => {
  const ok = meteredOf('unary', async (request) => {
    await ok.clock.advance(250);
    return request;
  });
  expect(await ok.metered('x', {})).toBe('x');
  expect(ok.ended).toEqual([['/a.B/C', 'ok', 0.25]]);

  const refused = meteredOf('unary', () => {
    throw new PlatformError('not_found', 'no such thing');
  });
  await expect(refused.metered('x', {})).rejects.toThrow('no such thing');
  expect(refused.ended).toEqual([['/a.B/C', 'not_found', 0]]);
});

test('a stream is measured until its end, even if the reader stops early', async () => {
  const counting = async function* (): AsyncGenerator<number> {
    yield 1;
    yield 2;
    throw new PlatformError('unavailable', 'gone');
  };
  const whole = meteredOf('server_streaming', counting);
  const read = async (): Promise<void> => {
    for await (const _ of whole.metered('x', {}) as AsyncIterable<number>);
  };
  await expect(read()).rejects.toThrow('gone');
  expect(whole.ended.map(([, code]) => code)).toEqual(['unavailable']);

  const early = meteredOf('bidi_streaming', counting);
  for await (const _ of early.metered('x', {}) as AsyncIterable<number>) break;
  expect(early.ended.map(([, code]) => code)).toEqual(['ok']);
});
