/**
 * Signed addresses: anyone with the address can download one object without authentication, until the address expires.
 *
 * An address contains its object, its creation time, its expiry and its principal. An HMAC under the instance key covers all of it.
 */
import { permissionDenied } from '@platform/base';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Principal } from './principal.ts';

/** In whose name an address is made; `session`: it ends with the session of a person. */
export type AddressMaker = Principal['kind'] | 'session';

export interface SignedAddress<K extends AddressMaker = AddressMaker> {
  /** Id of the object that the address opens. */
  readonly id: string;
  readonly madeMs: number;
  readonly endsMs: number;
  readonly by: { readonly kind: K; readonly id: string };
}

/** Defines one kind of signed address. */
export interface AddressKind<K extends AddressMaker> {
  /** Part of the signed text, so that an address of one kind is not valid for another. */
  readonly purpose: string;
  /** Kinds of principal in whose name an address can be made. */
  readonly by: readonly K[];
  /** Tells the user what to do once an address has expired. */
  readonly renewal: string;
}

/** Addresses that a person makes end with the session in which they were made (D5, D49). */
export function makerOf(principal: Principal): { readonly kind: 'key' | 'part' | 'session'; readonly id: string } {
  return principal.kind === 'person'
    ? { kind: 'session', id: principal.sessionId }
    : { kind: principal.kind, id: idOf(principal) };
}

export function idOf(principal: Principal): string {
  if (principal.kind === 'part') return principal.partId;
  return principal.kind === 'key' ? principal.keyId : principal.personId;
}

/** Returns the query string of the address. */
export function signedQuery<K extends AddressMaker>(
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

/** Undefined if the address is not signed. @throws permission_denied if it was not signed by us, was changed or has expired */
export function readSignedQuery<K extends AddressMaker>(
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
    throw permissionDenied('signed address: expected one that this cloud created, found a different one');
  if (endsMs <= nowMs)
    throw permissionDenied(
      `signed address: expected one that is still valid, found that it expired at ${new Date(endsMs).toISOString()}; ${renewal}`,
    );
  return address;
}

function signedText(purpose: string, { id, madeMs, endsMs, by }: SignedAddress): string {
  return `${purpose} ${JSON.stringify([id, madeMs, endsMs, by.kind, by.id])}`;
}
