import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { type ListSeriesChoicesResponse, SeriesService } from '@platform/proto/platform/series/v1/series';
import { clientOf } from '../api/clients.ts';
import { runQueryRequest } from '../api/query-request.ts';
import type { Row } from '../query/pipeline.ts';
import { boundsOf, boundsStage, type TimeRange } from '../range/time-range.ts';
import { exactMs } from '../ui/now.svelte.ts';
import { dateOf } from '../ui/time.ts';
import { type DataPath, pathStage } from './data-path.ts';
import type { PastSpan } from './past-span.ts';
import {
  oldestOf,
  oldestPipeline,
  type Past,
  pastOf,
  pastPipeline,
  type Series,
  sampledOf,
  sampledPipeline,
  seriesOf,
  seriesStage,
} from './series.ts';

export const pageSize = 50;

export interface SeriesPage {
  readonly series: readonly Series[];
  /** Of all pages. */
  readonly total: number;
  /** Without conditions. */
  readonly totalReadable: number;
  /** Series whose first reading arrived later may be missing. */
  readonly listed: Date | undefined;
  readonly ignoresValueNames: boolean;
  readonly answered: Date;
}

export interface PageAsked {
  readonly organizationId: string;
  readonly path: DataPath;
  readonly search: string;
  /** Series with a reading in it or after it. */
  readonly range: TimeRange;
  /** Series before the page. */
  readonly offset: number;
}

const client = clientOf(SeriesService);

export async function loadPage(asked: PageAsked, nowMs: number, signal: AbortSignal): Promise<SeriesPage> {
  const { organizationId, path, search, range, offset } = asked;
  const { since } = boundsOf(range, nowMs);
  const answer = await client.listSeries(
    {
      ...{ organizationId, search, offset, pageSize, locationId: path.location, machineId: path.machine },
      ...{ componentName: path.component, methodName: path.method },
      ...(since !== undefined && { newestSince: timestampFromDate(new Date(since)) }),
    },
    { signal },
  );
  const { total, totalReadable, listedAt, ignoresValueNames, series } = answer;
  return {
    ...{ series: series.map(seriesOf), total, totalReadable, listed: dateOf(listedAt), ignoresValueNames },
    answered: new Date(exactMs()),
  };
}

/** What can be chosen on each level within those above it. */
export async function loadChoices(
  organizationId: string,
  path: DataPath,
  signal: AbortSignal,
): Promise<ListSeriesChoicesResponse> {
  const { location: locationId, machine: machineId, component: componentName } = path;
  return await client.listSeriesChoices({ organizationId, locationId, machineId, componentName }, { signal });
}

interface Asked {
  readonly organizationId: string;
  readonly signal: AbortSignal;
}

/** The past of each of some series, by its key. @throws Error with the cloud's message */
export async function loadPast(
  asked: Asked & { readonly span: PastSpan; readonly nowMs: number },
  series: readonly Series[],
): Promise<ReadonlyMap<string, Past>> {
  const { fromMs, untilMs, isSampled } = asked.span;
  const until = untilMs === undefined ? {} : { until: new Date(untilMs).toISOString() };
  const range = boundsStage({ since: new Date(fromMs).toISOString(), ...until }) ?? {};
  const pipeline = isSampled ? sampledPipeline(fromMs, untilMs ?? asked.nowMs) : pastPipeline;
  const rows = await rowsOf(asked, [range, seriesStage(series), ...pipeline]);
  return isSampled ? sampledOf(rows) : new Map(rows.map(pastOf));
}

/** The first capture day of each series of a path, by its key. @throws Error with the cloud's message */
export async function loadOldest(asked: Asked, path: DataPath): Promise<ReadonlyMap<string, string>> {
  const stage = pathStage(path);
  return new Map((await rowsOf(asked, [...(stage ? [stage] : []), ...oldestPipeline])).map(oldestOf));
}

async function rowsOf({ organizationId, signal }: Asked, mql: readonly Row[]): Promise<readonly Row[]> {
  return (await runQueryRequest({ organization_id: organizationId, format: 'json', mql }, signal)).rows;
}

/** The saved configurations of parts, by part; a part that was deleted, or that the person may not see, is left out. */
export async function configurationsOf(
  partIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, JsonObject>> {
  const fleet = clientOf(FleetService);
  const found = await Promise.all(
    partIds.map(async (partId) => {
      const answer = await fleet.getConfigurationVersion({ partId }, { signal }).catch(() => undefined);
      return answer === undefined ? [] : [[partId, JSON.parse(answer.document || '{}') as JsonObject] as const];
    }),
  );
  return new Map(found.flat());
}
