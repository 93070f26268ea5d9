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

test('each fetch of a line ends the one before, until the credentials are given out; every fetch is remembered', async () => {
  const clock = new FakeClock();
  const tokens = createConnectTokens(clock);
  const { token } = tokens.create('press', maker);
  const { ticket: stolen } = tokens.take(token, '10.0.0.66');
  await clock.advance(1_000);
  const { ticket, found } = tokens.take(token, '10.0.0.5');
  expect(() => tokens.findByTicket(stolen)).toThrow('the line was run again, here or elsewhere');
  expect(tokens.findByTicket(ticket)).toBe(found);
  // Neither is the other.
  expect(() => tokens.findByTicket(token)).toThrow('expected the script of the last fetch');
  expect(() => tokens.find(ticket)).toThrow('expected a valid token');
  for (let more = 0; more < 30; more++) tokens.take(token, `10.0.1.${more}`);
  expect(found).toMatchObject({ fetchCount: 32, fetches: { length: 20 } });
  expect([found.fetches[0], found.fetches.at(-1)].map((one) => one?.address)).toEqual(['10.0.0.66', '10.0.1.29']);

  const { ticket: last } = tokens.take(token, '10.0.0.5');
  found.used = { atMs: clock.now(), address: '10.0.0.5' };
  expect(() => tokens.take(token, '10.0.0.5')).toThrow('have already been downloaded');
  // The program can still be downloaded.
  expect(tokens.findByTicket(last)).toBe(found);
  await clock.advance(900_000);
  expect(() => tokens.findByTicket(last)).toThrow('older than 15 minutes');
});
