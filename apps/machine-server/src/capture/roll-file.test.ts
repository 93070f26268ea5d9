import { create } from '@bufbuild/protobuf';
import { silentLog, systemClock } from '@platform/base';
import { type CaptureStorage, readCaptureFile } from '@platform/capture-file';
import { DataCaptureMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { expect, test } from 'vitest';
import { SeqLedger } from '../directories/seq-ledger.ts';
import { until } from '../testing/start-test-server.ts';
import { RollFile } from './roll-file.ts';

/** A disk that fails every operation while `broken`, after writing half of the data. */
function faultyStorage(): { storage: CaptureStorage; files: Map<string, Uint8Array>; disk: { broken: boolean } } {
  const files = new Map<string, Uint8Array>();
  const disk = { broken: false };
  const check = (): void => {
    if (disk.broken) throw new Error('ENOSPC: no space left');
  };
  const storage: CaptureStorage = {
    async create(path) {
      check();
      files.set(path, new Uint8Array(0));
      return {
        async write(bytes, position) {
          const kept = disk.broken ? bytes.subarray(0, bytes.length >> 1) : bytes;
          const before = files.get(path) ?? new Uint8Array(0);
          const after = new Uint8Array(Math.max(before.length, position + kept.length));
          after.set(before);
          after.set(kept, position);
          files.set(path, after);
          check();
        },
        async sync() {
          check();
        },
        async close() {},
      };
    },
    async rename(from, to) {
      check();
      files.set(to, files.get(from) ?? new Uint8Array(0));
      files.delete(from);
    },
    async remove(path) {
      files.delete(path);
    },
  };
  return { storage, files, disk };
}

const series = {
  directory: '/c',
  metadata: create(DataCaptureMetadataSchema, {
    componentType: 'core:component:sensor',
    componentName: 's',
    methodName: 'Readings',
  }),
  maxFileBytes: 600,
  bufferBytes: 64,
  queueSize: 20,
};

test('C5 C7 a failing disk does not end a capture: the queue fills, readings are skipped, and accepted ones are written once', async () => {
  const { storage, files, disk } = faultyStorage();
  const ledger = new SeqLedger();
  const context = {
    storage,
    ledger,
    partId: 'p',
    wallMicros: () => Date.now() * 1_000,
    clock: systemClock,
    log: silentLog,
  };
  const file = new RollFile(series, context);
  let taken = 0;
  const take = (): boolean => {
    if (!file.ready) return false;
    file.add(Uint8Array.of(1, 2, 3, 4, ++taken));
    return true;
  };
  for (let i = 0; i < 15; i++) take();
  await until('written', () => files.size > 0);
  disk.broken = true;
  await until('a full queue', () => !take());
  await until('a failure', () => file.failures > 0);
  disk.broken = false;
  await until('room again', () => file.ready);
  for (let i = 0; i < 200; i++) {
    take();
    if (i % 5 === 0) await systemClock.sleep(1);
  }
  await file.close(60_000);
  const paths = [...files.keys()].toSorted(
    (a, b) => Number(/Z_(\d+)\./.exec(a)?.[1]) - Number(/Z_(\d+)\./.exec(b)?.[1]),
  );
  expect(paths.every((path) => path.endsWith('.capture'))).toBe(true);
  const readings = paths.flatMap((path) =>
    readCaptureFile(files.get(path) ?? new Uint8Array(0)).readings.map((bytes) => bytes[4]),
  );
  expect(readings).toEqual(Array.from({ length: taken }, (_, index) => (index + 1) % 256));
  for (const path of paths) expect(files.get(path)?.length).toBeLessThanOrEqual(600);
});
