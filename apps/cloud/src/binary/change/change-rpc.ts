/** DataService methods that change binary data: tags, bounding boxes, deletion. */
import { create } from '@bufbuild/protobuf';
import { newId } from '@platform/base';
import { type BinaryID, type DataService, type Filter, FilterSchema } from '@platform/proto/platform/app/data/v1/data';
import type { CloudCall, CloudHandlers } from '../../access/principal.ts';
import type { Database } from '../../metadata/tables.ts';
import { type FileRow, namedFiles } from '../find/find-files.ts';
import { addBox, removeBox, updateBox } from './change-boxes.ts';
import { type ChangeDeps, type ChangeKind, changeMatching, changeNamed } from './change-files.ts';
import { addTags, removeTags } from './change-tags.ts';
import { checkedTags } from './check-texts.ts';
import { deleteFiles } from './delete-files.ts';

export interface ChangeRpcDeps extends ChangeDeps {
  /** Called when payloads may be removed. */
  readonly deleted: () => void;
}

export function changeHandlers(deps: ChangeRpcDeps): CloudHandlers<typeof DataService> {
  const { clock } = deps;

  /** Changes the boxes of one picture. */
  const ofOne = async (
    call: CloudCall,
    id: string,
    older: BinaryID | undefined,
    kind: ChangeKind,
    change: (trx: Database, file: FileRow) => Promise<void>,
  ): Promise<void> => {
    const named = namedFiles(id === '' ? [] : [id], id === '' && older !== undefined ? [older] : []);
    await changeNamed(deps, call, named, kind, async (trx, files) => {
      for (const file of files) await change(trx, file);
      return files.length;
    });
  };
  const filterOf = (filter: Filter | undefined): Filter => filter ?? create(FilterSchema);

  return {
    async addTagsToBinaryDataByIDs(request, call) {
      const tags = checkedTags(request.tags);
      const kind = { action: 'DataService.AddTagsToBinaryDataByIDs', detail: { tags } };
      const named = namedFiles(request.binaryDataIds, request.binaryIds);
      await changeNamed(deps, call, named, kind, (trx, files) => addTags(trx, files, tags));
    },

    async addTagsToBinaryDataByFilter(request, call) {
      const tags = checkedTags(request.tags);
      const kind = { action: 'DataService.AddTagsToBinaryDataByFilter', detail: { tags } };
      await changeMatching(deps, call, filterOf(request.filter), kind, (trx, files) => addTags(trx, files, tags));
    },

    async removeTagsFromBinaryDataByIDs(request, call) {
      const tags = checkedTags(request.tags);
      const kind = { action: 'DataService.RemoveTagsFromBinaryDataByIDs', detail: { tags } };
      const named = namedFiles(request.binaryDataIds, request.binaryIds);
      const changed = await changeNamed(deps, call, named, kind, (trx, files) => removeTags(trx, files, tags));
      return { deletedCount: BigInt(changed) };
    },

    async removeTagsFromBinaryDataByFilter(request, call) {
      const tags = checkedTags(request.tags);
      const kind = { action: 'DataService.RemoveTagsFromBinaryDataByFilter', detail: { tags } };
      const filter = filterOf(request.filter);
      const changed = await changeMatching(deps, call, filter, kind, (trx, files) => removeTags(trx, files, tags));
      return { deletedCount: BigInt(changed) };
    },

    async addBoundingBoxToImageByID(request, call) {
      const id = newId();
      const { binaryDataId, binaryId, label } = request;
      const kind = { action: 'DataService.AddBoundingBoxToImageByID', detail: { bbox_id: id, label } };
      await ofOne(call, binaryDataId, binaryId, kind, (trx, file) =>
        addBox(trx, file, { id, label, place: request }, clock.now()),
      );
      return { bboxId: id };
    },

    async updateBoundingBox(request, call) {
      const { binaryDataId, binaryId, bboxId } = request;
      const kind = { action: 'DataService.UpdateBoundingBox', detail: { bbox_id: bboxId } };
      await ofOne(call, binaryDataId, binaryId, kind, (trx, file) => updateBox(trx, file, request));
    },

    async removeBoundingBoxFromImageByID(request, call) {
      const { binaryDataId, binaryId, bboxId } = request;
      const kind = { action: 'DataService.RemoveBoundingBoxFromImageByID', detail: { bbox_id: bboxId } };
      await ofOne(call, binaryDataId, binaryId, kind, (trx, file) => removeBox(trx, file, bboxId));
    },

    async deleteBinaryDataByIDs(request, call) {
      const named = namedFiles(request.binaryDataIds, request.binaryIds);
      const kind = { action: 'DataService.DeleteBinaryDataByIDs' };
      const deleted = await changeNamed(deps, call, named, kind, deleteFiles);
      deps.deleted();
      return { deletedCount: BigInt(deleted) };
    },

    async deleteBinaryDataByFilter(request, call) {
      const kind = { action: 'DataService.DeleteBinaryDataByFilter' };
      const deleted = await changeMatching(deps, call, filterOf(request.filter), kind, deleteFiles);
      deps.deleted();
      return { deletedCount: BigInt(deleted) };
    },
  };
}
