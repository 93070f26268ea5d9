/** Asks the cloud for pictures and files, a page at a time. */
import { DataService, Order, TagsFilterType } from '@platform/proto/platform/app/data/v1/data';
import { clientOf } from '../api/clients.ts';
import { fileOf, type StoredFile } from './files.ts';

export interface FileFilter {
  readonly organizationId: string;
  readonly component: string;
  readonly tag: string;
  readonly datasetId: string;
}

export interface FilePage {
  readonly files: readonly StoredFile[];
  /** For the next page; empty: there is none. */
  readonly last: string;
}

export const filesPerPage = 24;
export const data = clientOf(DataService);

/** Newest first. @param last of the page before; empty: the first page */
export async function loadFiles(filter: FileFilter, last: string, signal?: AbortSignal): Promise<FilePage> {
  const { organizationId, component, tag, datasetId } = filter;
  const answer = await data.binaryDataByFilter(
    {
      dataRequest: {
        filter: {
          ...{ organizationIds: [organizationId], componentName: component, datasetId },
          ...(tag !== '' && { tagsFilter: { type: TagsFilterType.MATCH_BY_OR, tags: [tag] } }),
        },
        limit: BigInt(filesPerPage),
        last,
        sortOrder: Order.DESCENDING,
      },
    },
    signal ? { signal } : {},
  );
  const files = answer.data.flatMap(({ metadata }) => (metadata ? [fileOf(metadata)] : []));
  return { files, last: files.length < filesPerPage ? '' : answer.last };
}
