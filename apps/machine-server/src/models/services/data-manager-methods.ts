/** The data manager's methods for clients. */
import { PlatformError } from '@platform/base';
import { MimeType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { DataManager } from '@platform/resources';
import { dataStatus } from '../../sync/data-status.ts';
import type { DataManagerParts } from './data-manager.ts';

const typesOfMime: Readonly<Record<MimeType, { readonly mimeType: string; readonly fileExtension: string }>> = {
  [MimeType.UNSPECIFIED]: { mimeType: '', fileExtension: '' },
  [MimeType.IMAGE_JPEG]: { mimeType: 'image/jpeg', fileExtension: '.jpeg' },
  [MimeType.IMAGE_PNG]: { mimeType: 'image/png', fileExtension: '.png' },
  [MimeType.APPLICATION_PCD]: { mimeType: 'application/pcd', fileExtension: '.pcd' },
  [MimeType.VIDEO_MP4]: { mimeType: 'video/mp4', fileExtension: '.mp4' },
};

export function dataManagerMethods(parts: () => DataManagerParts, name: string): Omit<DataManager, 'close'> {
  return {
    async sync() {
      await parts().sync.flush();
      return {};
    },
    async uploadBinaryDataToDatasets({ binaryData, tags, datasetIds, mimeType }, { signal }) {
      if (binaryData.length === 0)
        throw new PlatformError('invalid_argument', 'UploadBinaryDataToDatasets: expected binary_data, found none');
      if (datasetIds.length === 0)
        throw new PlatformError('invalid_argument', 'UploadBinaryDataToDatasets: expected dataset_ids, found none');
      const type = typesOfMime[mimeType] ?? typesOfMime[MimeType.UNSPECIFIED];
      await parts().sync.sendBytes(binaryData, { ...type, tags, datasetIds }, signal);
      return {};
    },
    async getStatus() {
      return { result: await dataStatus(parts()) };
    },
    async doCommand() {
      throw new PlatformError('unimplemented', `${name}: the data manager has no commands`);
    },
  };
}
