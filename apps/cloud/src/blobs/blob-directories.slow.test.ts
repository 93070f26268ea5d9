import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { cutImages, recordSyscalls, rollingSeed, seededRandom, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';

const storeFile = fileURLToPath(new URL('./blob-store.ts', import.meta.url));

/** Stores a payload below new directories until it is accepted, as a sender does. */
function script(directory: string): string {
  return `
    import { writeSync } from 'node:fs';
    import { systemClock } from ${JSON.stringify(import.meta.resolve('@platform/base'))};
    import { openBlobStore } from ${JSON.stringify(storeFile)};
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        const store = await openBlobStore({ directory: ${JSON.stringify(directory)}, clock: systemClock });
        for (let put = 0; put < 3; put++) {
          const stored = await store.put('a/b/' + attempt + put, [Buffer.from('payload')]).catch(() => undefined);
          if (stored !== undefined) writeSync(1, JSON.stringify({ stored: stored.path }) + '\\n');
        }
      } catch {}
    }`;
}

test('I14 I4 a payload is stored only when all directories above it are durable, whichever sync failed before', async () => {
  const seed = rollingSeed();
  let failures = 0;
  for (let failedSync = 1; failedSync <= 8; failedSync++) {
    await using data = await temporaryDirectory();
    await using trace = await temporaryDirectory();
    await writeFile(trace.file('run.mjs'), script(data.path));
    const calls = await recordSyscalls({
      command: 'env',
      // One thread, so that it is the sync with this number of all.
      args: ['UV_THREADPOOL_SIZE=1', process.execPath, '--conditions=@platform/source', trace.file('run.mjs')],
      ...{ directory: data.path, traceFile: trace.file('trace'), failedSync },
    });
    failures += calls.filter(({ kind }) => kind === 'failed-sync').length;
    const random = seededRandom(seed + failedSync);
    for (const image of cutImages(calls, { random, randomInstants: 20 }))
      for (const call of calls.slice(0, image.at)) {
        if (call.kind !== 'write' || call.path !== 'stdout') continue;
        const { stored } = JSON.parse(Buffer.from(call.bytes).toString('utf8'));
        const kept = image.files.get(data.file(stored));
        expect(
          kept && Buffer.from(kept).toString('utf8'),
          `FAULT_SEED=${seed}, sync ${failedSync} failed, cut at ${image.at}: ${stored}`,
        ).toBe('payload');
      }
  }
  expect(failures).toBe(8);
});
