/** Dashboards: their content, and how they are stored in the metadata of the organization, under `dashboards`. */
import type { JsonObject } from '@bufbuild/protobuf';
import { objectOf } from '../api/object-of.ts';
import type { ChartChoice } from '../query/chart.ts';
import type { QueryLanguage } from '../query/run-query.ts';
import { rangeOfStored, storedRange, type TimeRange } from '../range/time-range.ts';

export interface Panel {
  readonly id: string;
  readonly title: string;
  readonly language: QueryLanguage;
  /** The query as it was typed. */
  readonly text: string;
  readonly show: ChartChoice;
}

export interface Dashboard {
  readonly id: string;
  readonly name: string;
  readonly range: TimeRange;
  readonly panels: readonly Panel[];
}

export const metadataKey = 'dashboards';

/** The dashboards by name. Replaces invalid values by defaults: others may write metadata, too. */
export function dashboardsOf(metadata: JsonObject): readonly Dashboard[] {
  return Object.entries(objectOf(metadata[metadataKey]))
    .map(([id, value]) => dashboardOf(id, objectOf(value)))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

/** The metadata with one dashboard added, changed or (undefined) removed; everything else stays. */
export function withDashboard(metadata: JsonObject, id: string, dashboard: Dashboard | undefined): JsonObject {
  const { [id]: _, ...others } = objectOf(metadata[metadataKey]);
  if (dashboard === undefined) return { ...metadata, [metadataKey]: others };
  const { name, range, panels } = dashboard;
  return {
    ...metadata,
    [metadataKey]: { ...others, [id]: { name, ...storedRange(range), panels: panels.map((one) => ({ ...one })) } },
  };
}

function dashboardOf(id: string, value: JsonObject): Dashboard {
  const { name, panels } = value;
  return {
    id,
    name: typeof name === 'string' ? name : id,
    range: rangeOfStored(value),
    panels: (Array.isArray(panels) ? panels : []).map(objectOf).map(panelOf),
  };
}

function panelOf(value: JsonObject, index: number): Panel {
  const text = (name: string): string => (typeof value[name] === 'string' ? value[name] : '');
  const shows: readonly string[] = ['number', 'bars', 'lines', 'table'];
  return {
    id: text('id') || String(index),
    title: text('title'),
    language: value['language'] === 'sql' ? 'sql' : 'mql',
    text: text('text'),
    show: shows.includes(text('show')) ? (text('show') as ChartChoice) : 'auto',
  };
}
