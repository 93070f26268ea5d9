import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import type { Problem } from './problem.ts';
import { Unreached } from './reach.ts';
import { untilReached } from './until-reached.ts';

const pause = () => Promise.resolve();

test('a cloud that is being restarted is asked until it answers, and the page can say so in the meantime', async () => {
  const failures = [new Unreached('Failed to fetch'), new ConnectError('shutting down', Code.Unavailable)];
  const said: Problem[] = [];
  const answer = await untilReached(
    () => {
      const failure = failures.shift();
      return failure ? Promise.reject(failure) : Promise.resolve('version 7');
    },
    { away: (problem) => said.push(problem), signal: new AbortController().signal, pause },
  );
  expect(answer).toBe('version 7');
  expect(said.map(({ title }) => title)).toEqual(['The cloud does not answer', 'Not reachable']);
});

test('a refusal is an answer', async () => {
  const refusal = new ConnectError('part x does not exist', Code.NotFound);
  const given = { away: () => expect.unreachable(), signal: new AbortController().signal, pause };
  await expect(untilReached(() => Promise.reject(refusal), given)).rejects.toBe(refusal);
});

test('a page that is left stops asking', async () => {
  const left = new AbortController();
  const waiting = untilReached(() => Promise.reject(new Unreached('Failed to fetch')), {
    away: () => left.abort(new Error('left')),
    signal: left.signal,
  });
  await expect(waiting).rejects.toThrow('left');
});
