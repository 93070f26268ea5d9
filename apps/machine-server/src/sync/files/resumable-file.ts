import type { RegularFile } from '@platform/base';
import type { UploadMetadata } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { FileContext } from './file-context.ts';
import type { Fingerprint } from './fingerprint.ts';

export interface ResumableFile extends FileContext {
  readonly file: Pick<RegularFile, 'read'>;
  readonly fingerprint: Fingerprint;
  readonly metadata: UploadMetadata;
}

/** Time limit of one call, and of an upload without progress. */
export const callTimeoutMs = 120_000;
