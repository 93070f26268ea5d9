import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { systemClock } from '@platform/base';
import { readCaptureFile } from '@platform/capture-file';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { expect, test } from 'vitest';
import { program } from '../../../../tools/bundles/program.ts';
import { countingDocument, until } from '../testing/start-test-server.ts';

/** Numbers of the readings by stream, from all files of these kinds. */
async function countsByStream(directory: string, kinds: readonly string[]): Promise<Map<string, number[]>> {
  const counts = new Map<string, number[]>();
  const entries = await readdir(directory, { recursive: true }).catch(() => []);
  for (const entry of entries.filter((name) => kinds.some((kind) => name.endsWith(kind)))) {
    const bytes = await readFile(join(directory, entry)).catch(() => new Uint8Array(0));
    if (bytes.length < 8) continue;
    const { header, readings } = readCaptureFile(bytes);
    const stream = Buffer.from(header.stream).toString('hex');
    const list = counts.get(stream) ?? [];
    for (const reading of readings) {
      const { data } = fromBinary(SensorDataSchema, reading);
      if (data.case === 'struct') list.push(Number((data.value['readings'] as Record<string, unknown>)['count']));
    }
    counts.set(stream, list);
  }
  return counts;
}

test('C9 killed at any moment while capturing: readings that were on disk are recovered, without gaps or duplicates', {
  timeout: 600_000,
}, async () => {
  const home = await mkdtemp(join(tmpdir(), 'machine-crash-'));
  const captureDirectory = join(home, 'capture');
  const configFile = join(home, 'config.json');
  await writeFile(
    configFile,
    JSON.stringify(
      countingDocument(1_000, { service: { maximum_capture_file_size_bytes: 20_000, sync_interval_mins: 0.01 } }),
    ),
  );
  const start = (): ChildProcess =>
    spawn(process.execPath, ['--conditions=@platform/source', program('machine-server'), '-config', configFile], {
      env: { ...process.env, PLATFORM_HOME: home },
      stdio: 'ignore',
    });
  const onDisk = new Map<string, number>();
  const rounds = 6;
  for (let round = 0; round < rounds; round++) {
    const child = start();
    const before = onDisk.size;
    await until('readings of this start', async () => {
      const counts = await countsByStream(captureDirectory, ['.prog', '.capture']).catch(
        () => new Map<string, number[]>(),
      );
      for (const [stream, list] of counts) onDisk.set(stream, Math.max(onDisk.get(stream) ?? 0, list.length));
      return counts.size > before && [...counts.values()].every((list) => list.length > 0);
    });
    await systemClock.sleep(Math.random() * 700);
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  const last = start();
  await until('a start after the last kill', async () => {
    const counts = await countsByStream(captureDirectory, ['.prog', '.capture']).catch(() => new Map());
    return counts.size > rounds;
  });
  last.kill('SIGTERM');
  await once(last, 'exit');
  const recovered = await countsByStream(captureDirectory, ['.capture']);
  expect((await readdir(captureDirectory, { recursive: true })).filter((name) => name.endsWith('.prog'))).toEqual([]);
  for (const [stream, counts] of recovered) {
    const sorted = counts.toSorted((a, b) => a - b);
    expect(sorted).toEqual(sorted.map((_, index) => index + 1));
    expect(sorted.length).toBeGreaterThanOrEqual(onDisk.get(stream) ?? 0);
  }
  await rm(home, { recursive: true });
});
