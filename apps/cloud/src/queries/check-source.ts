/** Which data a query asks for; what is not there yet is refused by name instead of being answered from elsewhere. */
import { PlatformError } from '@platform/base';
import { type TabularDataByMQLRequest, TabularDataSourceType } from '@platform/proto/platform/app/data/v1/data';

/** Throws invalid_argument, unimplemented or not_found with what is supported. */
export function checkSource({ useRecentData, dataSource, queryPrefixName }: TabularDataByMQLRequest): void {
  const supported = 'supported is the standard data source (TABULAR_DATA_SOURCE_TYPE_STANDARD, or none given)';
  if (queryPrefixName !== undefined && queryPrefixName !== '') {
    throw new PlatformError(
      'not_found',
      `query_prefix_name: expected the name of a saved query, found ${JSON.stringify(queryPrefixName)}; this version keeps no saved queries, send the whole pipeline`,
    );
  }
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
