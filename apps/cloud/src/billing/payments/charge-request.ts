/**
 * Which charge requests are identical. A client names a request with the header `idempotency-key`; without one, equal requests of a caller
 * within 24 hours are identical.
 */
import { createHash } from 'node:crypto';
import { PlatformError } from '@platform/base';
import type { Transaction } from 'kysely';
import { authorOf, type Caller } from '../../access/audit.ts';
import type { CloudTables } from '../../metadata/tables.ts';

export interface ChargeRequest {
  readonly key: string;
  /** Hash of the request's content. */
  readonly request: string;
  readonly isDerived: boolean;
}

const header = 'idempotency-key';
const derivedForMs = 24 * 3_600_000;

/** @param content of the request. @throws invalid_argument for an invalid key */
export function chargeRequest(
  by: Caller & { readonly metadata: Headers },
  operation: string,
  content: readonly unknown[],
): ChargeRequest {
  const request = createHash('sha256')
    .update(JSON.stringify([operation, ...content]))
    .digest('hex');
  const given = by.metadata.get(header);
  if (given === null) {
    const { kind, id } = authorOf(by);
    const key = createHash('sha256')
      .update(JSON.stringify([kind, id, request]))
      .digest('hex');
    return { request, key: `derived:${key}`, isDerived: true };
  }
  if (/^[\x21-\x7e]{1,255}$/.test(given)) return { request, key: `given:${given}`, isDerived: false };
  throw new PlatformError(
    'invalid_argument',
    `${header}: expected 1 to 255 visible ASCII characters, found ${JSON.stringify(given.slice(0, 80))}`,
  );
}

/**
 * The invoice of an earlier identical request; undefined: there is none, and this one is recorded for `invoiceId`.
 *
 * @throws invalid_argument if the client used the key for another request before
 */
export async function sameRequest(
  trx: Transaction<CloudTables>,
  organizationId: string,
  { key, request, isDerived }: ChargeRequest,
  invoiceId: string,
  nowMs: number,
): Promise<string | undefined> {
  const row = { organization_id: organizationId, key, request, invoice_id: invoiceId, created_ms: nowMs };
  const added = await trx
    .insertInto('charge_requests')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'key'])
        .doUpdateSet({ invoice_id: invoiceId, created_ms: nowMs })
        .where('charge_requests.created_ms', '<=', isDerived ? nowMs - derivedForMs : -1),
    )
    .returning('invoice_id')
    .executeTakeFirst();
  if (added !== undefined) return undefined;
  const before = await trx
    .selectFrom('charge_requests')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('key', '=', key)
    .executeTakeFirstOrThrow();
  if (before.request === request) return before.invoice_id;
  throw new PlatformError(
    'invalid_argument',
    `${header}: expected a new key, found one of an earlier request with different content`,
  );
}
