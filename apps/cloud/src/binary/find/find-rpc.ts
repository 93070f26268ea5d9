/** DataService methods that read binary data: by filter, by id, and the existing tags and labels. */

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { dataLoss, type PlatformError, resourceExhausted } from '@platform/base';
import {
  type BinaryDataSchema,
  DataRequestSchema,
  type DataService,
  type Filter,
  FilterSchema,
} from '@platform/proto/platform/app/data/v1/data';
import type { CloudCall, CloudHandlers } from '../../access/principal.ts';
import type { LogLoss } from '../../ingest/log/log.ts';
import { positionsText } from '../../ingest/losses/positions-text.ts';
import type { CheckedTable } from '../../metadata/row-checks/checked-table.ts';
import type { BinaryOperationDeps } from '../binary-deps.ts';
import { createLoadBytes } from '../download/load-bytes.ts';
import type { OpenFile } from '../download/open-file.ts';
import { answerBytes, defaultPage, maxPage, maxTexts, pageBytes } from '../limits.ts';
import { organizationsIn, type Scopes, scopesOf } from '../scopes.ts';
import { datasetFiles, fileBoxes, fileTags } from '../store.ts';
import { describeFiles } from './describe-files.ts';
import { checkFilter } from './filter.ts';
import { countFiles, daysOf, type FileRow, filesNamed, namedFiles, pageOfFiles, requireFiles } from './find-files.ts';
import { pageToken, readPageToken } from './page-token.ts';
import { requireBoxesOf, requireFoundBy } from './require-labels.ts';
import { visibleFilter } from './require-places.ts';
import { type SliceCondition, walkFiles } from './walk-files.ts';

type FileData = MessageInitShape<typeof BinaryDataSchema>;

interface FindDeps {
  readonly openFile: OpenFile;
  readonly losses: () => readonly LogLoss[];
  /** Undefined: unknown, for example for a deleted part. */
  readonly organizationOf: (partId: string) => string | undefined;
}

export function findHandlers(deps: BinaryOperationDeps & FindDeps): CloudHandlers<typeof DataService> {
  const { db, rows: watch, access, caughtUp, baseUrl, clock } = deps;
  const withBytes = createLoadBytes(deps.openFile);

  /** The scopes that the caller may read (empty: nothing), once everything acknowledged can be found. */
  const admit = async (given: Filter | undefined, call: CloudCall): Promise<{ filter: Filter; scopes: Scopes }> => {
    const filter = given ?? create(FilterSchema);
    checkFilter(filter);
    await caughtUp(call.signal);
    const scopes = scopesOf(access, call.principal, 'operator');
    requireNoneLost(deps.losses(), scopes, filter, deps.organizationOf);
    const seen = await visibleFilter(deps, call.principal, filter);
    if (seen === undefined) return { filter: create(FilterSchema), scopes: [] };
    if (seen.datasetId !== '') await watch.requireComplete(datasetFiles, [seen.datasetId]);
    return { filter: seen, scopes };
  };

  const answerOf = async (rows: readonly FileRow[], include: boolean, call: CloudCall): Promise<FileData[]> => {
    const described = await describeFiles(deps, rows, baseUrl(call.metadata), (organizationId) =>
      access.allows(call.principal, 'organization.read', organizationId),
    );
    if (!include) return described.map((metadata) => ({ metadata }));
    return withBytes(async (load) => {
      const data: FileData[] = [];
      for (const [index, row] of rows.entries()) {
        const metadata = described[index];
        const binary = await load(row);
        // The file may have just been deleted.
        if (metadata !== undefined && binary !== undefined) data.push({ metadata, binary });
        call.signal.throwIfAborted();
      }
      return data;
    });
  };

  /** @throws data_loss when some of the files that could match are known to be missing */
  const requireAll = async (filter: Filter, scopes: Scopes): Promise<void> => {
    const organizationIds = organizationsIn(scopes, filter.organizationIds);
    await requireFiles(watch, organizationIds, daysOf(filter));
    await requireFoundBy(watch, { filter, organizationIds, days: daysOf(filter) });
  };

  /** The distinct texts of all slices. @param table that has them @throws resource_exhausted, data_loss */
  const textsOf = async (
    what: string,
    table: CheckedTable,
    filter: Filter,
    scopes: Scopes,
    signal: AbortSignal,
    look: (slice: SliceCondition) => Promise<readonly { readonly text: string }[]>,
  ): Promise<string[]> => {
    await requireAll(filter, scopes);
    const organizationIds = organizationsIn(scopes, filter.organizationIds);
    await watch.requireComplete(table, organizationIds, daysOf(filter));
    await watch.requireIntact(table, organizationIds, daysOf(filter));
    const texts = new Set<string>();
    for await (const slice of walkFiles(db, { filter, scopes, direction: 'asc', nowMs: clock.now(), signal })) {
      for (const { text } of await look(slice)) texts.add(text);
      if (texts.size > maxTexts)
        throw resourceExhausted(`${what}: expected at most ${maxTexts} different ones, found more; narrow the filter`);
    }
    return [...texts].toSorted();
  };

  return {
    async binaryDataByFilter({ dataRequest, includeBinary, countOnly }, call) {
      const { filter: given, limit, last, sortOrder } = dataRequest ?? create(DataRequestSchema);
      const after = readPageToken(last, 'last');
      const { filter, scopes } = await admit(given, call);
      if (countOnly) {
        await requireAll(filter, scopes);
        const { count, bytes } = await countFiles(db, filter, scopes, clock.now(), call.signal);
        return { count: BigInt(count), totalSizeBytes: BigInt(bytes) };
      }
      const size = limit === 0n ? defaultPage : Number(limit > BigInt(maxPage) ? maxPage : limit);
      const page = { filter, scopes, after, order: sortOrder, limit: size, nowMs: clock.now() };
      const found = await pageOfFiles(deps, page, call.signal);
      const rows = includeBinary ? thatFit(found) : found;
      const end = rows.at(-1);
      return {
        data: await answerOf(rows, includeBinary, call),
        count: BigInt(rows.length),
        // An empty page repeats the client's token, so that the client stays at the end instead of starting over.
        last: end === undefined ? last : pageToken({ at: end.captured_us, id: end.id }),
        totalSizeBytes: BigInt(sizeOf(rows)),
      };
    },

    async binaryDataByIDs({ binaryDataIds, binaryIds, includeBinary }, call) {
      const named = namedFiles(binaryDataIds, binaryIds);
      await caughtUp(call.signal);
      const rows = await filesNamed(deps, named, scopesOf(access, call.principal, 'operator'), clock.now());
      if (includeBinary && sizeOf(rows) > answerBytes) throw tooLarge(rows);
      await requireBoxesOf(watch, rows);
      return { data: await answerOf(rows, includeBinary, call), count: BigInt(rows.length) };
    },

    async tagsByFilter(request, call) {
      const { filter, scopes } = await admit(request.filter, call);
      const tags = await textsOf('tags', fileTags, filter, scopes, call.signal, (slice) =>
        db
          .selectFrom('binary_data')
          .innerJoin('binary_data_tags', 'binary_data_tags.binary_data_id', 'binary_data.id')
          .select('tag as text')
          .distinct()
          .where(slice)
          .execute(),
      );
      return { tags };
    },

    async boundingBoxLabelsByFilter(request, call) {
      const { filter, scopes } = await admit(request.filter, call);
      const labels = await textsOf('labels', fileBoxes, filter, scopes, call.signal, (slice) =>
        db
          .selectFrom('binary_data')
          .innerJoin('binary_data_boxes', 'binary_data_boxes.binary_data_id', 'binary_data.id')
          .select('label as text')
          .distinct()
          .where(slice)
          .execute(),
      );
      return { labels };
    },
  };
}

/** The first files that fit in a page; at least one. */
function thatFit(rows: readonly FileRow[]): readonly FileRow[] {
  let bytes = 0;
  const end = rows.findIndex(({ size_bytes }, index) => {
    bytes += size_bytes;
    return index > 0 && bytes > pageBytes;
  });
  const fitting = end === -1 ? rows : rows.slice(0, end);
  if (sizeOf(fitting) > answerBytes) throw tooLarge(fitting);
  return fitting;
}

function sizeOf(rows: readonly FileRow[]): number {
  return rows.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
}

/** Public clients that get this error download the file from its `uri`. */
function tooLarge(rows: readonly FileRow[]): PlatformError {
  return resourceExhausted(
    `include_binary: expected files of at most ${answerBytes} bytes in total, found ${sizeOf(rows)} bytes in ${rows.length} (first ${rows[0]?.id}); request fewer at once, or omit include_binary and download each from its uri`,
  );
}

/**
 * D33: a list that could include uploads lost from the ingest log is DATA_LOSS until a person accepts the loss.
 * @param organizationOf the organization of a part; undefined: unknown, for example after the part was deleted
 * @throws data_loss naming the positions
 */
function requireNoneLost(
  losses: readonly LogLoss[],
  scopes: Scopes,
  { partId, organizationIds }: Filter,
  organizationOf: (partId: string) => string | undefined,
): void {
  const seen = organizationsIn(scopes, organizationIds);
  if (seen.length === 0) return;
  const isSeen = (part: string): boolean => {
    if (partId !== '' && partId !== part) return false;
    const organizationId = organizationOf(part);
    return organizationId === undefined || seen.includes(organizationId);
  };
  const lost = losses.find(
    ({ lossIn, acceptedMs, parts }) =>
      lossIn === 'binary data' && acceptedMs === null && (parts === null || parts.some(isSeen)),
  );
  if (lost === undefined) return;
  throw dataLoss(
    `acknowledged uploads are lost from the ingest log at ${positionsText(lost)}, so this list could be incomplete. Meanwhile, request other parts, or files by their ids. The host administrator can see what is lost in platform admin status`,
  );
}
