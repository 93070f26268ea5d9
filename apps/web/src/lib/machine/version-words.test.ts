import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { ConfigurationVersionSchema } from '@platform/proto/platform/fleet/v1/fleet';
import { expect, test } from 'vitest';
import { createVersionWords, entryOf } from './version-words.ts';

const documentWith = (count: number): string =>
  JSON.stringify({ components: Array.from({ length: count }, (_, at) => ({ name: `c${at + 1}`, model: 'fake' })) });

test('each version is compared with the one before it, and each document is loaded once', async () => {
  const loaded: bigint[] = [];
  const words = createVersionWords(async (version) => {
    loaded.push(version);
    return documentWith(Number(version));
  });
  let steps = 0;
  const learn = (...versions: bigint[]): Promise<void> => words.learn(versions, () => (steps += 1));
  await learn(4n, 3n, 2n, 1n);
  expect([...words.known.values()].toSorted()).toEqual([1, 2, 3, 4].map((number) => `added component c${number}`));
  expect(new Set(loaded)).toEqual(new Set([1n, 2n, 3n, 4n]));
  expect(loaded).toHaveLength(4);
  expect(steps).toBe(2);
  await learn(5n, 4n);
  expect(words.known.get(5n)).toBe('added component c5');
  expect(loaded).toHaveLength(5);
});

test('versions whose documents were deleted to make space say so, and a failed call can be repeated', async () => {
  let isAway = true;
  const words = createVersionWords(async (version) => {
    if (version < 3n) throw new ConnectError('deleted', Code.FailedPrecondition);
    if (isAway) throw new ConnectError('away', Code.Unavailable);
    return documentWith(Number(version));
  });
  await expect(words.learn([4n], () => {})).rejects.toThrow('away');
  isAway = false;
  await words.learn([4n, 3n, 2n], () => {});
  expect(words.known.get(4n)).toBe('added component c4');
  expect(words.known.get(3n)).toBe('changed it; the version before is no longer stored');
  expect(words.known.get(2n)).toBe('saved it; what it had is no longer stored');
});

test('an entry names who saved the version, and what it restored', () => {
  const version = create(ConfigurationVersionSchema, {
    ...{ version: 7n, restoredFrom: 3n, savedAt: timestampFromMs(0) },
    author: { kind: 'api-key', id: 'k', name: 'line 3' },
  });
  expect(entryOf(version, undefined)).toEqual({
    ...{ number: '7', at: new Date(0), who: 'Key line 3', what: undefined, restored: '3' },
  });
});
