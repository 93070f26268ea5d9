/**
 * Signed addresses: who has one downloads one thing without signing in, until it expires.
 *
 * An address says what it is of, when it was made and when it ends, and in whose name; an HMAC under the instance key covers all of it.
 */
import { PlatformError } from '@platform/base';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Principal } from './principal.ts';

export interface SignedAddress<K extends Principal['kind'] = Principal['kind']> {
  /** Of what it is. */
  readonly id: string;
  readonly madeMs: number;
  readonly endsMs: number;
  readonly by: { readonly kind: K; readonly id: string };
}

/** One kind of signed addresses. */
export interface AddressKind<K extends Principal['kind']> {
  /** Stands before what is signed, so that no address is one of another kind. */
  readonly purpose: string;
  /** Whose names may stand in them. */
  readonly by: readonly K[];
  /** What to do when one has expired. */
  readonly renewal: string;
}

export function idOf(principal: Principal): string {
  if (principal.kind === 'part') return principal.partId;
  return principal.kind === 'key' ? principal.keyId : principal.personId;
}

/** The query of the address. */
export function signedQuery<K extends Principal['kind']>(
  instanceKey: InstanceKey,
  { purpose }: AddressKind<K>,
  address: SignedAddress<K>,
): URLSearchParams {
  return new URLSearchParams({
    made: `${address.madeMs / 1_000}`,
    expires: `${address.endsMs / 1_000}`,
    by: `${address.by.kind}:${address.by.id}`,
    signature: instanceKey.sign(signedText(purpose, address)),
  });
}

/** Undefined: the address is not signed at all. @throws permission_denied when it is not ours, was changed, or has ended */
export function readSignedQuery<K extends Principal['kind']>(
  instanceKey: InstanceKey,
  { purpose, by, renewal }: AddressKind<K>,
  id: string,
  query: URLSearchParams,
  nowMs: number,
): SignedAddress<K> | undefined {
  const signature = query.get('signature');
  if (signature === null) return undefined;
  const [, kindText, maker = ''] = /^(\w+):([\w-]{1,64})$/.exec(query.get('by') ?? '') ?? [];
  const kind = by.find((one) => one === kindText);
  const [madeMs, endsMs] = ['made', 'expires'].map((name) => Number(query.get(name)) * 1_000) as [number, number];
  const address = kind === undefined ? undefined : { id, madeMs, endsMs, by: { kind, id: maker } };
  if (address === undefined || !instanceKey.verify(signedText(purpose, address), signature))
    throw new PlatformError(
      'permission_denied',
      'signed address: expected one that this cloud created, found a different one',
    );
  if (endsMs <= nowMs)
    throw new PlatformError(
      'permission_denied',
      `signed address: expected one that is still valid, found that it expired at ${new Date(endsMs).toISOString()}; ${renewal}`,
    );
  return address;
}

function signedText(purpose: string, { id, madeMs, endsMs, by }: SignedAddress): string {
  return `${purpose} ${JSON.stringify([id, madeMs, endsMs, by.kind, by.id])}`;
}
