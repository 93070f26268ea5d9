/** Selects the data source of a query; an unsupported source is refused by name instead of being replaced by another. */
import { invalidArgument, unimplemented } from '@platform/base';
import { type TabularDataByMQLRequest, TabularDataSourceType } from '@platform/proto/platform/app/data/v1/data';

/** The source for the plan. Throws invalid_argument or unimplemented, naming the supported sources. */
export function querySource({ useRecentData, dataSource }: TabularDataByMQLRequest): 'readings' | 'hot' {
  const supported =
    'the standard data source (TABULAR_DATA_SOURCE_TYPE_STANDARD, or none) and hot storage (TABULAR_DATA_SOURCE_TYPE_HOT_STORAGE) are supported';
  // Clients older than data sources set only useRecentData.
  switch (dataSource?.type ?? (useRecentData ? TabularDataSourceType.HOT_STORAGE : TabularDataSourceType.STANDARD)) {
    case TabularDataSourceType.UNSPECIFIED:
    case TabularDataSourceType.STANDARD:
      return 'readings';
    case TabularDataSourceType.HOT_STORAGE:
      return 'hot';
    case TabularDataSourceType.PIPELINE_SINK:
      throw unimplemented(`data_source: data pipelines are not supported yet; ${supported}`);
    default:
      throw invalidArgument(`data_source: expected a known type, found ${dataSource?.type}; ${supported}`);
  }
}
