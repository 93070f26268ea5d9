/**
 * Signed addresses of files: who has one downloads the file without signing in, until it expires.
 *
 * An address says the file, when it was made and when it ends, and in whose name; an HMAC under the instance key covers all of
 * it. It ends earlier with the file, with its maker's right to read the file, and with the key that made it.
 */
import { PlatformError } from '@platform/base';
import type { Principal } from '../../access/principal.ts';
import type { InstanceKey } from '../../instance/instance-key.ts';
import { requireAtMost } from '../../text-rules/require-at-most.ts';
import { downloadPath } from './download-path.ts';

const defaultMinutes = 15;
const maxMinutes = 7 * 24 * 60;

export interface SignedLink {
  readonly fileId: string;
  readonly madeMs: number;
  readonly endsMs: number;
  readonly by: { readonly kind: 'key' | 'person'; readonly id: string };
}

/** @param minutes none or 0: 15. @throws invalid_argument for more than seven days */
export function linkFor(principal: Principal, fileId: string, minutes: number, nowMs: number): SignedLink {
  requireAtMost('expiration_minutes', maxMinutes, minutes, ' (7 days)');
  if (principal.kind === 'part')
    throw new PlatformError('permission_denied', 'signed address: expected a key or a person, found a part');
  const by =
    principal.kind === 'key'
      ? { kind: principal.kind, id: principal.keyId }
      : { kind: principal.kind, id: principal.personId };
  // Whole seconds, as the address says them.
  const madeMs = Math.floor(nowMs / 1_000) * 1_000;
  return { fileId, madeMs, endsMs: madeMs + (minutes === 0 ? defaultMinutes : minutes) * 60_000, by };
}

export function linkUrl(instanceKey: InstanceKey, baseUrl: string, link: SignedLink): string {
  const query = new URLSearchParams({
    made: `${link.madeMs / 1_000}`,
    expires: `${link.endsMs / 1_000}`,
    by: `${link.by.kind}:${link.by.id}`,
    signature: instanceKey.sign(signedText(link)),
  });
  return `${baseUrl}${downloadPath}${link.fileId}?${query}`;
}

/** Undefined: the address is not signed at all. @throws permission_denied when it is not ours, was changed, or has ended */
export function readLink(
  instanceKey: InstanceKey,
  fileId: string,
  query: URLSearchParams,
  nowMs: number,
): SignedLink | undefined {
  const signature = query.get('signature');
  if (signature === null) return undefined;
  const [, kind, id] = /^(key|person):([\w-]{1,64})$/.exec(query.get('by') ?? '') ?? [];
  const link = {
    fileId,
    madeMs: Number(query.get('made')) * 1_000,
    endsMs: Number(query.get('expires')) * 1_000,
    by: { kind: kind === 'key' ? ('key' as const) : ('person' as const), id: id ?? '' },
  };
  if (id === undefined || !instanceKey.verify(signedText(link), signature))
    throw new PlatformError(
      'permission_denied',
      'signed address: expected one that this cloud created, found a different one',
    );
  if (link.endsMs <= nowMs)
    throw new PlatformError(
      'permission_denied',
      `signed address: expected one that is still valid, found that it expired at ${new Date(link.endsMs).toISOString()}; request a new one`,
    );
  return link;
}

function signedText({ fileId, madeMs, endsMs, by }: SignedLink): string {
  return `binary-data ${JSON.stringify([fileId, madeMs, endsMs, by.kind, by.id])}`;
}
