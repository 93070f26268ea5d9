/** Which data a query asks for; what is not there is refused by name instead of being answered from elsewhere. */
import { PlatformError } from '@platform/base';
import { type TabularDataByMQLRequest, TabularDataSourceType } from '@platform/proto/platform/app/data/v1/data';

/** The source of the plan. Throws invalid_argument or unimplemented with what is supported. */
export function querySource({ useRecentData, dataSource }: TabularDataByMQLRequest): 'readings' | 'hot' {
  const supported =
    'the standard data source (TABULAR_DATA_SOURCE_TYPE_STANDARD, or none) and hot storage (TABULAR_DATA_SOURCE_TYPE_HOT_STORAGE) are supported';
  // Clients of before there were sources say only that they want recent data.
  switch (dataSource?.type ?? (useRecentData ? TabularDataSourceType.HOT_STORAGE : TabularDataSourceType.STANDARD)) {
    case TabularDataSourceType.UNSPECIFIED:
    case TabularDataSourceType.STANDARD:
      return 'readings';
    case TabularDataSourceType.HOT_STORAGE:
      return 'hot';
    case TabularDataSourceType.PIPELINE_SINK:
      throw new PlatformError('unimplemented', `data_source: data pipelines are not supported yet; ${supported}`);
    default:
      throw new PlatformError(
        'invalid_argument',
        `data_source: expected a known type, found ${dataSource?.type}; ${supported}`,
      );
  }
}
