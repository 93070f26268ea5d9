/**
 * Set-ups of payment methods on a page of the provider. States: pending → attached | superseded | expired, all final. The method is
 * attached when the provider reports that the page was completed: after an event, or when it is asked, at growing intervals. A set-up is
 * superseded if one that was begun later is already attached.
 */
import { type ClockAndLog, errorText, failedPrecondition, newId, unavailable } from '@platform/base';
import { audit, type Caller, type OwnActor } from '../../access/audit.ts';
import type { Database } from '../../metadata/tables.ts';
import type { BillingTables } from '../store.ts';
import { firstPollMs, nextPollMs } from './poll-delay.ts';
import type { PaymentProvider, SetUpMethod } from './provider.ts';
import { withDeadline } from './with-deadline.ts';

export interface SetupDeps extends ClockAndLog {
  readonly db: Database;
  readonly provider: PaymentProvider;
}

export interface Begun {
  readonly url: string;
  readonly expiresMs: number;
}

type SetupRow = BillingTables['payment_setups'];

const timeoutMs = 15_000;
const setupsAtOnce = 100;
const actor: OwnActor = { kind: 'platform', name: 'billing' };

/** @throws failed_precondition if the provider has no such page; unavailable */
export async function beginSetup(
  { db, provider, clock, log }: SetupDeps,
  by: Caller,
  organizationId: string,
  returnUrl: string,
  signal: AbortSignal,
): Promise<Begun> {
  const { setup } = provider;
  if (setup === undefined)
    throw failedPrecondition(
      provider.name === 'test'
        ? 'payment provider: expected stripe, found test: attach a test card (platform billing method set)'
        : `payment provider: expected stripe, found ${provider.name}, with which no payment methods are attached; the host administrator chooses it (PLATFORM_PAYMENT_PROVIDER)`,
    );
  const id = newId();
  const begun = await withDeadline(clock, timeoutMs, signal, (ended) =>
    setup.begin({ id, organizationId, returnUrl }, ended),
  ).catch((caught: unknown) => {
    log.warn('a payment provider did not begin a set-up', { error: errorText(caught) });
    return undefined;
  });
  if (begun === undefined) throw unavailable('the payment provider does not answer, or refuses; try again later');
  const nowMs = clock.now();
  await db.transaction().execute(async (trx) => {
    const row = { id, organization_id: organizationId, provider: provider.name, session: begun.session };
    await trx
      .insertInto('payment_setups')
      .values({ ...row, state: 'pending', created_ms: nowMs, next_ask_ms: nowMs + firstPollMs, finished_ms: null })
      .execute();
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, by, nowMs, 'InvoiceService.BeginPaymentMethodSetup', target, { setup: id });
  });
  return begun;
}

/** Attaches the methods of completed set-ups, and asks again about others that are due; true: there may be more. */
export async function settleSetups(deps: SetupDeps, signal: AbortSignal): Promise<boolean> {
  const { db, provider, clock, log } = deps;
  const { setup } = provider;
  if (setup === undefined) return false;
  const due = await db
    .selectFrom('payment_setups')
    .selectAll()
    .where('state', '=', 'pending')
    .where('provider', '=', provider.name)
    .where('next_ask_ms', '<=', clock.now())
    .orderBy('next_ask_ms')
    .limit(setupsAtOnce)
    .execute();
  for (const row of due) {
    if (signal.aborted) return false;
    try {
      const found =
        (await withDeadline(clock, timeoutMs, signal, (ended) => setup.find(row.session, ended))) ?? 'pending';
      if (found === 'pending') await askLater(deps, row);
      else if (found === 'expired') await endSetup(db, row, 'expired', clock.now());
      else await attach(deps, row, found);
    } catch (caught) {
      log.warn('a payment provider did not answer; asking again later', { setup: row.id, error: errorText(caught) });
      await askLater(deps, row);
    }
  }
  return due.length === setupsAtOnce;
}

async function askLater({ db, clock }: SetupDeps, { id, created_ms }: SetupRow): Promise<void> {
  const next = nextPollMs(created_ms, clock.now());
  await db
    .updateTable('payment_setups')
    .set({ next_ask_ms: next })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .execute();
}

/** @returns false: it had already ended */
async function endSetup(db: Database, { id }: SetupRow, state: SetupRow['state'], nowMs: number): Promise<boolean> {
  const ended = await db
    .updateTable('payment_setups')
    .set({ state, finished_ms: nowMs })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .returning('id')
    .executeTakeFirst();
  return ended !== undefined;
}

async function attach({ db, clock }: SetupDeps, row: SetupRow, found: SetUpMethod): Promise<void> {
  const nowMs = clock.now();
  const { brand, lastFour, method } = found;
  await db.transaction().execute(async (trx) => {
    const later = await trx
      .selectFrom('payment_setups')
      .select('id')
      .where('organization_id', '=', row.organization_id)
      .where('state', '=', 'attached')
      .where('created_ms', '>', row.created_ms)
      .limit(1)
      .executeTakeFirst();
    if (!(await endSetup(trx, row, later === undefined ? 'attached' : 'superseded', nowMs)) || later !== undefined)
      return;
    const values = { provider: row.provider, brand, last_four: lastFour, method, added_ms: nowMs };
    await trx
      .insertInto('payment_methods')
      .values({ organization_id: row.organization_id, ...values })
      .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(values))
      .execute();
    const target = ['organization', row.organization_id, row.organization_id] as const;
    await audit(trx, actor, nowMs, 'InvoiceService.BeginPaymentMethodSetup', target, {
      setup: row.id,
      attached: brand,
    });
  });
}
