import { asPlatformError } from '@platform/base';
import { expect, test } from 'vitest';
import { callers, data, dataset, type OpenBinary, openBinary } from '../testing/open-binary.ts';

const dayMs = Date.UTC(2026, 4, 17);

interface Asked {
  readonly list: string;
  readonly count: string;
  readonly byId: string;
  readonly otherById: string;
  readonly foreignList: string;
}

/** The code of each answer, or what it holds. */
async function ask(on: OpenBinary, id: string, other: string): Promise<Asked> {
  const outcome = (asked: Promise<{ readonly count: bigint }>): Promise<string> =>
    asked.then(
      ({ count }) => `${count}`,
      (caught: unknown) => asPlatformError(caught).code,
    );
  const byId = (one: string) =>
    outcome(on.ask(callers.owner, data.binaryDataByIDs, { binaryDataIds: [one], includeBinary: true }));
  return {
    list: await outcome(on.ask(callers.owner, data.binaryDataByFilter, {})),
    count: await outcome(on.ask(callers.owner, data.binaryDataByFilter, { countOnly: true })),
    byId: await byId(id),
    otherById: await byId(other),
    foreignList: await outcome(on.ask(callers.stranger, data.binaryDataByFilter, {})),
  };
}

const whole = { list: '2', count: '2', byId: '1', otherById: '1', foreignList: '1' };
const lost = { list: 'data_loss', count: 'data_loss', byId: 'data_loss' };

const changes: Readonly<
  Record<string, { readonly sql: (id: string, other: string) => string; readonly asked: Asked }>
> = {
  deleted: {
    sql: (id) => `delete from binary_data where id = '${id}'`,
    asked: { ...whole, ...lost },
  },
  'moved to another organization': {
    sql: (id) => `update binary_data set organization_id = 'umbrella', location_id = 'lab' where id = '${id}'`,
    asked: { ...whole, ...lost, foreignList: 'data_loss' },
  },
  "pointed at another's payload": {
    sql: (id, other) =>
      `update binary_data set blob_path = (select blob_path from binary_data where id = '${other}'), sha256 = (select sha256 from binary_data where id = '${other}') where id = '${id}'`,
    asked: { ...whole, ...lost },
  },
  'emptied of its checksum': {
    sql: (id) => `update binary_data set row_check = null where id = '${id}'`,
    asked: { ...whole, ...lost },
  },
  'copied under another id': {
    sql: (id) =>
      `create table copied as select * from binary_data where id = '${id}'; update copied set id = 'copy', position = -1; insert into binary_data select * from copied`,
    asked: { ...whole, list: 'data_loss', count: 'data_loss' },
  },
  'left with the checksum of another row': {
    sql: (id, other) =>
      `update binary_data set row_check = (select row_check from binary_data where id = '${other}') where id = '${id}'`,
    asked: { ...whole, ...lost },
  },
};

for (const [what, { sql, asked }] of Object.entries(changes))
  test(`D33 a row of the list of pictures and files that is ${what} is DATA_LOSS for what touches it, is named, and ends when it is accepted`, async () => {
    const on = await openBinary();
    const [id, other] = [
      await on.upload({ content: 'picture A', atMs: dayMs }),
      await on.upload({ content: 'picture B', atMs: dayMs + 1_000 }),
    ];
    await on.upload({ content: 'foreign', machine: 'probe', atMs: dayMs });
    expect(await ask(on, id, other)).toEqual(whole);
    expect(await on.rows.look()).toEqual([]);

    await on.alterRows(sql(id, other));
    expect(await ask(on, id, other)).toEqual(asked);
    expect(on.rows.damages()).not.toEqual([]);
    const found = await on.rows.look();
    expect(found.join('; ')).toMatch(/binary_data/);
    expect(await ask(on, id, other)).toMatchObject({ list: 'data_loss', foreignList: asked.foreignList });

    await on.rows.accept();
    expect(on.rows.damages()).toEqual([]);
    expect(Object.values(await ask(on, id, other))).not.toContain('data_loss');
  });

test('I7 a list does not touch the damage of another day', async () => {
  const on = await openBinary();
  const gone = await on.upload({ content: 'picture A', atMs: dayMs });
  const kept = await on.upload({ content: 'picture B', atMs: dayMs + 3 * 86_400_000 });
  await on.ask(callers.owner, data.binaryDataByFilter, {});
  await on.alterRows(`delete from binary_data where id = '${gone}'`);
  const page = (limit: bigint) => on.ask(callers.owner, data.binaryDataByFilter, { dataRequest: { limit } });
  const first = await page(1n);
  expect(first.data.map(({ metadata }) => metadata?.binaryDataId)).toEqual([kept]);
  await expect(page(2n)).rejects.toMatchObject({
    code: 'data_loss',
    message: expect.stringContaining('binary_data of acme on 2026-05-17: expected 1 rows, found 0'),
  });
});

test('D33 a change by the cloud keeps checksums and proofs, and does not hide that a row was altered', async () => {
  const on = await openBinary();
  const [id, other] = [
    await on.upload({ content: 'picture A', atMs: dayMs, metadata: { tags: ['t'] } }),
    await on.upload({ content: 'picture B', atMs: dayMs }),
  ];
  const { id: datasetId } = await on.ask(callers.owner, dataset.createDataset, { name: 'd', organizationId: 'acme' });
  await on.ask(callers.owner, data.addBinaryDataToDatasetByIDs, { binaryDataIds: [id, other], datasetId });
  await on.ask(callers.owner, dataset.renameDataset, { id: datasetId, name: 'e' });
  await on.ask(callers.owner, data.deleteBinaryDataByIDs, { binaryDataIds: [id] });
  expect(await on.rows.look()).toEqual([]);

  await on.alterRows(`update binary_data set file_name = 'x' where id = '${other}'`);
  await on.db.updateTable('binary_data').set({ mime_type: 'image/png' }).where('id', '=', other).execute();
  expect((await on.rows.look()).join()).toContain(other);
  await on.alterRows(`update datasets set organization_id = 'umbrella' where id = '${datasetId}'`);
  await expect(on.ask(callers.stranger, dataset.listDatasetsByIDs, { ids: [datasetId] })).rejects.toMatchObject({
    code: 'data_loss',
  });
});

test('D33 a file taken out of a dataset, and one put in, are DATA_LOSS for lists of the dataset', async () => {
  for (const sql of [
    () => 'delete from dataset_files',
    (datasetId: string, id: string) =>
      `insert into dataset_files (dataset_id, binary_data_id) values ('${datasetId}', '${id}')`,
  ]) {
    const on = await openBinary();
    const [inside, outside] = [await on.upload({ content: 'A' }), await on.upload({ content: 'B' })];
    const { id: datasetId } = await on.ask(callers.owner, dataset.createDataset, { name: 'd', organizationId: 'acme' });
    await on.ask(callers.owner, data.addBinaryDataToDatasetByIDs, { binaryDataIds: [inside], datasetId });
    const list = () => on.ask(callers.owner, data.binaryDataByFilter, { dataRequest: { filter: { datasetId } } });
    expect((await list()).count).toBe(1n);
    await on.alterRows(sql(datasetId, outside));
    await expect(list()).rejects.toMatchObject({ code: 'data_loss' });
  }
});

test('D33 a row that is restored as it was is answered again at once', async () => {
  const on = await openBinary();
  const [id, other] = [await on.upload({ content: 'picture A' }), await on.upload({ content: 'picture B' })];
  expect(await ask(on, id, other)).toMatchObject({ list: '2' });
  for (const [altered, restored] of [
    [
      `create table kept as select * from binary_data where id = '${id}'; delete from binary_data where id = '${id}'`,
      'insert into binary_data select * from kept',
    ],
    [
      `update binary_data set file_name = file_name || 'x' where id = '${id}'`,
      `update binary_data set file_name = (select file_name from kept) where id = '${id}'`,
    ],
  ] as const) {
    await on.alterRows(altered);
    expect(await ask(on, id, other)).toMatchObject(lost);
    expect(await on.rows.look()).not.toEqual([]);
    await on.alterRows(restored);
    expect(await ask(on, id, other)).toMatchObject({ list: '2', count: '2', byId: '1' });
    expect(on.rows.damages()).toEqual([]);
  }
});

test.each([
  ['deleted', 'delete from datasets'],
  ['moved to another organization', "update datasets set organization_id = 'umbrella'"],
  ['given another id', "update datasets set id = 'other'"],
])(
  'D33 a dataset whose row was %s is DATA_LOSS for requests by its id and for lists of its files',
  async (_, statement) => {
    const on = await openBinary();
    const { id } = await on.ask(callers.owner, dataset.createDataset, { organizationId: 'acme', name: 'first' });
    const list = () =>
      on.ask(callers.owner, data.binaryDataByFilter, { dataRequest: { filter: { datasetId: id } }, countOnly: true });
    expect((await list()).count).toBe(0n);
    await on.alterRows(statement);
    const lost = { code: 'data_loss', message: expect.stringMatching(/dataset/) };
    await expect(list()).rejects.toMatchObject(lost);
    await expect(on.ask(callers.owner, dataset.listDatasetsByIDs, { ids: [id] })).rejects.toMatchObject(lost);
  },
);

test('D33 a file whose name contains the separator of the text of its checksum is listed, and refused once altered', async () => {
  const on = await openBinary();
  const fileName = 'a\u001fb\u001e';
  await on.upload({ metadata: { fileName }, atMs: dayMs });
  await on.upload({ metadata: { fileName: 'plain' }, atMs: dayMs + 1 });
  const list = async () =>
    (await on.ask(callers.owner, data.binaryDataByFilter, {})).data.map(({ metadata }) => metadata?.fileName);
  expect(await list()).toEqual(['plain', fileName]);
  await on.alterRows("update binary_data set mime_type = 'x' where file_name <> 'plain'");
  await expect(list()).rejects.toMatchObject({ code: 'data_loss' });
});
