import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { errorText } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { openTabular } from '../../testing/open-tabular.ts';
import { errorOf, failureOf } from './query-failure.ts';

test("D37 DuckDB errors get a code for the caller; files, statements and DuckDB's own message appear only in the log", async () => {
  await using directory = await temporaryDirectory('failures-');
  const garbage = join(directory.path, 'x.parquet');
  writeFileSync(garbage, 'no Parquet at all, but longer than a footer');
  const db = await DuckDBInstance.create(':memory:', { memory_limit: '20MB', threads: '1', temp_directory: '' });
  const connection = await db.connect();
  const failing: readonly (readonly [string, string])[] = [
    [`SELECT * FROM read_parquet('${garbage}')`, 'data_loss'],
    [`SELECT * FROM read_parquet('${join(directory.path, 'gone.parquet')}')`, 'unavailable'],
    ['SELECT list(range) FROM range(100000000)', 'resource_exhausted'],
    ['SELECT nothing FROM range(3)', 'internal'],
  ];
  try {
    for (const [sql, code] of failing) {
      const caught: unknown = await connection.run(sql).then(
        () => undefined,
        (error: unknown) => error,
      );
      // Cloned, as it is when sent to the other process.
      const failure = structuredClone(failureOf(caught));
      expect(failure.code, errorText(caught)).toBe(code);
      if (code !== 'internal') expect(failure.message).not.toMatch(/parquet|Error|x\.|gone\.|\//i);
      const error = errorOf(failure);
      expect(error.isOwnFault).toBe(code !== 'resource_exhausted');
      if (error.isOwnFault) expect(errorText(error)).toContain(errorText(caught));
    }
  } finally {
    connection.closeSync();
    db.closeSync();
  }
});

test("D37 a query over a file that is no longer Parquet does not reveal the file's location", async () => {
  await using store = await openTabular();
  store.append({ readings: [{ data: { i: 1 } }] });
  await store.tabular.seal();
  const folder = join(store.dataDir, 'parquet');
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.parquet'),
  ))
    writeFileSync(join(folder, file), 'no Parquet at all, but longer than a footer');
  store.tabular.killProcess();
  const failed = await store.mql([{ $match: { 'data.i': 1 } }]).catch((caught: unknown) => caught);
  expect(failed).toMatchObject({ code: 'data_loss', message: expect.not.stringContaining(store.dataDir) });
  expect(failed).toMatchObject({ message: expect.not.stringMatching(/SELECT|Error:|magic/) });
});
