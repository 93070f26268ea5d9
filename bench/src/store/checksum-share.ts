/** What comparing files with their checksums (CRC-32 of each block) takes of the processor, beside a scan of the same files. */
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { cpuSeconds } from '@platform/testkit';
import type { OpenTabular } from '../../../apps/cloud/src/tabular/testing/open-tabular.ts';
import { median } from '../statistics.ts';
import type { Figure } from './figure.ts';

const turns = 11;
/** The system counts hundredths of a second: enough scans in each turn that these do not matter. */
const scansEach = 5;
const blockBytes = 1 << 20;

const scan = [
  {
    $group: {
      _id: '$component_name',
      temperature: { $avg: '$data.readings.temperature' },
      humidity: { $avg: '$data.readings.humidity' },
      pressure: { $avg: '$data.readings.pressure' },
    },
  },
];

export async function checksumShare(store: OpenTabular): Promise<Figure> {
  const { processId = -1 } = await store.tabular.status();
  const rows = await store.db.selectFrom('tabular_files').select('file').execute();
  const files = rows.map(({ file }) => join(store.dataDir, 'parquet', file));
  const [scanned, verified]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < turns; turn++) {
    const before = cpuSeconds(processId);
    for (let i = 0; i < scansEach; i++) await store.ask(scan);
    scanned.push((cpuSeconds(processId) - before) / scansEach);
    const { user, system } = process.cpuUsage();
    for (const file of files) readThrough(file);
    const used = process.cpuUsage({ user, system });
    verified.push((used.user + used.system) / 1e6);
  }
  const share = (100 * median(verified)) / (median(verified) + median(scanned));
  return {
    name: 'checksums of a scan',
    ...{ value: share, unit: '%', most: 5 },
    note: `if every scan compared all blocks of its files: ${(1_000 * median(verified)).toFixed(0)} ms beside ${(1_000 * median(scanned)).toFixed(0)} ms of processor time; ${turns} turns`,
  };
}

function readThrough(file: string): number {
  const block = Buffer.allocUnsafe(blockBytes);
  const handle = openSync(file, 'r');
  try {
    let mixed = 0;
    for (let read = readSync(handle, block); read > 0; read = readSync(handle, block))
      mixed ^= crc32(block.subarray(0, read));
    return mixed;
  } finally {
    closeSync(handle);
  }
}
