import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LogLine, systemClock } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import { createServerLog } from './server-log.ts';

async function logFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'log-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return join(directory, 'below', 'server.log');
}

test('closing the log writes all lines to its files, in order', async () => {
  const [file, alsoFile] = [await logFile(), await logFile()];
  const count = 5_000;
  {
    await using server = createServerLog({ file, alsoFile, clock: systemClock });
    for (let i = 0; i < count; i++) server.log.child('a').info('line', { i });
  }
  const expected = Array.from({ length: count }, (_, i) => expect.stringMatching(new RegExp(`INFO +a line i=${i}$`)));
  for (const path of [file, alsoFile]) {
    expect((await readFile(path, 'utf8')).trimEnd().split('\n')).toEqual(expected);
  }
});

test('a message logged more than three times within a minute is counted instead, unless configured otherwise', async () => {
  await using server = createServerLog({ file: await logFile(), alsoFile: undefined, clock: systemClock });
  const lines: LogLine[] = [];
  server.onLine((line) => lines.push(line));
  for (let i = 0; i < 10; i++) server.log.warn('again');
  server.log.warn('another');
  expect(lines.map(({ message }) => message)).toEqual(['again', 'again', 'again', 'another']);
  server.deduplicate = false;
  server.log.warn('again');
  expect(lines).toHaveLength(5);
});
