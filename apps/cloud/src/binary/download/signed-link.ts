/**
 * Signed addresses of files. They become invalid early if the file, their creator's right to read it, or the key that signed them is
 * removed.
 */
import { permissionDenied } from '@platform/base';
import type { Principal } from '../../access/principal.ts';
import {
  type AddressKind,
  makerOf,
  readSignedQuery,
  type SignedAddress,
  signedQuery,
} from '../../access/signed-address.ts';
import type { InstanceKey } from '../../instance/instance-key.ts';
import { requireAtMost } from '../../text-rules/require-at-most.ts';
import { downloadPath } from './download-path.ts';

const defaultMinutes = 15;
const maxMinutes = 7 * 24 * 60;

export type SignedLink = SignedAddress<'key' | 'session'>;

const kind: AddressKind<'key' | 'session'> = {
  purpose: 'binary-data',
  by: ['key', 'session'],
  renewal: 'request a new one',
};

/** @param minutes none or 0: 15 @throws invalid_argument for more than seven days */
export function linkFor(principal: Principal, fileId: string, minutes: number, nowMs: number): SignedLink {
  requireAtMost('expiration_minutes', maxMinutes, minutes, ' (7 days)');
  const by = makerOf(principal);
  if (by.kind === 'part') throw permissionDenied('signed address: expected a key or a person, found a part');
  // Whole seconds, as in the address.
  const madeMs = Math.floor(nowMs / 1_000) * 1_000;
  const endsMs = madeMs + (minutes === 0 ? defaultMinutes : minutes) * 60_000;
  return { id: fileId, madeMs, endsMs, by: { kind: by.kind, id: by.id } };
}

export function linkUrl(instanceKey: InstanceKey, baseUrl: string, link: SignedLink): string {
  return `${baseUrl}${downloadPath}${link.id}?${signedQuery(instanceKey, kind, link)}`;
}

/** Undefined: the address is not signed. @throws permission_denied when the signature is invalid or has expired */
export function readLink(
  instanceKey: InstanceKey,
  fileId: string,
  query: URLSearchParams,
  nowMs: number,
): SignedLink | undefined {
  return readSignedQuery(instanceKey, kind, fileId, query, nowMs);
}
