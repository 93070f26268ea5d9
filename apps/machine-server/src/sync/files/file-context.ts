/** The context shared by both ways of sending a file. */
import { aborted, type PlatformError, type RegularFile } from '@platform/base';
import type { UploadMetadata } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { checksumHeader, checksumKind, type Link } from '@platform/rpc/client';
import type { RateLimit } from '../rate-limit.ts';
import type { Fingerprint } from './fingerprint.ts';

/** The connection to the cloud. Without `put`, large files are sent only in pieces. */
export type SyncLink = Pick<Link, 'client'> & Partial<Pick<Link, 'put'>>;

/** Uploads have checksums: what was damaged on the way is refused and sent again, instead of stored in place of the file. */
export function withChecksums(link: Link): SyncLink {
  const { client } = link.withHeaders(async () => ({ [checksumHeader]: checksumKind }));
  return { client, put: (body, options) => link.put(body, options) };
}

export interface FileContext {
  readonly link: SyncLink;
  readonly partId: string;
  readonly tags: readonly string[];
  readonly rate: Pick<RateLimit, 'take'>;
}

export interface ResumableFile extends FileContext {
  readonly file: Pick<RegularFile, 'read'>;
  readonly fingerprint: Fingerprint;
  readonly metadata: UploadMetadata;
}

/** Time limit of one call, and of an upload without progress. */
export const callTimeoutMs = 120_000;

/** The file is sent again once it has been unmodified for long enough. */
export function changed(expectedBytes: number, foundBytes: number): PlatformError {
  return aborted(`the file was shortened from ${expectedBytes} to ${foundBytes} bytes while it was being sent`);
}
