import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { cutImages, recordSyscalls, rollingSeed, seededRandom, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';

const queueModule = fileURLToPath(new URL('./log-queue.ts', import.meta.url));

/** Says which lines the queue has saved: those added before it reports that saving works, or before a save without a problem. */
function script(directory: string): string {
  return `
    import { writeSync } from 'node:fs';
    import { FakeClock } from ${JSON.stringify(new URL('./fake-clock.ts', import.meta.resolve('@platform/testkit')))};
    import { LogQueue } from ${JSON.stringify(queueModule)};
    const clock = new FakeClock();
    let problem;
    const queue = new LogQueue({ directory: ${JSON.stringify(directory)}, clock, onState: (found) => void (problem = found) });
    await queue.start();
    for (let n = 0; n < 4; n++) {
      queue.add({ timeMs: n, level: 'info', logger: 'a', message: 'line ' + n, fields: {} });
      await clock.advance(n % 2 === 0 ? 1_000 : 10_000);
      await queue.done(0);
      if (problem === undefined) writeSync(1, JSON.stringify({ saved: n }) + '\\n');
    }
    process.exit(0);`;
}

test('I14 lines that the log queue has saved survive a power cut, whichever sync failed before', async () => {
  const seed = rollingSeed();
  let failures = 0;
  for (let failedSync = 1; failedSync <= 8; failedSync++) {
    await using data = await temporaryDirectory();
    await using trace = await temporaryDirectory();
    await writeFile(trace.file('run.mjs'), script(data.file('queue')));
    const calls = await recordSyscalls({
      command: 'env',
      // One thread, so that it is the sync with this number of all.
      args: ['UV_THREADPOOL_SIZE=1', process.execPath, '--conditions=@platform/source', trace.file('run.mjs')],
      ...{ directory: data.path, traceFile: trace.file('trace'), failedSync },
    });
    failures += calls.filter(({ kind }) => kind === 'failed-sync').length;
    for (const image of cutImages(calls, { random: seededRandom(seed + failedSync), randomInstants: 20 })) {
      const segments = [...image.files].filter(([path]) => /\d{16}\.log$/.test(path));
      const text = segments.map(([, bytes]) => Buffer.from(bytes).toString('utf8')).join('');
      for (const call of calls.slice(0, image.at)) {
        if (call.kind !== 'write' || call.path !== 'stdout') continue;
        const { saved } = JSON.parse(Buffer.from(call.bytes).toString('utf8'));
        expect(text, `FAULT_SEED=${seed}, sync ${failedSync} failed, cut at ${image.at}`).toContain(`line ${saved}`);
      }
    }
  }
  expect(failures).toBeGreaterThanOrEqual(7);
});
