import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { createLog, systemClock } from '@platform/base';
import { createCaptureFileWriter } from '@platform/capture-file';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { expect, test } from 'vitest';
import { diskStorage } from '../../directories/disk-storage.ts';
import { SeqLedger } from '../../directories/seq-ledger.ts';
import { mustDelete } from './deletion-rule.ts';
import { Reclaim } from './reclaim.ts';

const thresholds = { diskUsage: 0.9, captureDirectory: 0.5 };

test('D11 both thresholds must be exceeded, and the directory’s share is relative to the used bytes', () => {
  expect(mustDelete({ volumeBytes: 100, usedBytes: 90, captureBytes: 45 }, thresholds)).toBe(true);
  expect(mustDelete({ volumeBytes: 100, usedBytes: 89, captureBytes: 89 }, thresholds)).toBe(false);
  expect(mustDelete({ volumeBytes: 100, usedBytes: 90, captureBytes: 44 }, thresholds)).toBe(false);
  expect(mustDelete({ volumeBytes: 0, usedBytes: 0, captureBytes: 0 }, thresholds)).toBe(false);
});

test('D11 on a full disk every Nth captured file is deleted, counted and logged once, and the low-water mark passes it (I6)', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'reclaim-'));
  await mkdir(join(directory, 'failed'));
  const ledger = new SeqLedger();
  for (let i = 0; i < 10; i++) {
    const seq = ledger.take();
    const header = create(CaptureFileHeaderSchema, { stream: ledger.stream, seq: BigInt(seq), partId: 'p' });
    const writer = await createCaptureFileWriter({
      storage: diskStorage(directory),
      path: join(directory, `f_${seq}`),
      header,
    });
    writer.append(new Uint8Array(1_000));
    await writer.seal();
  }
  const lines: string[] = [];
  const log = createLog((_level, _logger, message, fields) => lines.push(`${message} ${String(fields['files'])}`));
  const volume = async (): Promise<{ volumeBytes: number; usedBytes: number }> => ({
    volumeBytes: 11_000,
    usedBytes: 10_500,
  });
  const reclaim = new Reclaim({
    directories: () => [directory],
    sending: () => false,
    ledger,
    gaps: { add: () => {}, flush: async () => {} },
    clock: systemClock,
    log,
    volume,
  });
  await reclaim.check();
  expect(reclaim.deletedFiles).toBe(0);
  reclaim.configure({ thresholds, everyNth: 5 });
  await reclaim.check();
  expect(reclaim.deletedFiles).toBe(2);
  expect(lines).toEqual(['the disk is full: capture files were deleted before they were synced 2']);
  const left = (await readdir(directory))
    .filter((name) => name.endsWith('.capture'))
    .map((name) => Number(name.split('_')[1]));
  expect(ledger.lowWaterMark(ledger.stream, 1_000)).toBe(Math.min(...left));
  await rm(directory, { recursive: true });
});
