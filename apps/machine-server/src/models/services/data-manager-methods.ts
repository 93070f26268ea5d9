/** The data manager's methods for clients. */

import type { Clock, Log } from '@platform/base';
import { invalidArgument } from '@platform/base';
import { MimeType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { DataManager, ResourceDescriptor } from '@platform/resources';
import type { Capture } from '../../capture/capture.ts';
import type { Docdb } from '../../docdb/docdb.ts';
import { dataStatus } from '../../sync/data-status.ts';
import type { Reclaim } from '../../sync/reclaim/reclaim.ts';
import type { Sync } from '../../sync/sync.ts';
import { noCommands } from '../no-commands.ts';

export interface DataManagerParts {
  /** The types that can be captured. */
  readonly types: readonly ResourceDescriptor[];
  readonly capture: Capture;
  readonly sync: Sync;
  readonly reclaim: Reclaim;
  readonly docdb: Docdb;
  readonly home: string;
  readonly clock: Clock;
  /** `-untrusted-env` (D16). */
  readonly untrusted: boolean;
  /** See LocalSettings. */
  readonly allowedSyncFolders: readonly string[];
  readonly log: Log;
}

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
        throw invalidArgument('UploadBinaryDataToDatasets: expected binary_data, found none');
      if (datasetIds.length === 0)
        throw invalidArgument('UploadBinaryDataToDatasets: expected dataset_ids, found none');
      const type = typesOfMime[mimeType] ?? typesOfMime[MimeType.UNSPECIFIED];
      await parts().sync.sendBytes(binaryData, { ...type, tags, datasetIds }, signal);
      return {};
    },
    getStatus: async () => ({ result: await dataStatus(parts()) }),
    doCommand: noCommands(`${name}: the data manager has no commands`),
  };
}
