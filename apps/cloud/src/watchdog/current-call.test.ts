import { expect, test } from 'vitest';
import { CurrentCall } from './current-call.ts';

test('the current call is the one that runs, not one that is in progress and waits', async () => {
  const began: string[] = [];
  const current = new CurrentCall((text) => began.push(text));
  const turn = Promise.withResolvers<void>();
  const first = current.enter({ path: '/a.B/First', peerAddress: '10.0.0.7:4711' }, async () => {
    current.admit('key:1');
    await turn.promise;
    return current.call;
  });
  const second = current.enter({ path: '/a.B/Second', peerAddress: '[::1]:4712' }, async () => current.call);
  turn.resolve();
  expect(await second).toEqual({ method: '/a.B/Second', caller: 'address:[::1]' });
  expect(await first).toEqual({ method: '/a.B/First', caller: 'key:1' });
  expect(current.text).toBe('null');
  expect(began.map((text) => JSON.parse(text).caller)).toEqual(['address:10.0.0.7', 'key:1', 'address:[::1]']);
});

test('the token of a line that connects a machine is not named', () => {
  const current = new CurrentCall(() => {});
  for (const path of ['/connect/secret', '/connect/secret/credentials', '//connect/secret'])
    expect(current.enter({ path, peerAddress: '' }, () => current.text)).not.toContain('secret');
});
