import { expect, test } from 'vitest';
import { finishAll } from './finish-all.ts';

test('fails with the first error of the list, but only once everything has ended', async () => {
  const [slow, failed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let ended: string | undefined;
  const all = finishAll([slow.promise, Promise.reject(new Error('second')), failed.promise]).catch((caught) => {
    ended = caught.message;
  });
  failed.reject(new Error('third'));
  await failed.promise.catch(() => {});
  expect(ended).toBeUndefined();
  slow.resolve();
  await all;
  expect(ended).toBe('second');
  await expect(finishAll([Promise.resolve(1)])).resolves.toBeUndefined();
});
