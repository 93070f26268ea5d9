/** A query's filter in the words in which rows are stored. */
import type { PathFilter } from '@platform/query';
import { canonicalApi } from '@platform/rpc/server';
import type { RowFilter } from './row-filter.ts';

/** The filter as rows are stored: a peer's `rdk:` spelling becomes ours (D2). An order of spellings says nothing about stored rows. */
export function storedFilter(filter: PathFilter): RowFilter {
  const { component_type: componentType, ...columns } = filter.columns;
  if (componentType?.in === undefined) return { ...filter, columns };
  return { ...filter, columns: { ...columns, component_type: { in: componentType.in.map(canonicalApi) } } };
}
