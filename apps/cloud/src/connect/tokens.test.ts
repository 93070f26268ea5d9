import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createConnectTokens, type Maker } from './tokens.ts';

const maker: Maker = { kind: 'person', id: 'ada' };

test('a token ends after 15 minutes, and when its part gets another', async () => {
  const clock = new FakeClock();
  const tokens = createConnectTokens(clock);
  const { token: first } = tokens.create('press', maker);
  const { token: other } = tokens.create('mill', maker);
  expect(tokens.find(first).partId).toBe('press');
  const { token: second } = tokens.create('press', maker);
  expect(() => tokens.find(first)).toThrow('expected a valid token');
  await clock.advance(899_999);
  expect(tokens.find(second).partId).toBe('press');
  expect(tokens.find(other).partId).toBe('mill');
  await clock.advance(1);
  expect(() => tokens.find(second)).toThrow('run "platform machines connect NAME" again');
});
