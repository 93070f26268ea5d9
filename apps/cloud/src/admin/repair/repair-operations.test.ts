import { systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { callers, data, openBinary } from '../../binary/testing/open-binary.ts';
import { readParams } from '../read-params.ts';
import { repairOperations } from './repair-operations.ts';

test('D33 an image whose log row was skipped is listed with its details once the row is restored, and only once', async () => {
  const on = await openBinary();
  const bboxes = [{ label: 'dog', xMinNormalized: 0.1, yMinNormalized: 0, xMaxNormalized: 0.3, yMaxNormalized: 1 }];
  const id = await on.upload({ metadata: { tags: ['a'] }, annotations: { bboxes } });
  const list = () => on.ask(callers.owner, data.binaryDataByFilter, { includeBinary: false });
  const before = await list();
  const boxes = () => on.db.selectFrom('binary_data_boxes').select('label').execute();
  expect(before.data).toHaveLength(1);
  // The state after the follower met a damaged row.
  for (const table of ['binary_data_tags', 'binary_data_boxes'] as const)
    await on.db.deleteFrom(table).where('binary_data_id', '=', id).execute();
  await on.db.deleteFrom('binary_data').where('id', '=', id).execute();
  expect(await boxes()).toEqual([]);
  const position = on.log.lastPosition();
  const lose = () =>
    on.log.recordLoss('binary data', { first: position, last: position, parts: null, reason: 'the row is missing' });
  await lose();
  await expect(list()).rejects.toMatchObject({ code: 'data_loss' });
  const operations = repairOperations({
    ...{ loadAgain: undefined, db: on.db, rows: on.rows, ingestLog: on.log, clock: systemClock },
  });
  const back = async () =>
    operations['repair.rows-back']?.(
      readParams({ positions: JSON.stringify([position]), loaded: '[]', from: 'monday', actor: 'root' }),
      new AbortController().signal,
    );
  await back();
  expect(await on.ids()).toEqual([id]);
  expect((await list()).data.map(({ metadata }) => metadata?.captureMetadata?.tags)).toEqual([['a']]);
  // Repeats the repair, as if it had been interrupted.
  await lose();
  await back();
  expect(await boxes()).toEqual([{ label: 'dog' }]);
  expect(on.log.losses()).toEqual([]);
  // A loss of readings found in the meantime, which no one has handled.
  await on.log.recordLoss('readings', { first: position, last: position, parts: null, reason: 'the row is missing' });
  await back();
  expect(on.log.losses()).toMatchObject([{ lossIn: 'readings', first: position }]);
  expect(
    await on.db
      .selectFrom('audit_entries')
      .select(['action', 'target_kind'])
      .where('action', 'like', 'admin.%')
      .execute(),
  ).toEqual([1, 2, 3].map(() => ({ action: 'admin.repair.restored', target_kind: 'ingest log' })));
});
