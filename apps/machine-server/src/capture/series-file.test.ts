import type { CaptureFileWriter } from '@platform/capture-file';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { SeriesFile } from './series-file.ts';

/** A file whose disk fails or works, without waiting. */
function open(works: () => boolean): SeriesFile {
  const call = async (): Promise<void> => {
    if (!works()) throw new Error('the disk failed');
  };
  return new SeriesFile({ sync: call, seal: call } as Partial<CaptureFileWriter> as CaptureFileWriter, {
    ...{ openedUs: 0, failed: () => {}, recovered: () => {}, done: () => {}, clock: new FakeClock() },
  });
}

/** Asks at each of the next moments at which other code can run, and counts the answers that come without the clock. */
async function answers(ask: () => Promise<boolean>): Promise<readonly boolean[]> {
  const given: boolean[] = [];
  for (let moment = 0; moment < 20; moment++) {
    void ask().then((isDone) => given.push(isDone));
    await Promise.resolve();
  }
  await new Promise((resolve) => setImmediate(resolve));
  return given;
}

test('who asks while a step ends is answered, whether it succeeds or fails', async () => {
  const good = open(() => true);
  void good.sync();
  expect(await answers(() => good.settled())).toEqual(Array.from({ length: 20 }, () => true));

  const bad = open(() => false);
  void bad.sync();
  expect(await answers(() => bad.settled())).toEqual(Array.from({ length: 20 }, () => false));

  const sealed = open(() => true);
  sealed.seal();
  expect(await answers(() => sealed.sync())).toEqual(Array.from({ length: 20 }, () => true));
});
