import type { Series } from '../catalog/series.ts';
import type { SeriesName } from './arrived-rows.ts';

/** Numbers the series of a chunk of rows, in the order in which they occur. */
export function seriesNames(): {
  readonly list: readonly SeriesName[];
  of(series: Pick<Series, 'path'> | undefined): number;
} {
  const list: SeriesName[] = [];
  const numbers = new Map<unknown, number>();
  let last: Pick<Series, 'path'> | undefined;
  let lastNumber = -1;
  return {
    list,
    of(series) {
      if (series === last && lastNumber >= 0) return lastNumber;
      let number = numbers.get(series);
      if (number === undefined) {
        const { component_type = '', component_name = '', method_name = '' } = series?.path ?? {};
        number = list.push({ component_type, component_name, method_name }) - 1;
        numbers.set(series, number);
      }
      last = series;
      lastNumber = number;
      return number;
    },
  };
}
