/** Whether an organization bills its customers through the platform, and the address on its invoices. */
import { create, fromJsonString, toJsonString } from '@bufbuild/protobuf';
import { alreadyExists, failedPrecondition, invalidArgument, type PlatformError } from '@platform/base';
import { type BillingAddress, BillingAddressSchema } from '@platform/proto/platform/app/v1/app';
import { audit, type Caller } from '../../access/audit.ts';
import { requireAllRows } from '../../metadata/row-checks/require-complete.ts';
import { checkedText } from '../../text-rules/checked-text.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { billingServices } from '../store.ts';

type BillingDeps = Pick<AccountsDeps, 'db' | 'clock'>;

const maxLineLength = 200;

/** The caller must own the organization. @throws invalid_argument; already_exists if it is enabled */
export async function enableBillingService(
  { db, clock }: BillingDeps,
  by: Caller,
  organizationId: string,
  address: BillingAddress | undefined,
): Promise<void> {
  const text = checkedAddress(address);
  await db.transaction().execute(async (trx) => {
    const added = await trx
      .insertInto('billing_services')
      .values({ organization_id: organizationId, address: text, enabled_ms: clock.now() })
      .onConflict((conflict) => conflict.column('organization_id').doNothing())
      .returning('organization_id')
      .executeTakeFirst();
    if (added === undefined)
      throw alreadyExists(
        `billing service of organization ${organizationId}: expected none, found it enabled already; change its address with UpdateBillingService`,
      );
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, by, clock.now(), 'AppService.EnableBillingService', target);
  });
}

/** The caller must own the organization. @throws invalid_argument; failed_precondition if it is not enabled */
export async function updateBillingService(
  { db, clock }: BillingDeps,
  by: Caller,
  organizationId: string,
  address: BillingAddress | undefined,
): Promise<void> {
  const text = checkedAddress(address);
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('billing_services')
      .set({ address: text })
      .where('organization_id', '=', organizationId)
      .returning('organization_id')
      .executeTakeFirstOrThrow(() => notEnabled(organizationId));
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, by, clock.now(), 'AppService.UpdateBillingService', target);
  });
}

/** The caller must own the organization. @throws failed_precondition if it is not enabled */
export async function disableBillingService(
  { db, clock }: BillingDeps,
  by: Caller,
  organizationId: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .deleteFrom('billing_services')
      .where('organization_id', '=', organizationId)
      .returning('organization_id')
      .executeTakeFirstOrThrow(() => notEnabled(organizationId));
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, by, clock.now(), 'AppService.DisableBillingService', target);
  });
}

/** @throws failed_precondition if it is not enabled; data_loss when its row was altered */
export async function readBillingAddress({ db }: BillingDeps, organizationId: string): Promise<BillingAddress> {
  const row = await readService(db, organizationId);
  if (row === undefined) throw notEnabled(organizationId);
  return fromJsonString(BillingAddressSchema, row.address);
}

/** In the form used on letters. */
export function linesOfAddress(address: BillingAddress): readonly string[] {
  const { addressLine1, addressLine2 = '', city, state, zipcode, country } = address;
  const place = [zipcode, city, state].filter((part) => part !== '').join(' ');
  return [addressLine1, addressLine2, place, country].filter((line) => line !== '');
}

/** Whether the organization bills others. @throws data_loss when its row was altered */
export async function isBillingServiceEnabled(db: BillingDeps['db'], organizationId: string): Promise<boolean> {
  return (await readService(db, organizationId)) !== undefined;
}

async function readService(db: BillingDeps['db'], organizationId: string) {
  const rows = await db
    .selectFrom('billing_services')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .execute();
  await requireAllRows(db, billingServices, [organizationId], rows);
  return rows[0];
}

function notEnabled(organizationId: string): PlatformError {
  return failedPrecondition(
    `billing service of organization ${organizationId}: expected it to be enabled, found it disabled; call EnableBillingService (platform billing service enable) first`,
  );
}

/** Returns JSON. The second line and the state may be empty, as in many countries. */
function checkedAddress(address: BillingAddress | undefined): string {
  const { addressLine1 = '', addressLine2 = '', city = '', state = '', zipcode = '', country = '' } = address ?? {};
  const line = (text: string, field: string): string => checkedText(text, `billing_address.${field}`, maxLineLength);
  const needed = (text: string, field: string): string => {
    const checked = line(text, field);
    if (checked !== '') return checked;
    throw invalidArgument(`billing_address.${field}: expected a string, found none`);
  };
  return toJsonString(
    BillingAddressSchema,
    create(BillingAddressSchema, {
      addressLine1: needed(addressLine1, 'address_line_1'),
      ...(addressLine2 === '' ? {} : { addressLine2: line(addressLine2, 'address_line_2') }),
      city: needed(city, 'city'),
      state: line(state, 'state'),
      zipcode: needed(zipcode, 'zipcode'),
      country: needed(country, 'country'),
    }),
  );
}
