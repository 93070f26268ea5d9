import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultTabularSettings } from '../../settings.ts';
import { readRows } from './database.ts';
import { createWriter } from './writer.ts';

const { rowGroupBytes } = defaultTabularSettings;

// DuckDB cannot spill a single value.
const holdsOneValueOf160MB = 'SELECT length(list(number)) FROM range(20_000_000) numbers(number)';

test('work that needs more memory than estimated restarts with all available memory', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'writer-'));
  const writer = createWriter({ parquetDir: folder.path, memoryBytes: 1 << 30, rowGroupBytes });
  let attempts = 0;
  const length = await writer.write([], async (connection) => {
    attempts++;
    const [row] = await readRows(connection, holdsOneValueOf160MB);
    return Number(row?.[0]);
  });
  expect(length).toBe(20_000_000);
  expect(attempts).toBe(2);
});

test('work that needs more memory than allowed fails once', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'writer-'));
  const writer = createWriter({ parquetDir: folder.path, memoryBytes: 48_000_000, rowGroupBytes });
  let attempts = 0;
  const work = writer.write([], (connection) => {
    attempts++;
    return readRows(connection, holdsOneValueOf160MB);
  });
  await expect(work).rejects.toThrow('Out of Memory Error');
  expect(attempts).toBe(1);
});

test('the writing engine touches nothing outside the Parquet folder, regardless of its settings', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'writer-'));
  const writer = createWriter({ parquetDir: folder.path, memoryBytes: 1 << 28, rowGroupBytes });
  await writer.write([], async (connection) => {
    await expect(connection.run('SET enable_external_access = true')).rejects.toThrow();
    await expect(connection.run("SET allowed_directories = ['/']")).rejects.toThrow();
    await expect(connection.run("SELECT * FROM read_text('/etc/hostname')")).rejects.toThrow();
  });
});
