/**
 * Fills the disk of a directory and continues, for tests with a small disk. Reports its progress on stdout, one JSON object per line, in
 * this order: ballast, stored, full, again, truncated, rebuilt.
 */
import { appendFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { asPlatformError, silentLog, systemClock } from '@platform/base';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import { ballastStep } from '../disk/ballast.ts';
import { freeBytesOf } from '../disk/free-space.ts';
import { openIngestLog } from '../log/open-ingest-log.ts';
import { testEntry } from './test-entry.ts';

const mebibyte = 1024 * 1024;

async function main(directory: string): Promise<void> {
  const say = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);
  await using log = await openIngestLog({
    onFatal: throwUncaught,
    file: join(directory, 'ingest.sqlite'),
    log: silentLog,
    clock: systemClock,
  });
  const step = ballastStep({
    directory,
    freeBytes: () => freeBytesOf(directory),
    neededBytes: () => 4 * mebibyte,
    log: silentLog,
    sizes: { bytes: 8 * mebibyte, fullBelowBytes: mebibyte, stepBytes: 2 * mebibyte },
  });
  const ballast = join(directory, 'ballast');
  const ballastBytes = (): number => (statSync(ballast, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  const steps = async (): Promise<void> => {
    for (let count = 0; count < 10; count++) await step();
  };
  const append = (seq: number) => log.append(testEntry(seq, 'x'.repeat(256 * 1024)));

  await steps();
  say({ ballast: ballastBytes() });
  let seq = 0;
  for (; seq < 20; seq++) await append(seq + 1);
  say({ stored: seq });

  // Another writer fills the disk faster than it is checked.
  const filler = join(directory, 'filler');
  for (const bytes of [mebibyte, 4096]) {
    for (let room = true; room; ) {
      try {
        appendFileSync(filler, Buffer.alloc(bytes, 7));
      } catch {
        room = false;
      }
    }
  }
  let refused = '';
  for (; refused === '' && seq < 100; seq++)
    await append(seq + 1).catch((caught: unknown) => {
      refused = asPlatformError(caught).code;
    });
  say({ full: refused, free: await freeBytesOf(directory), ballast: ballastBytes() });

  await steps();
  const again = await append(++seq);
  say({ again: again.outcome, ballast: ballastBytes() });
  const last = log.lastPosition();
  let rows = 0;
  for (let removed = -1; removed !== 0; rows += removed) removed = await log.truncate(last, 1_000);
  say({ truncated: rows, last, left: (await log.read(0, { rows: 1_000, bytes: mebibyte })).length });

  rmSync(filler);
  await steps();
  say({ rebuilt: ballastBytes(), free: await freeBytesOf(directory) });
}

const [, self, directory] = process.argv;
if (self !== undefined && import.meta.url.endsWith(self.slice(self.lastIndexOf('/'))) && directory) {
  await main(directory);
}
