import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { BsonDocument, encodeBson } from '@platform/query';
import { expect, test } from 'vitest';
import { openTestSealer } from '../../testing/seal-rows.ts';
import { createKnownFacts } from './open-files.ts';

test('D33 facts are not kept if another file temporarily replaced the file while they were read', async () => {
  await using sealer = await openTestSealer();
  const row = (component: string) => ({
    component,
    data: encodeBson(BsonDocument.of({ n: 1 })),
    received: 1_000n,
    requested: 1_000n,
  });
  const [first] = await sealer.seal([row('a')]);
  const [second] = await sealer.seal([row('b')]);
  if (first === undefined || second === undefined) throw new Error('expected two files');
  const known = createKnownFacts(sealer.parquetDir);
  const path = join(sealer.parquetDir, first.file.file);
  await rename(path, `${path}.kept`);
  await copyFile(join(sealer.parquetDir, second.file.file), path);
  const changed = (): void => {
    throw new Error('changed meanwhile');
  };
  await expect(known.of(sealer.connection, [first.file], changed)).rejects.toThrow('changed meanwhile');
  await rename(`${path}.kept`, path);
  const [facts] = await known.of(sealer.connection, [first.file], () => {});
  expect(facts?.series.map((series) => series.path.component_name)).toEqual(['a']);
});
