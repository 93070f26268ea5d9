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
