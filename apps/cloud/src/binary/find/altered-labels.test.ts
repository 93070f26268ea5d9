import { asPlatformError } from '@platform/base';
import { TagsFilterType } from '@platform/proto/platform/app/data/v1/data';
import { expect, test } from 'vitest';
import { callers, data, type OpenBinary, openBinary } from '../testing/open-binary.ts';

const dayMs = Date.UTC(2026, 4, 17);
const withTag = { tagsFilter: { type: TagsFilterType.MATCH_BY_OR, tags: ['t'] } };

/** A picture with the tag t and the box b, and one without, on one day; another with both three days later. */
async function openLabelled() {
  const on = await openBinary();
  const annotations = { bboxes: [{ label: 'b', xMaxNormalized: 0.5, yMaxNormalized: 0.5 }] };
  const labelled = { metadata: { tags: ['t'] }, annotations };
  const first = await on.upload({ ...labelled, content: 'A', atMs: dayMs });
  const plain = await on.upload({ content: 'B', atMs: dayMs + 1_000 });
  const later = await on.upload({ ...labelled, content: 'C', atMs: dayMs + 3 * 86_400_000 });
  // Once it is answered, the rows are stored.
  expect((await on.ask(callers.owner, data.binaryDataByFilter, {})).count).toBe(3n);
  return { on, first, plain, later };
}

/** The code of each answer, or what it holds. */
async function ask(on: OpenBinary, first: string, later: string) {
  const outcome = (asked: Promise<unknown>): Promise<string> =>
    asked.then(String, (caught: unknown) => asPlatformError(caught).code);
  const list = (filter: object, limit = 100n) =>
    outcome(
      on.ask(callers.owner, data.binaryDataByFilter, { dataRequest: { filter, limit } }).then(({ count }) => count),
    );
  const byId = (id: string) =>
    outcome(on.ask(callers.owner, data.binaryDataByIDs, { binaryDataIds: [id] }).then(({ count }) => count));
  return {
    tagged: await list(withTag),
    newestTagged: await list(withTag, 1n),
    boxed: await list({ bboxLabels: ['b'] }),
    all: await list({}),
    counted: await outcome(
      on
        .ask(callers.owner, data.binaryDataByFilter, { dataRequest: { filter: withTag }, countOnly: true })
        .then(({ count }) => count),
    ),
    first: await byId(first),
    later: await byId(later),
    tags: await outcome(on.ask(callers.owner, data.tagsByFilter, {}).then(({ tags }) => tags)),
    labels: await outcome(on.ask(callers.owner, data.boundingBoxLabelsByFilter, {}).then(({ labels }) => labels)),
  };
}

const whole = {
  ...{ tagged: '2', newestTagged: '1', boxed: '2', all: '3', counted: '2', first: '1', later: '1' },
  ...{ tags: 't', labels: 'b' },
};
/** A file shows its tags from its own row. */
const lostTag = { tagged: 'data_loss', counted: 'data_loss', tags: 'data_loss' };
const lostBox = { tagged: 'data_loss', boxed: 'data_loss', all: 'data_loss', first: 'data_loss', labels: 'data_loss' };
/** Once it is known, everything of its day is refused. */
const lostFile = { ...lostBox, ...lostTag };

test.each([
  ['a tag deleted', (id: string) => `delete from binary_data_tags where binary_data_id = '${id}'`, lostTag],
  [
    'a tag moved to another picture',
    (id: string, plain: string) =>
      `update binary_data_tags set binary_data_id = '${plain}' where binary_data_id = '${id}'`,
    lostTag,
  ],
  [
    'a tag moved to another organization',
    (id: string) => `update binary_data_tags set file_organization_id = 'umbrella' where binary_data_id = '${id}'`,
    lostTag,
  ],
  [
    'a tag added',
    (_: string, plain: string) =>
      `insert into binary_data_tags (binary_data_id, tag, file_organization_id, file_captured_us) select id, 't', organization_id, captured_us from binary_data where id = '${plain}'`,
    lostTag,
  ],
  [
    'the copy of the tags in its row changed',
    (id: string) => `update binary_data set tags = '["u"]' where id = '${id}'`,
    lostFile,
  ],
  ['a box deleted', (id: string) => `delete from binary_data_boxes where binary_data_id = '${id}'`, lostBox],
  [
    'a box with another place',
    (id: string) => `update binary_data_boxes set place = '{}' where binary_data_id = '${id}'`,
    lostBox,
  ],
])(
  'D33 %s by something else is DATA_LOSS for what it could affect, is named, and ends when it is accepted',
  async (_, sql, answers) => {
    const { on, first, plain, later } = await openLabelled();
    await on.alterRows(sql(first, plain));
    expect(await ask(on, first, later)).toEqual({ ...whole, ...answers });
    expect((await on.rows.look()).join('; ')).toMatch(/binary_data/);
    await on.rows.accept();
    expect(Object.values(await ask(on, first, later))).not.toContain('data_loss');
  },
);

test('D33 a tag that was altered so that the filter no longer finds it is DATA_LOSS, and changes nothing', async () => {
  const { on, first } = await openLabelled();
  await on.alterRows(`update binary_data_tags set tag = 'other' where binary_data_id = '${first}'`);
  const filter = { ...withTag, organizationIds: ['acme'] };
  for (const ask of [
    () => on.ask(callers.owner, data.binaryDataByFilter, { dataRequest: { filter } }),
    () => on.ask(callers.owner, data.tagsByFilter, {}),
    () => on.ask(callers.owner, data.deleteBinaryDataByFilter, { filter }),
  ])
    await expect(ask()).rejects.toMatchObject({ code: 'data_loss', message: expect.stringContaining(first) });
  expect(await on.ids()).toHaveLength(3);
});

test('D33 what the cloud changes about tags and boxes keeps their checksums and proofs', async () => {
  const { on, first, plain } = await openLabelled();
  const all = [first, plain];
  await on.ask(callers.owner, data.addTagsToBinaryDataByIDs, { binaryDataIds: all, tags: ['t', 'u'] });
  await on.ask(callers.owner, data.removeTagsFromBinaryDataByIDs, { binaryDataIds: all, tags: ['t'] });
  const box = { binaryDataId: plain, label: 'c', xMaxNormalized: 1, yMaxNormalized: 1 };
  const { bboxId } = await on.ask(callers.owner, data.addBoundingBoxToImageByID, box);
  await on.ask(callers.owner, data.updateBoundingBox, { binaryDataId: plain, bboxId, label: 'd' });
  await on.ask(callers.owner, data.deleteBinaryDataByIDs, { binaryDataIds: [first] });
  expect(await on.rows.look()).toEqual([]);
  const tagged = { tagsFilter: { type: TagsFilterType.TAGGED } };
  const found = await on.ask(callers.owner, data.binaryDataByFilter, { dataRequest: { filter: tagged } });
  expect(found.count).toBe(2n);
});
