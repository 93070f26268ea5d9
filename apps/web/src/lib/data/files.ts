/** Pictures and files that the cloud has stored, as the page shows them. */
import type { BinaryMetadata } from '@platform/proto/platform/app/data/v1/data';
import { dateOf } from '../ui/time.ts';

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly isImage: boolean;
  readonly bytes: number;
  readonly stored: Date | undefined;
  readonly machineId: string;
  readonly machine: string;
  /** Empty: it was uploaded as a file. */
  readonly component: string;
  readonly tags: readonly string[];
  readonly datasetIds: readonly string[];
  /** Path on this cloud, for requests with the session. */
  readonly path: string;
}

export function fileOf(metadata: BinaryMetadata): StoredFile {
  const { binaryDataId: id, captureMetadata: captured, fileName, fileExt, fileSizeBytes, datasetIds } = metadata;
  const mimeType = captured?.mimeType ?? '';
  return {
    ...{ id, mimeType, datasetIds },
    name: fileName.split(/[/\\]/).at(-1) || `${captured?.componentName || 'file'}${fileExt}`,
    isImage: /^image\/(jpeg|png|gif|webp|avif|bmp|svg\+xml)$/.test(mimeType),
    bytes: Number(fileSizeBytes),
    stored: dateOf(metadata.timeReceived) ?? dateOf(metadata.timeRequested),
    machineId: captured?.robotId ?? '',
    machine: captured?.robotName ?? '',
    component: captured?.componentName ?? '',
    tags: captured?.tags ?? [],
    // The address has the public name of the cloud, which may differ from the name in the address bar.
    path: metadata.uri === '' ? '' : new URL(metadata.uri, 'http://cloud').pathname,
  };
}
