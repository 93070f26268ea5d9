import type { JsonObject } from '@bufbuild/protobuf';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { clientOf } from '../api/clients.ts';
import { runQueryRequest } from '../api/query-request.ts';
import { type Row, rangeStage } from '../query/pipeline.ts';
import { type DataPath, pathStage } from './data-path.ts';
import {
  oldestOf,
  oldestPipeline,
  type Past,
  pastOf,
  pastPipeline,
  type Series,
  seriesOf,
  seriesPipeline,
} from './series.ts';

interface Asked {
  readonly organizationId: string;
  /** 0: all time. */
  readonly rangeMs: number;
  readonly nowMs: number;
  /** Undefined: everywhere. */
  readonly path?: DataPath;
  readonly signal: AbortSignal;
}

/** @throws Error with the cloud's message */
export async function loadSeries(asked: Asked): Promise<readonly Series[]> {
  return (await rowsOf(asked, seriesPipeline)).map(seriesOf);
}

/** The last readings of each series, by its key. @throws Error with the cloud's message */
export async function loadPast(asked: Asked): Promise<ReadonlyMap<string, Past>> {
  return new Map((await rowsOf(asked, pastPipeline)).map(pastOf));
}

/** The first capture day of each series, by its key. @throws Error with the cloud's message */
export async function loadOldest(asked: Asked): Promise<ReadonlyMap<string, string>> {
  return new Map((await rowsOf(asked, oldestPipeline)).map(oldestOf));
}

async function rowsOf(asked: Asked, pipeline: readonly Row[]): Promise<readonly Row[]> {
  const { organizationId, rangeMs, nowMs, path, signal } = asked;
  const first = [rangeStage(rangeMs, nowMs), path && pathStage(path)].filter((stage) => stage !== undefined);
  const mql = [...first, ...pipeline];
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
