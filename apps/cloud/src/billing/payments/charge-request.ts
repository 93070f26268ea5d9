/** What makes charge requests equal (D44). A client names a request with the header `idempotency-key`; otherwise its content does. */
import { createHash } from 'node:crypto';
import { invalidArgument } from '@platform/base';
import { authorOf, type Caller } from '../../access/audit.ts';

export interface ChargeRequest {
  /** Within the charged organization. */
  readonly key: string;
  /** Hash of the request's content. */
  readonly request: string;
  /** The client gave no key: equal charges of a caller have the same. */
  readonly isDerived: boolean;
}

export const keyHeader = 'idempotency-key';

/**
 * @param charge the amounts and the description
 * @param others what else was requested. With a key, it may not differ either
 * @throws invalid_argument for an invalid key
 */
export function chargeRequest(
  by: Caller & { readonly metadata: Headers },
  operation: string,
  charge: readonly unknown[],
  others: readonly unknown[],
): ChargeRequest {
  const given = by.metadata.get(keyHeader);
  if (given === null) {
    const { kind, id } = authorOf(by);
    const request = hashOf([kind, id, operation, ...charge]);
    return { request, key: `derived:${request}`, isDerived: true };
  }
  if (/^[\x21-\x7e]{1,255}$/.test(given))
    return { request: hashOf([operation, ...charge, ...others]), key: `given:${given}`, isDerived: false };
  throw invalidArgument(
    `${keyHeader}: expected 1 to 255 visible ASCII characters, found ${JSON.stringify(given.slice(0, 80))}`,
  );
}

function hashOf(values: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}
