/** The context shared by both ways of sending a file. */
import { aborted, type PlatformError } from '@platform/base';
import { checksumHeader, checksumKind, type Link } from '@platform/rpc/client';
import type { RateLimit } from '../rate-limit.ts';

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

/** The file is sent again once it has been unmodified for long enough. */
export function changed(expectedBytes: number, foundBytes: number): PlatformError {
  return aborted(`the file was shortened from ${expectedBytes} to ${foundBytes} bytes while it was being sent`);
}
