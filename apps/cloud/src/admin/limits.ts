/** The limits of each organization: defaults, or values set by the host administrator. Kept in memory for cheap reads. */
import { invalidArgument, notFound } from '@platform/base';
import { audit, type OwnActor } from '../access/audit.ts';
import { isOrganizationStored } from '../accounts/organizations/stored-organizations.ts';
import { defaultMaxFragments } from '../fragments/require-capacity.ts';
import { bytesPerDay, bytesPerMinute, linesPerMinute } from '../machines/logs/limits.ts';
import type { Allowance } from '../machines/logs/quota.ts';
import type { Database } from '../metadata/tables.ts';
import { monthOf, scannedBytes } from '../tabular/query/scan-meter.ts';

interface LimitKind {
  readonly default: number;
  readonly unit: string;
  readonly meaning: string;
}

/** All limits. A value of 0 allows nothing. */
export const limitKinds: Readonly<
  Record<
    | 'query-bytes-per-month'
    | 'fragments'
    | 'invitation-mails-per-day'
    | 'machine-log-lines-per-minute'
    | 'machine-log-bytes-per-day',
    LimitKind
  >
> = {
  'query-bytes-per-month': {
    default: 100_000_000_000_000,
    unit: 'logical bytes',
    meaning: 'how much queries, exports and triggers of the organization may scan in a UTC month (D26)',
  },
  fragments: {
    default: defaultMaxFragments,
    unit: 'fragments',
    meaning: 'how many fragments the organization may have',
  },
  'invitation-mails-per-day': {
    default: 50,
    unit: 'mails',
    meaning: 'how many invitations the organization may mail in 24 hours',
  },
  'machine-log-lines-per-minute': {
    default: linesPerMinute,
    unit: 'lines',
    meaning: 'how much machine log one part may send per minute; the excess is counted and dropped (D29)',
  },
  'machine-log-bytes-per-day': {
    default: bytesPerDay,
    unit: 'bytes',
    meaning: 'how much machine log is stored per part and UTC day (D29)',
  },
};

export type LimitName = keyof typeof limitKinds;

export interface Limit {
  readonly name: LimitName;
  readonly value: number;
  readonly default: number;
  readonly unit: string;
}

export interface Limits {
  /** The current limit. Synchronous. */
  limitOf(organizationId: string, name: LimitName): number;
  list(organizationId: string): Limit[];
  /**
   * @param value null: restores the default. Audited.
   * @throws invalid_argument for an unknown name or a value that is not a whole number from 0; not_found for an unknown organization.
   */
  set(organizationId: string, name: string, value: number | null, by: OwnActor, nowMs: number): Promise<void>;
}

export async function openLimits(db: Database): Promise<Limits> {
  const values = new Map<string, number>();
  const keyOf = (organizationId: string, name: string): string => `${organizationId}\0${name}`;
  for (const row of await db.selectFrom('limits').selectAll().execute())
    values.set(keyOf(row.organization_id, row.name), row.value);

  const limitOf = (organizationId: string, name: LimitName): number =>
    values.get(keyOf(organizationId, name)) ?? limitKinds[name].default;
  return {
    limitOf,
    list: (organizationId) =>
      limitNames().map((name) => ({
        name,
        value: limitOf(organizationId, name),
        default: limitKinds[name].default,
        unit: limitKinds[name].unit,
      })),
    async set(organizationId, given, value, by, nowMs) {
      const name = limitNames().find((one) => one === given);
      if (name === undefined)
        throw invalidArgument(`limit: expected one of ${limitNames().join(', ')}, found ${JSON.stringify(given)}`);
      if (value !== null && !(Number.isSafeInteger(value) && value >= 0))
        throw invalidArgument(
          `limit ${name}: expected a whole number of ${limitKinds[name].unit} from 0, found ${value}`,
        );
      await db.transaction().execute(async (trx) => {
        await requireOrganization(trx, organizationId);
        await trx.deleteFrom('limits').where('organization_id', '=', organizationId).where('name', '=', name).execute();
        if (value !== null)
          await trx
            .insertInto('limits')
            .values({ organization_id: organizationId, name, value, changed_ms: nowMs })
            .execute();
        const detail = { from: limitOf(organizationId, name), to: value ?? limitKinds[name].default };
        await audit(trx, by, nowMs, 'admin.limits.set', ['limit', name, organizationId], detail);
      });
      if (value === null) values.delete(keyOf(organizationId, name));
      else values.set(keyOf(organizationId, name), value);
    },
  };
}

/** @throws not_found */
export async function requireOrganization(db: Database, organizationId: string): Promise<void> {
  if (await isOrganizationStored(db, organizationId)) return;
  throw notFound(`organization: expected the id of one in this installation, found ${JSON.stringify(organizationId)}`);
}

function limitNames(): LimitName[] {
  return Object.keys(limitKinds) as LimitName[];
}

/** How much each part of an organization may log, as set by the host administrator; a change applies from the next line. */
export function machineLogAllowance(limits: Pick<Limits, 'limitOf'>, organizationId: string): Allowance {
  return {
    get linesPerMinute() {
      return limits.limitOf(organizationId, 'machine-log-lines-per-minute');
    },
    bytesPerMinute,
    get bytesPerDay() {
      return limits.limitOf(organizationId, 'machine-log-bytes-per-day');
    },
  };
}

/** Deletes an organization's limits in the transaction of its deletion. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  await trx.deleteFrom('limits').where('organization_id', '=', organizationId).execute();
}

export interface UsedLimit extends Limit {
  /** In the unit of the limit; null: not counted. */
  readonly used: number | null;
}

/** Limits with their current usage, where it is counted. @param nowMs selects the month of the scanned bytes (D26). */
export async function limitUsage(
  db: Database,
  organizationId: string,
  limits: readonly Limit[],
  nowMs: number,
): Promise<UsedLimit[]> {
  const scanned = await scannedBytes(db, organizationId, monthOf(nowMs));
  return limits.map((limit) => ({
    ...limit,
    used: limit.name === 'query-bytes-per-month' ? scanned : null,
  }));
}
