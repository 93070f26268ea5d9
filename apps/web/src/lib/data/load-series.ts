import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { type ListSeriesChoicesResponse, SeriesService } from '@platform/proto/platform/series/v1/series';
import { clientOf } from '../api/clients.ts';
import { runQueryRequest } from '../api/query-request.ts';
import { type Row, rangeStage } from '../query/pipeline.ts';
import { dateOf } from '../ui/time.ts';
import { type DataPath, pathStage } from './data-path.ts';
import {
  oldestOf,
  oldestPipeline,
  type Past,
  pastOf,
  pastPipeline,
  type Series,
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
}

export interface PageAsked {
  readonly organizationId: string;
  readonly path: DataPath;
  readonly search: string;
  /** Series with a reading in this time; 0: all. */
  readonly rangeMs: number;
  /** Series before the page. */
  readonly offset: number;
}

const client = clientOf(SeriesService);

export async function loadPage(asked: PageAsked, nowMs: number, signal: AbortSignal): Promise<SeriesPage> {
  const { organizationId, path, search, rangeMs, offset } = asked;
  const answer = await client.listSeries(
    {
      ...{ organizationId, search, offset, pageSize, locationId: path.location, machineId: path.machine },
      ...{ componentName: path.component, methodName: path.method },
      ...(rangeMs > 0 && { newestSince: timestampFromMs(nowMs - rangeMs) }),
    },
    { signal },
  );
  const { total, totalReadable, listedAt, ignoresValueNames, series } = answer;
  return { series: series.map(seriesOf), total, totalReadable, listed: dateOf(listedAt), ignoresValueNames };
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
  /** 0: all time. */
  readonly rangeMs: number;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/** The last readings of each of some series, by its key. @throws Error with the cloud's message */
export async function loadPast(asked: Asked, series: readonly Series[]): Promise<ReadonlyMap<string, Past>> {
  return new Map((await rowsOf(asked, [seriesStage(series), ...pastPipeline])).map(pastOf));
}

/** The first capture day of each series of a path, by its key. @throws Error with the cloud's message */
export async function loadOldest(asked: Asked, path: DataPath): Promise<ReadonlyMap<string, string>> {
  const stage = pathStage(path);
  return new Map((await rowsOf(asked, [...(stage ? [stage] : []), ...oldestPipeline])).map(oldestOf));
}

async function rowsOf(asked: Asked, pipeline: readonly Row[]): Promise<readonly Row[]> {
  const { organizationId, rangeMs, nowMs, signal } = asked;
  const range = rangeStage(rangeMs, nowMs);
  const mql = [...(range ? [range] : []), ...pipeline];
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
