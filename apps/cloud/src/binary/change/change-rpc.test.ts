import { existsSync } from 'node:fs';
import { type DescMethodUnary, fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { TagsFilterType } from '@platform/proto/platform/app/data/v1/data';
import { LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';
import { expect, test } from 'vitest';
import type { Principal } from '../../access/principal.ts';
import { callers, data, type OpenBinary, openBinary } from '../testing/open-binary.ts';

async function tagsOf(on: OpenBinary, ...binaryDataIds: string[]): Promise<readonly (readonly string[])[]> {
  const { data: found } = await on.ask(callers.owner, data.binaryDataByIDs, { binaryDataIds });
  return found.map(({ metadata }) => metadata?.captureMetadata?.tags ?? []);
}

async function boxesOf(on: OpenBinary, id: string) {
  const { data: found } = await on.ask(callers.owner, data.binaryDataByIDs, { binaryDataIds: [id] });
  return found[0]?.metadata?.annotations?.bboxes ?? [];
}

/** The audit entries about binary data. */
async function audited(on: OpenBinary) {
  const rows = await on.db.selectFrom('audit_entries').selectAll().where('target_kind', '=', 'binary data').execute();
  return rows.map(({ action, actor_id, organization_id, target_id, detail }) => ({
    action: action.replace('DataService.', ''),
    actor_id,
    organization_id,
    target_id,
    ...JSON.parse(detail),
  }));
}

async function pathsOf(on: OpenBinary): Promise<readonly string[]> {
  const rows = await on.log.read(0, { rows: 100, bytes: 1e8 });
  return rows.map(({ batch }) => fromBinary(LoggedUploadSchema, batch).blob?.path ?? '');
}

const isThere = async (on: OpenBinary, path: string): Promise<boolean> => existsSync(`${on.blobDirectory}/${path}`);

test('tags are added by id and by filter and removed, each tag is stored once per file, and every change is audited', async () => {
  const on = await openBinary();
  const [one, two] = [await on.upload({ metadata: { tags: ['x'] } }), await on.upload({ machine: 'mill' })];
  await on.ask(callers.owner, data.addTagsToBinaryDataByIDs, { binaryDataIds: [one, two, one], tags: ['x', 'y', 'y'] });
  expect(await tagsOf(on, one, two)).toEqual([
    ['x', 'y'],
    ['x', 'y'],
  ]);
  await on.ask(callers.owner, data.addTagsToBinaryDataByFilter, { filter: { robotId: 'mill' }, tags: ['z'] });
  const untagged = { tagsFilter: { type: TagsFilterType.MATCH_BY_OR, tags: ['z'] } };
  const removed = await on.ask(callers.owner, data.removeTagsFromBinaryDataByFilter, { filter: untagged, tags: ['x'] });
  expect(removed.deletedCount).toBe(1n);
  const again = { binaryDataIds: [one, two], tags: ['x', 'never'] };
  expect((await on.ask(callers.owner, data.removeTagsFromBinaryDataByIDs, again)).deletedCount).toBe(1n);
  expect(await tagsOf(on, one, two)).toEqual([['y'], ['y', 'z']]);
  expect(await audited(on)).toEqual([
    {
      action: 'AddTagsToBinaryDataByIDs',
      actor_id: 'owner',
      organization_id: 'acme',
      target_id: one,
      files: 2,
      others: [two],
      tags: ['x', 'y'],
    },
    {
      action: 'AddTagsToBinaryDataByFilter',
      actor_id: 'owner',
      organization_id: 'acme',
      target_id: two,
      files: 1,
      tags: ['z'],
    },
    {
      action: 'RemoveTagsFromBinaryDataByFilter',
      actor_id: 'owner',
      organization_id: 'acme',
      target_id: two,
      files: 1,
      tags: ['x'],
    },
    {
      action: 'RemoveTagsFromBinaryDataByIDs',
      actor_id: 'owner',
      organization_id: 'acme',
      target_id: one,
      files: 2,
      others: [two],
      tags: ['x', 'never'],
    },
  ]);
});

test('bounding boxes are added, partly changed, and removed', async () => {
  const on = await openBinary();
  const id = await on.upload();
  const box = { label: 'dog', xMinNormalized: 0.1, yMinNormalized: 0.2, xMaxNormalized: 0.3, yMaxNormalized: 0.4 };
  const older = { binaryId: { fileId: id, organizationId: 'acme', locationId: 'hall' } };
  const { bboxId } = await on.ask(callers.owner, data.addBoundingBoxToImageByID, { ...older, ...box });
  const sure = { binaryDataId: id, ...box, label: 'cat', confidence: 0.1 + 0.2 };
  const { bboxId: second } = await on.ask(callers.owner, data.addBoundingBoxToImageByID, sure);
  await on.ask(callers.owner, data.updateBoundingBox, { binaryDataId: id, bboxId, label: 'wolf', xMaxNormalized: 1 });
  expect(await boxesOf(on, id)).toMatchObject([
    { id: bboxId, label: 'wolf', xMinNormalized: 0.1, xMaxNormalized: 1, yMaxNormalized: 0.4 },
    { id: second, label: 'cat', confidence: 0.1 + 0.2 },
  ]);
  await on.ask(callers.owner, data.removeBoundingBoxFromImageByID, { binaryDataId: id, bboxId });
  expect((await boxesOf(on, id)).map(({ label }) => label)).toEqual(['cat']);

  const refused = (request: Promise<unknown>, code: string) => expect(request).rejects.toMatchObject({ code });
  const wrong = { binaryDataId: id, ...box };
  await refused(
    on.ask(callers.owner, data.addBoundingBoxToImageByID, { ...wrong, xMaxNormalized: 1.1 }),
    'invalid_argument',
  );
  await refused(
    on.ask(callers.owner, data.addBoundingBoxToImageByID, { ...wrong, yMinNormalized: Number.NaN }),
    'invalid_argument',
  );
  await refused(on.ask(callers.owner, data.addBoundingBoxToImageByID, { ...wrong, label: ' ' }), 'invalid_argument');
  await refused(
    on.ask(callers.owner, data.updateBoundingBox, { binaryDataId: id, bboxId: second, yMinNormalized: 0.9 }),
    'invalid_argument',
  );
  const other = await on.upload({ content: 'another' });
  await refused(
    on.ask(callers.owner, data.removeBoundingBoxFromImageByID, { binaryDataId: other, bboxId: second }),
    'not_found',
  );
  expect(await boxesOf(on, id)).toHaveLength(1);
});

const changes: readonly (readonly [DescMethodUnary, (id: string) => MessageInitShape<DescMethodUnary['input']>])[] = [
  [data.addTagsToBinaryDataByIDs, (id) => ({ binaryDataIds: [id], tags: ['t'] })],
  [data.addTagsToBinaryDataByFilter, () => ({ filter: { robotId: 'press' }, tags: ['t'] })],
  [data.removeTagsFromBinaryDataByIDs, (id) => ({ binaryDataIds: [id], tags: ['kept'] })],
  [data.removeTagsFromBinaryDataByFilter, () => ({ filter: { robotId: 'press' }, tags: ['kept'] })],
  [data.addBoundingBoxToImageByID, (id) => ({ binaryDataId: id, label: 'l', xMaxNormalized: 1, yMaxNormalized: 1 })],
  [data.updateBoundingBox, (id) => ({ binaryDataId: id, bboxId: 'b', label: 'l' })],
  [data.removeBoundingBoxFromImageByID, (id) => ({ binaryDataId: id, bboxId: 'b' })],
  [data.deleteBinaryDataByIDs, (id) => ({ binaryDataIds: [id] })],
  [data.deleteBinaryDataByFilter, () => ({ filter: { robotId: 'press' } })],
  [data.deleteBinaryDataByFilter, () => ({ filter: { organizationIds: ['acme'] } })],
];

test('R6 operators change nothing, strangers and parts find nothing to change, and none of these attempts leaves a trace', async () => {
  const on = await openBinary();
  const id = await on.upload({ metadata: { tags: ['kept'] } });
  const before = await on.ask(callers.owner, data.binaryDataByIDs, { binaryDataIds: [id] });
  for (const [method, request] of changes) {
    const refusal = (caller: Principal) => expect(on.ask(caller, method, request(id)), `${method.name}`).rejects;
    await refusal(callers.operator).toMatchObject({ code: 'permission_denied' });
    await refusal(callers.hallOperator).toMatchObject({ code: 'permission_denied' });
    for (const caller of [callers.stranger, callers.part]) await refusal(caller).toMatchObject({ code: 'not_found' });
  }
  expect(await on.ask(callers.owner, data.binaryDataByIDs, { binaryDataIds: [id] })).toEqual(before);
  expect(await audited(on)).toEqual([]);
});

test("another owner's file refuses the whole request, and a filter without a place applies to all files that the caller owns", async () => {
  const on = await openBinary();
  const [own, other] = [await on.upload(), await on.upload({ machine: 'mill' })];
  const mixed: Principal = {
    ...callers.pressOwner,
    grants: [...callers.pressOwner.grants, ...callers.operator.grants],
  };
  const both = { binaryDataIds: [own, other], tags: ['t'] };
  await expect(on.ask(mixed, data.addTagsToBinaryDataByIDs, both)).rejects.toMatchObject({ code: 'permission_denied' });
  await expect(
    on.ask(mixed, data.deleteBinaryDataByFilter, { filter: { organizationIds: ['acme'] } }),
  ).rejects.toMatchObject({
    code: 'permission_denied',
  });
  expect(await tagsOf(on, own, other)).toEqual([[], []]);
  const { deletedCount } = await on.ask(mixed, data.deleteBinaryDataByFilter, {});
  expect(deletedCount).toBe(1n);
  expect(await on.ids()).toEqual([other]);
});

test('I10 deleted files are removed at once with everything attached, their payloads follow, and files of others stay', async () => {
  const on = await openBinary();
  const gone = await on.upload({
    metadata: { tags: ['t'] },
    annotations: { bboxes: [{ label: 'l', xMaxNormalized: 1, yMaxNormalized: 1 }] },
  });
  const kept = await on.upload({ content: 'another' });
  const [path = '', other = ''] = await pathsOf(on);
  const deleted = await on.ask(callers.owner, data.deleteBinaryDataByIDs, { binaryDataIds: [gone] });
  expect(deleted.deletedCount).toBe(1n);
  await expect(on.ask(callers.owner, data.binaryDataByIDs, { binaryDataIds: [gone] })).rejects.toMatchObject({
    code: 'not_found',
  });
  expect((await on.ask(callers.owner, data.tagsByFilter, {})).tags).toEqual([]);
  expect(await isThere(on, path)).toBe(true);

  expect(await on.binary.removePayloads()).toBe(false);
  expect([await isThere(on, path), await isThere(on, other)]).toEqual([false, true]);
  // No table names it any more, so neither a backup nor the doctor looks for it.
  expect([await on.log.hasBlob(path), await on.log.hasBlob(other)]).toEqual([false, true]);
  expect(await on.db.selectFrom('binary_data_removals').selectAll().execute()).toEqual([]);
  expect(await on.ids()).toEqual([kept]);
});

test('a payload used by another row is kept', async () => {
  const on = await openBinary();
  const [one, two] = [await on.upload(), await on.upload({ content: 'another' })];
  await on.binary.caughtUp(new AbortController().signal);
  const [path = ''] = await pathsOf(on);
  await on.db.updateTable('binary_data').set({ blob_path: path }).where('id', '=', two).execute();
  await on.ask(callers.owner, data.deleteBinaryDataByIDs, { binaryDataIds: [one] });
  await on.binary.removePayloads();
  expect(await isThere(on, path)).toBe(true);
  expect(await on.log.hasBlob(path)).toBe(true);
});

test('a deletion by filter deletes files acknowledged before it, thousands at a time, and counts them', async () => {
  const on = await openBinary();
  await on.upload();
  await on.binary.caughtUp(new AbortController().signal);
  const [row] = await on.db.selectFrom('binary_data').selectAll().execute();
  if (row === undefined) throw new Error('expected a row');
  const many = Array.from({ length: 2_345 }, (_, at) => ({
    ...row,
    id: `copy-${at}`,
    position: -1 - at,
    blob_path: `copies/${at}`,
  }));
  for (let at = 0; at < many.length; at += 500)
    await on.db
      .insertInto('binary_data')
      .values(many.slice(at, at + 500))
      .execute();
  const { deletedCount } = await on.ask(callers.owner, data.deleteBinaryDataByFilter, {
    filter: { partId: 'press-main' },
  });
  expect(deletedCount).toBe(2_346n);
  expect(await on.ids()).toEqual([]);
  expect((await audited(on)).map(({ files, others }) => [files, others.length])).toEqual([
    [1_000, 49],
    [1_000, 49],
    [346, 49],
  ]);
  expect(await on.binary.removePayloads()).toBe(true);
});

test('invalid tags, or too many on one file, are refused by name', async () => {
  const on = await openBinary();
  const id = await on.upload();
  const adding = (tags: readonly string[]) =>
    on.ask(callers.owner, data.addTagsToBinaryDataByIDs, { binaryDataIds: [id], tags: [...tags] });
  await expect(adding([])).rejects.toThrow(/expected 1 to 100 tags, found none/);
  await expect(adding([' '])).rejects.toThrow(/1 to 200 characters/);
  await expect(adding(['x'.repeat(201)])).rejects.toThrow(/found 201/);
  for (let at = 0; at < 5; at++) await adding(Array.from({ length: 100 }, (_, nth) => `${at}-${nth}`));
  await expect(adding(['one too many'])).rejects.toMatchObject({ code: 'failed_precondition' });
  expect((await tagsOf(on, id))[0]).toHaveLength(500);
});

test('D13 a picture sent again after its deletion is stored again, once, however often it is sent', async () => {
  const on = await openBinary();
  const picture = { atMs: Date.UTC(2026, 4, 17, 12), content: 'the same' };
  const first = await on.upload(picture);
  expect(await on.upload(picture)).toBe(first);
  const other = await on.upload({ ...picture, content: 'another' });
  await on.ask(callers.owner, data.deleteBinaryDataByIDs, { binaryDataIds: [first] });
  const second = await on.upload(picture);
  expect(second).not.toBe(first);
  expect([await on.upload(picture), await on.upload({ ...picture, content: 'another' })]).toEqual([second, other]);
  const { data: found } = await on.ask(callers.owner, data.binaryDataByFilter, { dataRequest: { limit: 9n } });
  const ids = found.map(({ metadata }) => metadata?.binaryDataId?.split('/').at(-1));
  expect(new Set(ids)).toEqual(new Set([second, other]));
  expect(ids).toHaveLength(2);
});
