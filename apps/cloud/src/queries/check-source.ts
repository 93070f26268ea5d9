/** Which data a query asks for; what is not there yet is refused by name instead of being answered from elsewhere. */
import { PlatformError } from '@platform/base';
import { type TabularDataByMQLRequest, TabularDataSourceType } from '@platform/proto/platform/app/data/v1/data';

/** Throws invalid_argument or unimplemented with what is supported. */
export function checkSource({ useRecentData, dataSource }: TabularDataByMQLRequest): void {
  const supported = 'supported is the standard data source (TABULAR_DATA_SOURCE_TYPE_STANDARD, or none given)';
  switch (dataSource?.type ?? (useRecentData ? TabularDataSourceType.HOT_STORAGE : TabularDataSourceType.STANDARD)) {
    case TabularDataSourceType.UNSPECIFIED:
    case TabularDataSourceType.STANDARD:
      return;
    case TabularDataSourceType.HOT_STORAGE:
      throw new PlatformError('unimplemented', `data_source: hot data stores are not there yet; ${supported}`);
    case TabularDataSourceType.PIPELINE_SINK:
      throw new PlatformError('unimplemented', `data_source: data pipelines are not there yet; ${supported}`);
    default:
      throw new PlatformError(
        'invalid_argument',
        `data_source: expected a known type, found ${dataSource?.type}; ${supported}`,
      );
  }
}
