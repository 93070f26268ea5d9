import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createParentPipe } from './parent-pipe.ts';

const mebi = 1 << 20;

test('64 MiB of one peer wait for a parent that does not read, and 128 MiB of all; they are taken when it reads', async () => {
  const unread: (() => void)[] = [];
  const writev = (_chunks: unknown, done: () => void): void => void unread.push(done);
  const pipe = new Writable({ highWaterMark: 0, write: (_chunk, _encoding, done) => void unread.push(done), writev });
  const parent = createParentPipe(pipe);
  const message = Buffer.alloc(mebi);
  const taken = [1, 2, 3].map((peer) => {
    const waiting = parent.waitingOf(peer);
    let count = 0;
    while (waiting.pass(message)) count++;
    return count;
  });
  expect(taken).toEqual([64, 64, 0]);
  await expect
    .poll(() => {
      for (const done of unread.splice(0)) done();
      return parent.waitingOf(4).pass(message);
    })
    .toBe(true);
});
