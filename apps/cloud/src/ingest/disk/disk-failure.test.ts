import { fileURLToPath } from 'node:url';
import { silentLog, systemClock } from '@platform/base';
import { spawnChild, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import { commitGroup, type LogWork } from '../log/appender.ts';
import { LogMaintenance } from '../log/log-maintenance.ts';
import type { LogAnswer } from '../log/log-protocol.ts';
import { openIngestLog } from '../log/open-ingest-log.ts';
import { openLogFile } from '../log/open-log-file.ts';
import { plannedEntry } from '../testing/append-child.ts';
import { testEntry } from '../testing/test-entry.ts';

const childFile = fileURLToPath(new URL('../testing/append-child.ts', import.meta.url));

function append(seq: number, bytes: number): LogWork {
  return { kind: 'append', id: seq, entry: testEntry(seq, 'x'.repeat(bytes)) };
}

test('I2 a full disk refuses only uploads that do not fit, with RESOURCE_EXHAUSTED, and truncation makes room again', async () => {
  await using directory = await temporaryDirectory();
  const { db, appender } = openLogFile(directory.file('ingest.sqlite'));
  using _ = db;
  const pages = Number(db.prepare('pragma page_count').get()?.['page_count']);
  // SQLite's own limit on the file simulates a full disk: it returns the same error code on the same path.
  db.exec(`pragma max_page_count = ${pages + 20}`);
  const answers = new Map<number, LogAnswer>();
  const options = {
    appender,
    maintenance: new LogMaintenance(db),
    answer: (given: readonly LogAnswer[]) => given.forEach((answer) => void answers.set(answer.id, answer)),
  };
  const kinds = (): Record<number, string> =>
    Object.fromEntries(
      [...answers].map(([id, answer]) => [
        id,
        'fault' in answer ? answer.fault.kind : 'outcome' in answer.result ? answer.result.outcome : 'done',
      ]),
    );

  commitGroup(options, [append(1, 100_000), append(2, 2_000_000), append(3, 50_000)]);
  expect(kinds()).toEqual({ 1: 'appended', 2: 'full', 3: 'appended' });
  expect(db.isTransaction).toBe(false);

  answers.clear();
  commitGroup(options, [append(4, 200_000)]);
  commitGroup(options, [{ kind: 'maintain', id: 100, call: { method: 'truncate', args: [2, 10] } }]);
  commitGroup(options, [append(1, 100_000), append(4, 200_000)]);
  expect(kinds()).toEqual({ 1: 'repeated', 4: 'appended', 100: 'done' });
  const rows = db.prepare('select seq, length(batch) as bytes from log').all();
  expect(rows.map(({ seq, bytes }) => [seq, bytes])).toEqual([[4, 200_000]]);
});

test('I2 after any other I/O error nothing is acknowledged, the process ends, and a restart finds all acknowledged uploads', async () => {
  await using directory = await temporaryDirectory();
  const file = directory.file('ingest.sqlite');
  const plan = {
    stream: '0'.repeat(32),
    appends: 1_000,
    parallel: 4,
    batchBytes: 20_000,
    truncateEvery: 0,
    firstSeq: 1,
  };
  // A write past the file size limit fails with EFBIG, which does not indicate a full disk.
  const limited = `trap '' XFSZ; ulimit -f 4000; exec "$0" "$@"`;
  const args = [
    '-c',
    limited,
    process.execPath,
    '--conditions=@platform/source',
    childFile,
    file,
    JSON.stringify(plan),
  ];
  await using child = spawnChild('sh', args);
  const { code } = await child.exited;

  expect(code).not.toBe(0);
  expect(child.stderr).toContain('the process must restart');
  const acknowledged = child.lines.filter(({ ack }) => ack !== undefined);
  expect(acknowledged.length).toBeGreaterThan(0);
  expect(acknowledged.length).toBeLessThan(plan.appends);

  await using log = await openIngestLog({ onFatal: throwUncaught, file, log: silentLog, clock: systemClock });
  const rows = new Map(
    (await log.read(0, { rows: 10_000, bytes: 2 ** 30 })).map(({ position, batch }) => [position, batch]),
  );
  for (const { ack, position } of acknowledged) {
    const { batch } = plannedEntry(plan, Number(ack), 0);
    expect(Buffer.compare(rows.get(Number(position)) ?? new Uint8Array(), batch), `upload ${ack}`).toBe(0);
  }
});
