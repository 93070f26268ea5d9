/** Gaps: the readings of a part that were not captured, or not kept, as its machine-server counts them. Rules: docs/specs/gaps.md. */
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { invalidArgument, type PlatformError } from '@platform/base';
import { fullType } from '@platform/machine-config/built-in-models';
import { lengthFault } from '@platform/machine-config/limits';
import { type Gap, GapReason, GapReasonSchema, GapService } from '@platform/proto/platform/gaps/v1/gaps';
import { serve } from '@platform/rpc/server';
import type { Kysely, SelectQueryBuilder } from 'kysely';
import type { Access } from '../access/authorize.ts';
import { type PartsPort, partsIn } from '../access/parts-in.ts';
import type { CloudBinding, CloudHandlers } from '../access/principal.ts';
import type { CloudTables, Database } from '../metadata/tables.ts';
import type { GapRow } from './store.ts';

export interface GapsDeps {
  readonly db: Database;
  readonly access: Pick<Access, 'authorize' | 'scopeIn'>;
  readonly registry: PartsPort;
}

const mostAtOnce = 1_000;
const defaultLimit = 100;
/** Maximum gaps of a part; the newest are kept, so that a machine that fails for years does not fill the metadata. */
const mostOfPart = 100_000;
const mostReadings = 1e15;

export function gapBinding({ db, access, registry }: GapsDeps): CloudBinding {
  const handlers: CloudHandlers<typeof GapService> = {
    async reportGaps({ partId, gaps }, call) {
      const { organizationId } = access.authorize(call.principal, 'part.act', partId);
      if (gaps.length > mostAtOnce)
        throw refused('ReportGaps', 'gaps', `at most ${mostAtOnce} gaps`, String(gaps.length));
      const rows = gaps.map((gap, index) => rowOf(gap, { partId, organizationId }, `gaps[${index}]`));
      await db.transaction().execute(async (trx) => {
        for (const row of rows) await keep(trx, row);
        if (rows.length > 0) await forgetOldest(trx, partId);
      });
      return {};
    },
    async listGaps(request, call) {
      let query = db.selectFrom('gaps').selectAll();
      if (request.organizationId !== '' && request.partId !== '')
        throw refused('ListGaps', 'organization_id', 'either organization_id or part_id', 'both');
      if (request.organizationId === '') {
        access.authorize(call.principal, 'part.read', request.partId);
        query = query.where('part_id', '=', request.partId);
      } else {
        const scope = access.scopeIn(call.principal, request.organizationId);
        query = query.where('organization_id', '=', scope.organizationId);
        const parts = partsIn(scope, registry);
        if (parts !== undefined) query = query.where('part_id', 'in', parts);
      }
      const limit = Math.min(request.limit || defaultLimit, mostAtOnce);
      const after = tokenOf(request.pageToken);
      if (request.componentType !== '') query = query.where('component_type', '=', fullType(request.componentType));
      if (request.componentName !== '') query = query.where('component_name', '=', request.componentName);
      if (request.methodName !== '') query = query.where('method_name', '=', request.methodName);
      if (request.reasons.length > 0) query = query.where('reason', 'in', [...new Set(request.reasons)]);
      if (request.start !== undefined) query = query.where('end_us', '>', microsOf(request.start));
      if (request.end !== undefined) query = query.where('start_us', '<', microsOf(request.end));
      if (after !== undefined)
        query = query.where((where) =>
          where(
            where.refTuple('start_us', 'gap_id', 'part_id'),
            '<',
            where.tuple(after.startUs, after.id, after.partId),
          ),
        );
      const rows = await newestFirst(query, limit + 1).execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        gaps: page.map(gapOf),
        nextPageToken:
          rows.length > limit && last !== undefined ? `${last.start_us}.${last.gap_id}.${last.part_id}` : '',
      };
    },
  };
  return serve(GapService, handlers);
}

/** In an order that the indexes of gaps have, and that is total. */
export function newestFirst<O>(
  query: SelectQueryBuilder<CloudTables, 'gaps', O>,
  limit: number,
): SelectQueryBuilder<CloudTables, 'gaps', O> {
  return query.orderBy('start_us', 'desc').orderBy('gap_id', 'desc').orderBy('part_id', 'desc').limit(limit);
}

/** Number of captured readings of a part that are lost; readings that were never captured are not included. */
export async function lostReadings(db: Kysely<Pick<CloudTables, 'gaps'>>, partId: string): Promise<number> {
  const { QUEUE_FULL, DISCARDED, TOO_LARGE, DAMAGED, REFUSED, UNWRITTEN } = GapReason;
  const row = await db
    .selectFrom('gaps')
    .select(({ fn }) => fn.sum<number | string | null>('readings').as('readings'))
    .where('part_id', '=', partId)
    .where('reason', 'in', [QUEUE_FULL, DISCARDED, TOO_LARGE, DAMAGED, REFUSED, UNWRITTEN])
    .executeTakeFirst();
  return Number(row?.readings ?? 0);
}

/** Must be called in the transaction that deletes a part. */
export async function deleteGapsOfPart(trx: Database, partId: string): Promise<void> {
  await trx.deleteFrom('gaps').where('part_id', '=', partId).execute();
}

/** Must be called in the transaction that deletes an organization. */
export async function deleteGaps(trx: Database, organizationId: string): Promise<void> {
  await trx.deleteFrom('gaps').where('organization_id', '=', organizationId).execute();
}

/** A gap that is reported again may have grown; an older report that arrives late changes nothing. */
async function keep(trx: Database, row: GapRow): Promise<void> {
  await trx
    .insertInto('gaps')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['part_id', 'gap_id'])
        .doUpdateSet({ start_us: row.start_us, end_us: row.end_us, readings: row.readings })
        .where('gaps.readings', '<', row.readings),
    )
    .execute();
}

async function forgetOldest(trx: Database, partId: string): Promise<void> {
  const oldest = await trx
    .selectFrom('gaps')
    .select('start_us')
    .where('part_id', '=', partId)
    .orderBy('start_us', 'desc')
    .offset(mostOfPart)
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await trx.deleteFrom('gaps').where('part_id', '=', partId).where('start_us', '<=', oldest.start_us).execute();
}

function rowOf(gap: Gap, of: { partId: string; organizationId: string }, path: string): GapRow {
  const wrong = (key: string, expected: string, found: string): never => {
    throw refused('ReportGaps', `${path}.${key}`, expected, found);
  };
  if (!/^[\w-]{1,64}$/.test(gap.id))
    wrong('id', '1 to 64 letters, digits, - and _', JSON.stringify(gap.id.slice(0, 80)));
  const names = { component_type: gap.componentType, component_name: gap.componentName, method_name: gap.methodName };
  for (const [key, text] of Object.entries(names)) {
    if (text === '') wrong(key, 'a name', 'none');
    const fault = lengthFault(text);
    if (fault !== undefined) throw invalidArgument(`ReportGaps: ${path}.${key}: ${fault}`);
  }
  if (GapReasonSchema.value[gap.reason] === undefined || gap.reason === GapReason.UNSPECIFIED)
    wrong('reason', 'a GapReason', String(gap.reason));
  if (gap.start === undefined || gap.end === undefined) return wrong('start', 'start and end', 'none');
  const [startUs, endUs] = [microsOf(gap.start), microsOf(gap.end)];
  if (!Number.isSafeInteger(startUs) || !Number.isSafeInteger(endUs) || endUs < startUs)
    wrong('end', 'a time not before start', `${startUs} to ${endUs} µs`);
  if (gap.readings > BigInt(mostReadings)) wrong('readings', `at most ${mostReadings}`, String(gap.readings));
  return {
    ...{ part_id: of.partId, organization_id: of.organizationId, gap_id: gap.id },
    component_type: fullType(gap.componentType),
    component_name: gap.componentName,
    method_name: gap.methodName,
    reason: gap.reason,
    ...{ start_us: startUs, end_us: endUs, readings: Number(gap.readings) },
  };
}

function gapOf(row: GapRow) {
  return {
    id: row.gap_id,
    componentType: row.component_type,
    componentName: row.component_name,
    methodName: row.method_name,
    reason: row.reason,
    start: timestampOf(row.start_us),
    end: timestampOf(row.end_us),
    readings: BigInt(row.readings),
    partId: row.part_id,
  };
}

function tokenOf(
  token: string,
): { readonly startUs: number; readonly id: string; readonly partId: string } | undefined {
  if (token === '') return undefined;
  const [, startUs, id, partId] = /^(-?\d{1,16})\.([\w-]{1,64})\.([\w-]{1,64})$/.exec(token) ?? [];
  if (startUs !== undefined && id !== undefined && partId !== undefined)
    return { startUs: Number(startUs), id, partId };
  throw refused('ListGaps', 'page_token', 'the page token of an earlier answer', JSON.stringify(token.slice(0, 64)));
}

function microsOf({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1e6 + Math.floor(nanos / 1_000);
}

function timestampOf(micros: number): { seconds: bigint; nanos: number } {
  const seconds = Math.floor(micros / 1e6);
  return { seconds: BigInt(seconds), nanos: (micros - seconds * 1e6) * 1_000 };
}

function refused(operation: string, path: string, expected: string, found: string): PlatformError {
  return invalidArgument(`${operation}: ${path}: expected ${expected}, found ${found}`);
}
